package catalog

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// drop removes candidates and their findings.
func (b *builder) drop(out func(*candidate) bool) {
	rest := make([]candidate, 0, len(b.candidates)) // a new slice, because others point into the old one
	shadowed := map[string]bool{}
	for i := range b.candidates {
		if c := &b.candidates[i]; out(c) {
			shadowed[filepath.ToSlash(c.entry.Path())] = true
		} else {
			rest = append(rest, *c)
		}
	}
	b.candidates = rest
	if len(shadowed) > 0 {
		b.catalog.findings = slices.DeleteFunc(b.catalog.findings, func(f diag.Finding) bool {
			return shadowed[f.Path]
		})
	}
}

// dropDuplicates drops the candidates that resolve to the directory of one with higher precedence.
func (b *builder) dropDuplicates() {
	linked := map[string]bool{} // targets of links
	for i := range b.candidates {
		if real := b.candidates[i].entry.real; real != "" {
			linked[real] = true
		}
	}
	if len(linked) == 0 {
		return
	}
	slices.SortStableFunc(b.candidates, func(x, y candidate) int { return b.comparePrecedence(&x, &y) })
	seen := map[string]bool{}
	b.drop(func(c *candidate) bool {
		real := c.entry.real
		if real == "" {
			rel, _ := pathx.Rel(b.catalog.roots[c.root].dir, c.entry.Dir)
			real = filepath.Join(b.catalog.roots[c.root].real, rel)
		}
		if !linked[real] {
			return false
		}
		double := seen[real]
		seen[real] = true
		return double
	})
}

// comparePrecedence orders skills by precedence, the highest first.
func (b *builder) comparePrecedence(x, y *candidate) int {
	s, t := x.entry.Skill, y.entry.Skill
	rx, ry := b.catalog.roots[x.root], b.catalog.roots[y.root]
	if d := cmp.Or(cmp.Compare(s.Rank, t.Rank), cmp.Compare(rx.group, ry.group)); d != 0 {
		return d
	}
	if s.Pack != t.Pack {
		return cmp.Or(cmp.Compare(x.order, y.order), cmp.Compare(s.Pack, t.Pack))
	}
	return cmp.Or(comparePriority(s.Priority, t.Priority), cmp.Compare(x.root, y.root), cmp.Compare(s.base, t.base),
		cmp.Compare(len(s.Dir), len(t.Dir)), cmp.Compare(s.Dir, t.Dir))
}

// overrideNames shadows the skills whose name an enterprise skill has, under an alias or with their pack's name, too.
// An enterprise skill that is unusable, or that something other than the administrator's decision about its scope
// excludes, keeps its name.
func (b *builder) overrideNames() {
	owners := map[string]*candidate{}
	for i := range b.candidates {
		c := &b.candidates[i]
		e := &c.entry
		if !e.isEnterprise() || e.State != Available && e.State != Skipped && !e.keepsName {
			continue
		}
		for _, name := range e.ownNames() {
			if o := owners[name]; o == nil || b.comparePrecedence(c, o) < 0 {
				owners[name] = c
			}
		}
	}
	if len(owners) == 0 {
		return
	}
	for i := range b.candidates {
		e := &b.candidates[i].entry
		if e.isEnterprise() || e.State != Available {
			continue
		}
		for _, name := range e.ownNames() {
			if o := owners[name]; o != nil {
				e.State, e.By, e.Reason = Shadowed, o.entry.Skill, b.precedenceReason(o.entry.Skill, e.Skill)
				break
			}
		}
	}
}

// nameExactly gives the skills of packs their exact names if the profile's names do not tell their packs apart: those
// have the name of a pack without its owner.
func (b *builder) nameExactly() {
	if b.profile.Qualify == "" {
		return
	}
	packs := map[string]string{} // by their name without owner; "" for several
	for i := range b.candidates {
		e := &b.candidates[i].entry
		_, name, _ := strings.Cut(e.Pack, "/")
		if other, known := packs[name]; !known {
			packs[name] = e.Pack
		} else if other != e.Pack {
			packs[name] = ""
		}
	}
	for i := range b.candidates {
		e := &b.candidates[i].entry
		if _, name, inPack := strings.Cut(e.Pack, "/"); inPack && packs[name] == "" && e.State != Skipped {
			e.Name = e.Exact()
		}
	}
}

// ownNames returns the names that a skill has by itself or in its pack.
func (s *Skill) ownNames() []string {
	if s.Pack == "" {
		return []string{s.Name}
	}
	return []string{s.Name, s.base, cmp.Or(s.Declared, s.base)}
}

