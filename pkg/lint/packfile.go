package lint

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// The sizes in bytes to which files that describe packs are read: one more than their parsers accept, so that the
// parsers report it.
const (
	maxPackFile = 1<<20 + 1
	maxPackLock = 64<<20 + 1
)

// maxPackFindings is how many findings one file may have.
const maxPackFindings = 1000

// packDoc is the check of one file that describes packs.
type packDoc struct {
	collector
	packFile
	src      *source
	manifest *pack.Manifest // nil unless the file is a manifest of which something can be read
	lock     *pack.Lock     // the same of a lock
	valid    bool           // nothing is wrong with the file by itself

	dirs map[string]*packDir // that the manifest's dependencies name, once they were read
}

// packDocs checks the files that describe packs, each by itself and then together. mentions returns, for a manifest's
// directory, a function that reports whether the pack's skills mention a skill or a pack; nil if the pack has no
// skills, or not all of them were read.
func (l *lintRun) packDocs(files []packFile, mentions func(dir string) func(word string) bool) []*packDoc {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b packFile) int { return strings.Compare(a.name, b.name) })
	files = slices.CompactFunc(files, func(a, b packFile) bool { return a.name == b.name })
	docs := make([]*packDoc, len(files))
	var g bug.Group
	g.SetLimit(l.Parallel)
	for i, f := range files {
		g.Go(func() error {
			docs[i] = l.packFile(f)
			return nil
		})
	}
	_ = g.Wait() // no check returns an error
	l.checkPacks(docs, mentions)
	return docs
}

// packFile checks one file by itself.
func (l *lintRun) packFile(f packFile) *packDoc {
	d := &packDoc{collector: newCollector(l), packFile: f}
	limit := int64(maxPackFile)
	if f.kind == packLock || f.kind == packIndex || f.kind == packBaseline {
		limit = maxPackLock
	}
	data, err := readHead(l.fsys, f.name, limit)
	if err != nil {
		d.add(finding{rule: rule.Unreadable, path: f.name, message: "cannot read the file: " + syserr.Reason(err)})
		return d
	}
	d.src = newSource(f.name, data)
	switch f.kind {
	case packManifest:
		d.checkManifest()
	case packLock:
		var problems []pack.Problem
		d.lock, problems = pack.CheckLock(f.name, data)
		addProblems(d, rule.Lock, problems)
	case packIndex:
		d.checkIndex()
	case packIndexConfig:
		addProblems(d, rule.Index, index.CheckConfig(f.name, data))
	case packPolicy:
		addProblems(d, rule.Policy, policy.Check(f.name, data))
	case packMaybePolicy:
		if looksLikePolicy(data) {
			addProblems(d, rule.Policy, policy.Check(f.name, data))
		}
	case packBaseline:
		d.checkBaseline()
	}
	return d
}

// addProblems adds the problems that a format's package found.
func addProblems[P ~struct {
	Line, Column  int
	Message, Hint string
}](d *packDoc, id string, problems []P) {
	d.valid = len(problems) == 0
	for _, one := range problems {
		p := pack.Problem(one)
		d.addAt(id, p.Line, p.Column, p.Message, p.Hint)
	}
}

// addAt adds a finding at a position of the file. An empty fix stands for the rule's own.
func (d *packDoc) addAt(id string, line, column int, message, fix string) {
	d.addAtWord(d.src, finding{rule: id, line: line, column: column, message: message, fix: fix})
}

// full reports whether a file has as many findings as it may.
func (d *packDoc) full() bool { return len(d.findings)+len(d.suppressed) >= maxPackFindings }

// addAtWord adds a finding about the word at its position, perhaps in another file than the document's.
func (d *packDoc) addAtWord(src *source, f finding) {
	if d.full() {
		return
	}
	f.src = src
	if f.line > 0 {
		f.width = wordWidth(src.line(f.line), f.column)
	}
	d.add(f)
}

