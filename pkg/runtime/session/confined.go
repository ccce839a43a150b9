package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// start runs a command of a skill, confined as the skill and the policies demand, and records how. It runs all commands
// of skills: scripts, frontmatter commands, hooks, and commands in a body. Notes are for the user. Without a guard
// nothing is confined, and l may be nil.
func (s *Session) start(ctx context.Context, k *catalog.Skill, l *catalog.Loaded, c run.Command,
	r *audit.Record,
) (res *run.Result, notes []string, err error) {
	if notes, err = s.confine(ctx, l, &c); err != nil {
		return nil, notes, err
	}
	res, more, err := s.launch(ctx, k, c, r)
	return res, append(notes, more...), err
}

// confine sets the sandbox rules of a command.
func (s *Session) confine(ctx context.Context, l *catalog.Loaded, c *run.Command) (notes []string, err error) {
	c.Helper = s.env.Helper
	if s.env.Guard != nil {
		c.Sandbox, notes, err = s.env.Guard.Confine(ctx, s.expandPaths(l), c.Dir)
	}
	return notes, err
}

// launch runs a command that confine has prepared.
func (s *Session) launch(ctx context.Context, k *catalog.Skill, c run.Command, r *audit.Record) (res *run.Result,
	notes []string, err error,
) {
	if err := s.recordIntent(r, k); err != nil {
		return nil, nil, err
	}
	res, err = run.Run(ctx, c)
	if res == nil {
		return nil, notes, err
	}
	recordOutcome(r, res)
	r.Sandbox = res.Sandbox
	if res.Unconfined != "" {
		r.Sandbox = "none: " + res.Unconfined
		notes = append(notes, fmt.Sprintf("the commands of skill %q run without a sandbox, which a policy allows: %s",
			k.Name, res.Unconfined))
	}
	if len(res.Refused) > 0 {
		notes = append(notes,
			fmt.Sprintf(
				"the commands of skill %q tried to reach %s, which execution.network does not allow",
				k.Name, strings.Join(res.Refused, ", ")))
	}
	for _, path := range res.Removed {
		notes = append(notes, fmt.Sprintf("the commands of skill %q created or replaced %s; skillpm moved it to a name "+
			"with .refused, because it controls other programs", k.Name, path))
	}
	for _, path := range res.Replaced {
		notes = append(notes, fmt.Sprintf("the commands of skill %q could change %s, because another program replaced it, "+
			"or skillpm cannot open it: review it", k.Name, path))
	}
	return res, notes, err
}

// expandPaths returns the skill with the profile's variables inserted in its allowed paths.
func (s *Session) expandPaths(l *catalog.Loaded) *catalog.Loaded {
	if len(l.Front.Execution.AllowedPaths) == 0 || s.env.Profile == nil {
		return l
	}
	known := s.variableValues(l.Skill)
	var pairs []string
	for name, value := range s.env.Profile.Substitution.Variables {
		pairs = append(pairs, "${"+name+"}", known[value])
	}
	replacer := strings.NewReplacer(pairs...)
	placed := *l
	placed.Front.Execution.AllowedPaths = nil
	for _, path := range l.Front.Execution.AllowedPaths {
		placed.Front.Execution.AllowedPaths = append(placed.Front.Execution.AllowedPaths, replacer.Replace(path))
	}
	return &placed
}
