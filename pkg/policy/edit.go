package policy

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Deny returns a policy file in which a pattern of skills is denied, too. Every other byte stays as it is, comments included;
// data of nil stands for no file: the one that is made restricts nothing else. It reports whether the pattern was not there before. The error is that of a file that is
// not valid, of a pattern that is none, or has code Conflict where there is no place to write it to.
func Deny(path string, data []byte, pattern SkillPattern) (out []byte, added bool, err error) {
	if !isSkillPattern(string(pattern)) {
		return nil, false, diag.Errorf(diag.Usage, "%q is not skill@owner/name or skill, with * for any characters of a part", pattern).WithHint("%s", skillHint(string(pattern)))
	}
	if data == nil {
		return []byte("version: 1\ndowngrade: allow # as without a policy\nskills:\n  deny:\n    - " + quote(string(pattern)) + "\n"), true, nil
	}
	before, err := Parse(path, data)
	if err != nil {
		return nil, false, err
	}
	if slices.Contains(before.Skills.Deny, pattern) {
		return data, false, nil
	}
	e := editor{path: path, data: data}
	out, err = e.proven(e.deny(quote(string(pattern))), before, append(slices.Clone(before.Skills.Deny), pattern))
	return out, true, err
}

// Undeny returns a policy file in which a pattern of skills is not denied any more, as [Deny] does.
func Undeny(path string, data []byte, pattern SkillPattern) (out []byte, removed bool, err error) {
	before, err := Parse(path, data)
	if err != nil {
		return nil, false, err
	}
	i := slices.Index(before.Skills.Deny, pattern)
	if i < 0 {
		return data, false, nil
	}
	e := editor{path: path, data: data}
	out, err = e.proven(e.undeny(i), before, slices.Delete(slices.Clone(before.Skills.Deny), i, i+1))
	return out, true, err
}

// editor changes the text of one policy.
type editor struct {
	path string
	data []byte
}

// proven returns a text if it says what it is to say, and nothing else has changed.
func (e editor) proven(out []byte, before *Policy, want []SkillPattern) ([]byte, error) {
	hint := fmt.Sprintf("write skills: {deny: [%s]} into %s by hand", joined(want), e.path)
	if out == nil {
		return nil, diag.Errorf(diag.Conflict, "%s is written so that nothing can be put into it", e.path).WithHint("%s", hint)
	}
	after, err := Parse(e.path, out)
	if err != nil {
		return nil, diag.Errorf(diag.Conflict, "%s is written so that nothing can be put into it: %w", e.path, err).WithHint("%s", hint)
	}
	slices.Sort(want)
	slices.Sort(after.Skills.Deny)
	same := slices.Equal(want, after.Skills.Deny)
	for _, p := range []*Policy{before, after} {
		clear(p)
	}
	if !same || !reflect.DeepEqual(before, after) {
		return nil, diag.Errorf(diag.Conflict, "%s is written so that nothing can be put into it", e.path).WithHint("%s", hint)
	}
	return out, nil
}

// clear takes out of a policy what an edit changes: the denied skills, and on which lines everything is.
func clear(p *Policy) {
	p.Skills, p.Lines, p.Sources.AllowLine, p.Sources.DenyLines, p.Digest = Skills{}, RuleLines{}, 0, nil, ""
	p.Publish.AllowLine, p.Publish.SignLine = 0, 0
	for i := range p.Require {
		p.Require[i].Line = 0
	}
}

func joined(patterns []SkillPattern) string {
	words := make([]string, len(patterns))
	for i, p := range patterns {
		words[i] = quote(string(p))
	}
	return strings.Join(words, ", ")
}

