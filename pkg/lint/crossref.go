package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// skillRef is a reference from one skill to another.
type skillRef struct {
	name      string // of the skill
	pack      string // owner/name of its pack, if the text names it
	sure      bool   // the syntax can only mean a skill, so an unknown name is an error
	instructs bool   // the text tells the agent to use it
	excerpt
}

// maxSkillRef is how far from the word "skill" a name may start, in bytes.
const maxSkillRef = 120

// collectSkillRefs collects a page's references to skills: a name in code, bold, or a link beside the word skill, one
// as name@owner/pack, and the forms of dispatching.
func (w *walk) collectSkillRefs(f *file, p *page) {
	text := f.data
	for at := 0; at < len(text); {
		i := bytes.IndexByte(text[at:], 'k')
		if i < 0 {
			break
		}
		at += i + 1
		if start := at - 2; start >= 0 && isSkillWord(text, start) && !p.InCode(start) {
			w.collectBesideSkill(f, p, start)
		}
	}
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '@')
		if i < 0 {
			return
		}
		at += i
		w.collectAtSign(f, p, at)
		at++
	}
}

// isSkillWord reports whether the word skill or skills starts at an offset.
func isSkillWord(text []byte, start int) bool {
	if start+5 > len(text) || start > 0 && wordByte(text[start-1]) ||
		!bytes.EqualFold(text[start:start+5], []byte("skill")) {
		return false
	}
	end := start + 5
	if end < len(text) && text[end] == 's' {
		end++
	}
	return end == len(text) || !wordByte(text[end])
}

// collectBesideSkill collects the name before or after the word skill.
func (w *walk) collectBesideSkill(f *file, p *page, at int) {
	text := f.data
	before := bytes.TrimRight(text[max(0, at-maxSkillRef):at], " ")
	for _, mark := range []string{"`", "**"} {
		body, ok := bytes.CutSuffix(before, []byte(mark))
		if !ok {
			continue
		}
		if i := bytes.LastIndex(body, []byte(mark)); i >= 0 {
			start := at - len(text[max(0, at-maxSkillRef):at]) + i + len(mark)
			w.addSkillRef(f, start, string(body[i+len(mark):]), true)
			return
		}
	}
	end := at + 5
	after := text[end:min(len(text), end+maxSkillRef)]
	trimmed := bytes.TrimLeft(after, " :")
	for _, word := range []string{"named ", "called "} {
		trimmed = bytes.TrimPrefix(trimmed, []byte(word))
	}
	if rest, ok := bytes.CutPrefix(trimmed, []byte("`")); ok && len(trimmed) < len(after) {
		if name, _, ok := bytes.Cut(rest, []byte("`")); ok {
			w.addSkillRef(f, end+len(after)-len(rest), string(name), true)
			return
		}
	}
	if i := bytes.LastIndexAny(before, " \t\n(\"'"); i+1 < len(before) && bytes.ContainsRune(before[i+1:], '-') {
		w.addSkillRef(f, at-len(text[max(0, at-maxSkillRef):at])+i+1, string(before[i+1:]), false)
	}
}

// collectAtSign collects name@owner/pack, and a name after a verb that dispatches.
func (w *walk) collectAtSign(f *file, p *page, at int) {
	text := f.data
	before := bytes.TrimRight(text[max(0, at-20):at], " ")
	if len(before) < min(at, 20) { // a space: perhaps "execute @name"
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		for _, verb := range []string{"执行", "execute", "run", "Execute", "Run"} {
			if bytes.HasSuffix(line, []byte(verb)) {
				w.addSkillRef(f, at+1, leadingName(text[at+1:]), true)
			}
		}
		return
	}
	start := at
	for start > 0 && nameByte(text[start-1]) {
		start--
	}
	pk := leadingName(text[at+1:])
	owner := len(pk)
	if at+1+owner >= len(text) || text[at+1+owner] != '/' || start == at || p.inBlock(at) {
		return
	}
	pk += "/" + leadingName(text[at+2+owner:])
	if ref := string(text[start:at]) + "@" + pk; skill.LegalName(string(text[start:at])) &&
		!strings.HasSuffix(pk, "/") {
		w.addSkillRef(f, start, ref, true)
	}
}

