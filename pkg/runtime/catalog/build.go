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
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// build makes the catalog from the trees: its skills, those available under the filters, and the owner of each name.
func (c *Catalog) build(ctx context.Context, now int64) {
	n := 0
	for _, t := range c.trees {
		n += t.records()
	}
	b := builder{
		catalog: c, profile: c.options.Profile, now: now, candidates: make([]candidate, 0, n),
		skills: make([]Skill, 0, n),
	}
	for i, r := range c.roots {
		b.addRoot(i, r, c.trees[i])
	}
	b.dropCopies(ctx)
	b.dropDuplicates()
	b.filter()
	b.resolvePrecedence()
	b.warnTooMany()
	slices.SortStableFunc(c.findings, diag.CompareFindings)
}

// candidate is a skill that was found, with what determines its precedence.
type candidate struct {
	entry Entry
	root  int // index of its root
	order int // in a root of packs, the order of its pack
	node  *node
	pack  *skill.Requirements // of its pack, nil for none
}

type builder struct {
	catalog    *Catalog
	profile    *profile.Profile
	now        int64
	candidates []candidate
	skills     []Skill // backing array of all skills
}

func (b *builder) add(f diag.Finding) { b.catalog.findings = append(b.catalog.findings, f) }

func (b *builder) addRoot(i int, r *root, t *tree) {
	for j := range t.dirs {
		if d := &t.dirs[j]; d.problem != "" {
			b.add(diag.Finding{
				Rule: ruleDirectory, Severity: diag.SeverityWarning,
				Path:    filepath.ToSlash(filepath.Join(r.dir, filepath.FromSlash(d.path))),
				Message: "cannot scan the directory completely: " + d.problem,
				Fix:     "make the directory readable, or move some of its content away",
			})
		}
	}
	if r.packs {
		b.reportLock(r, t)
		b.addAbsent(r, t)
	}
	for j := range t.dirs {
		d := &t.dirs[j]
		if !r.hasSkillsAt(d.depth()) {
			continue
		}
		d.dir = r.dir + string(filepath.Separator)
		if d.path != "" {
			d.dir += filepath.FromSlash(d.path) + string(filepath.Separator)
		}
		if !r.packs {
			b.addLocal(i, r, d)
			continue
		}
		b.addPack(i, r, t, d)
	}
}

// reportLock reports problems of the lockfile of a root of packs.
func (b *builder) reportLock(r *root, t *tree) {
	if t.records() == 0 {
		return
	}
	f := diag.Finding{Rule: ruleLock, Severity: diag.SeverityWarning, Path: filepath.ToSlash(r.lock)}
	switch {
	case !t.lock.exists:
		f.Message, f.Fix = "the lockfile is missing: skillpm resolves name conflicts by the order of the packs",
			`run "skillpm install"`
	case t.lock.problem != "":
		f.Message, f.Fix = "cannot read the lockfile: "+t.lock.problem+
			"; skillpm resolves name conflicts by the order of the packs",
			`restore the lockfile, or run "skillpm install"`
	default:
		return
	}
	b.add(f)
}

// addAbsent collects the skills that the lockfile of a root names and the root does not have, and reports their packs.
func (b *builder) addAbsent(r *root, t *tree) {
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
		reported := false
		for name := range strings.SplitSeq(strings.TrimSuffix(p.skills, "/"), "/") {
			if name == "" || d != nil && d.has(name) {
				continue
			}
			absent := b.newAbsent(t, p, name)
			b.catalog.absent = append(b.catalog.absent, absent)
			if absent.denial == nil && !reported {
				packs, reported = append(packs, strings.TrimSpace(p.id+" "+p.version)), true
			}
		}
	}
	if len(packs) == 0 {
		return
	}
	list := textx.FirstAndMore(packs, 5)
	b.add(diag.Finding{
		Rule: ruleLock, Severity: diag.SeverityWarning, Path: filepath.ToSlash(r.lock),
		Message: "locked but not completely installed: " + list, Fix: `run "skillpm install"`,
	})
}

