package yamlx

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Editor changes a YAML file by replacing bytes. It parses the result of each change, so that nodes always have their
// current positions. A change that cannot be made safely is an [Error] and leaves the file unchanged. The error has a
// line if it is about one value.
type Editor struct {
	text
	path string
	root *yaml.Node // nil for an empty file
	log  []Splice
}

// Splice is a replacement of bytes: Old at Offset became Length bytes.
type Splice struct {
	Offset int    `json:"offset"`
	Old    string `json:"old,omitempty"`
	Length int    `json:"length,omitempty"`
}

// NewEditor parses a file that is empty or has a mapping as its root. The path is used in messages.
func NewEditor(path string, data []byte) (*Editor, error) {
	e := &Editor{path: path}
	return e, e.load(data)
}

// Bytes returns the current content of the file.
func (e *Editor) Bytes() []byte { return e.data }

// Splices returns the changes so far, in order.
func (e *Editor) Splices() []Splice { return e.log }

// Root returns the mapping of the file, or nil if it is empty.
func (e *Editor) Root() *yaml.Node { return e.root }

func (e *Editor) load(data []byte) error {
	root, second, err := Documents(bytes.TrimPrefix(data, bom))
	switch {
	case err != nil:
		return errors.New(Message(err))
	case second != nil:
		return errors.New("it contains more than one document")
	case root != nil && isNull(root):
		root = nil
	case root != nil && root.Kind != yaml.MappingNode:
		return errors.New("line 1: expected a mapping")
	}
	e.text, e.root = newText(data), root
	return nil
}

// splice replaces data[start:end] with text.
func (e *Editor) splice(start, end int, text string) error {
	old := string(e.data[start:end])
	if old == text {
		return nil
	}
	if err := e.load(slices.Concat(e.data[:start], []byte(text), e.data[end:])); err != nil {
		return err
	}
	e.log = append(e.log, Splice{Offset: start, Old: old, Length: len(text)})
	return nil
}

// change makes an edit, and reverts it if the result differs from the model: a copy of the tree with the same change.
func (e *Editor) change(edit func() error, model func(root *yaml.Node)) error {
	before := *e
	want := &yaml.Node{Kind: yaml.MappingNode}
	if e.root != nil {
		want = clone(e.root)
	}
	model(want)
	err := edit()
	if err == nil && sameNode(want, e.root) {
		return nil
	}
	*e = before
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused
	}
	return &Error{Path: e.path, Problem: Problem{Message: "skillpm cannot edit the file automatically"}}
}

// clone returns a copy of the mappings and lists of a node.
func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	for _, child := range n.Content {
		c.Content = append(c.Content, clone(child))
	}
	return &c
}

// sameNode reports whether two nodes have the same value. An empty mapping equals nothing.
func sameNode(a, b *yaml.Node) bool {
	if isEmpty(a) || isEmpty(b) {
		return isEmpty(a) && isEmpty(b)
	}
	return a.Kind == b.Kind && a.Value == b.Value && a.Anchor == b.Anchor &&
		(a.Kind != yaml.ScalarNode || a.ShortTag() == b.ShortTag()) && slices.EqualFunc(a.Content, b.Content, sameNode)
}

func isEmpty(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.MappingNode && len(n.Content) == 0 && n.Anchor == "" ||
		isNull(n) && n.Value == "" && n.Anchor == ""
}

// Set sets the value of the entry at a path: in place if it exists, else as the last entry of its mapping, which it
// creates if necessary. In a list with a line for each entry, a []Word keeps the existing entries and their order.
func (e *Editor) Set(value any, path ...string) error {
	return e.change(func() error { return e.set(value, path) }, func(root *yaml.Node) {
		last := len(path) - 1
		for _, key := range path[:last] {
			root = modelValue(root, key, yaml.MappingNode)
		}
		old := modelValue(root, path[last], 0)
		if _, merge := value.([]Word); merge && old.Kind == yaml.SequenceNode && !isFlow(old) {
			value = mergeItems(old, value.([]Word))
		}
		*old = *node(value)
	})
}

