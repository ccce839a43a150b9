package lint

import (
	"bytes"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Besides links, a page refers to files by paths in code spans, in commands, and in its text. Whatever exists is
// followed. Of what does not exist, only what cannot be an example, an output, or a file of another project is
// reported.

// maxSpan is the length in bytes beyond which a code span is no path and no command.
const maxSpan = 400

// standardDirs are the directories that the standard names: a path below one is the skill's, whether it exists or not.
var standardDirs = map[string]bool{"scripts": true, "references": true, "assets": true}

// pathUse is how a page uses a path.
type pathUse struct {
	pathWord
	start, end int  // of the word in the page
	certain    bool // only files of the skill are used in this way
	runs       bool // a command in a code span runs it
}

// followSpan follows the paths in a code span, which is how many skills refer to their files, and reports broken ones.
func (w *walk) followSpan(f *file, p *page, s markdown.Span) {
	if len(s.Text) > maxSpan || !strings.ContainsAny(s.Text, "./") {
		return
	}
	for word := range strings.FieldsSeq(s.Text) {
		pw, ok := w.pathWord(word)
		if !ok || w.followPath(f, p, s.Offset, pw) || strings.HasPrefix(s.Text, "import ") || isLinkText(f.data, s) {
			continue
		}
		use := pathUse{pathWord: pw, start: s.Offset, end: s.End, runs: word != s.Text && runs(s.Text, pw.name, true)}
		if i := bytes.Index(p.src.data[s.Offset:s.End], []byte(word)); i >= 0 {
			use.start, use.end = s.Offset+i, s.Offset+i+len(word)
		}
		first, _, below := strings.Cut(pw.name, "/")
		if pw.sure || below && (standardDirs[first] || w.tree.isDir(first) ||
			w.tree.isDir(path.Join(path.Dir(f.rel), first))) {
			w.checkMissing(f, p, use)
		}
	}
}

// isLinkText reports whether a code span is the whole text of a link, which is checked instead.
func isLinkText(text []byte, s markdown.Span) bool {
	before, after := bytes.TrimRight(text[:s.Offset], "`"), bytes.TrimLeft(text[s.End:], "`")
	return bytes.HasSuffix(before, []byte("[")) && bytes.HasPrefix(after, []byte("]("))
}

// maxCommand is the length in bytes beyond which a line of a code block is not read as a command.
const maxCommand = 4 << 10

// followCommands follows the paths in the lines of shell code blocks, and reports scripts that do not exist.
func (w *walk) followCommands(f *file, p *page) {
	for _, b := range p.Blocks {
		if !b.Shell || bytes.IndexByte(f.data[b.Offset:b.End], '/') < 0 {
			continue
		}
		var others []pathUse // of which the block decides whose they are
		for at, line := range p.Lines(b) {
			if len(line) <= maxCommand && bytes.IndexByte(line, '/') >= 0 {
				others = append(others, w.followCommand(f, p, at, line, b.Language != "")...)
			}
		}
		if len(others) > 0 && w.onlyRuns(f, p, b) {
			for _, use := range others {
				w.checkMissing(f, p, use)
			}
		}
	}
}

// followCommand follows the paths in one line. It returns the missing scripts that the line runs by paths which can also
// be those of a project.
func (w *walk) followCommand(f *file, p *page, at int, line []byte, shell bool) []pathUse {
	var others []pathUse
	for start, word := range shellFields(line) {
		if !w.mayBeOwn(word) {
			continue
		}
		pw, ok := w.pathWord(string(word))
		pw.home = pw.home && !redirectsTo(line[:start]) // such a command installs the skill there
		if !ok || w.followPath(f, p, at+start, pw) || !scriptExtension(pw.name) || writesTo(line[:start]) {
			continue
		}
		use := pathUse{pathWord: pw, start: at + start, end: at + start + len(word), certain: true}
		if pw.sure {
			w.checkMissing(f, p, use)
		} else if runs(string(line), pw.name, shell) {
			others = append(others, use)
		}
	}
	return others
}

// onlyRuns reports whether the commands of a block only run scripts of directories that the skill has. With other
// commands, a block is about a project and its scripts.
func (w *walk) onlyRuns(f *file, p *page, b markdown.Block) bool {
	if bytes.Contains(f.data, []byte("git clone")) {
		return false
	}
	for _, line := range p.Lines(b) {
		if len(line) > maxCommand {
			return false
		}
		direct, interpreted := programs(string(line))
		if startsCommand(line) && len(direct)+len(interpreted) == 0 {
			return false
		}
		for _, name := range slices.Concat(direct, interpreted) {
			if first, _, _ := strings.Cut(name, "/"); !w.tree.isDir(first) {
				return false
			}
		}
	}
	return true
}

// mayBeOwn reports whether a path with a slash starts with a variable or with a directory that the skill can have, or
// contains the directory of a skill. Most paths do not.
func (w *walk) mayBeOwn(word []byte) bool {
	if word[0] == '@' {
		word = word[1:]
	}
	word = bytes.TrimPrefix(word, []byte("./"))
	first, _, _ := bytes.Cut(word, []byte("/"))
	if len(first) == 0 {
		return bytes.Contains(word, []byte("skills/"))
	}
	return strings.IndexByte("${<", first[0]) >= 0 || standardDirs[string(first)] || w.tree.isDir(string(first)) ||
		bytes.Contains(word, []byte("skills/"))
}

// startsCommand reports whether a line of a shell code block starts with a command: not with a comment, an option, or an
// argument.
func startsCommand(line []byte) bool {
	return len(line) > 0 && (line[0] >= 'a' && line[0] <= 'z' || line[0] == '$')
}

// runs reports whether a command line runs the script of a path. Without a language, a block may also be a list of files,
// so only what an interpreter runs counts.
func runs(line, name string, shell bool) bool {
	for _, tool := range []string{" -m ", "npx ", "deno "} {
		if strings.Contains(line, tool) {
			return false
		}
	}
	direct, interpreted := programs(line)
	return slices.Contains(interpreted, path.Clean(name)) || shell && slices.Contains(direct, path.Clean(name))
}

// shellFields returns the words of a command line that have a slash, with their offsets, and without quotes and operators
// around them.
func shellFields(line []byte) iter.Seq2[int, []byte] {
	separates := func(c byte) bool {
		switch c {
		case '"', '\'', '`', ';', '|', '&', '(', ')', '=', ',':
			return true
		}
		return c <= ' '
	}
	return func(yield func(int, []byte) bool) {
		for at := 0; at < len(line); {
			if separates(line[at]) {
				at++
				continue
			}
			end := at
			for end < len(line) && !separates(line[end]) {
				end++
			}
			if bytes.IndexByte(line[at:end], '/') >= 0 && !yield(at, line[at:end]) {
				return
			}
			at = end
		}
	}
}

// writesTo reports whether the part of a command line before a path means that the command creates the file.
func writesTo(before []byte) bool {
	words := strings.Fields(string(before))
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "touch", "mkdir", "cp", "mv":
		return true
	}
	return redirectsTo(before)
}