// wordWidth returns how many characters the word or quoted text takes that is at a column of a line.
func wordWidth(line string, column int) int {
	for ; column > 1 && line != ""; column-- {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	if line == "" {
		return 0
	}
	if quote := line[0]; quote == '"' || quote == '\'' {
		if end := strings.IndexByte(line[1:], quote); end >= 0 {
			return utf8.RuneCountInString(line[:end+2])
		}
	}
	end := strings.IndexAny(line, " \t,[]{}")
	if end < 0 {
		end = len(line)
	}
	return max(1, utf8.RuneCountInString(strings.TrimSuffix(line[:end], ":")))
}

func (d *packDoc) checkManifest() {
	m, problems := pack.CheckManifest(d.name, d.src.data)
	addProblems(d, rule.Manifest, problems)
	if m == nil {
		return
	}
	d.manifest = m
	for _, id := range m.Agents {
		if d.full() {
			break
		}
		if _, err := agent.Lookup(id); err != nil {
			d.atKey(rule.Manifest, err.Error(), diag.HintOf(err), "agents", id)
		}
	}
	for _, id := range m.Validate.Profiles {
		if d.full() {
			break
		}
		if _, err := profile.Lookup(id); err != nil {
			d.atKey(rule.Manifest, err.Error(), diag.HintOf(err), "validate", "profiles", id)
		}
	}
	checked := checkedPatterns{}
	for _, r := range m.Validate.Rules {
		d.checkPattern(checked, rule.Manifest, r.Line, r.Column, r.Pattern)
	}
	for _, i := range m.Validate.Ignore {
		for _, pattern := range i.Rules {
			d.checkPattern(checked, rule.Manifest, i.Line, i.Column, pattern)
		}
	}
	d.skillsGlobs()
}

// atKey reports a problem at a key of the manifest.
func (d *packDoc) atKey(id, message, fix string, keys ...string) {
	line, column := d.manifest.Position(keys...)
	d.addAt(id, line, column, message, fix)
}

// checkedPatterns caches the errors of rule patterns.
type checkedPatterns map[string]error

// checkPattern reports a pattern that matches no rule, as a finding of the rule id.
func (d *packDoc) checkPattern(checked checkedPatterns, id string, line, column int, pattern string) {
	err, cached := checked[pattern]
	if !cached && !d.full() {
		err = rule.CheckPattern(pattern)
		checked[pattern] = err
	}
	if err != nil {
		d.addAt(id, line, column, err.Error(), diag.HintOf(err))
	}
}

// skillsGlobs reports patterns of skills: that match no directory. It reports nothing about a tree that cannot be
// searched.
func (d *packDoc) skillsGlobs() {
	if len(d.manifest.Skills) == 0 {
		return
	}
	tree, err := fs.Sub(d.l.fsys, path.Dir(d.name))
	if err != nil {
		return
	}
	found, err := pack.MatchSkills(tree, d.manifest.Skills)
	if err != nil {
		return
	}
	for i, pattern := range d.manifest.Skills {
		if len(found[i]) == 0 {
			d.atKey(rule.SkillsGlob,
				fmt.Sprintf("no directory that matches %q contains a SKILL.md", pattern), "", "skills", pattern)
		}
	}
}

func (d *packDoc) checkIndex() {
	addProblems(d, rule.Index, index.Check(d.name, d.src.data))
	root, ok := d.l.indexOf(d.name)
	id := index.IDOf(d.src.data)
	if !ok || id.IsZero() {
		return
	}
	at := strings.TrimPrefix(d.name, root+"/")
	if want := index.Path(id); at != want {
		d.addAt(rule.Index, 0, 0, fmt.Sprintf(
			"skillpm ignores %s in this file: an index has the versions of %[1]s in %s", id, want),
			"move the file to "+want+" in the index")
	}
}

// positionPrefix matches the position at the start of an error.
var positionPrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:(\d+)(?::(\d+))?: `) })

// checkBaseline reports the first problem of a baseline.
func (d *packDoc) checkBaseline() {
	b, err := ParseBaseline(d.name, d.src.data)
	if err == nil {
		checked := checkedPatterns{}
		for _, e := range b.Entries {
			d.checkPattern(checked, rule.UnknownRule, e.Line, 3, e.Rule)
		}
		return
	}
	text := strings.TrimPrefix(err.Error(), d.name)
	line, column := 0, 0
	if m := positionPrefix().FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		column, _ = strconv.Atoi(m[2])
		text = text[len(m[0]):]
	}
	f := finding{
		rule: rule.Baseline, line: line, column: column,
		message: strings.TrimPrefix(strings.TrimPrefix(text, ":"), " "), fix: diag.HintOf(err),
	}
	d.addAtWord(d.src, f)
}

// readSibling reads the file beside another one of which a check needs it. Nothing is reported about it.
func (l *lintRun) readSibling(kind packKind, name string) *packDoc {
	if info, err := fs.Stat(l.fsys, name); err != nil || !info.Mode().IsRegular() || l.Settings.skipsPath(name) {
		return nil
	}
	return l.packFile(packFile{kind, name})
}
