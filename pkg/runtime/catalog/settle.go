package catalog

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// settle makes the catalog of what the roots hold: which skills there are, whom they are for, who has which name.
func (c *Catalog) settle(ctx context.Context, now int64) {
	n := 0
	for _, t := range c.trees {
		n += t.records()
	}
	b := builder{catalog: c, profile: c.options.Profile, now: now, found: make([]candidate, 0, n), skills: make([]Skill, 0, n)}
	for i, r := range c.roots {
		b.root(i, r, c.trees[i])
	}
	b.copies(ctx)
	b.doubles()
	b.filter()
	b.override()
	b.recommended()
	slices.SortStableFunc(c.findings, diag.CompareFindings)
}

// candidate is a skill that was found, and what decides how strong it is.
type candidate struct {
	entry Entry
	root  int // its place among the roots
	order int // inside a root of packs: that of its pack
	node  *node
}

// builder makes the entries of a catalog.
type builder struct {
	catalog *Catalog
	profile *profile.Profile
	now     int64
	found   []candidate
	skills  []Skill // room for all
}

func (b *builder) add(f diag.Finding) { b.catalog.findings = append(b.catalog.findings, f) }

// root adds the skills of one root.
func (b *builder) root(i int, r *root, t *tree) {
	for j := range t.dirs {
		if d := &t.dirs[j]; d.problem != "" {
			b.add(diag.Finding{
				Rule: rulePlace, Severity: diag.SeverityWarning, Path: filepath.ToSlash(filepath.Join(r.dir, filepath.FromSlash(d.path))),
				Message: "the directory is not looked at in whole: " + d.problem, Fix: "give read permission, or move what is in it",
			})
		}
	}
	if r.packs {
		b.lockProblems(r, t)
		b.missing(r, t)
	}
	for j := range t.dirs {
		d := &t.dirs[j]
		if !r.holds(d.depth()) {
			continue
		}
		d.dir = r.dir + string(filepath.Separator)
		if d.path != "" {
			d.dir += filepath.FromSlash(d.path) + string(filepath.Separator)
		}
		if !r.packs {
			b.handWritten(i, r, d)
			continue
		}
		b.pack(i, r, t, d)
	}
}

// lockProblems tells what is wrong with the lock of a root of packs.
func (b *builder) lockProblems(r *root, t *tree) {
	if t.records() == 0 {
		return
	}
	f := diag.Finding{Rule: ruleLock, Severity: diag.SeverityWarning, Path: filepath.ToSlash(r.lock)}
	switch {
	case !t.lock.there:
		f.Message, f.Fix = "there is no lock beside the installed packs: names are settled by the packs' order", "run skillpm install"
	case t.lock.problem != "":
		f.Message, f.Fix = "names are settled by the packs' order, as the lock cannot be read: "+t.lock.problem, "restore the lock, or run skillpm install"
	default:
		return
	}
	b.add(f)
}

// missing notes which skills the lock of a root names and the root does not have, and tells of their packs.
func (b *builder) missing(r *root, t *tree) {
	dirs := map[string]*branch{}
	for i := range t.dirs {
		if d := &t.dirs[i]; d.depth() == r.depth()-1 {
			dirs[d.path] = d
		}
	}
	var packs []string
	for _, p := range t.lock.packs {
		d := dirs[p.id]
		if d != nil && d.records() == strings.Count(p.skills, "/") {
			continue
		}
		said := false
		for name := range strings.SplitSeq(strings.TrimSuffix(p.skills, "/"), "/") {
			if name == "" || d != nil && d.has(name) {
				continue
			}
			b.catalog.absent = append(b.catalog.absent, b.absent(t, p, name))
			if !said {
				packs, said = append(packs, strings.TrimSpace(p.id+" "+p.version)), true
			}
		}
	}
	if len(packs) == 0 {
		return
	}
	const most = 5
	list := strings.Join(packs[:min(most, len(packs))], ", ")
	if len(packs) > most {
		list += fmt.Sprintf(" and %d more", len(packs)-most)
	}
	b.add(diag.Finding{
		Rule: ruleLock, Severity: diag.SeverityWarning, Path: filepath.ToSlash(r.lock),
		Message: list + ": locked and not installed, or not in whole", Fix: "run skillpm install",
	})
}