func nameByte(c byte) bool { return c == '-' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// leadingName returns the skill's name that text starts with.
func leadingName(text []byte) string {
	n := 0
	for n < len(text) && n < skill.MaxName && nameByte(text[n]) {
		n++
	}
	return string(text[:n])
}

// addSkillRef adds one reference if the text is a skill's name, perhaps with a plugin's name or a slash before it.
func (w *walk) addSkillRef(f *file, start int, text string, sure bool) {
	name, pk, _ := strings.Cut(text, "@")
	name = strings.TrimPrefix(name, "/")
	if plugin, rest, ok := strings.Cut(name, ":"); ok && pk == "" {
		name, sure = rest, sure && plugin == ""
	}
	if !skill.LegalName(name) || strings.Trim(name, "0123456789") == "" || name == w.doc.Name() {
		return
	}
	w.refs = append(w.refs, skillRef{
		name: intern(name), pack: intern(pk), sure: sure, instructs: instructs(f.data, start),
		excerpt: f.excerpt(start, text),
	})
}

// instructs reports whether the sentence before an offset tells the agent to use what follows.
func instructs(text []byte, at int) bool {
	start := max(0, at-100)
	if i := bytes.LastIndexAny(text[start:at], ".\n;:"); i >= 0 {
		start += i + 1
	}
	use := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(string(text[start:at])),
		func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch word {
		case "use", "invoke", "load", "run", "call", "activate", "execute", "follow", "apply":
			use = true
		case "not", "instead", "don", "never", "unlike", "if", "when", "for", "see", "after", "before":
			return false
		}
	}
	return use
}

// checkCrossReferences checks the references between the skills of a run.
func (l *lintRun) checkCrossReferences(units []*skillCheck) {
	byName := map[string]*skillCheck{}
	for _, u := range units {
		if u.name.text != "" {
			byName[u.name.text] = cmp.Or(byName[u.name.text], u)
		}
	}
	names := slices.Sorted(maps.Keys(byName))
	manifests := map[string]*pack.Manifest{}
	for _, u := range units {
		reported := map[string]bool{}
		for _, r := range u.refs {
			if reported[r.text] || !r.sure {
				continue
			}
			reported[r.text] = true
			if r.pack != "" {
				u.checkPackRef(r, l.manifest(manifests, u.packDir))
			} else if byName[r.name] == nil && (l.SkillExists == nil || !l.SkillExists(r.name)) {
				u.reportUnknownSkill(r, names)
			}
		}
	}
	reportSkillCycles(units, withDirectories(units, byName))
	keepReferencedNames(units)
}

// withDirectories returns the skills by their names and, for links and skills without a name, by their directories.
func withDirectories(units []*skillCheck, byName map[string]*skillCheck) map[string]*skillCheck {
	all := maps.Clone(byName)
	for _, u := range units {
		dir := path.Base(u.dir)
		all[dir] = cmp.Or(all[dir], u)
	}
	return all
}

// title returns the name of a skill, or else that of its directory.
func (u *skillCheck) title() string { return cmp.Or(u.name.text, path.Base(u.dir)) }

// keepReferencedNames makes an edit unsafe that would rename a skill which another skill refers to: the reference would
// break.
func keepReferencedNames(units []*skillCheck) {
	by := map[string]*skillCheck{}
	for _, u := range units {
		for _, r := range u.refs {
			if r.name != u.name.text {
				by[r.name] = u
			}
		}
	}
	for _, u := range units {
		if u.name.text == "" || by[u.name.text] == nil {
			continue
		}
		for i, f := range u.findings {
			if f.Rule == rule.NameDirectory || f.Rule == rule.Name {
				u.findings[i].Fixable = false
			}
		}
	}
}

