package yamlx

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Append adds an entry to the end of a list: on a line of its own, unless the list is written on one line. It creates a
// missing list.
func (e *Editor) Append(item any, path ...string) error {
	return e.change(func() error { return e.appendItem(item, path) }, func(root *yaml.Node) {
		for _, key := range path {
			root = modelValue(root, key, yaml.MappingNode)
		}
		root.Kind, root.Tag, root.Value = yaml.SequenceNode, "", ""
		root.Content = append(root.Content, node(item))
	})
}

func (e *Editor) appendItem(item any, path []string) error {
	found := e.find(path)
	if len(found) < len(path) || isNull(found[len(path)-1].val) {
		return e.beginList(item, path)
	}
	at := found[len(path)-1]
	list := at.val
	switch {
	case at.isReferenced() || list.Kind != yaml.SequenceNode:
		return e.refuse(list, "write "+at.key.Value+" as a list")
	case isFlow(list):
		end, last := scanFlow(e.data, e.offset(list))
		text := Render(item, e.isJSON(at.parent))
		switch {
		case len(list.Content) == 0:
			return e.splice(end-1, end-1, text)
		case e.data[last-1] == ',':
			return e.splice(last, last, " "+text)
		}
		return e.splice(last, last, ", "+text)
	}
	return e.appendLines(at, item)
}

// appendLines adds entries after the last one of a list with a line for each.
func (e *Editor) appendLines(at mappingEntry, items ...any) error {
	list := at.val
	if len(items) == 0 {
		return nil
	}
	last := list.Content[len(list.Content)-1]
	end := e.lineEnd(e.lastLine(mappingEntry{key: last, val: last, next: at.next}))
	var text strings.Builder
	for _, item := range items {
		text.WriteString(strings.Repeat(" ", list.Column-1) + "- " + Render(item, false) + e.eol)
	}
	return e.spliceLines(end, text.String())
}

// beginList writes the first entry of a missing or empty list.
func (e *Editor) beginList(item any, path []string) error {
	if err := e.set("x", path); err != nil { // where the list belongs
		return err
	}
	found := e.find(path)
	if len(found) < len(path) {
		return errors.New("it is in the wrong position")
	}
	at := found[len(path)-1]
	start, end := e.offset(at.val), e.valueEnd(at.val, isFlow(at.parent))
	if isFlow(at.parent) {
		return e.splice(start, end, "["+Render(item, e.isJSON(at.parent))+"]")
	}
	for start > 0 && e.data[start-1] == ' ' {
		start--
	}
	return e.splice(start, end, e.eol+strings.Repeat(" ", at.key.Column+1)+"- "+Render(item, false))
}

// RemoveItem removes an entry of a list. With the last entry it also removes the list and then empty mappings, unless
// their lines have comments; in that case an empty list remains. The comments above an entry stay.
func (e *Editor) RemoveItem(i int, path ...string) error {
	found := e.find(path)
	at := found[len(path)-1]
	if len(at.val.Content) == 1 && !isFlow(at.parent) && !e.hasComment(at) {
		if n := e.prunable(found); n == 1 || len(found[n-2].val.Content) > 2 {
			_, err := e.Remove(path[:n]...)
			return err
		}
	}
	return e.change(func() error { return e.removeItem(at, i) }, func(root *yaml.Node) {
		list := Lookup(root, path...)
		list.Content = slices.Delete(list.Content, i, i+1)
	})
}

func (e *Editor) removeItem(at mappingEntry, i int) error {
	list := at.val
	item, isLast := list.Content[i], i == len(list.Content)-1
	switch {
	case isFlow(list) && len(list.Content) == 1:
		end, _ := scanFlow(e.data, e.offset(list))
		return e.splice(e.offset(list)+1, end-1, "")
	case isFlow(list) && !isLast:
		return e.splice(e.offset(item), e.offset(list.Content[i+1]), "")
	case isFlow(list):
		return e.splice(e.valueEnd(list.Content[i-1], true), e.valueEnd(item, true), "")
	}
	next := at.next
	if !isLast {
		next = list.Content[i+1].Line
	}
	start, end := e.lines[item.Line-1], e.lineEnd(e.lastLine(mappingEntry{key: item, val: item, next: next}))
	if strings.TrimLeft(string(e.data[start:e.offset(item)]), " -") != "" {
		return e.refuse(item, "remove this entry")
	}
	if len(list.Content) == 1 { // the comment stays, so the key must stay too
		return e.splice(start, end, strings.Repeat(" ", max(1, list.Column-1))+"[]"+e.eol)
	}
	return e.removeLines(start, end)
}
