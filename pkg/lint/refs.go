package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
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
			w.collectCalls(p)
			w.followLinks(f, p)
			w.collectSkillRefs(f, p)
			w.collectMentions(f, p)
		}
	}
	for _, p := range w.pending {
		f := w.files[p.to]
		if f == nil || f.page == nil || f.page.HasAnchor(p.fragment) {
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
		t := parseLinkTarget(k.Target)
		switch t.kind {
		case linkAnchor:
			w.pending = append(w.pending, pendingAnchor{p, k, f.rel, t.fragment})
		case linkAbsolute:
			w.reportAbsolute(p, k, t)
		case linkFile:
			found := w.checkLink(f.rel, p, k, t)
			w.visit(f, found)
			if t.fragment != "" {
				w.pending = append(w.pending, pendingAnchor{p, k, found, t.fragment})
			}
		}
	}
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
	at, ok := inside(path.Dir(rel), withoutQuery(t.path))
	if !ok {
		u.reportEscape(rel, p, k, at)
		return ""
	}
	f := finding{rule: rule.Broken, message: at + " does not exist"}
	if rel != path.Base(u.file) {
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

// isSkill reports whether a path is a skill's directory or its SKILL.md.
func (l *lintRun) isSkill(name string) bool {
	if path.Base(name) == skill.File {
		return true
	}
	_, err := fs.Stat(l.fsys, path.Join(name, skill.File))
	return err == nil
}

func (u *skillCheck) reportAbsolute(p *page, k markdown.Link, t linkTarget) {
	f := finding{rule: rule.Absolute, message: "an absolute path does not work on other machines"}
	if at, ok := inside(".", strings.TrimLeft(t.path, "/")); ok && at != "." && u.tree.has(at) {
		f.fix = "write " + at
	}
	u.atLink(p, k, f)
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

// graph is a directed graph: skills that use each other, packs that depend on each other.
type graph[N comparable, E any] struct {
	nodes []N // in the order of reports
	next  map[N][]E
	to    func(E) N
}

// shortestCycles returns, for every strongly connected component, the shortest cycle through its first node. The last
// edge of a cycle leads back to that node. It takes time in proportion to the nodes and edges.
func (g graph[N, E]) shortestCycles() [][]E {
	position := make(map[N]int, len(g.nodes))
	for i, n := range g.nodes {
		position[n] = i
	}
	var out [][]E
	for _, group := range g.components() {
		first := slices.MinFunc(group, func(a, b N) int { return position[a] - position[b] })
		members := make(map[N]bool, len(group))
		for _, n := range group {
			members[n] = true
		}
		if way := g.shortestCycle(first, members); way != nil {
			out = append(out, way)
		}
	}
	return out
}

// components returns the strongly connected components, by Tarjan's algorithm.
func (g graph[N, E]) components() [][]N {
	var groups [][]N
	var stack []N
	number, low, open := map[N]int{}, map[N]int{}, map[N]bool{}
	var visit func(n N)
	visit = func(n N) {
		number[n] = len(number) + 1
		low[n] = number[n]
		stack, open[n] = append(stack, n), true
		for _, e := range g.next[n] {
			if to := g.to(e); number[to] == 0 {
				visit(to)
				low[n] = min(low[n], low[to])
			} else if open[to] {
				low[n] = min(low[n], number[to])
			}
		}
		if low[n] != number[n] {
			return
		}
		at := len(stack) - 1
		for stack[at] != n {
			at--
		}
		groups = append(groups, slices.Clone(stack[at:]))
		for _, member := range stack[at:] {
			open[member] = false
		}
		stack = stack[:at]
	}
	for _, n := range g.nodes {
		if number[n] == 0 {
			visit(n)
		}
	}
	return groups
}

// shortestCycle returns the edges of the shortest cycle through a node within a component, or nil.
func (g graph[N, E]) shortestCycle(from N, among map[N]bool) []E {
	type step struct {
		at   N
		by   *step
		edge E
	}
	seen := map[N]bool{}
	for queue := []*step{{at: from}}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		for _, e := range g.next[s.at] {
			to := g.to(e)
			if to == from {
				way := []E{e}
				for ; s.by != nil; s = s.by {
					way = append(way, s.edge)
				}
				slices.Reverse(way)
				return way
			}
			if among[to] && !seen[to] {
				seen[to] = true
				queue = append(queue, &step{to, s, e})
			}
		}
	}
	return nil
}
