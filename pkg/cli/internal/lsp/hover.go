package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag/rule"
)

// hover explains the field at a position, or the rule in a comment.
func (v *view) hover(_ context.Context, p *protocol.HoverParams) (any, error) {
	d := v.document(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	at := d.text.offset(p.Position, v.client.encoding)
	if text, start, end := d.ruleAt(at); text != "" {
		return v.explanation(d, text, start, end), nil
	}
	pl := d.yamlAt(at)
	if pl == nil || pl.entry == nil || pl.entry.key == "" && !pl.entry.item {
		return nil, nil
	}
	text, path := "", pl.entry.path
	for text == "" && len(path) > 0 {
		text = describeField(path, v.schemasFor(d), v.allSchemas(d))
		if path = path[:len(path)-1]; !isNumber(pl.entry.path[len(path)]) {
			break // of an item the list is explained, of an unknown key nothing
		}
	}
	if text == "" {
		return nil, nil
	}
	start, end := pl.wordRange(at)
	return v.explanation(d, text, start, end), nil
}

func (v *view) explanation(d *document, text string, start, end int) *protocol.Hover {
	span := d.text.span(start, end, v.client.encoding)
	return &protocol.Hover{Contents: v.markup(text, v.client.plainTextHover), Range: &span}
}

func (v *view) markup(text string, plain bool) protocol.MarkupContent {
	if plain {
		text = strings.NewReplacer("**", "", "`", "").Replace(text)
		return protocol.MarkupContent{Kind: protocol.PlainText, Value: text}
	}
	return protocol.MarkupContent{Kind: protocol.Markdown, Value: text}
}

// allSchemas returns the schemas of all profiles for a skill, none for skillpm's own files.
func (v *view) allSchemas(d *document) []profileSchema {
	if !d.isSkill() {
		return nil
	}
	return v.agentSchemas()
}

// description is the text about a field that one or several profiles share.
type description struct {
	text string
	ids  []string
}

// describeField explains the field at a path. For a skill it lists all profiles that know the field, and describes it
// by another profile if the selected ones do not know it.
func describeField(path []string, in, every []profileSchema) string {
	texts := descriptionsIn(path, in)
	if len(texts) == 0 {
		texts = descriptionsIn(path, every)
	}
	var ids []string
	for _, d := range every {
		if d.declares(path) {
			ids = append(ids, d.id)
		}
	}
	var b strings.Builder
	for i, t := range texts {
		if i > 0 {
			b.WriteString("\n\n---\n\n")
		}
		b.WriteString(t.text)
		if len(texts) > 1 {
			b.WriteString("\n\nFor " + strings.Join(t.ids, ", ") + ".")
		}
	}
	if len(ids) > 0 {
		b.WriteString("\n\nProfiles with this field: " + strings.Join(ids, ", ") + ".")
	}
	return b.String()
}

// descriptionsIn returns the distinct descriptions of a path.
func descriptionsIn(path []string, in []profileSchema) []description {
	var texts []description
	for _, d := range in {
		if !d.declares(path) {
			continue
		}
		text := d.lookup(path)[0].describe(lastKey(path), d.requires(path))
		i := slices.IndexFunc(texts, func(t description) bool { return t.text == text })
		if i < 0 {
			i = len(texts)
			texts = append(texts, description{text: text})
		}
		texts[i].ids = append(texts[i].ids, d.id)
	}
	return texts
}

// declares reports whether the schema describes a path.
func (d profileSchema) declares(path []string) bool {
	return slices.ContainsFunc(d.lookup(path), func(f *field) bool {
		return f.Title != "" || f.Description != ""
	})
}

// requires reports whether the last step of a path is a required key.
func (d profileSchema) requires(path []string) bool {
	parent := d.lookup(path[:len(path)-1])
	return slices.ContainsFunc(parent, func(f *field) bool { return slices.Contains(f.Required, path[len(path)-1]) })
}

// lastKey returns the last step of a path that is not the number of an item.
func lastKey(path []string) string {
	for _, step := range slices.Backward(path) {
		if !isNumber(step) {
			return step
		}
	}
	return ""
}

// describe writes what a field is for and its valid values, as Markdown.
func (f *field) describe(key string, required bool) string {
	var b strings.Builder
	if f.Title != "" && f.Title != key {
		fmt.Fprintf(&b, "**%s** (`%s`)", f.Title, key)
	} else {
		fmt.Fprintf(&b, "**%s**", key)
	}
	if required {
		b.WriteString(", required")
	}
	if f.Description != "" {
		b.WriteString("\n\n" + f.Description)
	}
	var facts []string
	if t := f.typeText(); t != "" {
		facts = append(facts, "Type: "+t)
	}
	if len(f.Enum) > 0 || f.Const != nil {
		facts = append(facts, "One of: "+codeList(f.options()))
	}
	if f.Default != nil && yamlText(f.Default) != "[]" {
		facts = append(facts, "Default: `"+yamlText(f.Default)+"`")
	}
	if examples := f.exampleTexts(); len(examples) > 0 {
		facts = append(facts, "Examples: "+codeList(examples))
	}
	if len(facts) > 0 {
		b.WriteString("\n\n" + strings.Join(facts, "  \n"))
	}
	return b.String()
}

// typeText describes the type of a value.
func (f *field) typeText() string {
	var words []string
	for _, t := range f.Type {
		switch t {
		case "null":
			continue
		case "string":
			t = "text"
			switch {
			case f.MinLength > 0 && f.MaxLength > 0:
				t = fmt.Sprintf("text of %d to %d characters", f.MinLength, f.MaxLength)
			case f.MaxLength > 0:
				t = fmt.Sprintf("text of at most %d characters", f.MaxLength)
			}
		case "array":
			t = "list"
			if f.Items != nil && f.Items.is("string") {
				t = "list of strings"
			}
		case "object":
			t = "mapping"
		case "boolean":
			t = "true or false"
		}
		words = append(words, t)
	}
	return strings.Join(words, ", or ")
}

// exampleTexts returns the short examples.
func (f *field) exampleTexts() []string {
	var out []string
	for _, raw := range f.Examples {
		var v any
		if json.Unmarshal(raw, &v) != nil {
			continue
		}
		if s := yamlText(v); len(s) <= 80 {
			out = append(out, s)
		}
	}
	return out
}

// codeList formats texts as code, with commas.
func codeList(all []string) string {
	var out []string
	for _, s := range all {
		out = append(out, "`"+s+"`")
	}
	return strings.Join(out, ", ")
}

// ruleAt explains the rule in a suppression at a byte, and returns the range of its id.
func (d *document) ruleAt(at int) (text string, start, end int) {
	n := d.text.lineAt(at)
	line, lineStart := d.text.line(n)
	marker := strings.Index(line, ignoreMarker)
	if marker < 0 {
		return "", 0, 0
	}
	start, end = wordAt(line, at-lineStart)
	if start < marker+len(ignoreMarker) || start == end || strings.Contains(line[marker:start], ":") {
		return "", 0, 0
	}
	r, ok := rule.Lookup(line[start:end])
	if !ok {
		return "", 0, 0
	}
	return ruleText(r), lineStart + start, lineStart + end
}

// ruleText explains a rule, as Markdown.
func ruleText(r rule.Rule) string {
	text := fmt.Sprintf("**%s** %s (%s)\n\n%s", r.ID, r.Title, r.Severity, r.Why)
	if r.Fix != "" {
		text += "\n\nFix: " + r.Fix + "."
	}
	return text
}

// wordAt returns the range of the letters and digits around a byte of a line.
func wordAt(line string, at int) (start, end int) {
	isWord := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
	start = min(at, len(line))
	for start > 0 && isWord(line[start-1]) {
		start--
	}
	for end = start; end < len(line) && isWord(line[end]); end++ {
	}
	return start, end
}
