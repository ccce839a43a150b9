package lint

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/skill"
)

// walk follows the links of SKILL.md and of the Markdown files that they and code spans lead to.
type walk struct {
	*skillCheck
	queue   []*file
	pending []pendingAnchor
}

// pendingAnchor is a link with an anchor into a page that is perhaps not read yet.
type pendingAnchor struct {
	from     *page
	link     markdown.Link
	to       string
	fragment string
}

func (u *skillCheck) followLinks(main *file) {
	(&walk{skillCheck: u, queue: []*file{main}}).run()
}

// run reads the pages of the queue, and those that they lead to.
func (w *walk) run() {
	for ; len(w.queue) > 0; w.queue = w.queue[1:] {
		f := w.queue[0]
		if p := w.page(f); p != nil {
			w.checkOpenFence(p)
			w.collectCalls(f, p)
			w.followLinks(f, p)
			w.followCommands(f, p)
			w.followText(f, p)
			w.collectSkillRefs(f, p)
			w.collectMentions(f, p)
		}
	}
	for _, p := range w.pending {
		f := w.files[p.to]
		if f == nil || f.page == nil || f.page.hasHeading(p.fragment) || p.from.inExample(p.link.Offset) {
			continue
		}
		w.atLink(p.from, p.link, finding{
			rule: rule.Anchor, message: fmt.Sprintf("no heading of %s has the anchor #%s", p.to, p.fragment),
		})
	}
}

// page returns a file as Markdown and reads it when it is first needed; nil if it is not text.
func (u *skillCheck) page(f *file) *page {
	if f.page == nil && f.isText() {
		from := 0
		if f.source == u.src {
			from = u.doc.BodyStart
		}
		f.page = u.l.readers.read(f.source, from)
	}
	return f.page
}

// visit notes that something in from leads to a path of the skill, and reads it if it is Markdown.
func (w *walk) visit(from *file, rel string) {
	f := w.files[rel]
	if f == nil || f.reached {
		return
	}
	f.reached, f.via, f.depth = true, from, from.depth+1
	if isMarkdown(rel) && !isTemplate(rel) {
		w.queue = append(w.queue, f)
	}
}

// followLinks checks the links and paths of one Markdown file.
func (w *walk) followLinks(f *file, p *page) {
	for _, s := range p.Spans {
		w.followSpan(f, p, s)
	}
	for _, k := range p.Links {
		if w.followOwnLink(f, p, k) {
			continue
		}
		t := parseLinkTarget(k.Target)
		switch t.kind {
		case linkAnchor:
			w.pending = append(w.pending, pendingAnchor{p, k, f.rel, t.fragment})
		case linkAbsolute:
			w.reportAbsolute(f, p, k, t)
		case linkFile:
			found := w.checkLink(f.rel, p, k, t)
			w.visit(f, found)
			if t.fragment != "" {
				w.pending = append(w.pending, pendingAnchor{p, k, found, t.fragment})
			}
		}
	}
}

// followOwnLink follows a link that names the skill's directory, as {baseDir}/references/a.md, and reports whether it
// does.
func (w *walk) followOwnLink(f *file, p *page, k markdown.Link) bool {
	if k.Target == "" || strings.IndexByte("${<", k.Target[0]) < 0 && !strings.Contains(k.Target, "skills/") {
		return false
	}
	pw, ok := w.pathWord(k.Target)
	if !ok || !pw.sure {
		return false
	}
	if !w.followPath(f, p, k.Offset, pw) {
		w.checkMissing(f, p, pathUse{
			pathWord: pw, start: k.Offset, end: min(len(p.src.data), k.Offset+len(k.Target)), certain: true,
		})
	}
	return true
}

// isTemplate reports whether a file is material to be copied somewhere, where its links will lead.
func isTemplate(rel string) bool {
	first, _, below := strings.Cut(rel, "/")
	return below && (first == "assets" || first == "templates")
}

func isMarkdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

func (u *skillCheck) atLink(p *page, k markdown.Link, f finding) {
	f.src, f.width = p.src, k.Width
	f.line, f.column = p.src.position(k.Offset)
	u.add(f)
}

