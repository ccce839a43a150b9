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
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// skillRef is a reference from one skill to another.
type skillRef struct {
	name string // of the skill
	pack string // owner/name of its pack, if the text names it
	sure bool   // the syntax can only mean a skill, so an unknown name is an error
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
			w.addSkillRef(f, start, string(body[i+len(mark):]), mark == "`") // bold words can be adjectives
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
			if bytes.HasSuffix(line, []byte(verb)) && !p.inBlock(at) {
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
	if !skill.LegalName(name) || strings.Trim(name, "0123456789") == "" || name == w.doc.Name() || isDeterminer(name) {
		return
	}
	if sure && (teachesSkills(w.doc.Name()) || supposesSkill(f.data, start, len(text))) {
		sure = false
	}
	w.refs = append(w.refs, skillRef{
		name: intern(name), pack: intern(pk), sure: sure, excerpt: f.excerpt(start, text),
	})
}

// isDeterminer reports whether a marked word beside the word skill is not a name, as in "**this** skill" and "the skill
// `name`".
func isDeterminer(word string) bool {
	switch word {
	case "all", "any", "each", "every", "new", "one", "other", "same", "that", "the", "this", "your":
		return true
	case "description", "license", "metadata", "name": // fields
		return true
	}
	return false
}

// supposesSkill reports whether the text around a name is about a skill that may not exist, such as "a `deploy` skill",
// about one that no longer exists, or about one that a plugin brings.
func supposesSkill(text []byte, start, length int) bool {
	before := text[max(0, start-maxSkillRef):start]
	before = before[bytes.LastIndex(before, []byte("\n\n"))+1:]
	after, _, _ := bytes.Cut(text[start+length:min(len(text), start+length+maxSkillRef)], []byte("\n\n"))
	words := strings.FieldsFunc(strings.ToLower(string(before)), func(r rune) bool { return r < 'a' || r > 'z' })
	if len(words) > 0 && slices.Contains([]string{"a", "an", "any", "each", "every", "your", "hypothetical"},
		words[len(words)-1]) {
		return true
	}
	for _, word := range words {
		switch word {
		case "example", "examples", "install", "installs", "installed", "package", "plugin",
			"exist", "exists", "deprecated", "former", "formerly", "legacy", "migration", "old", "originally", "renamed",
			"replaced", "replaces", "superseded", "upstream":
			return true
		}
	}
	for _, word := range []string{
		"installed", "package", "plugin", " skill in ", " skill from ", "skills add", "available", "deleted", "deprecated",
		"removed",
	} {
		if bytes.Contains(after, []byte(word)) {
			return true
		}
	}
	return false
}

// checkCrossReferences checks the references between the skills of a run.
func (l *lintRun) checkCrossReferences(units []*skillCheck) {
	byName := map[string]*skillCheck{}
	for _, u := range units {
		if u.name.text != "" {
			byName[u.name.text] = cmp.Or(byName[u.name.text], u)
		}
	}
	names, known := newSpellings(slices.Sorted(maps.Keys(byName))), withDirectories(units, byName)
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
			} else if known[r.name] == nil && !builtin(r.name) && (l.SkillExists == nil || !l.SkillExists(r.name)) {
				u.reportUnknownSkill(r, names)
			}
		}
	}
	reportSkillCycles(units, known)
	refuseRenames(units)
}

// builtin reports whether agents bring a skill of this name themselves.
func builtin(name string) bool {
	return name == "docx" || name == "pdf" || name == "pptx" || name == "xlsx"
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

func (u *skillCheck) reportUnknownSkill(r skillRef, names spellings) {
	f := finding{rule: rule.UnknownSkill, message: fmt.Sprintf(
		"skill %q is neither among the validated skills nor installed", r.name)}
	if near := names.nearest(r.name); near != "" {
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
