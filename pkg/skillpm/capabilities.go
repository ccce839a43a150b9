package skillpm

import (
	"context"
	"io/fs"
	"maps"
	"runtime"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/capability"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Capabilities is what the files of a skill make it able to do.
type Capabilities struct {
	Summary  string         `json:"summary"` // such as "runs scripts, reaches api.github.com", "" for none
	Evidence capability.Set `json:"evidence"`
}

// capabilitiesIn returns the capabilities of the skill at the root of files. Files that cannot be read are the summary.
func capabilitiesIn(files fs.FS) *Capabilities {
	set, err := capability.Of(files)
	if err != nil {
		return &Capabilities{Summary: "unknown: " + textx.OneLine(err.Error()), Evidence: capability.Set{}}
	}
	if set == nil {
		set = capability.Set{}
	}
	return &Capabilities{Summary: set.Summary(), Evidence: set}
}

// addCapabilities adds the capabilities of new skills to a report. They are read from the store, which has just got
// them. In a dry run, it first fetches those that it lacks; skills that cannot be fetched are left out.
func (in *installer) addCapabilities(ctx context.Context, r *InstallReport, res *resolution, p *plan) error {
	if in.request.DryRun && slices.ContainsFunc(r.Packs, func(p PackReport) bool { return len(newSkills(p)) > 0 }) {
		_ = in.FetchMissing(ctx, res.manifest, res.Solution, maps.Values(p.change.Trees))
	}
	s, err := in.client.Machine.Store()
	if err != nil {
		return err
	}
	g, ctx := bug.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, p := range r.Packs {
		for _, skill := range newSkills(p) {
			if !s.Has(skill.Tree) {
				continue
			}
			g.Go(func() error {
				files, err := s.FS(skill.Tree)
				if err == nil {
					skill.Capabilities = capabilitiesIn(files)
				}
				return ctx.Err()
			})
		}
	}
	return g.Wait()
}

// newSkills returns the skills of a pack that an operation newly installs.
func newSkills(p PackReport) (list []*SkillReport) {
	for i := range p.Skills {
		s := &p.Skills[i]
		if s.Denied == "" && (p.Action == ActionInstalled || slices.Contains(p.Added, s.Name)) {
			list = append(list, s)
		}
	}
	return list
}
