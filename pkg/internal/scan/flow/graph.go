package flow

import (
	"bytes"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Limits of one file. What is beyond them is left out, and [Facts.Partial] is set.
const (
	maxFile       = 1 << 20 // bytes of a script
	maxSpans      = 5000    // code spans of a page
	maxFacts      = 400     // facts
	maxEdges      = 20_000  // steps of data
	maxHoles      = 20_000  // values that are parts of texts
	maxText       = 4000    // bytes of a known text
	maxTexts      = 4 << 20 // bytes of all texts that are put together
	maxNestedText = 1 << 19 // bytes of texts that are evaluated as code, each with nestedCost more
	maxSources    = 12      // sources of one value
	maxElements   = 64      // known elements of a list
	maxChoices    = 16      // values that one value may have
	maxName       = 64      // bytes of the name of a program
	maxDepth      = 60      // nested expressions, commands, and texts that are code
)

// nestedCost is what the evaluation of a short text costs, in bytes of a long one.
const nestedCost = 200

// node is a point that data passes: a fact, a name that several files may use, or a step that tells how.
type node struct {
	fact int32  // index of the fact, or -1
	step bool   // the key is the kind of a step, after which a mark and a name may follow
	key  string // "" for facts
}

// reader collects what one file does.
type reader struct {
	sum        *Summary
	text       []byte // the file
	script     string // the last element of the path
	stem       string // script without extension
	shown      bool
	inline     bool // a code span is read, which ends at spanEnd
	spanEnd    int
	part       []span // of a code block: the lines' offsets in the code and in the file; nil for a whole file
	at         int    // offset in the code of the current statement
	depth      int
	fixed      bool  // code in a text is read: at does not move
	texts      int   // bytes of the texts that [reader.join] returned
	nestedText int   // bytes of the texts that were evaluated as code
	walks      bool  // the code lists the files of a directory and its subdirectories
	secured    int32 // the node of encrypted data, or -1
	*memory
}

type span struct{ code, file int }

func newReader(f File, sum *Summary, m *memory) *reader {
	base := path.Base(f.Path)
	return &reader{sum: sum, text: f.Data, script: base, stem: stemOf(base), secured: -1, memory: m}
}

func stemOf(base string) string {
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		return base[:i]
	}
	return base
}

// offset returns the offset in the file of the current statement.
func (r *reader) offset() int {
	if r.part == nil {
		return r.at
	}
	i := sort.Search(len(r.part), func(i int) bool { return r.part[i].code > r.at }) - 1
	if i < 0 {
		return 0
	}
	return r.part[i].file + r.at - r.part[i].code
}

// fact adds a fact at the current statement, and returns its node.
func (r *reader) fact(f Fact) int32 {
	f.Detail = shorten(r.show(f.Detail))
	f.Client = shorten(r.show(f.Client))
	if f.Sure == 0 {
		f.Sure = Likely
	}
	if repeats(f.Kind) {
		key := f.Kind.String() + " " + f.Detail
		if id, ok := r.once[key]; ok {
			return id
		}
		defer func() { r.once[key] = int32(len(r.sum.nodes)) - 1 }()
	}
	if len(r.sum.facts) >= maxFacts {
		r.sum.partial = true
		return r.point(node{fact: -1})
	}
	r.sum.facts = append(r.sum.facts, r.here(f))
	return r.point(node{fact: int32(len(r.sum.facts)) - 1})
}

// here returns a fact with the position of the current statement.
func (r *reader) here(f Fact) Fact {
	f.File, f.Shown, f.Inline = r.sum.path, r.shown, r.inline
	f.Start = min(max(0, r.offset()), len(r.text))
	f.End = len(r.text)
	if i := bytes.IndexByte(r.text[f.Start:], '\n'); i >= 0 {
		f.End = f.Start + i
	}
	if r.inline {
		f.End = max(f.Start, min(f.End, r.spanEnd))
	}
	return f
}

// ran records a program that shell code runs.
func (r *reader) ran(name string) {
	if name == "" || len(name) > maxName || hasHole(name) || r.inline || r.programs[name] {
		return
	}
	if len(r.sum.programs) >= maxFacts {
		r.sum.partial = true
		return
	}
	r.programs[name] = true
	name = shorten(name)
	r.sum.programs = append(r.sum.programs, r.here(Fact{Kind: Runs, Detail: name, Client: name, Sure: Likely}))
}

// repeats reports whether the first fact with the same detail is enough.
func repeats(k Kind) bool {
	switch k {
	case ReadsVariable, ReadsEnvironment, ReadsFile, Runs, WritesFile, Elevates:
		return true
	}
	return false
}

// source adds a fact, and returns it as the source of a value.
func (r *reader) source(f Fact) value { return value{from: set{r.fact(f)}} }

// sink adds a fact that values reach, and returns its node.
func (r *reader) sink(f Fact, values ...value) int32 {
	id := r.fact(f)
	for _, v := range values {
		r.reach(v.from, id)
	}
	return id
}

// key returns the node of a name that all files of the skill share. The name is given in parts.
func (r *reader) key(parts ...string) int32 {
	r.buf = r.buf[:0]
	for _, p := range parts {
		r.buf = append(r.buf, p...)
	}
	if id, ok := r.keys[string(r.buf)]; ok {
		return id
	}
	name := string(r.buf)
	id := r.point(node{fact: -1, key: name})
	r.keys[name] = id
	return id
}

// point adds a node.
func (r *reader) point(n node) int32 {
	r.sum.nodes = append(r.sum.nodes, n)
	return int32(len(r.sum.nodes)) - 1
}

