package lint

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/lint/internal/similar"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// groupByPack returns the skills of each pack, which are those below one skillpm.yaml, and, outside of packs, of each
// collection.
func groupByPack(units []*skillCheck) [][]*skillCheck {
	dirs, groups := map[string]string{}, map[string]int{}
	var packs [][]*skillCheck
	for _, u := range units {
		u.packDir = u.findPackDir(dirs)
		group := cmp.Or(u.packDir, collection(u.dir))
		i, ok := groups[group]
		if !ok {
			i = len(packs)
			groups[group] = i
			packs = append(packs, nil)
		}
		packs[i] = append(packs[i], u)
	}
	return packs
}

// collection returns the nearest directory called skills that a skill is in, from which users install skills together, or
// "". The skills of other plugins, agents, and repositories in the same tree may have the same names.
func collection(dir string) string {
	for parent := path.Dir(dir); parent != "." && parent != "/"; parent = path.Dir(parent) {
		if path.Base(parent) == "skills" {
			return parent
		}
	}
	return ""
}

func compareNames(units []*skillCheck) {
	names, near := map[string]*skillCheck{}, map[string]*skillCheck{}
	for _, u := range units {
		if u.name.text == "" {
			continue
		}
		squashed := similar.Squash(u.name.text)
		switch first, other := names[u.name.text], near[squashed]; {
		case first != nil && mirrored(first, u):
			continue
		case first != nil:
			u.reportSameName(first)
		case other != nil:
			u.atExcerpt(u.name, finding{
				rule: rule.NearName, related: []string{other.file},
				message: fmt.Sprintf("the name %q is almost the same as the name in %s", u.name.text, u.l.show(other.file)),
			})
		}
		names[u.name.text] = cmp.Or(names[u.name.text], u)
		near[squashed] = cmp.Or(near[squashed], u)
	}
}

// mirrored reports whether two skills are one that is in the directories of two agents, as .claude/skills and
// .agents/skills.
func mirrored(a, b *skillCheck) bool {
	return a.name.text == b.name.text && a.description.text == b.description.text && agentDir(a.dir) != agentDir(b.dir)
}

// agentDir returns the first hidden directory of a path, which agents' are, or "".
func agentDir(dir string) string {
	for part := range strings.SplitSeq(dir, "/") {
		if strings.HasPrefix(part, ".") {
			return part
		}
	}
	return ""
}

func compareDescriptions(units []*skillCheck) {
	first := map[string]*skillCheck{}
	var texts []string
	var of []*skillCheck
	for _, u := range units {
		text := u.description.text
		switch other := first[text]; {
		case text == "":
		case other == nil:
			first[text] = u
			texts, of = append(texts, text), append(of, u)
		case other.name.text != u.name.text:
			u.reportSameDescription(other)
		}
	}
	for _, m := range similar.Matches(texts, similar.Threshold) {
		u, other := of[m.Text], of[m.Of]
		if u.name.text != other.name.text && !similar.Distinguishable(u.name.text, u.description.text, other.name.text,
			other.description.text) {
			u.atExcerpt(u.description, finding{
				rule: rule.NearDescription, related: []string{other.file},
				message: "the description is almost the same as the description in " + u.l.show(other.file),
			})
		}
	}
}

