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

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// The sizes in bytes beyond which files that describe packs are not read: a little more than what their readers take,
// so that those say it.
const (
	maxPackFile = 1<<20 + 1
	maxPackLock = 64<<20 + 1
)

// maxPackFindings is how much is said about one file.
const maxPackFindings = 1000

// packDoc is the check of one file that describes packs.
type packDoc struct {
	collector
	packFile
	src      *source
	manifest *pack.Manifest // nil unless the file is a manifest of which something can be read
	lock     *pack.Lock     // the same of a lock
	sound    bool           // nothing is wrong with the file by itself

	dirs map[string]*packDir // that the manifest's dependencies name, once they were read
}

// packDocs checks the files that describe packs, each by itself and then together. mentions returns for the directory
// of a manifest what tells whether the pack's skills speak of a skill or pack; nil where the pack has no skills, or not
// all of them were read.
func (l *linter) packDocs(files []packFile, mentions func(dir string) func(word string) bool) []*packDoc {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b packFile) int { return strings.Compare(a.name, b.name) })
	files = slices.CompactFunc(files, func(a, b packFile) bool { return a.name == b.name })
	docs := make([]*packDoc, len(files))
	var g errgroup.Group
	g.SetLimit(l.Parallel)
	for i, f := range files {
		g.Go(func() error {
			docs[i] = l.packFile(f)
			return nil
		})
	}
	_ = g.Wait() // no check returns an error
	l.packs(docs, mentions)
	return docs
}

// packFile checks one file by itself.
func (l *linter) packFile(f packFile) *packDoc {
	d := &packDoc{collector: newCollector(l), packFile: f}
	limit := int64(maxPackFile)
	if f.kind == packLock || f.kind == packIndex || f.kind == packBaseline {
		limit = maxPackLock
	}
	data, err := readHead(l.fsys, f.name, limit)
	if err != nil {
		d.add(finding{rule: rule.Unreadable, path: f.name, message: "the file cannot be read: " + reason(err)})
		return d
	}
	d.src = newSource(f.name, data)
	switch f.kind {
	case packManifest:
		d.checkManifest()
	case packLock:
		var problems []pack.Problem
		d.lock, problems = pack.CheckLock(f.name, data)
		say(d, rule.Lock, problems)
	case packIndex:
		d.checkIndex()
	case packIndexConfig:
		say(d, rule.Index, index.CheckConfig(f.name, data))
	case packPolicy:
		say(d, rule.Policy, policy.Check(f.name, data))
	case packMaybePolicy:
		if looksLikePolicy(data) {
			say(d, rule.Policy, policy.Check(f.name, data))
		}
	case packBaseline:
		d.checkBaseline()
	}
	return d
}

// say reports the problems that the package of a format found.
func say[P ~struct {
	Line, Column  int
	Message, Hint string
}](d *packDoc, id string, problems []P) {
	d.sound = len(problems) == 0
	for _, one := range problems {
		p := pack.Problem(one)
		d.place(id, p.Line, p.Column, p.Message, p.Hint)
	}
}

// place reports what is wrong at a place of the file. An empty fix is the rule's own.
func (d *packDoc) place(id string, line, column int, message, fix string) {
	d.put(d.src, finding{rule: id, line: line, column: column, message: message, fix: fix})
}

// full reports whether enough is said about a file.
func (d *packDoc) full() bool { return len(d.findings)+len(d.suppressed) >= maxPackFindings }

// put reports a finding about a word in a file, perhaps another one than the document's.
func (d *packDoc) put(src *source, f finding) {
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
	say(d, rule.Manifest, problems)
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
	known := knownRules{}
	for _, r := range m.Validate.Rules {
		d.knownRule(known, rule.Manifest, r.Line, r.Column, r.Pattern)
	}
	for _, i := range m.Validate.Ignore {
		for _, pattern := range i.Rules {
			d.knownRule(known, rule.Manifest, i.Line, i.Column, pattern)
		}
	}
	d.skillsGlobs()
}

// atKey reports what is wrong at a key of the manifest.
func (d *packDoc) atKey(id, message, fix string, keys ...string) {
	line, column := d.manifest.Position(keys...)
	d.place(id, line, column, message, fix)
}

// knownRules are the patterns of rules that were looked up, with what is wrong with each.
type knownRules map[string]error

// knownRule reports a pattern that means no rule, under the rule id.
func (d *packDoc) knownRule(known knownRules, id string, line, column int, pattern string) {
	err, done := known[pattern]
	if !done && !d.full() {
		err = rule.CheckPattern(pattern)
		known[pattern] = err
	}
	if err != nil {
		d.place(id, line, column, err.Error(), diag.HintOf(err))
	}
}

// skillsGlobs reports the patterns of skills: that mean nothing. Where a tree cannot be searched, nothing is said.
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
			d.atKey(rule.SkillsGlob, fmt.Sprintf("no directory that %q means has a SKILL.md", pattern), "", "skills",
				pattern)
		}
	}
}

func (d *packDoc) checkIndex() {
	say(d, rule.Index, index.Check(d.name, d.src.data))
	root, ok := d.l.indexOf(d.name)
	id := index.IDOf(d.src.data)
	if !ok || id.IsZero() {
		return
	}
	at := strings.TrimPrefix(d.name, root+"/")
	if want := index.Path(id); at != want {
		d.place(rule.Index, 0, 0, fmt.Sprintf("nobody finds %s here: its file is %s", id, want),
			"move the file to "+want+" of its index")
	}
}

// placed is how an error starts that says where it is.
var placed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:(\d+)(?::(\d+))?: `) })

// checkBaseline reports what is wrong with a baseline. Its reader stops at the first problem.
func (d *packDoc) checkBaseline() {
	b, err := ParseBaseline(d.name, d.src.data)
	if err == nil {
		known := knownRules{}
		for _, e := range b.Entries {
			d.knownRule(known, rule.UnknownRule, e.Line, 3, e.Rule)
		}
		return
	}
	text := strings.TrimPrefix(err.Error(), d.name)
	line, column := 0, 0
	if m := placed().FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		column, _ = strconv.Atoi(m[2])
		text = text[len(m[0]):]
	}
	f := finding{
		rule: rule.Baseline, line: line, column: column,
		message: strings.TrimPrefix(strings.TrimPrefix(text, ":"), " "), fix: diag.HintOf(err),
	}
	d.put(d.src, f)
}

// beside reads the file beside another one of which a check needs it. Nothing is reported about it.
func (l *linter) beside(kind packKind, name string) *packDoc {
	if info, err := fs.Stat(l.fsys, name); err != nil || !info.Mode().IsRegular() || l.Settings.passesOver(name) {
		return nil
	}
	return l.packFile(packFile{kind, name})
}