// functionKey returns the node of a parameter or the result of a function of this file.
func (r *reader) functionKey(kind, function, parameter string) int32 {
	return r.key(kind, r.stem, ".", function, parameter)
}

// reach records that data passes from nodes to another one.
func (r *reader) reach(from set, to int32) {
	if len(r.sum.edges)+len(from) > maxEdges {
		r.sum.partial = true
		return
	}
	for _, f := range from {
		if f != to {
			r.sum.edges = append(r.sum.edges, [2]int32{f, to})
		}
	}
}

// hole returns the mark that stands for a value in the text of another one.
func (r *reader) hole(v value) string {
	if len(r.holes) >= maxHoles {
		r.sum.partial = true
		return "\x00\x01"
	}
	r.holes = append(r.holes, v)
	n := len(r.holes) - 1
	for n >= len(r.marks) {
		r.marks = append(r.marks, "\x00"+strconv.Itoa(len(r.marks))+"\x01")
	}
	return r.marks[n]
}

// textOf returns the text of a value with a mark if it is unknown.
func (r *reader) textOf(v value) string {
	if v.text != "" || v.literal {
		return v.text
	}
	return r.hole(v)
}

// join returns a value whose text is the texts one after the other.
func (r *reader) join(sep string, values ...value) value {
	out := union(values...)
	for i, v := range values {
		choices := v.partsOrEmpty().choices
		if len(choices) == 0 {
			continue
		}
		parts, joined := slices.Clone(values), make([]value, 0, len(choices))
		for _, choice := range choices {
			parts[i] = choice
			joined = append(joined, value{text: r.joined(sep, parts), literal: true, from: choice.from})
		}
		out.setChoices(joined)
		break // of several lists, the first has names
	}
	out.text, out.literal = r.joined(sep, values), true
	return out
}

// joined returns the joined texts of values, with marks for those that are unknown.
func (r *reader) joined(sep string, values []value) string {
	var text strings.Builder
	for i, v := range values {
		if i > 0 && !(sep == "/" && strings.HasSuffix(text.String(), "/")) {
			text.WriteString(sep)
		}
		if text.Len() < maxText && r.texts < maxTexts {
			text.WriteString(r.textOf(v))
		}
	}
	out := cut(text.String())
	r.texts += len(out)
	return out
}

// cut shortens a text to the maximum, before a mark.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	text = text[:maxText]
	if i := strings.LastIndexByte(text, 0); i > strings.LastIndexByte(text, 1) {
		text = text[:i]
	}
	return text
}

// show replaces the marks of a text by an ellipsis.
func (r *reader) show(text string) string {
	if !hasHole(text) {
		return text
	}
	var out strings.Builder
	for out.Len() < 500 {
		known, rest, ok := strings.Cut(text, "\x00")
		out.WriteString(known)
		if !ok {
			break
		}
		out.WriteString("…")
		if _, text, ok = strings.Cut(rest, "\x01"); !ok {
			break
		}
	}
	return out.String()
}

// tooDeep reports whether code is nested too deeply to be read.
func (r *reader) tooDeep() bool {
	if r.depth >= maxDepth {
		r.sum.partial = true
	}
	return r.depth >= maxDepth
}

// evaluates reports whether a text may be evaluated as code, and counts it.
func (r *reader) evaluates(text string) bool {
	r.nestedText += len(text) + nestedCost
	if r.nestedText > maxNestedText {
		r.sum.partial = true
	}
	return r.nestedText <= maxNestedText
}

// marks replaces the beginnings and ends of the marks of unknown parts.
func marks(text, begin, end string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\x00", begin), "\x01", end)
}

// hasHole reports whether a part of a text is unknown.
func hasHole(text string) bool { return strings.IndexByte(text, 0) >= 0 }

// shorten returns a text without control characters, and at most 200 bytes of it.
func shorten(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == 0xfffd || c >= 0x80 && c < 0xa0 || c >= 0x200b && c <= 0x200f ||
			c >= 0x202a && c <= 0x202e || c >= 0x2060 && c <= 0x2069 || c >= 0xe0000 {
			return -1
		}
		return c
	}, text[:min(len(text), 400)])
	if len(text) <= 200 {
		return text
	}
	end := 197
	for end > 0 && text[end]&0xc0 == 0x80 {
		end--
	}
	return text[:end] + "…"
}

// holeAt returns the value of a mark by its number.
func (r *reader) holeAt(number string) (value, bool) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(r.holes) {
		return value{}, false
	}
	return r.holes[n], true
}

// selected returns the entry of a value with a name, such as a variable of an .env file. An entry that is public by its
// name is not a source.
func (r *reader) selected(v value, name string) value {
	if isPublicName(name) {
		return value{}
	}
	return value{from: r.throughNamed("select", v.from, name)}
}

// isPublicName reports whether something with a name is not secret: a public key, an id, or a name.
func isPublicName(name string) bool {
	small := strings.ReplaceAll(strings.ToLower(name), "_", "")
	return strings.Contains(small, "publickey") || strings.Contains(small, "pubkey") || small == "id" ||
		strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "_id") || strings.HasSuffix(small, "name")
}

// header returns a value that is sent as a header, as credentials are.
func (r *reader) header(v value) value {
	v.from = r.through("header", v.from)
	return v
}

// through returns a node that data passes, and whose kind says how.
func (r *reader) through(kind string, from set) set { return r.throughNamed(kind, from, "") }

// throughNamed returns a node that data passes, whose kind and name say how.
func (r *reader) throughNamed(kind string, from set, name string) set {
	if len(from) == 0 {
		return nil
	}
	if name != "" {
		kind += "\x00" + name
	}
	id := r.point(node{fact: -1, key: kind, step: true})
	r.reach(from, id)
	return set{id}
}