// redirectsTo reports whether the part of a command line before a path makes the file an output.
func redirectsTo(before []byte) bool {
	words := strings.Fields(string(bytes.TrimRight(before, "\"' ")))
	if len(words) == 0 {
		return false
	}
	switch last := words[len(words)-1]; last {
	case "-o", "--output", "-O", "tee", "touch":
		return true
	default:
		return strings.HasSuffix(last, ">")
	}
}

// followText follows the paths in the text of a page, outside of code and links: scripts/extract.py, @references/a.md,
// and [[references/a]].
func (w *walk) followText(f *file, p *page) {
	text, from := f.data, 0
	if f.source == w.src {
		from = w.doc.BodyStart
	}
	for at, last := from, from; ; { // last is the end of the last path
		i := bytes.IndexByte(text[at:], '/')
		if i < 0 {
			break
		}
		start := at + i
		at = start + 1
		for start > last && wordByte(text[start-1]) {
			start--
		}
		if dir := text[start : at-1]; !standardDirs[string(dir)] && string(dir) != "skills" && !w.tree.isDir(string(dir)) {
			continue
		}
		for start > last && pathByte(text[start-1]) {
			start--
		}
		for at < len(text) && pathByte(text[at]) {
			at++
		}
		last = at
		w.followTextWord(f, p, start, at)
	}
	w.followMarked(f, p, from)
}

// pathByte reports whether a byte can be in a path in text.
func pathByte(c byte) bool {
	return wordByte(c) || c == '.' || c == '/' || c == '@' || c == '~' || c >= 0x80
}

// followTextWord follows one word of the text that has a slash.
func (w *walk) followTextWord(f *file, p *page, start, end int) {
	text := f.data
	for end > start && (text[end-1] == '.' || text[end-1] == '/') {
		end--
	}
	if end-start > maxSpan || !endsText(text, start, end) {
		return
	}
	if end <= start || !w.mayBeOwn(text[start:end]) || p.InCode(start) || p.inComment(start) {
		return
	}
	pw, ok := w.pathWord(string(text[start:end]))
	if !ok || w.followPath(f, p, start, pw) || inHeading(text, start) {
		return
	}
	if first, _, _ := strings.Cut(pw.name, "/"); !standardDirs[first] && !pw.sure {
		return
	}
	w.checkMissing(f, p, pathUse{pathWord: pw, start: start, end: end})
}

// inHeading reports whether an offset is in a heading, which often names the file whose content follows.
func inHeading(text []byte, at int) bool {
	from := max(0, at-maxParagraph)
	line := text[from+bytes.LastIndexByte(text[from:at], '\n')+1 : at]
	return bytes.HasPrefix(line, []byte("#"))
}

// endsText reports whether the characters around a word of the text are not parts of a link, an address, or code.
func endsText(text []byte, start, end int) bool {
	if start > 0 {
		switch c := text[start-1]; c {
		case ' ', '\t', '\n', '"', '\'', '*', '|':
		case '(':
			if start > 1 && text[start-2] == ']' {
				return false
			}
		default:
			return false
		}
	}
	if end == len(text) {
		return true
	}
	switch text[end] {
	case ' ', '\t', '\n', '\r', '"', '\'', '*', '|', ')', '.', ',', ';', ':', '!', '?', '/':
		return true
	}
	return false
}