// root returns the mapping of the file, which was parsed before.
func (e editor) root() *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(e.data, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// deny returns the text with one more entry, nil where there is no place for it.
func (e editor) deny(entry string) []byte {
	root := e.root()
	if root == nil {
		return nil
	}
	skills := lookup(root, "skills")
	if skills == nil {
		if flow(root) {
			return e.insert(e.offset(root)+1, "skills: {deny: ["+entry+"]}, ")
		}
		return e.insert(len(e.data), e.lineBefore(len(e.data))+"skills:"+e.eol()+"  deny:"+e.eol()+"    - "+entry+e.eol())
	}
	list := lookup(skills, "deny")
	switch {
	case list == nil && flow(skills):
		text := "deny: [" + entry + "]"
		if len(skills.Content) > 0 {
			text += ", "
		}
		return e.insert(e.offset(skills)+1, text)
	case list == nil:
		return nil // there is no other key
	case flow(list):
		if len(list.Content) > 0 {
			entry += ", "
		}
		return e.insert(e.offset(list)+1, entry)
	}
	last := list.Content[len(list.Content)-1]
	start, end := e.line(last.Line)
	text := string(e.data[start:end])
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	if !strings.HasPrefix(text[len(indent):], "-") {
		return nil
	}
	return e.insert(end, e.lineBefore(end)+indent+"- "+entry+e.eol())
}

// undeny returns the text without an entry.
func (e editor) undeny(i int) []byte {
	root := e.root()
	if root == nil {
		return nil
	}
	list := lookup(lookup(root, "skills"), "deny")
	item := list.Content[i]
	if flow(list) {
		start := e.offset(item)
		end := start + e.width(start)
		rest := e.data[end:]
		if after := bytes.TrimLeft(rest, " "); bytes.HasPrefix(after, []byte(",")) {
			after = bytes.TrimLeft(after[1:], " ")
			end = len(e.data) - len(after)
		} else if before := bytes.TrimRight(e.data[:start], " \r\n"); bytes.HasSuffix(before, []byte(",")) {
			start = len(before) - 1
		}
		return slices.Concat(e.data[:start], e.data[end:])
	}
	start, end := e.line(item.Line)
	if !strings.HasPrefix(strings.TrimLeft(string(e.data[start:end]), " "), "-") {
		return nil
	}
	if len(list.Content) > 1 {
		return slices.Concat(e.data[:start], e.data[end:])
	}
	if section := e.section(root, item.Line); section >= 0 {
		return slices.Concat(e.data[:section], e.data[end:])
	}
	return slices.Concat(e.data[:start], bytes.Repeat([]byte(" "), max(1, item.Column-1)), []byte("[]"+e.eol()), e.data[end:])
}

// section returns where the section skills starts, if it is nothing but the keys and the entry on the line, and has no comment
// that would be lost; else -1.
func (e editor) section(root *yaml.Node, entry int) int {
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		if key.Value != "skills" || flow(root) || key.Line != entry-2 || len(root.Content) == 2 {
			continue
		}
		start, _ := e.line(key.Line)
		_, end := e.line(entry)
		if !bytes.ContainsRune(e.data[start:end], '#') {
			return start
		}
	}
	return -1
}

func flow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// insert returns the text with another put in at an offset.
func (e editor) insert(at int, text string) []byte {
	if at < 0 {
		return nil
	}
	return slices.Concat(e.data[:at], []byte(text), e.data[at:])
}

// eol is how the lines of the file end.
func (e editor) eol() string {
	if i := bytes.IndexByte(e.data, '\n'); i > 0 && e.data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineBefore is the line ending that is missing before an offset, "" for none.
func (e editor) lineBefore(at int) string {
	if at > 0 && e.data[at-1] != '\n' {
		return e.eol()
	}
	return ""
}

// line returns where a line starts and ends, its line ending included.
func (e editor) line(n int) (start, end int) {
	for ; n > 1; n-- {
		start += bytes.IndexByte(e.data[start:], '\n') + 1
	}
	if i := bytes.IndexByte(e.data[start:], '\n'); i >= 0 {
		return start, start + i + 1
	}
	return start, len(e.data)
}

// offset returns where a node starts.
func (e editor) offset(n *yaml.Node) int {
	start, end := e.line(n.Line)
	text := e.data[start:end]
	if n.Line == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
		start = end - len(text)
	}
	runes := []rune(string(text))
	if n.Column-1 > len(runes) {
		return -1
	}
	return start + len(string(runes[:n.Column-1]))
}

// width returns how many bytes a scalar of a flow list has that starts at an offset, its quotes included.
func (e editor) width(at int) int {
	text := e.data[at:]
	switch text[0] {
	case '"', '\'':
		if i := bytes.IndexByte(text[1:], text[0]); i >= 0 {
			return i + 2
		}
	}
	if i := bytes.IndexAny(text, ",]\r\n"); i >= 0 {
		return len(bytes.TrimRight(text[:i], " "))
	}
	return len(text)
}
