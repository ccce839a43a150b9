package enforce

import (
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// snapshot is the immutable state of all policy files at one time.
type snapshot struct {
	o      *Options
	set    policy.Set
	stamps []fileStamp

	allowed *sync.Map // allowed pairs of policy and source, and verified claims; many skills share a pack
}

// fileStamp is what stat reported when a file was read; the zero value if there was no file.
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

// same reports whether a file is unchanged.
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

// Reload reads the policies again if one of their files or of the approvals changed, and reports whether it did.
// Long-running programs call it before each decision. It stats the files before it reads them, so that a concurrent
// change is noticed the next time.
func (g *Evaluator) Reload() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	var stamps []fileStamp
	for l, project := range levels(g.o.Projects) {
		stamps = append(stamps, stampOf(g.o.PolicyFile(l, project)), stampOf(g.o.ApprovalFile(l, project)))
	}
	if g.snap.o != nil && slices.EqualFunc(g.snap.stamps, stamps, fileStamp.same) {
		return false
	}
	g.snap = snapshot{o: &g.o, stamps: stamps, set: g.o.readPolicies(), allowed: new(sync.Map)}
	return true
}

func (o Options) readPolicies() policy.Set {
	if o.OnlyPolicy == "" {
		return o.Policies(o.Projects...)
	}
	p := o.read(o.OnlyPolicy, false)
	if p == nil {
		p = policy.Broken(o.OnlyPolicy, diag.Errorf(diag.NotFound, "policy %s does not exist", o.OnlyPolicy))
	}
	p.Level = policy.UserLevel
	return policy.Set{p}
}