// followMarked follows the names of files that [[ ]] or a leading @ mark.
func (w *walk) followMarked(f *file, p *page, from int) {
	text := f.data
	for at := from; ; {
		i := bytes.Index(text[at:], []byte("[["))
		if i < 0 {
			break
		}
		at += i + 2
		name, _, ok := bytes.Cut(text[at:min(len(text), at+maxSpan)], []byte("]]"))
		if ok && !bytes.ContainsAny(name, "\n[]") && !p.InCode(at) {
			w.followWikilink(f, p, at, string(name))
		}
	}
	for at := from; ; {
		i := bytes.IndexByte(text[at:], '@')
		if i < 0 {
			return
		}
		start := at + i
		at = start + 1
		for at < len(text) && pathByte(text[at]) && text[at] != '@' {
			at++
		}
		word := bytes.TrimRight(text[start+1:at], ".")
		if len(word) < maxSpan && fileLike(string(word)) && bytes.IndexByte(word, '/') < 0 && endsText(text, start, at) &&
			w.tree.isFile(path.Join(path.Dir(f.rel), string(word))) && !p.InCode(start) {
			w.visit(f, path.Join(path.Dir(f.rel), string(word)))
		}
	}
}

// followWikilink follows a link of the form [[NAME]], [[NAME|TEXT]], or [[NAME#HEADING]]. NAME can be without .md.
func (w *walk) followWikilink(f *file, p *page, at int, link string) {
	name, _, _ := strings.Cut(link, "|")
	pw, ok := w.pathWord(strings.TrimSpace(name))
	if !ok || strings.ContainsAny(pw.name, " $=") {
		return
	}
	if w.followPath(f, p, at, pw) {
		return
	}
	page := pw
	page.name += ".md"
	if w.followPath(f, p, at, page) {
		return
	}
	if first, _, below := strings.Cut(pw.name, "/"); below && (standardDirs[first] || pw.sure) {
		if path.Ext(pw.name) == "" {
			pw = page
		}
		w.checkMissing(f, p, pathUse{pathWord: pw, start: at, end: at + len(name)})
	}
}

// followPath visits the file that a word of a page names, and reports whether it exists.
func (w *walk) followPath(f *file, p *page, at int, pw pathWord) bool {
	var found string
	if pw.sure {
		found = w.lookup(".", pw.name)
	} else {
		found = w.resolve(f.rel, linkTarget{path: pw.name, literal: pw.name, fragment: pw.fragment})
	}
	if found == "" {
		return false
	}
	w.visit(f, found)
	if pw.home {
		w.reportInstalledPath(p, at, pw, found)
	}
	return true
}

// pathFinding is a finding of a rule about a path in a page. Pages name their scripts in many commands, so the first of
// them stands for all.
type pathFinding struct{ rule, page, path string }

// isFirst reports whether a finding about a path is the first of its page.
func (w *walk) isFirst(id, page, name string) bool {
	key := pathFinding{id, page, name}
	if w.pathFindings[key] {
		return false
	}
	if w.pathFindings == nil {
		w.pathFindings = map[pathFinding]bool{}
	}
	w.pathFindings[key] = true
	return true
}

// reportInstalledPath reports a path that contains the directory in which one user has installed the skill.
func (w *walk) reportInstalledPath(p *page, at int, pw pathWord, found string) {
	if !w.isFirst(rule.Absolute, p.src.path, found) {
		return
	}
	line, column := p.src.position(at)
	w.add(finding{
		rule: rule.Absolute, src: p.src, line: line, column: column, severity: new(diag.SeverityNote),
		message: "the path works only if the skill is installed in " + strings.TrimSuffix(pw.dir, "/"),
		fix:     "write " + found,
	})
}

// checkMissing reports a path that does not exist, unless it may be meant for something else.
func (w *walk) checkMissing(f *file, p *page, use pathUse) {
	name := use.name
	at, ok := inside(".", name)
	if !ok || !isOwnName(name) || w.isProjects(use) || w.tree.skips(at) || w.counts[rule.SpanPath] > maxPerRule {
		return
	}
	before, after := f.data[:use.start], f.data[use.end:]
	if f.source != w.src && !use.sure && !use.certain && !use.runs && !orders(before) {
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
	return !strings.HasPrefix(name, "../") && !strings.HasPrefix(name, "-") &&
		!strings.ContainsAny(name, "@=\\?&%!,:;'\"()[]。，、；：！？（）") && fileLike(path.Base(name)) && !isExampleName(name) &&
		!isForMaintainers(name)
}

// isProjects reports whether a missing file is rather one of a user or a project: data in the directory where a user has
// the skill, or a script if the skill does not have a directory of scripts.
func (u *skillCheck) isProjects(use pathUse) bool {
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
	if orders(before) {
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

// orders reports whether the last word before a path tells the agent to read the file.
func orders(before []byte) bool {
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
