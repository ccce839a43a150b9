package skill

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Replace returns the file with the value of a frontmatter field replaced by text, which must be single-line YAML. The
// comments of a single-line value stay. ok is false if the value has several lines with comments, or if the field does
// not have its own lines.
func (d *Document) Replace(key, text string) (data []byte, ok bool) {
	k, v := d.Lookup(key)
	if v == nil || d.Front.Style&yaml.FlowStyle != 0 || hasAnchor(v) {
		return nil, false
	}
	start := d.offset(v.Line, v.Column)
	if end, _, one := yamlx.ScalarEnd(d.Source[:d.FrontEnd], start, v); one && start < end && !d.Recovered(v) {
		return splice(d.Source, start, end, text), true
	}
	start, end := d.offset(k.Line, k.Column)+len(k.Value)+1, d.fieldEnd(k)
	if start > end || d.Source[start-1] != ':' || bytes.Contains(d.Source[start:end], []byte("#")) {
		return nil, false
	}
	return splice(d.Source, start, end, " "+text), true
}

// Span returns the bytes of a frontmatter scalar. ok is false for a scalar with several lines, a tag, or an anchor, and
// for a guessed one.
func (d *Document) Span(v *yaml.Node) (start, end int, ok bool) {
	start = d.offset(v.Line, v.Column)
	end, _, ok = yamlx.ScalarEnd(d.Source[:d.FrontEnd], start, v)
	return start, end, ok && start < end && !d.Recovered(v)
}

// First returns the file with the named fields moved to the start of the frontmatter, in that order, each with the
// comments above it. ok is false if the fields do not have their own lines.
func (d *Document) First(keys ...string) (data []byte, ok bool) {
	if d.Front == nil || d.Front.Style&yaml.FlowStyle != 0 || len(d.recovered) > 0 || len(d.Front.Content) == 0 ||
		hasAnchor(d.Front) ||
		!bytes.HasPrefix(d.Source[d.FrontEnd:], []byte("---")) {
		return nil, false
	}
	type region struct {
		key        string
		start, end int
	}
	var regions []region
	for i := 0; i+1 < len(d.Front.Content); i += 2 {
		k := d.Front.Content[i]
		if k.Column != 1 {
			return nil, false
		}
		start := d.offset(k.Line, 1)
		if i > 0 {
			start = d.commentsAbove(start, regions[i/2-1].start)
			regions[i/2-1].end = start
		}
		regions = append(regions, region{k.Value, start, d.FrontEnd})
	}
	moved := slices.Clone(regions)
	slices.SortStableFunc(moved, func(a, b region) int { return insertIndex(keys, a.key) - insertIndex(keys, b.key) })
	data = append([]byte(nil), d.Source[:regions[0].start]...)
	for _, r := range moved {
		data = append(data, d.Source[r.start:r.end]...)
	}
	data = append(data, d.Source[d.FrontEnd:]...)
	return data, d.sameFields(data)
}

// sameFields reports whether other text has the same fields, values, and comments, and is equally valid.
func (d *Document) sameFields(data []byte) bool {
	_, before := Parse(d.Source)
	other, after := Parse(data)
	if len(after) > len(before) || other.Front == nil || len(other.Front.Content) != len(d.Front.Content) {
		return false
	}
	for i := 0; i+1 < len(d.Front.Content); i += 2 {
		_, v := other.Lookup(d.Front.Content[i].Value)
		if v == nil || !sameNode(d.Front.Content[i+1], v) {
			return false
		}
	}
	return true
}

func sameNode(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value && a.LineComment == b.LineComment &&
		slices.EqualFunc(a.Content, b.Content, sameNode)
}

// hasAnchor reports whether a node or one below it has an anchor or is an alias.
func hasAnchor(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAnchor)
}

// insertIndex returns the index of a key among keys, or their number if it is missing.
func insertIndex(keys []string, key string) int {
	if i := slices.Index(keys, key); i >= 0 {
		return i
	}
	return len(keys)
}

// commentsAbove returns the offset of the first comment line directly above the line at an offset.
func (d *Document) commentsAbove(line, least int) int {
	for line > least {
		start := bytes.LastIndexByte(d.Source[:line-1], '\n') + 1
		if start <= least || d.Source[start] != '#' {
			return line
		}
		line = start
	}
	return line
}
