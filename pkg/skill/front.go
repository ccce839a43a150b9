package skill

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// front reads the frontmatter's text into nodes. Where YAML refuses the whole, each field is read by itself, so that a
// broken field hides no other.
func (p *parser) front() {
	d := p.doc
	text := oneLineBreak(d.FrontText())
	node, err := readYAML(text)
	if err != nil {
		node = p.fields(text, err)
	}
	if node == nil {
		node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
	}
	shift(node, d.FrontLine-1)
	if node.Kind != yaml.MappingNode {
		p.add(NotMapping, node.Line, node.Column, "the frontmatter is not a list of fields",
			"write one field a line, as in name: my-skill")
		return
	}
	d.Front = node
	p.duplicates(node)
}

// oneLineBreak turns the characters that YAML 1.1 counts as line breaks and editors do not into spaces, so that lines
// are what an editor shows: a carriage return that no line feed follows, and three of Unicode's.
func oneLineBreak(text []byte) []byte {
	if bytes.ContainsAny(text, "\u0085\u2028\u2029") {
		text = []byte(strings.NewReplacer("\u0085", " ", "\u2028", " ", "\u2029", " ").Replace(string(text)))
	}
	if bytes.Count(text, []byte("\r")) == bytes.Count(text, []byte("\r\n")) {
		return text
	}
	text = bytes.Clone(text)
	for i, c := range text {
		if c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			text[i] = ' '
		}
	}
	return text
}

// readYAML returns the root node of one YAML document, nil when it is empty.
func readYAML(text []byte) (*yaml.Node, error) {
	root, err := yamlx.Parse(text)
	if err != nil || root == nil || root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Value == "" {
		return nil, err
	}
	return root, nil
}

// shift moves a node and everything below it down by some lines.
func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines)
	}
}

// duplicates reports the keys that are there twice in one mapping.
func (p *parser) duplicates(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]int, len(n.Content)/2)
		for k := range yamlx.Pairs(n) {
			if k.Kind != yaml.ScalarNode {
				continue
			}
			if line, ok := seen[k.Value]; ok {
				p.add(DuplicateKey, k.Line, k.Column, "the key "+strconv.Quote(
					k.Value)+" is already on line "+strconv.Itoa(line),
					"keep one of the two")
				continue
			}
			seen[k.Value] = k.Line
		}
	}
	for _, c := range n.Content {
		p.duplicates(c)
	}
}

// errNoColon is what a field without a key says about itself.
var errNoColon = errors.New("yaml: could not find expected ':'")

// field is the text of one top-level field and the lines that belong to it.
type field struct {
	text []byte
	line int // of the frontmatter's text, from 1
}

// maxByField is the size in bytes beyond which broken frontmatter is not read field by field. That of real skills is a
// hundredth of it.
const maxByField = 256 << 10

// fields reads text field by field after the whole was refused with err.
func (p *parser) fields(text []byte, err error) *yaml.Node {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
	if len(text) > maxByField {
		p.broken(field{text: text, line: 1}, err)
		return root
	}
	clean := true
	for _, f := range splitFields(text) {
		node, ferr := readYAML(f.text)
		if ferr == nil && node != nil && node.Kind != yaml.MappingNode {
			ferr = errNoColon
		}
		if ferr == nil {
			if node != nil {
				shift(node, f.line-1)
				root.Content = append(root.Content, node.Content...)
			}
			continue
		}
		clean = false
		p.broken(f, ferr)
		if k, v := guess(f); k != nil {
			root.Content = append(root.Content, k, v)
			p.remember(v)
		}
	}
	if clean {
		p.broken(field{text: text, line: 1}, err)
	}
	return root
}

func (p *parser) remember(v *yaml.Node) {
	if p.doc.recovered == nil {
		p.doc.recovered = map[*yaml.Node]bool{}
	}
	p.doc.recovered[v] = true
}

// splitFields cuts YAML text into its top-level fields: a line that starts in the first column starts a field, unless
// it is a comment, a list item or a closing bracket.
func splitFields(text []byte) []field {
	var fields []field
	start, startLine := 0, 1
	for offset, n := 0, 1; offset < len(text); n++ {
		line, next := cutLine(text, offset)
		if offset > start && len(line) > 0 && !bytes.ContainsRune([]byte(" \t#-]}"), rune(line[0])) {
			fields = append(fields, field{text[start:offset], startLine})
			start, startLine = offset, n
		}
		offset = next
	}
	if start < len(text) {
		fields = append(fields, field{text[start:], startLine})
	}
	return fields
}

// guess reads a broken field as a key and plain text.
func guess(f field) (k, v *yaml.Node) {
	first, next := cutLine(f.text, 0)
	key, rest, ok := strings.Cut(string(first), ":")
	if !ok || key == "" || strings.ContainsAny(key, " \t\"'[]{}#&*!|>%@`") {
		return nil, nil
	}
	words := strings.Fields(rest)
	if len(words) > 0 && (words[0][0] == '|' || words[0][0] == '>') {
		words = words[1:]
	}
	words = append(words, strings.Fields(string(f.text[next:]))...)
	value := strings.Trim(strings.Join(words, " "), `"'`)
	column := utf8.RuneCountInString(key) + 2 + len(rest) - len(strings.TrimLeft(rest, " \t"))
	k = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: f.line, Column: 1}
	v = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: f.line, Column: column}
	return k, v
}

// broken reports what YAML says about a field, on the character that is to blame as far as it can be told.
func (p *parser) broken(f field, err error) {
	line, message := yamlx.ErrorLine(err)
	lines := strings.Split(strings.TrimRight(string(f.text), "\r\n"), "\n")
	found := yamlx.Explain(message, lines, max(1, min(line, len(lines))))
	kind := BadYAML
	if found.Message == yamlx.TabIndent {
		kind = Tab
	}
	p.add(kind, p.doc.FrontLine+f.line+found.Line-2, found.Column, found.Message, found.Hint)
}
