package runtime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

func (h *Host) openGuard() *enforce.Evaluator {
	projects := h.PolicyProjects()
	return enforce.Open(enforce.Options{
		Files:    enforce.Files{Paths: h.o.Paths, OS: h.o.OS, Admin: h.o.Admin},
		Projects: projects, Now: h.o.Now, Lint: lint.ProjectRules(safefile.Dirs(projects)),
	})
}

// PolicyProjects returns the projects whose policies apply: the current one, the one that packs are installed into if
// that is another directory, and [Options].Projects.
func (h *Host) PolicyProjects() (dirs []string) {
	if h.project != "" {
		dirs = append(dirs, h.project)
	}
	if s, found, err := h.o.Paths.Project(h.o.Dir); err == nil && found && !slices.Contains(dirs, s.Root) {
		dirs = append(dirs, s.Root)
	}
	for _, dir := range h.o.Projects {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Guard returns the policy evaluator.
func (h *Host) Guard() *enforce.Evaluator { return h.guard }

// openLog opens the audit log at the path that the policies name, or else at the default path.
func (h *Host) openLog() *audit.Log {
	l := h.guard.Log()
	if l.Path == "" {
		l.Path = filepath.Join(h.o.Paths.State, "audit", audit.Name)
	}
	return audit.Open(l.Path, audit.Options{
		Now: h.o.Now, User: h.o.User, Required: l.Required, Team: l.Team, Output: h.config.Log.Output == pack.LogFull,
		Secrets: h.o.Secrets,
	})
}

// deny returns why the catalog must not list a skill, nil if it may.
func (h *Host) deny(k *catalog.Skill) error {
	if h.o.Deny != nil {
		if err := h.o.Deny(k); err != nil {
			return err
		}
	}
	return h.guard.CheckListed(h.PolicySkill(k))
}

// unapproved returns the function by which the catalog finds skills that need an approval; nil if no policy requires
// any.
func (h *Host) unapproved() func(*catalog.Skill) error {
	if !h.guard.RequiresApprovals() {
		return nil
	}
	return func(k *catalog.Skill) error { return h.guard.CheckApproved(context.Background(), h.PolicySkill(k)) }
}

// denyNames returns why installations leave out a skill of a pack with these names, nil if they do not.
func (h *Host) denyNames(names []string, pack string) error {
	return h.guard.Policies().Denial(names, pack)
}

// PolicySkill returns the form of a skill that the policy evaluator takes.
func (h *Host) PolicySkill(k *catalog.Skill) enforce.Skill {
	if h.o.As != nil {
		return *h.o.As
	}
	name, _, _ := strings.Cut(k.Exact(), "@")
	claim, tree := k.Locked()
	return enforce.Skill{
		Claim: claim, Tree: tree, Named: len(h.config.Skills.Allowed)+len(h.machine.Skills.Allowed) > 0,
		Name: name, Alias: k.Name, Declared: k.Declared, OtherName: filepath.Base(k.Dir),
		Pack: k.Pack, Version: k.Version, Source: k.PackSource, Dir: k.Dir, Machine: k.Scope == catalog.ScopeMachine &&
			h.inMachineDir(k.Dir),
	}
}

// inMachineDir reports whether a directory is below the administrator's. The layer of a skill does not show that,
// because a user's own profile may declare any directory to be the machine's.
func (h *Host) inMachineDir(dir string) bool {
	real, err := pathx.ResolveExisting(dir)
	if err != nil {
		return false
	}
	top, err := pathx.ResolveExisting(h.o.Paths.Enterprise)
	return err == nil && pathx.ContainsStrict(top, real)
}

// policyGuard implements [session.Guard] with the policy evaluator.
type policyGuard struct{ h *Host }

func (g policyGuard) Activate(ctx context.Context, l *catalog.Loaded) ([]string, error) {
	g.h.guard.Reload()
	s := g.h.PolicySkill(l.Skill)
	if err := g.h.guard.CheckListed(s); err != nil {
		return nil, err
	}
	decision, err := g.h.guard.Evaluate(ctx, s, os.DirFS(l.Dir))
	if err != nil {
		return decision.Notes, err
	}
	if l.Source != "" {
		if err := decision.Check("SKILL.md", []byte(l.Source)); err != nil {
			return decision.Notes, fmt.Errorf("skill %s: %w", s.Exact(), err)
		}
	}
	return decision.Notes, nil
}

func (g policyGuard) CheckFiles(ctx context.Context, k *catalog.Skill) error {
	return g.h.guard.CheckFiles(ctx, g.h.PolicySkill(k), os.DirFS(k.Dir))
}

func (g policyGuard) Confine(_ context.Context, l *catalog.Loaded, workDir string) (*sandbox.Rules, []string, error) {
	return g.h.confine(l, workDir)
}

func (g policyGuard) Err() error {
	g.h.guard.Reload()
	return g.h.guard.Err()
}

func (g policyGuard) Standing(a session.Active) error {
	if g.h.o.As != nil {
		return g.h.guard.CheckActive(*g.h.o.As)
	}
	name, _, _ := strings.Cut(a.Exact(), "@")
	return g.h.guard.CheckActive(enforce.Skill{
		Name: name, Alias: a.Name, OtherName: filepath.Base(a.Dir), Pack: a.Pack, Version: a.Version, Source: a.Source,
		Dir:     a.Dir,
		Machine: a.Machine && g.h.inMachineDir(a.Dir),
	})
}

func (g policyGuard) Grants() bool { return g.h.guard.Grants() }