// findPackDir returns the nearest directory at or above a skill that holds a skillpm.yaml, or "".
func (u *skillCheck) findPackDir(cache map[string]string) string {
	var passed []string
	found := ""
	for dir := u.dir; ; dir = path.Dir(dir) {
		if at, ok := cache[dir]; ok {
			found = at
			break
		}
		passed = append(passed, dir)
		has, listed := u.l.listed[dir]
		if !listed {
			_, err := fs.Stat(u.l.fsys, path.Join(dir, pack.ManifestName))
			has = err == nil
		}
		if has {
			found = dir
			break
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	for _, dir := range passed {
		cache[dir] = found
	}
	return found
}

func (u *skillCheck) reportSameName(first *skillCheck) {
	f := finding{
		rule: rule.SameName, related: []string{first.file},
		message: fmt.Sprintf("the skill in %s already has the name %q", u.l.show(first.file), u.name.text),
	}
	if u.packDir == "" {
		f.severity = new(diag.SeverityWarning)
	}
	u.atExcerpt(u.name, f)
}

func (u *skillCheck) reportSameDescription(first *skillCheck) {
	u.atExcerpt(u.description, finding{
		rule: rule.SameDescribe, related: []string{first.file},
		message: "the description is the same as the description in " + u.l.show(first.file),
	})
}

// packFile is a file that describes packs.
type packFile struct {
	kind packKind
	name string
}

// checkPackFiles checks the files that describe packs, beside the skills that were checked.
func (l *lintRun) checkPackFiles(units []*skillCheck) []*packDoc {
	return l.packDocs(l.packFiles, func(dir string) func(word string) bool {
		var own []*skillCheck
		for _, u := range units {
			if u.packDir == dir {
				own = append(own, u)
			}
		}
		if len(own) == 0 {
			return nil
		}
		return (&packText{l: l, skills: own}).contains
	})
}

// packText is the text of a pack's skills, which is read when it is first needed: only packs with dependencies need it.
type packText struct {
	l      *lintRun
	skills []*skillCheck
	files  [][]byte
}

// readSkill reads the files of a skill; unreadable ones are left out.
func (t *packText) readSkill(dir string) {
	_ = fs.WalkDir(t.l.fsys, dir, func(name string, e fs.DirEntry, err error) error { // it returns no other error
		switch {
		case err != nil || e.IsDir() && name != dir && skill.SkipDir(e.Name()):
			return fs.SkipDir
		case e.Type().IsRegular():
			if data, err := readHead(t.l.fsys, name, maxText); err == nil {
				t.files = append(t.files, data)
			}
		}
		return nil
	})
}

// contains reports whether a word is in a file of the skills.
func (t *packText) contains(word string) bool {
	if t.files == nil {
		t.files = [][]byte{}
		for _, u := range t.skills {
			t.readSkill(u.dir)
		}
	}
	for _, data := range t.files {
		if findWord(data, word, func(next byte) bool {
			return !wordByte(next) ||
				strings.ContainsRune("@/", rune(next))
		}) {
			return true
		}
	}
	return false
}

// checkPacks checks manifests and locks against each other. It reads the missing half of a pair for that.
func (l *lintRun) checkPacks(docs []*packDoc, mentions func(dir string) func(word string) bool) {
	manifests, locks := manifestsByDir{}, map[string]*packDoc{}
	for _, d := range docs {
		if d.manifest != nil {
			manifests[path.Dir(d.name)] = d
		} else if d.lock != nil {
			locks[path.Dir(d.name)] = d
		}
	}
	if mentions == nil {
		mentions = func(string) func(string) bool { return nil }
	}
	for _, d := range docs {
		dir := path.Dir(d.name)
		switch {
		case d.lock != nil && manifests[dir] == nil:
			if m := l.readSibling(packManifest, path.Join(dir, pack.ManifestName)); m != nil && m.manifest != nil {
				d.compare(m, d)
			}
		case d.manifest != nil:
			d.checkWithLock(locks[dir], mentions(dir))
		}
	}
	l.reportPackCycles(manifests)
}

// checkWithLock checks a manifest together with the lock beside it.
func (d *packDoc) checkWithLock(lock *packDoc, mentions func(word string) bool) {
	collects := lock
	if lock == nil {
		lock, collects = d.l.readSibling(packLock, path.Join(path.Dir(d.name), pack.LockName)), d
	}
	if lock != nil && lock.lock == nil {
		lock = nil
	}
	if lock != nil {
		collects.compare(d, lock)
	}
	d.checkDeclaredIDs()
	if mentions != nil && !d.manifest.Name.IsZero() {
		d.checkUnusedDependencies(lock, mentions)
	}
}

// checkUnusedDependencies reports dependencies that the pack's skills do not mention, if the names of the dependencies'
// skills are known.
func (d *packDoc) checkUnusedDependencies(lock *packDoc, mentions func(word string) bool) {
	for _, dep := range d.manifest.Dependencies {
		names := d.skillsOf(dep, lock)
		if len(names) == 0 || mentions(dep.ID.String()) {
			continue
		}
		for _, a := range d.manifest.Aliases {
			if a.Pack == dep.ID {
				names = append(names, a.Alias)
			}
		}
		if slices.ContainsFunc(names, func(name string) bool {
			return mentions(name) || mentions(name+"@"+dep.ID.String())
		}) {
			continue
		}
		d.atKey(rule.UnusedDependency, fmt.Sprintf("no skill in the pack mentions %s or its skills", dep.ID), "",
			"dependencies", dep.ID.String())
	}
}

// skillsOf returns the names of the skills in a dependency, or nothing if they are unknown.
func (d *packDoc) skillsOf(dep pack.Dependency, lock *packDoc) []string {
	if len(dep.Skills) > 0 {
		return slices.Clone(dep.Skills)
	}
	if lock != nil && lock.lock.Packs[dep.ID] != nil {
		return slices.Sorted(maps.Keys(lock.lock.Packs[dep.ID].Skills))
	}
	p := d.packDir(dep)
	if p == nil {
		return nil
	}
	var names []string
	for _, s := range p.content.Skills {
		names = append(names, s.Name)
	}
	return names
}

// manifestsByDir are the manifests of a run, by their directories.
type manifestsByDir map[string]*packDoc

// packEdge is a dependency of one manifest of the run on another.
type packEdge struct {
	to  *packDoc
	dep pack.ID
}

// reportPackCycles reports cycles of packs that depend on each other. Of each strongly connected group it reports the
// shortest cycle through the first pack.
func (l *lintRun) reportPackCycles(packs manifestsByDir) {
	nodes := slices.SortedFunc(maps.Values(packs), func(a, b *packDoc) int { return strings.Compare(a.name, b.name) })
	g := graph[*packDoc, packEdge]{nodes, packEdges(packs), func(e packEdge) *packDoc { return e.to }}
	for _, chain := range g.shortestCycles() {
		first := chain[len(chain)-1].to
		names := []string{packName(first)}
		for _, e := range chain {
			names = append(names, packName(e.to))
		}
		first.atKey(rule.PackCycle, "dependency cycle: "+strings.Join(names, " → "), "",
			"dependencies", chain[0].dep.String())
	}
}

// packName returns what a manifest's pack is called, or where it is.
func packName(d *packDoc) string {
	if d.manifest.Name.IsZero() {
		return d.l.show(path.Dir(d.name))
	}
	return d.manifest.Name.String()
}

// packEdges returns the dependencies between the manifests of a run, in the order of the files. An ambiguous name is
// nobody's.
func packEdges(packs manifestsByDir) map[*packDoc][]packEdge {
	named := map[pack.ID]*packDoc{}
	for _, d := range packs {
		if _, twice := named[d.manifest.Name]; twice {
			named[d.manifest.Name] = nil
			continue
		}
		named[d.manifest.Name] = d
	}
	next := map[*packDoc][]packEdge{}
	for _, d := range packs {
		for _, dep := range d.manifest.Dependencies {
			to := named[dep.ID]
			if dep.Ref != nil {
				dir, ok := dependencyDir(d, dep)
				if to = packs[dir]; !ok {
					to = nil
				}
			}
			if to != nil {
				next[d] = append(next[d], packEdge{to, dep.ID})
			}
		}
	}
	return next
}

// lockCheck compares a lock with the manifest beside it, as `install --frozen` does, which fails on every finding. It
// leaves out what only the network can answer.
type lockCheck struct {
	*packDoc          // collects the findings
	m, k     *packDoc // of the manifest and of the lock
	differs  bool     // a directory is not as it is locked
}

// compare reports where a lock and a manifest disagree.
func (d *packDoc) compare(m, k *packDoc) {
	c := &lockCheck{packDoc: d, m: m, k: k}
	found := pack.Comparison{
		Manifest: m.manifest, Lock: k.lock, PartialManifest: !m.valid, PartialLock: !k.valid, Directory: c.directory,
	}.Differences()
	agree := m.valid && k.valid && !c.differs
	for _, one := range found {
		c.report(one)
		agree = agree && (one.Kind == pack.DiffAlias || one.Kind == pack.DiffInvalid)
	}
	if !agree {
		return
	}
	if one, ok := pack.CompareText(k.lock, k.src.data); ok {
		c.report(one)
	}
}

// report makes a finding of a difference. Rules have hints of their own; aliases have better ones.
func (c *lockCheck) report(one pack.Difference) {
	f := finding{rule: rule.LockDiffers, line: one.Line, column: one.Column, message: one.Message}
	switch one.Kind {
	case pack.DiffInvalid:
		f.rule = rule.Lock
	case pack.DiffAlias:
		f.rule, f.fix = rule.Alias, one.Hint
	case pack.DiffAliases:
		f.rule, f.fix, f.severity = rule.Alias, one.Hint, new(diag.SeverityError)
	}
	if one.File == pack.ManifestName {
		c.addAtWord(c.m.src, f)
	} else {
		c.addAtWord(c.k.src, f)
	}
}

// differ reports that a directory is not as it is locked, at a key of the pack's entry in the lock.
func (c *lockCheck) differ(id pack.ID, keys []string, message string) {
	c.differs = true
	keys = append([]string{"packs", id.String()}, keys...)
	f := finding{rule: rule.LockDiffers, message: message}
	for ; f.line == 0 && len(keys) > 0; keys = keys[:len(keys)-1] { // or what it would be in
		f.line, f.column = c.k.lock.Position(keys...)
	}
	c.addAtWord(c.k.src, f)
}