// checkLink reports what is wrong with a link to a file, and returns the file's path in the skill, or "".
func (u *skillCheck) checkLink(rel string, p *page, k markdown.Link, t linkTarget) string {
	if t.backslash {
		u.atLink(p, k, finding{
			rule: rule.Backslash, message: "the path of the link contains a backslash", fix: "write " + t.path,
		})
	}
	found := u.resolve(rel, t)
	if found != "" || t.backslash {
		return found
	}
	if p.inExample(k.Offset) || isQuoted(p.src.data, k.Offset) {
		return ""
	}
	at, ok := inside(path.Dir(rel), withoutQuery(t.path))
	if !ok {
		u.reportEscape(rel, p, k, at)
		return ""
	}
	below := rel != path.Base(u.file)
	if !strings.HasSuffix(t.path, "/") && u.isSitePath(rel, at) || unknownTag(p, k) ||
		below && (isExamplePage(rel) || isRepositoryPage(rel, at) || teachesSkills(u.doc.Name())) {
		return ""
	}
	f := finding{rule: rule.Broken, message: at + " does not exist"}
	if below {
		f.rule = rule.BrokenBelow
	}
	if other := u.tree.foldedMatch(at); other != "" {
		f.rule, f.fix = rule.Case, "write "+relative(path.Dir(rel), other)
		f.message = fmt.Sprintf("%s differs in case from the file %s", at, other)
		u.atLink(p, k, f)
		return other
	}
	if near := u.tree.nearest(at); near != "" {
		f.fix = fmt.Sprintf("did you mean %s?", relative(path.Dir(rel), near))
	}
	u.atLink(p, k, f)
	return ""
}

// isRepositoryPage reports whether a missing file beside a page is one that repositories have: a license, or a
// translation of the readme. The page was copied without it.
func isRepositoryPage(rel, at string) bool {
	return path.Dir(at) == path.Dir(rel) &&
		(companion(at) || strings.HasPrefix(strings.ToLower(path.Base(at)), "readme-"))
}

// isSitePath reports whether a missing path is rather a page of a web site, from which the text was copied: it has no
// file's ending, and is not below a directory that the skill has or can have.
func (u *skillCheck) isSitePath(rel, at string) bool {
	dir := path.Dir(rel)
	first, _, nested := strings.Cut(strings.TrimPrefix(at, dir+"/"), "/")
	top, _, _ := strings.Cut(at, "/")
	return !fileLike(path.Base(at)) && (nested || rel != path.Base(u.file)) && !standardDirs[first] &&
		!u.tree.isDir(path.Join(dir, first)) && (top == dir || !standardDirs[top] && !u.tree.isDir(top))
}

// unknownTag reports whether a link is an attribute of an element that is not HTML.
func unknownTag(p *page, k markdown.Link) bool {
	if k.Image || k.TextEnd > 0 {
		return false
	}
	before := p.src.data[max(0, k.Offset-maxSpan):k.Offset]
	i := bytes.LastIndexByte(before, '<')
	if i < 0 {
		return false
	}
	name, _, _ := strings.Cut(strings.ToLower(string(before[i+1:])), " ")
	switch strings.TrimSpace(name) {
	case "a", "area", "audio", "embed", "iframe", "img", "link", "script", "source", "track", "video":
		return false
	}
	return true
}

// resolve returns the path in the skill that a link in a file leads to, or "" if there is none. As Markdown has it, the
// link is relative to the file's own directory; as the standard has it, to the skill's.
func (u *skillCheck) resolve(rel string, t linkTarget) string {
	dirs := [2]string{path.Dir(rel), "."}
	ways := dirs[:]
	if dirs[0] == "." {
		ways = dirs[:1]
	}
	for _, dir := range ways {
		if at := u.lookup(dir, t.path); at != "" {
			return at
		}
		if t.literal != t.path {
			if at := u.lookup(dir, t.literal); at != "" {
				return at
			}
		}
		if plain := withoutQuery(t.path); plain != t.path {
			if at := u.lookup(dir, plain); at != "" {
				return at
			}
		}
	}
	return ""
}