// absent returns a skill of a pack that is locked and not installed.
func (b *builder) absent(t *tree, p lockedPack, name string) absent {
	a := absent{base: name, name: name, pack: p.id, version: p.version}
	if n, ok := t.lock.name(name); ok {
		if alias := n.alias(p.id); alias != "" {
			a.name = alias
		}
	}
	return a
}

// handWritten adds the skills of a directory of hand-written ones.
func (b *builder) handWritten(i int, r *root, d *branch) {
	for j := range d.nodes {
		if n := &d.nodes[j]; n.record != nil {
			b.skill(i, r, d, n)
		}
	}
}

// skill adds one skill, and returns it.
func (b *builder) skill(i int, r *root, d *branch, n *node) *candidate {
	rec := n.record
	b.skills = append(b.skills, Skill{
		Declared: rec.name, Description: rec.description, WhenToUse: rec.when, Dir: d.dir + n.name,
		Layer: r.layer, Scope: r.scope, Rank: r.rank, Tags: rec.tags, Priority: rec.priority,
		UserInvocable: rec.flags&userOff == 0, ModelInvocable: rec.flags&modelOff == 0, Fork: rec.flags&forks != 0, Agent: rec.agent,
		ArgumentHint: rec.hint, Agents: rec.agents, Tenants: rec.tenants, Environments: rec.environments,
		base: n.name, real: n.target,
	})
	s := &b.skills[len(b.skills)-1]
	b.found = append(b.found, candidate{entry: Entry{Skill: s, State: InForce}, root: i, node: n})
	c := &b.found[len(b.found)-1]
	c.entry.Reason = complete(s, rec, b.profile)
	if c.entry.Reason != "" {
		c.entry.State = Skipped
	}
	b.problems(s, rec, c.entry.Reason)
	return c
}

// complete gives a skill the name and the description that the profile means, and returns why it is skipped, "" where
// it is not.
func complete(s *Skill, rec *record, p *profile.Profile) string {
	s.Name = rec.name
	if !usable(rec.name) {
		s.Name = s.base
	}
	if s.Description == "" && p.Defaults["description"] == "first-paragraph" {
		s.Description = rec.paragraph
	}
	switch {
	case rec.fatal != "":
		return rec.fatal
	case !usable(s.Name):
		return fmt.Sprintf("neither its name nor that of its directory, %q, can be used", cut(s.base, maxShort))
	}
	for _, field := range p.Require {
		if missing(s, field) {
			return field + " is missing"
		}
	}
	return ""
}

// missing reports whether a skill lacks what a profile requires.
func missing(s *Skill, field string) bool {
	switch field {
	case "name":
		return s.Declared == ""
	case "description":
		return s.Description == ""
	case "when_to_use":
		return s.WhenToUse == ""
	case "argument-hint":
		return s.ArgumentHint == ""
	case "agent":
		return s.Agent == ""
	case "tags":
		return len(s.Tags) == 0
	}
	return false
}

// maxName is the longest name that is used, in bytes. What hosts allow is far shorter.
const maxName = 200

// usable reports whether a name can be asked for: it has nothing in it that name@owner/name or a path is written with.
func usable(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ', c == 0x7f, c == '@', c == '/', c == '\\':
			return false
		case c >= 0x80:
			return !strings.ContainsFunc(name, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) &&
				!strings.ContainsAny(name, "@/\\")
		}
	}
	return true
}

