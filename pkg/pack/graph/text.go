package graph

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain returns s as one line that does nothing but be read: whatever Unicode does not call printable, line breaks and
// the characters that turn the direction of text among it, is written as its number.
func plain(s string) string {
	clean := func(r rune) bool { return unicode.IsPrint(r) && r != utf8.RuneError }
	if !strings.ContainsFunc(s, func(r rune) bool { return !clean(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if clean(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// maxName is how many characters of a line a picture has room for.
const maxName = 60

// title is what a node is called in full.
func (n *node) title() string { return strings.TrimSpace(n.name + " " + n.Version) }

// wants is what an edge of a picture is labelled with: nothing where any version will do.
func (a arc) wants() string {
	if a.constraint == "*" {
		return ""
	}
	return plain(a.constraint)
}

// marks says what is special about a node. That nobody requires it is said where it stands on top.
func (n *node) marks(top bool) []string {
	var marks []string
	switch {
	case n.missing:
		marks = append(marks, "not installed")
	case n.Linked != "":
		marks = append(marks, "linked to "+plain(n.Linked))
	case top && !n.required:
		marks = append(marks, "not required")
	}
	return marks
}

// String writes a skill with the name that agents know it under, if that is another.
func (s Skill) String() string {
	if s.Link == "" || s.Link == s.Name {
		return plain(s.Name)
	}
	return plain(s.Name) + " as " + plain(s.Link)
}
