package skill

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// front parses the frontmatter's text into nodes. If it is not valid YAML as a whole, each field is parsed on its own,
// so that a broken field does not hide others.
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
		p.add(NotMapping, node.Line, node.Column, "the frontmatter is not a mapping of fields",
			"write one field on each line, such as name: my-skill")
		return
	}
	d.Front = node
	p.duplicates(node)
}

// oneLineBreak replaces the line breaks of YAML 1.1 that editors do not show with spaces, so that line numbers match an
// editor's: a carriage return without a line feed, and three Unicode characters.
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

// readYAML returns the root node of one YAML document, or nil if it is empty.
func readYAML(text []byte) (*yaml.Node, error) {
	root, err := yamlx.Parse(text)
	if err != nil || root == nil || root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Value == "" {
		return nil, err
	}
	return root, nil
}

// shift moves a node and its descendants down by a number of lines.
func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines)
	}
}

// duplicates reports the duplicate keys of a mapping.
func (p *parser) duplicates(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]int, len(n.Content)/2)
		for k := range yamlx.Pairs(n) {
			if k.Kind != yaml.ScalarNode {
				continue
			}
			if line, ok := seen[k.Value]; ok && (p.brokenLine == 0 || k.Line < p.brokenLine) {
				p.add(DuplicateKey, k.Line, k.Column, "the key "+strconv.Quote(
					k.Value)+" is duplicated; it first appears on line "+strconv.Itoa(line),
					"remove one of the two keys")
				continue
			}
			seen[k.Value] = k.Line
		}
	}
	for _, c := range n.Content {
		p.duplicates(c)
	}
}

// errNoColon is the parser's message about a field without a key.
var errNoColon = errors.New("yaml: could not find expected ':'")

// field is a top-level field with its lines.
type field struct {
	text  []byte
	line  int // of the frontmatter's text, from 1
	first int // line of the field that the text is part of
}

// key returns the key of the field, or "".
func (f field) key() string {
	first, _ := cutLine(f.text, 0)
	key, ok := keyOf(first)
	if !ok {
		return ""
	}
	return strings.Trim(key, `"' `)
}

// rest returns the lines of the field from the first one that neither is indented nor starts an entry.
func (f field) rest() field {
	for offset, n := 0, f.line; offset < len(f.text); n++ {
		line, next := cutLine(f.text, offset)
		if _, ok := keyOf(line); offset > 0 && startsText(line) && !ok {
			return field{f.text[offset:], n, f.first}
		}
		offset = next
	}
	return field{}
}

// startsText reports whether a line has text in its first column that is not a comment, a list item, or a closing
// bracket.
func startsText(line []byte) bool {
	return len(line) > 0 && bytes.IndexByte([]byte(" \t\r#-]}"), line[0]) < 0
}

// keyOf returns the key of a line that starts a field: one word, or several in quotes.
func keyOf(line []byte) (string, bool) {
	if len(line) > 0 && (line[0] == '"' || line[0] == '\'') {
		end := bytes.IndexByte(line[1:], line[0])
		return string(line[:end+2]), end >= 0 && isColon(line[end+2:])
	}
	i := bytes.IndexByte(line, ':')
	if i <= 0 || !isColon(line[i:]) || bytes.ContainsAny(line[:i], " \t\"'[]{}#&*!|>%@`<,") || line[0] == '-' {
		return "", false
	}
	return string(line[:i]), true
}

// isColon reports whether text starts with the colon after a key.
func isColon(text []byte) bool {
	return len(text) > 0 && text[0] == ':' && (len(text) == 1 || text[1] == ' ' || text[1] == '\t' || text[1] == '\r')
}

// standardFields are the fields of the standard. A line that starts with one of them is not part of a text above it.
var standardFields = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

