package lint

import (
	"bytes"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// collectMentions collects the ways in which a page refers to another skill without the word skill: a code span that is
// its name, /name, and a link to its directory. At run time, a skill that an active one refers to is nested in it.
func (w *walk) collectMentions(f *file, p *page) {
	for _, s := range p.Spans {
		w.addMention(f, s.Offset, strings.TrimSpace(s.Text))
	}
	for _, k := range p.Links {
		if t := parseLinkTarget(k.Target); t.kind == linkFile {
			if dir := strings.TrimSuffix(path.Clean(withoutQuery(t.path)), "/"+skill.File); pathx.Escapes(dir) {
				w.addMention(f, k.Offset, path.Base(dir))
			}
		}
	}
	text, from := f.data, 0
	if f.source == w.src {
		from = w.doc.BodyStart
	}
	for at := from; ; at++ {
		i := bytes.IndexByte(text[at:], '/')
		if i < 0 {
			return
		}
		at += i
		name := leadingName(text[at+1:])
		if !isCommand(text, at, len(name)) || p.InCode(at) {
			continue
		}
		w.addMention(f, at, "/"+name)
	}
}

// isCommand reports whether a slash and a name of n bytes after it are a word of their own, and no part of a path.
func isCommand(text []byte, slash, n int) bool {
	end := slash + 1 + n
	switch {
	case n == 0, slash > 0 && !bytes.ContainsRune([]byte(" \t\n(\"'"), rune(text[slash-1])):
		return false
	case end == len(text):
		return true
	case bytes.ContainsRune([]byte("/._:@"), rune(text[end])): // the end of a sentence, or a longer path
		return end+1 == len(text) || !wordByte(text[end+1])
	}
	return !wordByte(text[end])
}

// addMention adds a mention of a skill if the text is a name, once for each name.
func (w *walk) addMention(f *file, start int, text string) {
	name, pk, _ := strings.Cut(strings.TrimPrefix(text, "/"), "@")
	if w.mentioned[name] || !skill.LegalName(name) || pk != "" && strings.Count(pk, "/") != 1 || name == w.doc.Name() {
		return
	}
	if w.mentioned == nil {
		w.mentioned = map[string]bool{}
	}
	w.mentioned[strings.Clone(name)] = true
	line, column := f.position(start)
	w.work.mentions = append(w.work.mentions, mention{
		name: name, file: f.path, line: int32(line), column: int32(column), width: int32(len(text)),
	})
}

// mention is the position at which a text names another skill.
type mention struct {
	name                string
	file                string // path in the file system
	line, column, width int32
}

// reportSkillCycles reports cycles of skills that refer to each other. Of each strongly connected group it reports the
// shortest cycle through the first skill.
func reportSkillCycles(units []*skillCheck, byName map[string]*skillCheck) {
	next := map[*skillCheck][]skillRef{}
	for _, u := range units {
		for _, r := range u.refs {
			if to := byName[r.name]; to != nil && to != u {
				next[u] = append(next[u], r)
			}
		}
		for m := range u.mentions.all() {
			if to := byName[m.name]; to != nil && to != u {
				next[u] = append(next[u], skillRef{
					name: m.name, excerpt: excerpt{m.name, m.file, m.line, m.column, m.width},
				})
			}
		}
	}
	g := graph[*skillCheck, skillRef]{units, next, func(r skillRef) *skillCheck { return byName[r.name] }}
	for _, chain := range g.shortestCycles() {
		byName[chain[len(chain)-1].name].atExcerpt(chain[0].excerpt, cycleFinding(chain, byName))
	}
}
