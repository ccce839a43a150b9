package lint

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// checkMissing reports a path that does not exist, unless it may be meant for something else.
func (w *walk) checkMissing(f *file, p *page, use pathUse) {
	name := use.name
	at, ok := inside(".", name)
	if !ok || !isOwnName(name) || w.belongsElsewhere(use) || w.tree.skips(at) || w.counts[rule.SpanPath] > maxPerRule {
		return
	}
	before, after := f.data[:use.start], f.data[use.end:]
	if f.source != w.src && !use.sure && !use.certain && !use.runs && !tellsToRead(before) {
		return // references are often about other projects
	}
	if !use.certain && (introducesExample(before) || followsRepository(before)) || continuesExample(after) ||
		namesListing(after) || isExamplePage(f.rel) || isForMaintainers(f.rel) || teachesSkills(w.doc.Name()) ||
		p.inExample(use.start) {
		return
	}
	if w.lookups++; w.lookups <= maxLookups &&
		(creates(f.data, name) || w.hasTemplate(at) || w.existsElsewhere(name, paragraph(f.data, use.start))) {
		return
	}
	if !w.isFirst(rule.SpanPath, p.src.path, at) {
		return
	}
	fix := ""
	if other := w.tree.foldedMatch(at); other != "" {
		fix = "write " + other
	} else if near := w.tree.nearest(at); near != "" {
		fix = fmt.Sprintf("did you mean %s?", near)
	}
	w.at(p.src, use.start, use.end, finding{
		rule: rule.SpanPath, message: fmt.Sprintf("%s does not exist in the skill", at), fix: fix,
	})
}

// isOwnName reports whether a path can be one of a file of a skill: not a pattern, a text, or a placeholder.
func isOwnName(name string) bool {
	return !pathx.Escapes(name) && !strings.HasPrefix(name, "-") &&
		!strings.ContainsAny(name, "@=\\?&%!,:;'\"()[]。，、；：！？（）") && fileLike(path.Base(name)) && !isExampleName(name) &&
		!isForMaintainers(name)
}

// belongsElsewhere reports whether a missing file probably belongs to a user or a project: data in the copy of the
// skill of a user, or a script if the skill does not have a directory of scripts.
func (u *skillCheck) belongsElsewhere(use pathUse) bool {
	if use.sure {
		return use.home && !scriptExtension(use.name) && !isMarkdown(use.name)
	}
	return strings.HasPrefix(use.name, "scripts/") && !u.tree.isDir("scripts")
}

// creates reports whether a command in a page writes a file of this name.
func creates(text []byte, name string) bool {
	return bytes.Contains(text, []byte("> "+name)) || bytes.Contains(text, []byte(">"+name))
}

// hasTemplate reports whether the skill contains a template of a file beside it, such as config.example.json for
// config.json: users create the file.
func (u *skillCheck) hasTemplate(name string) bool {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for _, word := range [...]string{"example", "sample", "template"} {
		for _, template := range [...]string{
			stem + "." + word + ext, stem + "-" + word + ext, stem + "_" + word + ext, name + "." + word,
		} {
			if u.tree.isFile(template) {
				return true
			}
		}
	}
	return false
}

// existsElsewhere reports whether a path may exist in a directory that the skill is in, as a file of a project or a plugin,
// or in a skill beside it that the text around the path names.
func (u *skillCheck) existsElsewhere(name string, around []byte) bool {
	for dir := u.dir; dir != "." && dir != "/"; {
		dir = path.Dir(dir)
		if _, err := fs.Stat(u.l.fsys, path.Join(dir, name)); err == nil {
			return true
		}
	}
	if bytes.Contains(around, []byte("../")) { // the text is about other directories
		return true
	}
	words := 0
	for word := range bytes.FieldsFuncSeq(around, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) }) {
		if words++; words > maxNames {
			break
		}
		if other := string(word); skill.LegalName(other) && other != path.Base(u.dir) {
			if _, err := fs.Stat(u.l.fsys, path.Join(path.Dir(u.dir), other, name)); err == nil {
				return true
			}
		}
	}
	return false
}

// maxLookups is how many missing paths of a skill are searched for outside of the skill.
const maxLookups = 200

// The limits of the text around a path that is searched for the names of other skills: bytes before and after the path,
// and words.
const (
	maxParagraph = 400
	maxNames     = 100
)

// paragraph returns the text around an offset, up to an empty line.
func paragraph(text []byte, at int) []byte {
	start, end := max(0, at-maxParagraph), min(len(text), at+maxParagraph)
	if i := bytes.LastIndex(text[start:at], []byte("\n\n")); i >= 0 {
		start += i
	}
	if i := bytes.Index(text[at:end], []byte("\n\n")); i >= 0 {
		end = at + i
	}
	return text[start:end]
}

