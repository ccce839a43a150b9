package yamlx

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Word is a text that is written without quotes if every YAML reader reads it as text. A string is always quoted.
type Word string

// Entry is an entry of a mapping to write. Its value is a string, [Word], bool, int, list ([]any or []Word),
// [Mapping], or [Block].
type Entry struct {
	Key   string
	Value any
}

type (
	// Mapping is a mapping that is written on one line.
	Mapping []Entry
	// Block is a mapping that is written with a line for each entry.
	Block []Entry
)

// Quote formats a text in double quotes.
func Quote(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.Quote(s)
		}
	}
	return `"` + s + `"`
}

var (
	plainPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./-]*$`) })
	packName     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+$`) })
)

// Plain formats a text without quotes if every YAML reader reads it as text, unlike true, null, 1e3, and 2026-01-02.
func Plain(s string) string {
	if isSimple(s) || isText(s) && (strings.Contains(s, "/") && packName().MatchString(s) || plainPattern().
		MatchString(s)) {
		return s
	}
	return Quote(s)
}

// isSimple is a fast check for texts that need no quotes: s starts with a letter, continues with letters, digits,
// hyphens, and slashes, and is not a reserved word.
func isSimple(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (i == 0 || c != '-' && c != '/' && (c < '0' || c > '9')) {
			return false
		}
	}
	switch s {
	case "", "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return true
}

// Scalar formats a text on one line: without quotes if YAML reads it back as the same text, otherwise in quotes. It is
// for prose, most of which [Plain] would quote.
func Scalar(s string) string {
	if s == "" || strings.ContainsAny(s, "\n\r#") || strings.TrimSpace(s) != s || !isText(s) {
		return QuoteText(s)
	}
	n, err := Parse([]byte("k: " + s))
	if v := Lookup(n, "k"); err == nil && v != nil && v.Kind == yaml.ScalarNode && v.Value == s && v.Style == 0 {
		return s
	}
	return QuoteText(s)
}

// QuoteText formats a text in quotes: double ones, or single ones if that saves escapes.
func QuoteText(s string) string {
	control := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") && !strings.ContainsFunc(s, control) {
		return "'" + s + "'"
	}
	return strconv.Quote(s)
}

// isText reports whether readers of YAML 1.1 and 1.2 read a plain scalar as text.
func isText(s string) bool {
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	return n.ShortTag() == "!!str" && !strings.Contains(" y n yes no on off ", " "+strings.ToLower(s)+" ")
}

// Render formats a value on one line, optionally as JSON.
func Render(value any, json bool) string {
	switch v := value.(type) {
	case Word:
		if json {
			return Quote(string(v))
		}
		return Plain(string(v))
	case string:
		return Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case Block:
		return Render(Mapping(v), json)
	case Mapping:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = Render(Word(e.Key), json) + ": " + Render(e.Value, json)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	var parts []string
	for _, item := range items(value) {
		parts = append(parts, Render(item, json))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// items returns the entries of a list to write.
func items(value any) (list []any) {
	switch v := value.(type) {
	case []any:
		return v
	case []Word:
		for _, w := range v {
			list = append(list, w)
		}
	}
	return list
}

func isListValue(value any) bool {
	switch value.(type) {
	case []any, []Word:
		return true
	}
	return false
}

// node returns the node that parsing the written value gives.
func node(value any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"}
	switch v := value.(type) {
	case Word:
		n.Value = string(v)
	case string:
		n.Value = v
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case int:
		n.Tag, n.Value = "!!int", strconv.Itoa(v)
	case Block:
		return node(Mapping(v))
	case Mapping:
		n.Kind, n.Tag = yaml.MappingNode, ""
		for _, e := range v {
			n.Content = append(n.Content, node(e.Key), node(e.Value))
		}
	default:
		n.Kind, n.Tag = yaml.SequenceNode, ""
		for _, item := range items(value) {
			n.Content = append(n.Content, node(item))
		}
	}
	return n
}