// modelValue returns the value of a key of a mapping, and adds the key if it is missing.
func modelValue(n *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	if isEmpty(n) {
		n.Kind = yaml.MappingNode
	}
	v := Lookup(n, key)
	if v == nil {
		v = &yaml.Node{Kind: kind}
		n.Content = append(n.Content, node(key), v)
	}
	return v
}

// mergeItems returns the wanted entries: existing ones in their order, then the others.
func mergeItems(list *yaml.Node, want []Word) (all []Word) {
	for _, item := range list.Content {
		if slices.Contains(want, Word(item.Value)) {
			all = append(all, Word(item.Value))
		}
	}
	for _, w := range want {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

func (e *Editor) set(value any, path []string) error {
	found := e.find(path)
	if len(found) == len(path) {
		return e.replace(found[len(found)-1], value)
	}
	missing := path[len(found):]
	if len(found) == 0 {
		return e.insertRoot(missing, value)
	}
	at := found[len(found)-1]
	switch {
	case at.isReferenced():
		return e.refuse(at.val, "write "+at.key.Value+" without an anchor, an alias, or a tag")
	case isNull(at.val):
		return e.insertEmpty(at, missing, value)
	case at.val.Kind != yaml.MappingNode:
		return e.refuse(at.val, "write "+at.key.Value+" as a mapping")
	case isFlow(at.val) && (len(at.val.Content) > 0 || isFlow(at.parent)):
		return e.insertFlow(at.val, missing, value)
	case isFlow(at.val):
		return e.insertEmpty(at, missing, value)
	default:
		return e.insertBlock(at.val, at.next, missing, value)
	}
}

// replace changes a value in place: the bytes on one line between its ends, without the comment after it.
func (e *Editor) replace(at mappingEntry, value any) error {
	flow := isFlow(at.parent)
	text := Render(value, e.isJSON(at.parent))
	byHand := "write the value on one line: " + at.key.Value + ": " + text
	words, isWords := value.([]Word)
	isBlock := at.val.Kind != yaml.ScalarNode && !isFlow(at.val)
	switch {
	case at.isReferenced():
		return e.refuse(at.val, byHand)
	case isNull(at.val) && at.val.Value == "":
		after := e.afterColon(at, flow)
		return e.splice(after, after, " "+text)
	case isWords && isBlock && at.val.Kind == yaml.SequenceNode:
		return e.replaceItems(at, words)
	case isListValue(value) && isBlock && at.val.Kind == yaml.SequenceNode:
		return e.splice(e.afterColon(at, flow), e.lineEnd(e.lastLine(at)), " "+text+e.eol)
	case isBlock:
		return e.refuse(at.val, byHand)
	}
	start, end := e.offset(at.val), e.valueEnd(at.val, flow)
	if at.val.Kind == yaml.ScalarNode && at.val.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 &&
		string(e.data[start:end]) != at.val.Value {
		return e.refuse(at.val, byHand)
	}
	if s, ok := value.(string); ok && e.data[start] == '\'' && !strings.ContainsAny(s, "'\\\n") {
		text = "'" + s + "'"
	}
	return e.splice(start, end, text)
}

// replaceItems changes a list with a line for each entry: wanted entries keep their lines, new ones follow.
func (e *Editor) replaceItems(at mappingEntry, want []Word) error {
	var added []any
	for _, w := range want {
		if !slices.ContainsFunc(at.val.Content, func(n *yaml.Node) bool { return n.Value == string(w) }) {
			added = append(added, w)
		}
	}
	err := e.appendLines(at, added...)
	// from the end, so that the positions before it stay valid
	for _, item := range slices.Backward(at.val.Content) {
		if err == nil && !slices.Contains(want, Word(item.Value)) {
			err = e.removeLines(e.lines[item.Line-1], e.lineEnd(item.Line))
		}
	}
	return err
}

// insertRoot adds a key at the end of the file, or of the flow mapping that the file is.
func (e *Editor) insertRoot(keys []string, value any) error {
	switch {
	case e.root == nil:
		return e.insertLines(e.endLine(), 0, keys, value)
	case isFlow(e.root):
		return e.insertFlow(e.root, keys, value)
	default:
		return e.insertBlock(e.root, e.endLine(), keys, value)
	}
}

// insertFlow adds an entry after the last one of a flow mapping: on a line of its own if that one is.
func (e *Editor) insertFlow(n *yaml.Node, keys []string, value any) error {
	text := renderNested(keys, value, e.isJSON(n) || e.isJSON(e.root))
	end, last := scanFlow(e.data, e.offset(n))
	if len(n.Content) == 0 {
		return e.splice(last, last, text)
	}
	comma := ","
	if e.data[last-1] == ',' {
		comma = ""
	}
	k := n.Content[len(n.Content)-2]
	indent := e.data[e.lines[k.Line-1]:e.offset(k)]
	eol := bytes.IndexByte(e.data[last:end], '\n')
	if len(bytes.TrimLeft(indent, " ")) > 0 || eol < 0 {
		return e.splice(last, last, comma+" "+text)
	}
	if comma == "" {
		text += ","
	}
	eol += last + 1
	return e.splice(last, eol, comma+string(e.data[last:eol])+string(indent)+text+e.eol)
}

// renderNested renders a value below keys, each in the mapping of the one before it.
func renderNested(keys []string, value any, json bool) string {
	for _, key := range slices.Backward(keys[1:]) {
		value = Mapping{{key, value}}
	}
	return Render(Word(keys[0]), json) + ": " + Render(value, json)
}

// insertBlock adds an entry after the last one of a block mapping that ends before the line next.
func (e *Editor) insertBlock(n *yaml.Node, next int, keys []string, value any) error {
	k, v := n.Content[len(n.Content)-2], n.Content[len(n.Content)-1]
	last := e.lastLine(mappingEntry{key: k, val: v, next: next})
	// Comments that follow without a gap, at the entries' own indentation, belong to this mapping.
	for n.Column > 1 && last+1 < next {
		line := e.line(last + 1)
		trimmed := bytes.TrimLeft(line, " ")
		if len(trimmed) == 0 || trimmed[0] != '#' || len(line)-len(trimmed)+1 != k.Column {
			break
		}
		last++
	}
	return e.insertLines(last+1, k.Column-1, keys, value)
}

// insertEmpty adds the first entry of a mapping that is empty: after `key:`, or in the place of `key: {}`.
func (e *Editor) insertEmpty(at mappingEntry, keys []string, value any) error {
	if isFlow(at.parent) {
		after := e.afterColon(at, true)
		return e.splice(after, after, " {"+renderNested(keys, value, e.isJSON(at.parent))+"}")
	}
	line, indent := at.key.Line, at.key.Column+1
	if start := e.offset(at.val); isFlow(at.val) {
		end := e.valueEnd(at.val, false)
		for start > 0 && e.data[start-1] == ' ' {
			start--
		}
		if err := e.splice(start, end, ""); err != nil {
			return err
		}
	} else if at.val.Value != "" {
		return e.refuse(at.val, "write \""+at.key.Value+":\" without a value")
	}
	return e.insertLines(line+1, indent, keys, value)
}

// insertLines writes keys, each below the one before it, and the value at the start of a line.
func (e *Editor) insertLines(line, indent int, keys []string, value any) error {
	at := len(e.data)
	if line <= len(e.lines) {
		at = e.lines[line-1]
	}
	for _, key := range slices.Backward(keys) {
		value = Block{{key, value}}
	}
	return e.spliceLines(at, e.block(value.(Block), indent))
}

// spliceLines writes lines at the start of a line, or at the end of the file. If the file does not end with a line end,
// the result does not either.
func (e *Editor) spliceLines(at int, lines string) error {
	if at > 0 && e.data[at-1] != '\n' && !(at == len(bom) && bytes.HasPrefix(e.data, bom)) {
		lines = e.eol + strings.TrimSuffix(lines, e.eol)
	}
	return e.splice(at, at, lines)
}

// removeLines removes lines, and the line end before them if they are the last ones and have none.
func (e *Editor) removeLines(start, end int) error {
	if end == len(e.data) && start > 0 && e.data[end-1] != '\n' {
		start = len(bytes.TrimSuffix(e.data[:start], []byte(e.eol)))
	}
	return e.splice(start, end, "")
}

// block writes entries on lines of their own.
func (e *Editor) block(entries Block, indent int) string {
	var b strings.Builder
	for _, pair := range entries {
		b.WriteString(strings.Repeat(" ", indent) + Plain(pair.Key) + ":")
		if below, ok := pair.Value.(Block); ok {
			b.WriteString(e.eol + e.block(below, indent+2))
		} else {
			b.WriteString(" " + Render(pair.Value, false) + e.eol)
		}
	}
	return b.String()
}

// Remove removes the entry at a path, and reports whether there was one. The comments above it stay.
func (e *Editor) Remove(path ...string) (bool, error) {
	found := e.find(path)
	if len(found) < len(path) {
		return false, nil
	}
	return true, e.change(func() error { return e.remove(found[len(path)-1], path) }, func(root *yaml.Node) {
		modelRemove(root, path)
	})
}

func modelRemove(root *yaml.Node, path []string) {
	last := len(path) - 1
	parent := Lookup(root, path[:last]...)
	i := slices.IndexFunc(parent.Content, func(n *yaml.Node) bool { return n.Value == path[last] })
	parent.Content = slices.Delete(parent.Content, i, i+2)
}

func (e *Editor) remove(at mappingEntry, path []string) error {
	if isFlow(at.parent) {
		return e.removeFlow(at)
	}
	start, end := e.lines[at.key.Line-1], e.lineEnd(e.lastLine(at))
	if len(bytes.TrimLeft(e.data[start:e.offset(at.key)], " ")) > 0 {
		return e.refuse(at.key, "remove "+strings.Join(path, ": "))
	}
	return e.removeLines(start, end)
}

func (e *Editor) removeFlow(at mappingEntry) error {
	siblings := at.parent.Content
	switch {
	case at.index+2 < len(siblings):
		return e.splice(e.offset(at.key), e.offset(siblings[at.index+2]), "")
	case at.index > 0:
		return e.splice(e.pairEnd(siblings[at.index-2], siblings[at.index-1]), e.pairEnd(at.key, at.val), "")
	default:
		return e.splice(e.offset(at.parent)+1, e.pairEnd(at.key, at.val), "")
	}
}

// Prune removes the entry at a path, and the mappings that it leaves empty if their lines have no comments. It reports
// whether there was one.
func (e *Editor) Prune(path ...string) (bool, error) {
	found := e.find(path)
	if len(found) < len(path) {
		return false, nil
	}
	return e.Remove(path[:e.prunable(found)]...)
}

// prunable returns the length of the path of the outermost entry that can be removed with the last one of a path.
func (e *Editor) prunable(found []mappingEntry) int {
	n := len(found)
	for n > 1 && len(found[n-2].val.Content) == 2 && !isFlow(found[n-2].parent) && !e.hasComment(found[n-2]) {
		n--
	}
	return n
}

// hasComment reports whether the lines of an entry may have comments, which would be removed with it.
func (e *Editor) hasComment(at mappingEntry) bool {
	return bytes.Contains(e.data[e.lines[at.key.Line-1]:e.lineEnd(e.lastLine(at))], []byte("#"))
}

// refuse returns the error for a value that cannot be edited. The hint describes the edit by hand.
func (e *Editor) refuse(n *yaml.Node, todo string) error {
	return &Error{Path: e.path, Problem: Problem{
		Line: n.Line, Column: n.Column,
		Message: "skillpm cannot edit this value automatically", Hint: "edit " + e.path + " by hand: " + todo,
	}}
}