// newAbsent returns a skill of a pack that is locked but not installed.
func (b *builder) newAbsent(t *tree, p lockedPack, name string) absentSkill {
	a := absentSkill{base: name, name: name, pack: p.id, version: p.version}
	if n, ok := t.lock.name(name); ok {
		if alias := n.alias(p.id); alias != "" {
			a.name = alias
		}
	}
	if deny := b.catalog.options.DenyNames; deny != nil {
		a.denial = deny([]string{name, a.name}, p.id)
	}
	return a
}

// addLocal adds the local skills of a directory.
func (b *builder) addLocal(i int, r *root, d *branch) {
	for j := range d.nodes {
		if n := &d.nodes[j]; n.record != nil {
			b.addSkill(i, r, d, n)
		}
	}
}

func (b *builder) addSkill(i int, r *root, d *branch, n *node) *candidate {
	rec := n.record
	b.skills = append(b.skills, Skill{
		Declared: rec.name, Description: rec.description, WhenToUse: rec.when, Dir: d.dir + n.name,
		Layer: r.layer, Scope: r.scope, Rank: r.rank, Tags: rec.tags, Priority: rec.priority,
		UserInvocable: rec.flags&userOff == 0, ModelInvocable: rec.flags&modelOff == 0, Fork: rec.flags&forks != 0,
		Agent: cmp.Or(rec.agent, b.profile.Defaults["agent"]), Model: rec.model,
		AllowedTools: rec.allowedTools(), Toolsets: rec.toolsets,
		ArgumentHint: rec.hint, Agents: rec.agents, Tenants: rec.tenants, Environments: rec.environments,
		base: n.name, real: n.target, stamp: n.stat, stable: n.stable,
	})
	s := &b.skills[len(b.skills)-1]
	b.candidates = append(b.candidates, candidate{entry: Entry{Skill: s, State: Available}, root: i, node: n})
	c := &b.candidates[len(b.candidates)-1]
	c.entry.Reason = applyProfile(s, rec, b.profile)
	if c.entry.Reason != "" {
		c.entry.State, c.entry.fix = Skipped, validateHint(s.Dir)
	}
	b.reportSkill(s, rec, c.entry.Reason)
	return c
}

// applyProfile sets the name and the description by the profile's rules. It returns why the skill is skipped, "" if it
// is not.
func applyProfile(s *Skill, rec *record, p *profile.Profile) string {
	s.Name = rec.name
	if !isValidName(rec.name) || p.Names == "directory" {
		s.Name = s.base
	}
	if s.Description == "" && p.Defaults["description"] == "first-paragraph" {
		s.Description = rec.paragraph
	}
	switch {
	case rec.fatal != "":
		return rec.fatal
	case !isValidName(s.Name):
		return fmt.Sprintf("neither its name nor its directory's name, %q, is valid", cut(s.base, maxShort))
	}
	for _, field := range p.Require {
		if lacksField(s, field) {
			return field + " is missing"
		}
	}
	return ""
}

// lacksField reports whether a skill lacks a field that a profile requires.
func lacksField(s *Skill, field string) bool {
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

// maxName is the maximum length of a name in bytes. Agents allow far less.
const maxName = 200

// isValidName reports whether a name can be looked up: it has no character that separates name@owner/name or a path.
func isValidName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ', c == 0x7f, c == '@', c == '/', c == '\\':
			return false
		case c >= 0x80:
			return !strings.ContainsFunc(name, func(r rune) bool {
				return r == unicode.ReplacementChar ||
					!unicode.IsPrint(r)
			}) &&
				!strings.ContainsAny(name, "@/\\")
		}
	}
	return true
}