// resolvePrecedence determines the owner of each name.
func (b *builder) resolvePrecedence() {
	b.nameExactly()
	b.overrideNames()
	sorted := make([]*candidate, len(b.candidates))
	for i := range b.candidates {
		sorted[i] = &b.candidates[i]
	}
	slices.SortFunc(sorted, func(x, y *candidate) int {
		if d := cmp.Or(strings.Compare(x.entry.Name, y.entry.Name),
			cmp.Compare(stateOrder(x.entry.State), stateOrder(y.entry.State))); d != 0 {
			return d
		}
		return b.comparePrecedence(x, y)
	})
	c := b.catalog
	c.entries = make([]Entry, len(sorted))
	c.skills = make([]*Skill, 0, len(sorted))
	var winner *Skill
	for i := range sorted {
		e := &c.entries[i]
		*e = sorted[i].entry
		switch {
		case e.State != Available:
		case winner == nil || winner.Name != e.Name:
			winner = e.Skill
			c.skills = append(c.skills, e.Skill)
		default:
			e.State, e.By = Shadowed, winner
			e.Reason = b.precedenceReason(winner, e.Skill)
			if winner.Pack != "" && e.Pack != "" && winner.Pack != e.Pack {
				b.warnConflict(e.Name, winner, e.Skill, "")
			}
		}
	}
	b.warnAliased()
}

// stateOrder orders the states of entries with one name.
func stateOrder(s State) int {
	switch s {
	case Available:
		return 0
	case Excluded, Unapproved:
		return 1
	}
	return 2
}

// precedenceReason returns why winner has precedence over loser.
func (b *builder) precedenceReason(winner, loser *Skill) string {
	switch {
	case winner.Rank != loser.Rank && winner.Layer != loser.Layer:
		return fmt.Sprintf("the %s layer has precedence", winner.Layer)
	case winner.Rank != loser.Rank:
		return fmt.Sprintf("another directory of the %s layer has precedence", winner.Layer)
	case winner.Pack != loser.Pack && winner.Pack != "" && winner.Scope == loser.Scope:
		return winner.Pack + " already uses the name"
	case winner.Scope != loser.Scope:
		return fmt.Sprintf("the %s's skills have precedence", winner.Scope)
	case winner.Priority != loser.Priority:
		return fmt.Sprintf("its priority %g is lower than %g", loser.Priority, winner.Priority)
	}
	return winner.Dir + " has precedence"
}

// warnAliased warns about packs' skills that have an alias because another pack has the name, unless the manifest chose
// the alias: that is a decision.
func (b *builder) warnAliased() {
	if b.profile.Qualify != "" {
		return
	}
	chosen := map[string][]pack.Alias{}
	for _, s := range b.catalog.skills {
		if s.Pack == "" || s.Name == s.base {
			continue
		}
		if w := b.catalog.availableSkill(s.base); w != nil && w.Pack != "" && w.Pack != s.Pack && w.base == s.base {
			aliases, read := chosen[s.Scope]
			if !read {
				aliases = b.manifestAliases(s.Scope)
				chosen[s.Scope] = aliases
			}
			if !slices.ContainsFunc(aliases, func(a pack.Alias) bool {
				return a.Alias == s.Name && a.Target() == s.Exact()
			}) {
				b.warnConflict(s.base, w, s, s.Name)
			}
		}
	}
}

// manifestAliases returns the aliases of a scope's manifest, none if it cannot be read. Only conflicts need it, so that
// other catalogs do not read the manifest.
func (b *builder) manifestAliases(scope string) []pack.Alias {
	for _, r := range b.catalog.roots {
		if !r.packs || r.scope != scope {
			continue
		}
		data, err := safefile.ReadIn(safefile.Dir(filepath.Dir(r.lock)), pack.ManifestName, maxManifest)
		if err != nil {
			continue
		}
		if m, err := pack.ParseManifest(pack.ManifestName, data); err == nil {
			return m.Aliases
		}
	}
	return nil
}

// warnConflict warns that two packs have skills of one name.
func (b *builder) warnConflict(name string, winner, loser *Skill, alias string) {
	qualified := loser.base + "@" + loser.Pack
	if alias != "" {
		qualified = alias + " or " + qualified
	}
	b.add(diag.Finding{
		Rule: RuleConflict, Severity: diag.SeverityWarning,
		Path: filepath.ToSlash(filepath.Join(loser.Dir, skill.File)),
		Message: fmt.Sprintf("%s and %s both contain a skill %q: the name refers to the skill of %[1]s; "+
			"the skill of %[2]s is available as %[4]s", winner.Pack, loser.Pack, name, qualified),
		Fix: "choose names under aliases in skillpm.yaml",
	})
}

// warnTooMany warns if there are more skills than a model distinguishes well.
func (b *builder) warnTooMany() {
	limit := b.catalog.options.Recommended
	if limit == 0 {
		limit = defaultRecommended
	}
	if n := len(b.catalog.skills); limit > 0 && n > limit {
		b.add(diag.Finding{
			Rule: ruleMany, Severity: diag.SeverityWarning,
			Message: fmt.Sprintf(
				"%d skills are available, more than the recommended %d: models choose less reliably among many skills",
				n, limit),
			Fix: `set skills.allowed, run "skillpm prompt --compact", or ` +
				"raise skills.recommended",
		})
	}
}
