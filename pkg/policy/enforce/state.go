package enforce

import (
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// state is what was read of the disk at one time. It does not change.
type state struct {
	o     *Options
	set   policy.Set
	looks []look

	allowed *sync.Map // sourceOf that were asked about: many skills are of few packs
}

// look is what the system said of a file when it was read; nothing where there was none.
type look struct {
	path string
	info fs.FileInfo
}

func lookAt(path string) look {
	info, err := os.Lstat(path)
	if err != nil {
		return look{path: path}
	}
	return look{path: path, info: info}
}

// same reports whether a file looks as it did.
func (l look) same(now look) bool {
	if l.info == nil || now.info == nil {
		return l.info == nil && now.info == nil
	}
	return os.SameFile(l.info, now.info) && l.info.Size() == now.info.Size() && l.info.Mode() == now.info.Mode() && l.info.ModTime().Equal(now.info.ModTime())
}

func (g *Guard) state() state {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.st
}

// reload reads what has changed. The files are looked at before they are read, so that what changes in between is read again.
func (g *Guard) reload() bool {
	looks := make([]look, 0, 4)
	for _, path := range g.o.all(g.o.Projects) {
		looks = append(looks, lookAt(path))
	}
	same := g.st.o != nil
	for i := 0; same && i < len(looks); i++ {
		same = g.st.looks[i].same(looks[i])
	}
	if same {
		return false
	}
	g.st = state{o: &g.o, looks: looks, set: g.o.inForce(), allowed: new(sync.Map)}
	return true
}

// inForce reads the policies.
func (o Options) inForce() policy.Set {
	if o.Alone == "" {
		return o.policies(o.Projects)
	}
	p := o.read(o.Alone, false)
	if p == nil {
		p = policy.Broken(o.Alone, diag.Errorf(diag.NotFound, "there is no policy %s", o.Alone))
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

// Kept returns the files that policies and approvals are in, or would be: agents are not to write them.
func (g *Guard) Kept() []string {
	kept := g.o.all(g.o.Projects)
	for _, l := range []policy.Level{policy.MachineLevel, policy.UserLevel} {
		kept = append(kept, g.o.ApprovalFile(l, ""))
	}
	for _, dir := range g.o.Projects {
		kept = append(kept, g.o.ApprovalFile(policy.ProjectLevel, dir))
	}
	return slices.DeleteFunc(kept, func(path string) bool { return path == "" })
}
