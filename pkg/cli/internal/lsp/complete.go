package lsp

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/skill"
)

// maxItems bounds a list of completions; the client asks again after more input.
const maxItems = 1000

// suggestion is one completion.
type suggestion struct {
	label         string
	insert        string // inserted instead of the label
	choice        []string
	detail        string
	documentation func() string // Markdown
	kind          protocol.CompletionItemKind
}

// suggestions are completions for one position, the best first.
type suggestions struct {
	start, end int // the bytes that they replace
	items      []suggestion
}

func (s *suggestions) add(items ...suggestion) { s.items = append(s.items, items...) }

// complete suggests completions at a position.
func (v *view) complete(_ context.Context, p *protocol.CompletionParams) (any, error) {
	d := v.document(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	at := d.text.offset(p.Position, v.client.encoding)
	s := v.suggest(d, at)
	if s == nil || len(s.items) == 0 {
		return nil, nil
	}
	return v.list(d, s), nil
}

func (v *view) suggest(d *document, at int) *suggestions {
	if s := d.suggestRules(at); s != nil {
		return s
	}
	if pl := d.yamlAt(at); pl != nil {
		return v.suggestFields(d, pl)
	}
	if d.isSkill() && strings.Trim(d.text.string, "-\r\n \t") == "" {
		return d.suggestFront(at)
	}
	if d.isMarkdown() {
		return v.suggestLinks(d, at)
	}
	return nil
}

// suggestFront suggests minimal frontmatter for an empty document.
func (d *document) suggestFront(at int) *suggestions {
	if d.text.lineAt(at) != 0 {
		return nil
	}
	eol := d.eol()
	line, _ := d.text.line(0)
	text := strings.Join([]string{
		"---", "name: " + skill.Slug(path.Base(path.Dir(d.path))), "description: ", "---",
		"",
	}, eol)
	return &suggestions{end: len(line), items: []suggestion{{
		label: "---", insert: text, detail: "frontmatter of a skill", kind: protocol.CompletionItemKindSnippet,
	}}}
}

// list converts suggestions to the protocol's type.
func (v *view) list(d *document, s *suggestions) *protocol.CompletionList {
	out := &protocol.CompletionList{Items: []protocol.CompletionItem{}, IsIncomplete: len(s.items) > maxItems}
	span := d.text.span(s.start, s.end, v.client.encoding)
	for i, one := range s.items[:min(len(s.items), maxItems)] {
		item := protocol.CompletionItem{
			Label: one.label, Kind: one.kind, Detail: one.detail, SortText: fmt.Sprintf("%04d", i),
			FilterText:       one.label,
			InsertTextFormat: protocol.InsertTextFormatPlainText,
			TextEdit:         &protocol.TextEdit{Range: span, NewText: one.label},
		}
		if one.insert != "" {
			item.TextEdit.NewText = one.insert
		}
		if len(one.choice) > 0 && v.client.snippets {
			item.InsertTextFormat = protocol.InsertTextFormatSnippet
			item.TextEdit.NewText = snippetText(item.TextEdit.NewText) + "${1|" + snippetChoices(one.choice) + "|}"
		}
		if one.documentation != nil {
			item.Documentation = v.markup(one.documentation(), v.client.plainTextDocs)
		}
		out.Items = append(out.Items, item)
	}
	return out
}

func snippetText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "$", `\$`, "}", `\}`).Replace(s)
}

func snippetChoices(all []string) string {
	var out []string
	for _, s := range all {
		out = append(out, strings.NewReplacer(`\`, `\\`, ",", `\,`, "|", `\|`).Replace(s))
	}
	return strings.Join(out, ",")
}

// suggestRules suggests rules in a comment that suppresses findings.
func (d *document) suggestRules(at int) *suggestions {
	line, start := d.text.line(d.text.lineAt(at))
	before := line[:at-start]
	marker := strings.LastIndex(before, ignoreMarker)
	if marker < 0 {
		return nil
	}
	rest := strings.TrimPrefix(before[marker+len(ignoreMarker):], "-file")
	if rest == "" || rest[0] != ' ' || strings.ContainsAny(rest, ":>") {
		return nil
	}
	wordStart, wordEnd := wordAt(line, at-start)
	s := &suggestions{start: start + wordStart, end: start + wordEnd}
	for _, r := range rule.All() {
		s.add(suggestion{
			label: r.ID, detail: r.Title, kind: protocol.CompletionItemKindConstant,
			documentation: func() string { return ruleText(r) },
		})
	}
	return s
}

// suggestFields suggests keys and values at a position in YAML.
func (v *view) suggestFields(d *document, pl *yamlPosition) *suggestions {
	s := &suggestions{start: pl.start + pl.column, end: pl.start + pl.column}
	e := pl.entry
	switch {
	case e != nil && !pl.starts:
		return nil // inside of text
	case e == nil:
		if strings.TrimSpace(pl.text[:pl.column]) != "" {
			return nil // a comment
		}
		v.suggestKeys(d, pl, s, pl.doc.pathBelow(pl.line, pl.column, false), true)
	case pl.column < e.start:
		return nil
	case e.colon && pl.column > e.end:
		v.suggestValues(d, pl, s)
	case !e.item && pl.column > e.end:
		return nil // after a word that is no key
	case e.colon || !e.item:
		s.start, s.end = pl.start+e.start, pl.start+e.end
		v.suggestKeys(d, pl, s, e.path[:len(e.path)-1], !e.colon)
	default:
		v.suggestValues(d, pl, s)
		if pl.column <= e.end && !strings.ContainsAny(pl.text[e.start:], `"'[{`) {
			s.start, s.end = pl.start+e.start, pl.start+e.end
			v.suggestKeys(d, pl, s, e.path, true)
		}
	}
	return s
}

// suggestKeys suggests the keys that a mapping does not have yet, required ones first.
func (v *view) suggestKeys(d *document, pl *yamlPosition, s *suggestions, path []string, colon bool) {
	have := pl.doc.keys(path, pl.line)
	in := v.schemasFor(d)
	var needed, others []suggestion
	for _, schema := range in {
		for _, parent := range schema.lookup(path) {
			for _, f := range schema.choices(parent) {
				for _, p := range f.Properties {
					listed := func(s suggestion) bool { return s.label == p.name }
					if slices.Contains(have, p.name) || slices.ContainsFunc(needed, listed) ||
						slices.ContainsFunc(others, listed) {
						continue
					}
					required := slices.Contains(f.Required, p.name)
					f := schema.resolve(p.field)
					one := suggestKey(append(slices.Clone(path), p.name), in, v.allSchemas(d), f, colon)
					if required {
						one.detail = strings.TrimSuffix(one.detail+", required", ", ")
						needed = append(needed, one)
					} else {
						others = append(others, one)
					}
				}
			}
		}
	}
	s.add(needed...)
	s.add(others...)
}

// suggestKey suggests a key; with a colon, also the start of its value.
func suggestKey(path []string, in, every []profileSchema, f *field, colon bool) suggestion {
	name := path[len(path)-1]
	one := suggestion{
		label: name, detail: f.Title, kind: protocol.CompletionItemKindProperty,
		documentation: func() string { return describeField(path, in, every) },
	}
	if !colon {
		return one
	}
	switch options := f.options(); {
	case len(options) > 0:
		one.insert, one.choice = name+": ", options
	case f.scalar():
		one.insert = name + ": "
	case len(path) == 1 && f.is("array"):
		one.insert = name + ":\n  - "
	case len(path) == 1 && f.is("object"):
		one.insert = name + ":\n  "
	default:
		one.insert = name + ":"
	}
	return one
}
