package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

func (a *app) printPackInfo(p *skillpm.PackInfo) error {
	pal := a.Palette(a.Stdout)
	fmt.Fprintf(a.Stdout, "%s %s\n", pal.Bold(p.Pack), p.Version)
	a.field("description", p.Description)
	a.field("license", p.License)
	a.field("source", p.Source)
	a.field("resolved", p.Resolved)
	a.field("withdrawn", p.Withdrawn)
	a.field("deprecated", p.Deprecated)
	a.field("denied", p.Denied)
	switch have := p.Installed; {
	case have == nil:
		a.field("installed", "no")
	case !have.Installed:
		a.field("installed", "not all of "+have.Version+", which is locked: skillpm install")
	case have.Edited:
		a.field("installed", have.Version+" (edited)")
	default:
		a.field("installed", have.Version)
	}
	if p.Installed != nil && p.Installed.Version == p.Version {
		a.field("integrity", p.Installed.Integrity)
		a.field("signed by", p.Installed.SignedBy)
	}
	a.field("versions", strings.Join(p.Versions, ", "))
	for _, id := range slices.Sorted(maps.Keys(p.Dependencies)) {
		a.field("requires", id+" "+p.Dependencies[id])
	}
	for _, s := range p.Skills {
		a.field("skill", strings.TrimSuffix(s.Name+": "+s.Description, ": "))
	}
	return nil
}

func (a *app) printSkill(info *skillpm.Info) error {
	s := info.Skill
	fmt.Fprintf(a.Stdout, "%s\n", a.Palette(a.Stdout).Bold(s.Name+"@"+s.Pack))
	a.field("description", s.Description)
	a.field("pack", s.Pack+" "+s.Version)
	a.field("source", s.Source)
	a.field("tree", s.Tree)
	a.field("denied", s.Denied)
	switch {
	case !s.Installed:
		a.field("directory", s.Dir+" (not installed: skillpm install)")
	case s.Edited:
		a.field("directory", s.Dir+" (edited)")
	default:
		a.field("directory", s.Dir)
	}
	a.field("agents see", s.Link)
	for _, link := range s.Links {
		a.field("link", link)
	}
	switch {
	case s.OwnName:
		a.field("in force", fmt.Sprintf("yes: %q means this skill", s.Name))
	default:
		a.field("in force", fmt.Sprintf("no: %q means another skill, or none", s.Name))
	}
	for _, other := range info.Also {
		a.field("also", other.Name+"@"+other.Pack+" (agents see "+other.Link+")")
	}
	return nil
}