// problems tells what is wrong with one skill.
func (b *builder) problems(s *Skill, rec *record, skipped string) {
	if skipped == "" && len(rec.problems) == 0 && (rec.name == s.base || rec.name == "") && skill.LegalName(s.base) {
		return
	}
	path := filepath.ToSlash(filepath.Join(s.Dir, skill.File))
	if skipped != "" {
		f := diag.Finding{Severity: diag.SeverityError, Path: path, Line: rec.line, Message: "the skill is skipped: " + skipped}
		switch {
		case strings.HasSuffix(skipped, " is missing"):
			f.Rule, f.Line, f.Fix = ruleRequired, 1, "add "+strings.TrimSuffix(skipped, " is missing")+": to the frontmatter"
			if rec.flags&bare != 0 {
				f.Fix = "begin the file with a frontmatter: a line ---, " + strings.Join(b.profile.Require, ": and ") + ":, and again ---"
			}
		case rec.line > 0:
			f.Rule, f.Fix = ruleFront, "skillpm validate says how to mend it"
		default:
			f.Rule, f.Fix = ruleFile, "put a regular file there, or remove the directory"
			switch {
			case rec.fatal == wrongCase:
				f.Fix = "rename the file"
			case strings.Contains(rec.fatal, "permission"):
				f.Fix = "give read permission, or remove the directory"
			}
		}
		b.add(f)
	}
	for _, p := range rec.problems {
		b.add(diag.Finding{Rule: p.rule, Severity: p.severity, Path: path, Line: p.line, Message: p.message, Fix: p.fix})
	}
	if skipped != "" {
		return
	}
	name := diag.Finding{
		Rule: ruleName, Severity: diag.SeverityWarning, Path: path, Line: 1,
		Fix: "give it one of lower-case letters, digits and single hyphens, 64 at most",
	}
	switch {
	case rec.name == "" && skill.LegalName(s.base):
		return
	case rec.name == "":
		name.Message = fmt.Sprintf("there is no name, and the directory's is none: %v", skill.CheckName(s.base))
	case !usable(rec.name):
		name.Message = fmt.Sprintf("the name %q cannot be used: the skill goes by its directory's, %s", cut(rec.name, maxName), s.base)
	case !skill.LegalName(rec.name):
		name.Message = skill.CheckName(rec.name).Error()
	case b.profile.NameIsDirectory != nil && rec.name != s.base:
		name.Message, name.Fix = fmt.Sprintf("the name %s is not that of the directory, %s", rec.name, s.base), "rename one of the two"
	default:
		return
	}
	b.add(name)
}

// pack adds the skills of one installed pack.
func (b *builder) pack(i int, r *root, t *tree, d *branch) {
	locked, ok := t.lock.pack(d.path)
	order := 1 // as the lock has it
	if !ok {
		order = 2 // nobody says how strong it is
	}
	told := ok || !t.lock.there || t.lock.problem != ""
	for j := range d.nodes {
		n := &d.nodes[j]
		if n.record == nil {
			continue
		}
		c := b.skill(i, r, d, n)
		s := c.entry.Skill
		s.Pack, s.Version, s.From = d.path, locked.version, locked.source
		c.order = order
		if !ok && n.link {
			c.order = 0 // it is being worked on: as if it had been installed last
			s.From = "path"
			told = true
		}
		if c.entry.State == InForce {
			b.named(c, t)
		}
	}
	if !told && len(d.nodes) > 0 {
		b.add(diag.Finding{
			Rule: ruleLock, Severity: diag.SeverityWarning, Path: filepath.ToSlash(filepath.Join(r.dir, filepath.FromSlash(d.path))),
			Message: "the lock does not have this pack", Fix: "run skillpm install",
		})
	}
}

// named gives a pack's skill the name under which it is in force.
func (b *builder) named(c *candidate, t *tree) {
	s := c.entry.Skill
	if n, ok := t.lock.name(s.base); ok {
		if alias := n.alias(s.Pack); usable(alias) {
			s.alias = alias
		}
	}
	if q := b.profile.Qualify; q != "" {
		owner, name, _ := strings.Cut(s.Pack, "/")
		s.Name = strings.NewReplacer("{owner}", owner, "{pack}", name, "{name}", s.base).Replace(q)
		return
	}
	s.Name = s.base
	if s.alias != "" {
		s.Name = s.alias
	}
}

// drop leaves out candidates, as if they had not been found.
func (b *builder) drop(out func(*candidate) bool) {
	left := make([]candidate, 0, len(b.found)) // others may point to the old ones
	gone := map[string]bool{}
	for i := range b.found {
		if c := &b.found[i]; out(c) {
			gone[filepath.ToSlash(c.entry.Path())] = true
		} else {
			left = append(left, *c)
		}
	}
	b.found = left
	if len(gone) > 0 {
		b.catalog.findings = slices.DeleteFunc(b.catalog.findings, func(f diag.Finding) bool { return gone[f.Path] })
	}
}