// teachesSkills reports whether a skill of this name is about writing skills, so that its paths are examples.
func teachesSkills(name string) bool {
	name = strings.ToLower(name)
	if !strings.Contains(name, "skill") && !strings.Contains(name, "plugin") {
		return false
	}
	for _, verb := range []string{
		"creat", "writ", "author", "build", "develop", "design", "generat", "make", "maker", "improv", "optimi",
		"structure", "template", "standard", "review", "lint", "audit",
	} {
		if strings.Contains(name, verb) {
			return true
		}
	}
	return false
}

// isExamplePage reports whether a page is an example or a template by its name.
func isExamplePage(rel string) bool {
	rel = strings.ToLower(rel)
	return strings.Contains(rel, "template") || strings.Contains(rel, "example") || strings.Contains(rel, "sample")
}

// isForMaintainers reports whether a page is for those who work on the skill, and perhaps on a project around it.
func isForMaintainers(rel string) bool {
	if strings.HasPrefix(rel, "docs/") || strings.Contains(rel, "/docs/") {
		return true
	}
	switch strings.ToLower(path.Base(rel)) {
	case "agents.md", "changelog.md", "claude.md", "contributing.md":
		return true
	}
	return false
}

// isExampleName reports whether a path is a placeholder for others: X.md, example.md, phaseN.md, your-file.md.
func isExampleName(p string) bool {
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	switch strings.ToLower(stem) {
	case "", "name", "script_name", "file_name", "example", "foo", "bar", "baz", "file", "filename", "script", "topic", "template", "my-file",
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
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 && startsItem(before[i+1:]) {
		before = before[i:]
	}
	for _, of := range []string{
		"`'", "` — its", "`, its", "` skill", "**'s", "’s", "'s", "not edit", "✓", "✗", "✅", "❌",
		"创建", "保存", "存储", // create, save, store
	} {
		if bytes.Contains(before, []byte(of)) {
			return true
		}
	}
	if tellsToRead(before) {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(string(before)), func(r rune) bool { return (r < 'a' || r > 'z') && r != '.' })
	for _, word := range words {
		switch strings.TrimSuffix(word, ".") {
		case "e.g", "example", "examples", "like", "such", "create", "creates", "creating", "add", "adds", "adding",
			"write",
			"writes", "save", "saves", "saved", "keep", "keeps",
			"store", "stores", "stored", "storage", "generate", "generates", "output", "obtain", "if", "put", "place", "move",
			"extract",
			"optional", "optionally", "no", "missing", "removed", "deleted":
			return true
		}
	}
	return false
}

// followsRepository reports whether the line before a path has a link to another repository, whose path it can be.
func followsRepository(before []byte) bool {
	before = before[max(0, len(before)-maxParagraph):]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return bytes.Contains(line, []byte("https://github.com/")) || bytes.Contains(line, []byte("https://gitlab.com/"))
}

// tellsToRead reports whether the last word before a path tells the agent to read the file.
func tellsToRead(before []byte) bool {
	before = bytes.ToLower(bytes.TrimRight(before[max(0, len(before)-20):], "*`\"'( "))
	start := bytes.LastIndexFunc(before, func(r rune) bool { return r < 'a' || r > 'z' }) + 1
	switch string(before[start:]) {
	case "consult", "follow", "load", "read", "see":
		return true
	}
	return false
}

// startsItem reports whether a line starts an item of a list or a row of a table, or is a heading.
func startsItem(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && strings.IndexByte("-*+|#", line[0]) >= 0
}

// continuesExample reports whether the text after a path, on the same line, supposes that the file may not exist.
func continuesExample(after []byte) bool {
	after, _, _ = bytes.Cut(after[:min(len(after), 80)], []byte("\n"))
	if bytes.HasPrefix(bytes.TrimLeft(after, "`*\"' "), []byte("(create")) {
		return true
	}
	for word := range bytes.FieldsFuncSeq(bytes.ToLower(after), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch string(word) {
		case "would", "could", "might":
			return true
		}
	}
	for _, words := range []string{"for example", "if present", "if it exists", "will be ", ", not `"} {
		if bytes.Contains(after, []byte(words)) {
			return true
		}
	}
	return false
}

// namesListing reports whether a code block follows the text after a path, which then names what the block contains.
func namesListing(after []byte) bool {
	after = after[:min(len(after), 80)]
	rest, next, ok := bytes.Cut(after, []byte("\n"))
	return ok && bytes.HasSuffix(bytes.TrimRight(rest, "*` "), []byte(":")) && len(rest) < 10 &&
		bytes.HasPrefix(bytes.TrimLeft(next, " \n"), []byte("```"))
}

// fileLike reports whether a name has the ending of a file: a point and up to eight letters and digits.
func fileLike(name string) bool {
	ext := path.Ext(name)
	return len(ext) > 1 && len(ext) < 10 && len(ext) < len(name) &&
		strings.Trim(strings.ToLower(ext[1:]), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
