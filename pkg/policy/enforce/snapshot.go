package enforce

import (
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// snapshot is what was read of the disk at one time. It does not change.
type snapshot struct {
	o      *Options
	set    policy.Set
	stamps []fileStamp

	allowedSources *sync.Map // sourceOf that were asked about: many skills are of few packs
}

// fileStamp is what the system said of a file when it was read; nothing where there was none.
type fileStamp struct {
	path string
	info fs.FileInfo
}

func stampOf(path string) fileStamp {
	info, err := os.Lstat(path)
	if err != nil {
		return fileStamp{path: path}
	}
	return fileStamp{path: path, info: info}
}

// same reports whether a file looks as it did.
func (l fileStamp) same(now fileStamp) bool {
	if l.info == nil || now.info == nil {
		return l.info == nil && now.info == nil
	}
	return os.SameFile(l.info, now.info) && l.info.Size() == now.info.Size() && l.info.Mode() == now.info.Mode() && l.info.ModTime().Equal(now.info.ModTime())
}

func (g *Evaluator) current() snapshot {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.snap
}

// reload reads what has changed. The files are looked at before they are read, so that what changes in between is read
// again.
func (g *Evaluator) reload() bool {
	looks := make([]fileStamp, 0, 4)
	for _, path := range g.o.all(g.o.Projects) {
		looks = append(looks, stampOf(path))
	}
	same := g.snap.o != nil
	for i := 0; same && i < len(looks); i++ {
		same = g.snap.stamps[i].same(looks[i])
	}
	if same {
		return false
	}
	g.snap = snapshot{o: &g.o, stamps: looks, set: g.o.readPolicies(), allowedSources: new(sync.Map)}
	return true
}

// readPolicies reads the policies.
func (o Options) readPolicies() policy.Set {
	if o.OnlyPolicy == "" {
		return o.policies(o.Projects)
	}
	p := o.read(o.OnlyPolicy, false)
	if p == nil {
		p = policy.Broken(o.OnlyPolicy, diag.Errorf(diag.NotFound, "there is no policy %s", o.OnlyPolicy))
	}
	p.Level = policy.UserLevel
	return policy.Set{p}
}

// all returns where policies may be, for any number of projects.
func (f Files) all(projects []string) []string {
	files := f.List("")
	for _, dir := range projects {
		if dir != "" {
			files = append(files, f.List(dir)[2])
		}
	}
	return files
}

// ProtectedFiles returns the files that policies and approvals are in, or would be: agents are not to write them.
func (g *Evaluator) ProtectedFiles() []string {
	kept := g.o.all(g.o.Projects)
	for _, l := range []policy.Level{policy.MachineLevel, policy.UserLevel} {
		kept = append(kept, g.o.ApprovalFile(l, ""))
	}
	for _, dir := range g.o.Projects {
		kept = append(kept, g.o.ApprovalFile(policy.ProjectLevel, dir))
	}
	return slices.DeleteFunc(kept, func(path string) bool { return path == "" })
}