func (u *skillCheck) reportUnknownSkill(r skillRef, names []string) {
	f := finding{rule: rule.UnknownSkill, message: fmt.Sprintf(
		"skill %q is neither among the validated skills nor installed", r.name)}
	if near := suggest(r.name, names); near != "" {
		f.fix = fmt.Sprintf("did you mean %s?", near)
	}
	u.atExcerpt(r.excerpt, f)
}

// checkPackRef reports a skill of a pack that the skill's own pack does not require.
func (u *skillCheck) checkPackRef(r skillRef, m *pack.Manifest) {
	if m == nil || m.Name.String() == r.pack {
		return
	}
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		if d.ID.String() == r.pack {
			return
		}
	}
	u.atExcerpt(r.excerpt, finding{
		rule: rule.UndeclaredPack, message: fmt.Sprintf("%s is not a dependency of this pack", r.pack),
		fix: "add the pack with: skillpm install " + r.pack,
	})
}

// manifest reads the skillpm.yaml of a directory, once; nil where there is none that can be read.
func (l *lintRun) manifest(cache map[string]*pack.Manifest, dir string) *pack.Manifest {
	if dir == "" {
		return nil
	}
	m, ok := cache[dir]
	if !ok {
		name := path.Join(dir, pack.ManifestName)
		if data, err := fs.ReadFile(l.fsys, name); err == nil {
			m, _ = pack.CheckManifest(name, data)
		}
		cache[dir] = m
	}
	return m
}

// reportSkillCycles reports cycles of skills that tell the agent to use each other. Of each strongly connected group it
// reports the shortest cycle through the first skill.
func reportSkillCycles(units []*skillCheck, byName map[string]*skillCheck) {
	next := map[*skillCheck][]skillRef{}
	for _, u := range units {
		for _, r := range u.refs {
			if to := byName[r.name]; r.instructs && to != nil && to != u {
				next[u] = append(next[u], r)
			}
		}
	}
	reported := map[*skillCheck]bool{}
	for _, chain := range skillCycles(units, next, byName) {
		byName[chain[len(chain)-1].name].atExcerpt(chain[0].excerpt, cycleFinding(chain, byName))
		for _, r := range chain {
			reported[byName[r.name]] = true
		}
	}
	reportMentionCycles(units, byName, reported)
}

// skillCycles returns the shortest cycle of each group of skills that refer to each other.
func skillCycles(units []*skillCheck, next map[*skillCheck][]skillRef, byName map[string]*skillCheck) [][]skillRef {
	g := graph[*skillCheck, skillRef]{units, next, func(r skillRef) *skillCheck { return byName[r.name] }}
	return g.shortestCycles()
}

// cycleFinding returns the finding about a cycle, which starts and ends at the skill of its last reference.
func cycleFinding(chain []skillRef, byName map[string]*skillCheck) finding {
	first := byName[chain[len(chain)-1].name]
	names, files := []string{first.title()}, []string{}
	for _, r := range chain {
		to := byName[r.name]
		names = append(names, to.title())
		if to != first {
			files = append(files, to.file)
		}
	}
	return finding{
		rule: rule.SkillCycle, related: files,
		message: "the skills refer to each other in a cycle: " + strings.Join(names, " → "),
	}
}

// maxSpan is the length in bytes beyond which a code span is no path and no command.
const maxSpan = 400

// standardDirs are the directories that the standard names: a path below one is the skill's, whether it exists or not.
var standardDirs = map[string]bool{"scripts": true, "references": true, "assets": true}