// isFieldName reports whether a key is written as fields are. In examples and other prose, keys are words such as Note.
func isFieldName(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// maxByField is the maximum size of broken frontmatter that is parsed by field, in bytes. Real frontmatter has a
// hundredth of it.
const maxByField = 256 << 10

// fields parses text field by field after the whole failed with err.
func (p *parser) fields(text []byte, err error) *yaml.Node {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
	if len(text) > maxByField {
		p.broken(field{text: text, line: 1, first: 1}, err)
		return root
	}
	reported := len(p.problems)
	conflict := bytes.Contains(text, []byte("\n<<<<<<< ")) || bytes.HasPrefix(text, []byte("<<<<<<< "))
	if conflict {
		p.broken(field{text: text, line: 1, first: 1}, err)
	}
	keys, prose := map[string]bool{}, false // prose: a broken text may go on in the fields below it
	for _, f := range splitFields(text) {
		key := f.key()
		node, ferr := readField(f.text)
		if rest := f.rest(); ferr != nil && rest.text != nil {
			// a complete field above lines that are not YAML: read the field, and report the lines
			if head, herr := readField(f.text[:len(f.text)-len(rest.text)]); herr == nil {
				node, f = head, rest
			}
		}
		if node != nil {
			shift(node, f.first-1)
			root.Content = append(root.Content, node.Content...)
		}
		if ferr != nil && p.brokenLine == 0 {
			p.brokenLine = p.doc.FrontLine + f.line - 1
		}
		another := isFieldName(key) && !keys[key] && !conflict && (!prose || slices.Contains(standardFields, key))
		if ferr != nil && (len(p.problems) == reported || another) {
			p.broken(f, ferr)
			prose = prose || isTextField(key)
		}
		if k, v := guess(f); ferr != nil && node == nil && k != nil {
			root.Content = append(root.Content, k, v)
			p.remember(v)
		}
		keys[key] = true
	}
	if len(p.problems) == reported {
		p.broken(field{text: text, line: 1}, err)
	}
	return root
}

// readField parses a field. An error is also that it does not have a key.
func readField(text []byte) (*yaml.Node, error) {
	node, err := readYAML(text)
	if err == nil && node != nil && node.Kind != yaml.MappingNode {
		return nil, errNoColon
	}
	return node, err
}

func (p *parser) remember(v *yaml.Node) {
	if p.doc.recovered == nil {
		p.doc.recovered = map[*yaml.Node]bool{}
	}
	p.doc.recovered[v] = true
}

// splitFields splits YAML text into its top-level fields. A line that starts with a key in the first column starts a
// field.
func splitFields(text []byte) []field {
	var fields []field
	start, startLine := 0, 1
	for offset, n := 0, 1; offset < len(text); n++ {
		line, next := cutLine(text, offset)
		if _, ok := keyOf(line); ok && offset > start {
			fields = append(fields, field{text[start:offset], startLine, startLine})
			start, startLine = offset, n
		}
		offset = next
	}
	if start < len(text) {
		fields = append(fields, field{text[start:], startLine, startLine})
	}
	return fields
}

// guess parses a broken field as a key and plain text.
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

// broken reports the YAML error of a field, at the wrong character if it can be located.
func (p *parser) broken(f field, err error) {
	line, message := yamlx.ErrorLine(err)
	lines := strings.Split(strings.TrimRight(string(f.text), "\r\n"), "\n")
	if f.line != f.first { // the first of these lines should not be there
		lines = lines[:1]
	}
	found := yamlx.Explain(message, lines, max(1, min(line, len(lines))))
	isMarkdown := lines[0] != "" && strings.IndexByte("*`<!|>[", lines[0][0]) >= 0 && !strings.HasPrefix(lines[0], "* ")
	if f.line != f.first && (isMarkdown || strings.HasPrefix(found.Message, "invalid YAML")) {
		found.Message = "this line is not YAML"
		found.Hint = "indent the line if it continues the value above; otherwise, close the frontmatter with --- above it"
	}
	kind := BadYAML
	if found.Message == yamlx.TabIndent {
		kind = Tab
	}
	p.add(kind, p.doc.FrontLine+f.line+found.Line-2, found.Column, found.Message, found.Hint)
}
