package graph

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable returns s as one line without control characters: it writes characters that Unicode doesn't call printable,
// such as line breaks and those that change the direction of text, as their numbers.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// maxName is the number of characters of a line in a picture.
const maxName = 60

// title returns the name and version of a node.
func (n *node) title() string { return strings.TrimSpace(n.name + " " + n.Version) }

// label returns the text at an arc of a picture, "" if any version matches.
func (a arc) label() string {
	if a.constraint == "*" {
		return ""
	}
	return printable(a.constraint)
}

// remarks returns what is special about a node. A tree shows that nothing requires it only if the node is a root.
func (n *node) remarks(isRoot bool) []string {
	var remarks []string
	switch {
	case n.missing:
		remarks = append(remarks, "not installed")
	case n.Linked != "":
		remarks = append(remarks, "linked to "+printable(n.Linked))
	case isRoot && !n.required:
		remarks = append(remarks, "not required")
	}
	return remarks
}

// String returns the skill's name, and the name that agents know it under if it differs.
func (s Skill) String() string {
	if s.Link == "" || s.Link == s.Name {
		return printable(s.Name)
	}
	return printable(s.Name) + " as " + printable(s.Link)
}
