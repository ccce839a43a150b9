package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

func (a *app) printPackInfo(p *skillpm.PackInfo) error {
	pal := a.Palette(a.Stdout)
	fmt.Fprintf(a.Stdout, "%s %s\n", pal.Bold(p.Pack), p.Version)
	a.field("description", p.Description)
	a.field("license", p.License)
	a.field("source", demoMark(p.Source, p.Demo))
	a.field("resolved", p.Resolved)
	a.field("yanked", p.Yanked)
	a.field("deprecated", p.Deprecated)
	for _, ref := range p.Advisories {
		a.field(advisoryKind(ref), console.OneLine(advisoryText(ref)))
	}
	if text := denial(p.PackDenial, len(p.Skills)); text != "" {
		a.field("denied", strings.TrimPrefix(text, "denied: "))
	}
	switch have := p.Installed; {
	case have == nil:
		a.field("installed", "no")
	case !have.Installed:
		a.field("installed", have.Version+" (incomplete; run \"skillpm install\")")
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
	for _, t := range p.Tests {
		name := "tests"
		if t.Agent != "" {
			name = "evaluation"
		}
		a.field(name, testsText(t)+" ("+testsOrigin(t)+")")
	}
	for _, s := range p.Skills {
		a.field("skill", strings.TrimSuffix(s.Name+": "+s.Description, ": "))
		if text := capabilityText(s.Capabilities); text != "" {
			a.field("capabilities", s.Name+": "+text)
		}
	}
	return nil
}

// testsText describes results of tests: the rates of an evaluation, or the number of tests.
func testsText(t skillpm.Tests) string {
	var parts []string
	for _, r := range []struct {
		rate *skillpm.TestRate
		what string
	}{{t.With, "with"}, {t.Without, "without"}, {t.Queries, "of trigger queries"}} {
		if r.rate != nil {
			parts = append(parts, fmt.Sprintf("%.0f%% %s", 100*float64(r.rate.Passed)/float64(r.rate.Runs), r.what))
		}
	}
	if parts == nil {
		parts = append(parts, fmt.Sprintf("%d passed", t.Passed))
		for _, n := range []struct {
			count int
			what  string
		}{{t.Warned, "passed in some runs"}, {t.Failed, "failed"}} {
			if n.count > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n.count, n.what))
			}
		}
	}
	return strings.TrimSpace(console.Flat(t.Agent) + " " + strings.Join(parts, ", "))
}

// testsOrigin describes who states results of tests, and when.
func testsOrigin(t skillpm.Tests) string {
	var parts []string
	if t.Skillpm != "" {
		parts = append(parts, "skillpm "+console.Flat(t.Skillpm))
	}
	if t.Model != "" {
		parts = append(parts, console.Flat(t.Model))
	}
	if !t.Time.IsZero() {
		parts = append(parts, t.Time.UTC().Format("2006-01-02"))
	}
	switch {
	case t.Verified:
		parts = append(parts, "signed by "+trust.Fingerprint(t.Signer))
	case t.Signed:
		parts = append(parts, "signature not verified")
	default:
		parts = append(parts, "not signed")
	}
	return strings.Join(parts, ", ")
}

func (a *app) printSkill(info *skillpm.Info) error {
	s := info.Skill
	fmt.Fprintf(a.Stdout, "%s\n", a.Palette(a.Stdout).Bold(s.Name+"@"+s.Pack))
	a.field("description", s.Description)
	a.field("pack", s.Pack+" "+s.Version)
	a.field("source", demoMark(s.Source, s.Demo))
	a.field("tree", s.Tree)
	a.field("capabilities", capabilityText(s.Capabilities))
	a.field("denied", s.Denied)
	switch {
	case !s.Installed:
		a.field("directory", s.Dir+" (not installed; run \"skillpm install\")")
	case s.Edited:
		a.field("directory", s.Dir+" (edited)")
	default:
		a.field("directory", s.Dir)
	}
	a.field("agents see", s.Link)
	for _, link := range s.Links {
		a.field("link", link)
	}
	a.field("available", available(s))
	for _, other := range info.Also {
		a.field("also", other.Name+"@"+other.Pack+" (agents see "+other.Link+")")
	}
	return nil
}

// capabilityText is the summary of a skill's capabilities, "" if they are not known.
func capabilityText(c *skillpm.Capabilities) string {
	switch {
	case c == nil:
		return ""
	case c.Summary == "":
		return "none found"
	}
	return c.Summary
}

// available states under which name a skill can be used, and which skill has its bare name otherwise.
func available(s *skillpm.InstalledSkill) string {
	switch {
	case s.Denied != "":
		return "no: a policy denies the skill"
	case !s.Installed:
		return "no: the skill is not installed"
	case s.OwnName:
		return fmt.Sprintf("yes: %q refers to this skill", s.Name)
	case s.BareOwner != "":
		return fmt.Sprintf("yes, as %s (%q refers to %s@%s)", s.Link, s.Name, s.Name, s.BareOwner)
	}
	return "yes, as " + s.Link
}
