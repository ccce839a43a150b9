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
	return os.SameFile(l.info, now.info) && l.info.Size() == now.info.Size() && l.info.Mode() == now.info.Mode() &&
		l.info.ModTime().Equal(now.info.ModTime())
}

func (g *Evaluator) current() snapshot {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.snap
}

// Reload reads the policies again if one of their files has changed, as a program that runs for long does before each
// decision. It reports whether it did. It looks at the files before it reads them, so that what changes in between is
// read again.
func (g *Evaluator) Reload() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	var stamps []fileStamp
	for l, project := range levels(g.o.Projects) {
		stamps = append(stamps, stampOf(g.o.PolicyFile(l, project)))
	}
	if g.snap.o != nil && slices.EqualFunc(g.snap.stamps, stamps, fileStamp.same) {
		return false
	}
	g.snap = snapshot{o: &g.o, stamps: stamps, set: g.o.readPolicies(), allowedSources: new(sync.Map)}
	return true
}

// readPolicies reads the policies.
func (o Options) readPolicies() policy.Set {
	if o.OnlyPolicy == "" {
		return o.Policies(o.Projects...)
	}
	p := o.read(o.OnlyPolicy, false)
	if p == nil {
		p = policy.Broken(o.OnlyPolicy, diag.Errorf(diag.NotFound, "there is no policy %s", o.OnlyPolicy))
	}
	p.Level = policy.UserLevel
	return policy.Set{p}
}