// followSpan follows the paths in a code span, which is how many skills refer to their files, and reports broken ones.
func (w *walk) followSpan(f *file, p *page, s markdown.Span) {
	if len(s.Text) > maxSpan || !strings.ContainsAny(s.Text, "./") {
		return
	}
	for word := range strings.FieldsSeq(s.Text) {
		word = strings.Trim(word, "\"'`,;:()[]")
		name := withoutVariable(word)
		if name == "" || strings.HasPrefix(word, "/") || placeholder(name) || scheme().MatchString(name) {
			continue
		}
		name, fragment, _ := strings.Cut(name, "#")
		t := linkTarget{path: name, literal: name, fragment: fragment}
		found := w.resolve(f.rel, t)
		switch {
		case found != "":
			w.visit(f, found)
		case w.namesSkillFile(f, word, name) && !introducesExample(f.data[:s.Offset]):
			w.reportMissingPath(f, p, s, word, name)
		}
	}
}

// namesSkillFile reports whether a word that matches no file is nevertheless meant as a file of the skill.
func (w *walk) namesSkillFile(f *file, word, name string) bool {
	first, rest, below := strings.Cut(name, "/")
	switch {
	case !below || rest == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "@=\\?&%!,:;'\"()[]"):
		return false
	case first == ".." || first == "." || !fileLike(path.Base(name)) || isExampleName(name):
		return false
	case strings.Contains(word, "CLAUDE_PLUGIN_ROOT"):
		return false
	case withoutVariable(word) != strings.TrimPrefix(word, "./"):
		return true
	}
	return standardDirs[first] || w.tree.isDir(first) || w.tree.isDir(path.Join(path.Dir(f.rel), first))
}

// isExampleName reports whether a path is a placeholder for others: X.md, example.md, phaseN.md, your-file.md.
func isExampleName(p string) bool {
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	switch strings.ToLower(stem) {
	case "name", "example", "foo", "bar", "baz", "file", "filename", "script", "topic", "template", "my-file",
		"my_file", "xxx", "n", "x", "y":
		return true
	}
	last := stem[len(stem)-1]
	return strings.HasPrefix(stem, "your-") || strings.HasPrefix(stem, "your_") ||
		(last == 'N' || last == 'X') && strings.ToUpper(stem) != stem
}

// introducesExample reports whether the text before a path introduces it as an example, as a file still to be made, or
// as another skill's.
func introducesExample(before []byte) bool {
	before = before[max(0, len(before)-100):]
	if i := bytes.LastIndex(before, []byte("\n\n")); i >= 0 {
		before = before[i:]
	}
	for _, of := range []string{"`'", "` — its", "`, its", "` skill", "**'s", "’s", "'s"} {
		if bytes.Contains(before, []byte(of)) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(string(before)),
		func(r rune) bool { return (r < 'a' || r > 'z') && r != '.' }) {
		switch strings.TrimSuffix(word, ".") {
		case "e.g", "example", "like", "such", "create", "creates", "creating", "add", "adds", "adding", "write",
			"writes", "save", "saves", "saved", "keep", "keeps",
			"store", "stores", "stored", "generate", "generates", "output", "obtain", "if", "put", "move", "extract",
			"optional", "optionally":
			return true
		}
	}
	return false
}

// fileLike reports whether a name has the ending of a file: a point and up to eight letters and digits.
func fileLike(name string) bool {
	ext := path.Ext(name)
	return len(ext) > 1 && len(ext) < 10 && len(ext) < len(name) &&
		strings.Trim(strings.ToLower(ext[1:]), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func (w *walk) reportMissingPath(f *file, p *page, s markdown.Span, word, name string) {
	at, ok := inside(".", name)
	if !ok || w.tree.skips(at) {
		return
	}
	fix := ""
	if other := w.tree.foldedMatch(at); other != "" {
		fix = "write " + other
	} else if near := w.tree.nearest(at); near != "" {
		fix = fmt.Sprintf("did you mean %s?", near)
	}
	start := s.Offset
	if i := strings.Index(string(p.src.data[s.Offset:s.End]), word); i >= 0 {
		start += i
	}
	w.at(p.src, start, min(start+len(word), s.End), finding{
		rule: rule.SpanPath, message: fmt.Sprintf("%s does not exist in the skill", at), fix: fix,
	})
}