// lookup returns the skill path of p, relative to a directory, or "" if it does not exist.
func (u *skillCheck) lookup(dir, p string) string {
	at, ok := inside(dir, p)
	if ok && (u.tree.has(at) || u.tree.skips(at) && u.exists(at)) {
		return at
	}
	return ""
}

// exists reports whether a path of the skill exists. It also does if that cannot be known, so that nothing is reported
// as missing.
func (u *skillCheck) exists(rel string) bool {
	_, err := fs.Stat(u.l.fsys, path.Join(u.dir, rel))
	return !errors.Is(err, fs.ErrNotExist)
}

// reportEscape reports a link that leads out of the skill: a warning while its target exists here.
func (u *skillCheck) reportEscape(rel string, p *page, k markdown.Link, at string) {
	f := finding{
		rule: rule.Escape, severity: new(diag.SeverityWarning),
		message: "the link points outside the skill, so it breaks if only the skill is installed",
	}
	full := path.Join(u.dir, at)
	_, err := fs.Stat(u.l.fsys, full)
	if err == nil && u.outer != "" && strings.HasPrefix(full, u.outer+"/") {
		return // it is installed with the outer skill
	}
	switch {
	case !fs.ValidPath(full): // further up than can be seen
	case errors.Is(err, fs.ErrNotExist):
		f.message = fmt.Sprintf("the link points outside the skill, and %s does not exist", at)
		f.fix = "correct the path, or move the file into the skill"
		if rel == path.Base(u.file) {
			f.severity = nil
		}
	case err == nil && u.l.isSkill(full):
		f.fix = "name the other skill instead of linking to its files"
	}
	u.atLink(p, k, f)
}

// isQuoted reports whether a quotation mark of the line is open before the target of a link: a text to write, such as
// "See [the guide](guide.md)".
func isQuoted(text []byte, at int) bool {
	from := max(0, at-maxTemplateLine)
	line := text[from+bytes.LastIndexByte(text[from:at], '\n')+1 : at]
	if !bytes.HasSuffix(line, []byte("](")) {
		return false
	}
	return bytes.Count(line, []byte(`"`))%2 == 1 ||
		bytes.LastIndex(line, []byte("“")) > bytes.LastIndex(line, []byte("”"))
}

// isSkill reports whether a path is a skill's directory or its SKILL.md.
func (l *lintRun) isSkill(name string) bool {
	if path.Base(name) == skill.File {
		return true
	}
	_, err := fs.Stat(l.fsys, path.Join(name, skill.File))
	return err == nil
}

// reportAbsolute reports a link to a path of this machine. Most links that start with a slash are addresses on a web
// site, or commands.
func (w *walk) reportAbsolute(f *file, p *page, k markdown.Link, t linkTarget) {
	report := finding{rule: rule.Absolute, message: "an absolute path does not work on other machines"}
	at, ok := inside(".", strings.TrimLeft(t.path, "/"))
	switch {
	case ok && at != "." && w.tree.isFile(at):
		report.fix = "write " + relative(path.Dir(f.rel), at)
		w.visit(f, at)
	case !isMachinePath(t.path):
		return
	}
	if !p.inExample(k.Offset) {
		w.atLink(p, k, report)
	}
}

// isMachinePath reports whether an absolute path starts with a directory that systems have, or with a drive.
func isMachinePath(p string) bool {
	if strings.HasPrefix(strings.ToLower(p), "file:/") || drive().MatchString(p) {
		return true
	}
	first, _, below := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch first {
	case "Users", "Volumes", "etc", "home", "mnt", "opt", "private", "root", "tmp", "usr", "var":
		return below
	}
	return false
}

// relative writes a path in the skill as a link from a directory of it.
func relative(dir, to string) string {
	if dir == "." {
		return to
	}
	var up strings.Builder
	for dir != "." && !strings.HasPrefix(to, dir+"/") {
		up.WriteString("../")
		dir = path.Dir(dir)
	}
	if dir == "." {
		return up.String() + to
	}
	return up.String() + strings.TrimPrefix(to, dir+"/")
}
