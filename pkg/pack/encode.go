package pack

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// encoder writes a lock: two spaces a level, one entry a line, every value in double quotes.
type encoder struct {
	b *bytes.Buffer
}

func (e encoder) line(depth int, key, value string) {
	for range depth {
		e.b.WriteString("  ")
	}
	e.b.WriteString(key)
	e.b.WriteByte(':')
	if value != "" {
		e.b.WriteByte(' ')
		e.b.WriteString(value)
	}
	e.b.WriteByte('\n')
}

// quoted writes a line with a value in quotes, unless the value is empty.
func (e encoder) quoted(depth int, key, value string) {
	if value != "" {
		e.line(depth, key, quote(value))
	}
}

// quote writes s as a YAML scalar in double quotes, which is JSON's form as well for what has no control characters.
func quote(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.Quote(s)
		}
	}
	return `"` + s + `"`
}

// table writes a mapping of plain keys to quoted values, unless it is empty.
func (e encoder) table(depth int, key string, table map[string]string) {
	if len(table) == 0 {
		return
	}
	e.line(depth, key, "")
	for _, k := range slices.Sorted(maps.Keys(table)) {
		e.line(depth+1, plainKey(k), quote(table[k]))
	}
}

func (e encoder) packs(l *Lock) {
	if len(l.Packs) == 0 {
		e.line(0, "packs", "{}")
		return
	}
	e.line(0, "packs", "")
	for _, id := range l.IDs() {
		p := l.Packs[id]
		e.line(1, id.String(), "")
		e.quoted(2, "version", p.Version)
		e.quoted(2, "source", p.Source)
		e.quoted(2, "resolved", p.Resolved)
		e.quoted(2, "integrity", p.Integrity)
		e.quoted(2, "signer", p.Signer)
		e.table(2, "dependencies", p.Dependencies)
		e.table(2, "skills", p.Skills)
		if p.Partial {
			e.line(2, "partial", "true")
		}
		if was, ok := l.extra.packs[id]; ok && was.pack.Equal(p) {
			e.unknown(was.unknown, 2)
		}
	}
}

func (e encoder) names(l *Lock) {
	if len(l.Names) == 0 {
		return
	}
	e.line(0, "names", "")
	for _, name := range slices.Sorted(maps.Keys(l.Names)) {
		e.name(l, name)
	}
}

func (e encoder) name(l *Lock, name string) {
	n := l.Names[name]
	was, ok := l.extra.names[name]
	keep := ok && was.name.Equal(n)
	if n.Winner.IsZero() && len(n.Shadowed) == 0 && !keep {
		e.line(1, plainKey(name), "{}")
		return
	}
	e.line(1, plainKey(name), "")
	if !n.Winner.IsZero() {
		e.line(2, "winner", n.Winner.String())
	}
	if len(n.Shadowed) > 0 {
		e.line(2, "shadowed", "")
		for _, id := range slices.SortedFunc(maps.Keys(n.Shadowed), ID.Compare) {
			e.line(3, id.String(), plainKey(n.Shadowed[id]))
		}
	}
	if keep {
		e.unknown(was.unknown, 2)
	}
}

var plainText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`) })

// plainKey writes a key or a name without quotes where every YAML reader takes it for text, as it does not with true,
// null, 1e3 or 2026-01-02.
func plainKey(s string) string {
	if simpleKey(s) {
		return s
	}
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	id := strings.Contains(s, "/") && lowerText().MatchString(s)
	if !id && !plainText().MatchString(s) || n.ShortTag() != "!!str" || strings.Contains(" y n yes no on off ", " "+strings.ToLower(s)+" ") {
		return quote(s)
	}
	return s
}

var lowerText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+$`) })

// unknown writes the entries of a mapping that this version does not know, sorted by key, each on one line.
func (e encoder) unknown(n *yaml.Node, depth int) {
	values := make(map[string]*yaml.Node)
	for k, v := range pairs(n) {
		values[k.Value] = v
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		e.line(depth, plainKey(key), flowText(values[key]))
	}
}

// flowText writes any node on one line: in the same form however it was written before.
func flowText(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for k, v := range pairs(n) {
			parts = append(parts, plainKey(k.Value)+": "+flowText(v))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, flowText(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!int", "!!float", "!!bool", "!!timestamp":
		return n.Value
	default:
		return quote(n.Value)
	}
}

// extras are the keys of a lock that this version does not know, with the entries they stood in.
type extras struct {
	root  *yaml.Node
	packs map[ID]extraPack
	names map[string]extraName
}

type extraPack struct {
	pack    *LockedPack
	unknown *yaml.Node
}

type extraName struct {
	name    LockedName
	unknown *yaml.Node
}

func (x *extras) add(to **yaml.Node, k, v *yaml.Node) { *to = appendPair(*to, k, v) }

func (x *extras) setPack(id ID, p *LockedPack, unknown *yaml.Node) {
	if x.packs == nil {
		x.packs = make(map[ID]extraPack)
	}
	x.packs[id] = extraPack{pack: p, unknown: unknown}
}

func (x *extras) setName(name string, n LockedName, unknown *yaml.Node) {
	if x.names == nil {
		x.names = make(map[string]extraName)
	}
	n.Shadowed = maps.Clone(n.Shadowed)
	x.names[name] = extraName{name: n, unknown: unknown}
}

// appendPair adds a key and a value to a mapping node, which is made when it is nil.
func appendPair(to, k, v *yaml.Node) *yaml.Node {
	if to == nil {
		to = &yaml.Node{Kind: yaml.MappingNode}
	}
	to.Content = append(to.Content, k, v)
	return to
}