// doubles drops the entries that lead to the directory of a stronger one.
func (b *builder) doubles() {
	linked := map[string]bool{} // what links lead to
	for i := range b.found {
		if real := b.found[i].entry.real; real != "" {
			linked[real] = true
		}
	}
	if len(linked) == 0 {
		return
	}
	slices.SortStableFunc(b.found, func(x, y candidate) int { return b.compareStrength(&x, &y) })
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

// filter leaves out what is not for whom skills are wanted.
func (b *builder) filter() {
	o := &b.catalog.options
	untrusted, problem := false, error(nil)
	if o.Project != "" && (o.RequireTrust || o.Profile.TrustedProjects) {
		var trusted bool
		trusted, problem = o.trusts(o.Project)
		untrusted = !trusted
	}
	n := 0
	for i := range b.found {
		e := &b.found[i].entry
		if e.State != InForce {
			continue
		}
		switch {
		case untrusted && e.Scope == ScopeProject:
			n++
			e.Reason, e.denied, e.fix = "the project is not trusted", true, "skillpm skills --all lists what it brings; skillpm trust trusts it"
		case len(o.Allowed) > 0 && !allowed(o.Allowed, e.Skill):
			e.Reason = "it is not among skills.allowed"
		default:
			e.Reason = outOfScope(e.Skill, o)
		}
		if e.Reason == "" && o.Deny != nil {
			if err := o.Deny(e.Skill); err != nil {
				e.Reason, e.denied, e.fix = err.Error(), true, diag.HintOf(err)
			}
		}
		if e.Reason != "" {
			e.State = Excluded
		}
	}
	if n > 0 {
		left := "a skill is"
		if n > 1 {
			left = fmt.Sprintf("%d skills are", n)
		}
		f := diag.Finding{
			Rule: ruleTrust, Severity: diag.SeverityWarning, Path: filepath.ToSlash(o.Project),
			Message: left + " left out: the project is not trusted", Fix: "look at them, then run skillpm trust",
		}
		if problem != nil {
			f.Message, f.Fix = left+" left out: "+problem.Error(), diag.HintOf(problem)
		}
		b.add(f)
	}
}

// trusts reports whether a project is trusted.
func (o *Options) trusts(project string) (bool, error) {
	if o.Trusted != nil && o.Trusted(project) {
		return true, nil
	}
	return TrustedFolders(o.Paths).Has(project)
}

// allowed reports whether an allowlist has a skill.
func allowed(list []string, s *Skill) bool {
	for _, name := range list {
		if name == s.Name || s.Pack != "" && name == s.base+"@"+s.Pack {
			return true
		}
	}
	return false
}

// outOfScope returns why a skill is not for whom skills are wanted, "" if it is.
func outOfScope(s *Skill, o *Options) string {
	for _, f := range []struct {
		list         []string
		value, thing string
	}{{s.Agents, o.Agent, "agent type"}, {s.Tenants, o.Tenant, "tenant"}, {s.Environments, o.Environment, "environment"}} {
		switch {
		case len(f.list) == 0 || slices.Contains(f.list, f.value):
		case f.value == "":
			return fmt.Sprintf("it is only for %s %s, and none is given", f.thing, strings.Join(f.list, ", "))
		default:
			return fmt.Sprintf("it is only for %s %s, not %s", f.thing, strings.Join(f.list, ", "), f.value)
		}
	}
	return ""
}

// compareStrength orders the stronger of two skills first.
func (b *builder) compareStrength(x, y *candidate) int {
	s, t := x.entry.Skill, y.entry.Skill
	rx, ry := b.catalog.roots[x.root], b.catalog.roots[y.root]
	if d := cmp.Or(cmp.Compare(s.Rank, t.Rank), cmp.Compare(rx.group, ry.group)); d != 0 {
		return d
	}
	if s.Pack != t.Pack {
		return cmp.Or(cmp.Compare(x.order, y.order), cmp.Compare(s.Pack, t.Pack))
	}
	return cmp.Or(comparePriority(s.Priority, t.Priority), cmp.Compare(x.root, y.root), cmp.Compare(s.base, t.base), cmp.Compare(len(s.Dir), len(t.Dir)), cmp.Compare(s.Dir, t.Dir))
}

// override settles who has each name.
func (b *builder) override() {
	sorted := make([]*candidate, len(b.found))
	for i := range b.found {
		sorted[i] = &b.found[i]
	}
	slices.SortFunc(sorted, func(x, y *candidate) int {
		if d := cmp.Or(strings.Compare(x.entry.Name, y.entry.Name), cmp.Compare(weight(x.entry.State), weight(y.entry.State))); d != 0 {
			return d
		}
		return b.compareStrength(x, y)
	})
	c := b.catalog
	c.entries = make([]Entry, len(sorted))
	c.skills = make([]*Skill, 0, len(sorted))
	var winner *Skill
	for i := range sorted {
		e := &c.entries[i]
		*e = sorted[i].entry
		switch {
		case e.State != InForce:
		case winner == nil || winner.Name != e.Name:
			winner = e.Skill
			c.skills = append(c.skills, e.Skill)
		default:
			e.State, e.By = Shadowed, winner
			e.Reason = b.reason(winner, e.Skill)
			if winner.Pack != "" && e.Pack != "" && winner.Pack != e.Pack {
				b.conflict(e.Name, winner, e.Skill, "")
			}
		}
	}
	b.aliased()
}

// weight orders the states of entries with one name.
func weight(s State) int {
	switch s {
	case InForce:
		return 0
	case Excluded:
		return 1
	}
	return 2
}

// reason returns why one skill is stronger than another.
func (b *builder) reason(winner, loser *Skill) string {
	switch {
	case winner.Rank != loser.Rank && winner.Layer != loser.Layer:
		return fmt.Sprintf("the %s layer is stronger", winner.Layer)
	case winner.Rank != loser.Rank:
		return fmt.Sprintf("another place of the %s layer is stronger", winner.Layer)
	case winner.Pack != loser.Pack && winner.Pack != "" && winner.Scope == loser.Scope:
		return winner.Pack + " has the name"
	case winner.Scope != loser.Scope:
		return fmt.Sprintf("the %s's skills are stronger", winner.Scope)
	case winner.Priority != loser.Priority:
		return fmt.Sprintf("its priority is %g, that of the stronger %g", loser.Priority, winner.Priority)
	}
	return winner.Dir + " comes first"
}

// aliased warns of packs whose skill is known under an alias because another pack has the name.
func (b *builder) aliased() {
	if b.profile.Qualify != "" {
		return
	}
	for _, s := range b.catalog.skills {
		if s.Pack == "" || s.Name == s.base {
			continue
		}
		if w := b.catalog.named(s.base); w != nil && w.Pack != "" && w.Pack != s.Pack && w.base == s.base {
			b.conflict(s.base, w, s, s.Name)
		}
	}
}

// conflict warns that two packs have skills of one name.
func (b *builder) conflict(name string, winner, loser *Skill, alias string) {
	as := loser.base + "@" + loser.Pack
	if alias != "" {
		as = alias + " or " + as
	}
	b.add(diag.Finding{
		Rule: RuleConflict, Severity: diag.SeverityWarning, Path: filepath.ToSlash(filepath.Join(loser.Dir, skill.File)),
		Message: fmt.Sprintf("%s and %s both have a skill %s: the name means %s's, the other is %s", winner.Pack, loser.Pack, name, winner.Pack, as),
		Fix:     "choose names with aliases: in skillpm.yaml",
	})
}

// recommended warns of more skills than a model can tell apart.
func (b *builder) recommended() {
	limit := b.catalog.options.Recommended
	if limit == 0 {
		limit = DefaultRecommended
	}
	if n := len(b.catalog.skills); limit > 0 && n > limit {
		b.add(diag.Finding{
			Rule: ruleMany, Severity: diag.SeverityWarning,
			Message: fmt.Sprintf("%d skills are in force, more than the recommended %d: models choose worse among many", n, limit),
			Fix:     "narrow them with skills.allowed, tell models of them with skillpm prompt --compact, or raise skills.recommended",
		})
	}
}
