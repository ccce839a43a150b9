package guard

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Decision is what was decided about a skill that may be used.
type Decision struct {
	Notes  []string // what policies that only observe would have refused, and what else people should know
	Digest string   // of the tree that was looked at, "" where no rule wanted to

	tree bundle.Inventory
}

// Check returns why a file that was read after the decision is not what was decided about: it was changed in between. The
// path is relative to the skill, with slashes.
func (d Decision) Check(path string, data []byte) error {
	if d.Digest == "" {
		return nil
	}
	e, ok := d.tree.Find(bundle.Normal(path))
	if ok && e.Check(data) == nil {
		return nil
	}
	return diag.Errorf(diag.Conflict, "%s is not what the policies were asked about: it was changed meanwhile", path).WithHint("ask again")
}

// state is what was read of the disk at one time. It does not change.
type state struct {
	o   *Options
	set policy.Set
}

func (g *Guard) state() state {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.st
}

// reload reads what has changed.
func (g *Guard) reload() bool {
	g.st = state{o: &g.o, set: g.o.policies(g.o.Projects)}
	return true
}

// binding returns the policies that bind a skill.
func (st state) binding(s Skill) policy.Set {
	if !s.Machine {
		return st.set
	}
	return st.set.Of(policy.MachineLevel)
}

// names returns all names of a skill.
func (s Skill) names() []string { return []string{s.Name, s.As, s.Other} }

// subject is what a skill is called in messages.
func (s Skill) subject() string { return "skill " + s.Exact() }

func (st state) listed(s Skill) error {
	if err := st.set.Err(); err != nil {
		return err
	}
	set := st.binding(s)
	if _, err := set.Skill(s.names(), s.Pack); err != nil {
		return err
	}
	if s.Machine || s.Source == "" {
		return nil
	}
	if _, err := set.Source(s.Source); err != nil {
		return fmt.Errorf("skill %s may not be used: %w", s.Exact(), err)
	}
	return nil
}

func (st state) use(_ context.Context, s Skill, _ fs.FS) (Decision, error) {
	return Decision{}, st.listed(s)
}

// logOf returns what policies say of the audit log.
func logOf(set policy.Set) (l Log) {
	for _, p := range set {
		if p.Audit == nil {
			continue
		}
		by := fmt.Sprintf("%s:%d", p.Path, p.Lines.Audit)
		if l.Path == "" && p.Level != policy.ProjectLevel {
			l.Path, l.By = p.Audit.Path, by
		}
		if p.Audit.Required && !l.Required {
			l.Required = true
			if l.By == "" {
				l.By = by
			}
		}
	}
	return l
}