// reportSkill reports the problems of one skill.
func (b *builder) reportSkill(s *Skill, rec *record, skipped string) {
	if skipped == "" && len(rec.problems) == 0 && (rec.name == s.base || rec.name == "") && skill.LegalName(s.base) {
		return
	}
	path := filepath.ToSlash(filepath.Join(s.Dir, skill.File))
	if skipped != "" {
		f := diag.Finding{
			Severity: diag.SeverityError, Path: path, Line: rec.line,
			Message: "skillpm skips the skill: " + skipped,
		}
		switch {
		case strings.HasSuffix(skipped, " is missing"):
			f.Rule, f.Line, f.Fix = ruleRequired, 1,
				"add "+strings.TrimSuffix(skipped, " is missing")+": to the frontmatter"
			if rec.flags&noFrontmatter != 0 {
				f.Fix = "start the file with ---, then " + strings.Join(b.profile.Require, ": and ") + ":, then --- again"
			}
		case rec.line > 0:
			f.Rule, f.Fix = ruleFront, "show the problem and its fix with: skillpm validate"
		default:
			f.Rule, f.Fix = ruleFile, "create SKILL.md as a regular file, or remove the directory"
			switch {
			case rec.fatal == wrongCase:
				f.Fix = "rename the file to SKILL.md"
			case strings.Contains(rec.fatal, "permission"):
				f.Fix = "make SKILL.md readable, or remove the directory"
			}
		}
		b.add(f)
	}
	for _, p := range rec.problems {
		b.add(diag.Finding{
			Rule: p.rule, Severity: p.severity, Path: path, Line: p.line, Message: p.message,
			Fix: p.fix,
		})
	}
	if skipped != "" {
		return
	}
	name := diag.Finding{
		Rule: ruleName, Severity: diag.SeverityWarning, Path: path, Line: 1,
		Fix: "use at most 64 lowercase letters, digits, and single hyphens",
	}
	switch {
	case rec.name == "" && skill.LegalName(s.base):
		return
	case rec.name == "":
		name.Message = fmt.Sprintf("the name is missing, and the directory's name is invalid: %v", skill.CheckName(s.base))
	case b.profile.Names == "directory" && skill.LegalName(s.base):
		return
	case !isValidName(rec.name):
		name.Message = fmt.Sprintf("invalid name %q: skillpm uses the name of the directory, %s",
			cut(rec.name, maxName), s.base)
	case !skill.LegalName(rec.name):
		name.Message = skill.CheckName(rec.name).Error()
	case b.profile.NameIsDirectory != nil && rec.name != s.base:
		name.Message, name.Fix = fmt.Sprintf("the name %s differs from the directory's name, %s", rec.name, s.base),
			"rename the skill or its directory"
	default:
		return
	}
	b.add(name)
}

func (b *builder) addPack(i int, r *root, t *tree, d *branch) {
	locked, ok := t.lock.pack(d.path)
	order := 1 // in the lockfile
	if !ok {
		order = 2 // not in the lockfile
	}
	explained := ok || !t.lock.exists || t.lock.problem != ""
	for j := range d.nodes {
		n := &d.nodes[j]
		if n.record == nil {
			continue
		}
		c := b.addSkill(i, r, d, n)
		s := c.entry.Skill
		s.Pack, s.Version, s.PackSource = d.path, locked.version, locked.source
		s.claim, s.tree = locked.claim, locked.tree(n.name)
		c.order, c.pack = order, locked.requires
		if n.link { // a linked working copy
			s.PackSource, s.claim, s.tree = "path", pack.LinkedClaim(d.path, n.target), ""
		}
		if !ok && n.link {
			c.order = 0 // it has the precedence of the pack installed last
			explained = true
		}
		if c.entry.State == Available {
			b.setName(c, t)
		}
	}
	if !explained && len(d.nodes) > 0 {
		b.add(diag.Finding{
			Rule: ruleLock, Severity: diag.SeverityWarning,
			Path:    filepath.ToSlash(filepath.Join(r.dir, filepath.FromSlash(d.path))),
			Message: "the pack is not in the lockfile", Fix: `run "skillpm install"`,
		})
	}
}

// setName sets the name under which a pack's skill is available.
func (b *builder) setName(c *candidate, t *tree) {
	s := c.entry.Skill
	if n, ok := t.lock.name(s.base); ok {
		if alias := n.alias(s.Pack); isValidName(alias) {
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
