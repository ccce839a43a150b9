package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// MaxBytes is the size over which a pack's file is refused.
const MaxBytes = 32 << 20

// Entry is all that an index says about one pack.
type Entry struct {
	ID         pack.ID
	Versions   []Line // highest first
	Deprecated string // why nobody should start to use the pack, "" where that is not said
}

// Line returns the entry's line for a version.
func (e *Entry) Line(version string) (Line, bool) {
	i := slices.IndexFunc(e.Versions, func(l Line) bool { return l.Version == version })
	if i < 0 {
		return Line{}, false
	}
	return e.Versions[i], true
}

// SyntaxError says what is wrong with a line of a pack's file.
type SyntaxError struct {
	Path string
	Line int // counts from 1
	Err  error
}

// Error returns path:line and what is wrong.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Code returns [diag.Invalid].
func (e *SyntaxError) Code() diag.Code { return diag.Invalid }

// Parse reads a pack's file; path is how messages call it. The lines that withdraw versions are folded into those that
// they are about, and what is said of the pack as a whole into the entry.
func Parse(path string, data []byte) (*Entry, error) {
	if len(data) > MaxBytes {
		return nil, tooLarge(path)
	}
	p := parser{path: path, at: make(map[string]int)}
	for n, raw := range lines(data) {
		for _, err := range p.line(raw) {
			return nil, &SyntaxError{Path: path, Line: n, Err: err}
		}
	}
	if p.entry.ID.IsZero() {
		return nil, diag.Errorf(diag.Invalid, "%s has no version", path)
	}
	sortLines(p.entry.Versions)
	return &p.entry, nil
}

// IDOf returns the pack that a file is about: that of its first version, whatever else is wrong with the file. It is
// zero where no line says it.
func IDOf(data []byte) pack.ID {
	for _, raw := range lines(data) {
		var named struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &named) != nil {
			continue
		}
		if id, err := pack.ParseID(named.Name); err == nil {
			return id
		}
	}
	return pack.ID{}
}

func tooLarge(path string) error {
	return diag.Errorf(diag.Invalid, "%s is larger than %d bytes", path, MaxBytes)
}

// lines yields the lines that are not blank with their numbers, from 1. Space at their ends is left out.
func lines(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		n := 0
		for raw := range bytes.Lines(data) {
			n++
			if raw = bytes.TrimRight(raw, space); len(raw) > 0 && !yield(n, raw) {
				return
			}
		}
	}
}

type parser struct {
	path   string
	strict bool // say also what makes a version unusable
	entry  Entry
	at     map[string]int // version -> position in entry.Versions
}

// record is any line: a version, the withdrawal of one, or a word about the pack.
type record struct {
	Line
	Yanked     json.RawMessage `json:"yanked"`
	Deprecated json.RawMessage `json:"deprecated"`
}

// bare reports whether a line says nothing that only a version's does.
func (r *record) bare() bool { return r.Source == "" && r.Digest == "" && r.Skills == nil }

// line reads one line and yields what is wrong with it. What can be told of it is remembered even so, so that the lines
// below are understood.
func (p *parser) line(raw []byte) iter.Seq2[spot, error] {
	return func(yield func(spot, error) bool) {
		var r record
		wrong := map[string]bool{} // members of another type
		if err := json.Unmarshal(raw, &r); err != nil {
			typed := typeErrors(raw, err)
			for at, err := range typed {
				if !yield(at, err) {
					return
				}
				wrong[at.steps[0].(string)] = true
			}
			if len(wrong) == 0 {
				yield(spot{offset: whereJSON(raw, err)}, plain(err))
				return
			}
		}
		if offset, err := checkKeys(raw); err != nil && !yield(spot{offset: offset}, err) {
			return
		}
		troubles := p.version(r)
		switch {
		case r.Yanked != nil:
			troubles = p.yank(r)
		case r.Deprecated != nil:
			troubles = p.deprecate(r)
		}
		for at, err := range troubles {
			if !(len(at.steps) > 0 && wrong[at.steps[0].(string)]) && !yield(at, err) {
				return
			}
		}
	}
}

// version takes over the line of a version.
func (p *parser) version(r record) iter.Seq2[spot, error] {
	return func(yield func(spot, error) bool) {
		for at, err := range r.troubles() {
			if !yield(at, err) {
				return
			}
		}
		if first, dup := p.at[r.Version]; dup {
			yield(at("version"), fmt.Errorf(
				"version %s is published a second time (the first is number %d): a published version never changes",
				r.Version, first+1))
			return
		}
		id, err := pack.ParseID(r.Name)
		if err == nil && !p.entry.ID.IsZero() && p.entry.ID != id {
			if !yield(at("name"), fmt.Errorf("the file is about %s, and this line about %s", p.entry.ID, id)) {
				return
			}
		} else if err == nil {
			p.entry.ID = id
		}
		if CheckVersion(r.Version) == nil {
			p.at[r.Version] = len(p.entry.Versions)
			p.entry.Versions = append(p.entry.Versions, r.Line)
		}
		if !p.strict {
			return
		}
		for at, err := range r.unusable() {
			if !yield(at, err) {
				return
			}
		}
	}
}

func (p *parser) yank(r record) iter.Seq2[spot, error] {
	return func(yield func(spot, error) bool) {
		if !r.bare() || r.Deprecated != nil {
			yield(at(), errors.New("a line that withdraws a version has only version and yanked"))
			return
		}
		reason, said := saying(r.Yanked)
		published, ok := p.at[r.Version]
		switch {
		case !ok:
			if !yield(at("version"), fmt.Errorf("version %q is withdrawn but was not published above", r.Version)) {
				return
			}
		case r.Name != "" && r.Name != p.entry.ID.String():
			if !yield(at("name"), fmt.Errorf("the file is about %s, and this line about %s", p.entry.ID, r.Name)) {
				return
			}
		}
		if !said {
			yield(at("yanked"), errors.New("yanked is neither a reason nor false"))
		} else if ok {
			p.entry.Versions[published].Yanked = reason
		}
	}
}

// deprecate takes over a line that is about the pack.
func (p *parser) deprecate(r record) iter.Seq2[spot, error] {
	return func(yield func(spot, error) bool) {
		message, said := saying(r.Deprecated)
		switch {
		case !r.bare() || r.Version != "":
			yield(at(), errors.New("a line that deprecates the pack has only deprecated"))
		case p.entry.ID.IsZero():
			yield(at("deprecated"), errors.New("the pack is deprecated but no version was published above"))
		case r.Name != "" && r.Name != p.entry.ID.String():
			yield(at("name"), fmt.Errorf("the file is about %s, and this line about %s", p.entry.ID, r.Name))
		case !said:
			yield(at("deprecated"), errors.New("deprecated is neither a message nor false"))
		default:
			p.entry.Deprecated = message
		}
	}
}

// saying returns the text that a value is, or "" for false; ok is false for any other value.
func saying(raw json.RawMessage) (text string, ok bool) {
	if bytes.Equal(raw, []byte("false")) {
		return "", true
	}
	err := json.Unmarshal(raw, &text)
	return text, err == nil && text != ""
}

// sortLines puts the highest version first. Versions are strict semver here, so parsing them again cannot go wrong.
func sortLines(lines []Line) {
	type keyed struct {
		version *semver.Version
		line    Line
	}
	keys := make([]keyed, len(lines))
	for i, l := range lines {
		keys[i] = keyed{semver.MustParse(l.Version), l}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int { return b.version.Compare(a.version) })
	for i, k := range keys {
		lines[i] = k.line
	}
}

// plain returns a JSON error's text without Go's words for types.
func plain(err error) error {
	typed, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case typed.Field == "":
		return errors.New("a line is a JSON object")
	default:
		article := "a"
		if strings.HasPrefix(typed.Value, "array") || strings.HasPrefix(typed.Value, "object") {
			article = "an"
		}
		return fmt.Errorf("%s has %s %s where something else belongs", strings.TrimPrefix(typed.Field, "Line."),
			article, typed.Value)
	}
}

// typeErrors yields the members of an object that have another type than a line's, once it is known that there are
// some.
func typeErrors(raw []byte, err error) iter.Seq2[spot, error] {
	return func(yield func(spot, error) bool) {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
			return
		}
		for m := range jsonx.Members(raw) {
			one, _ := json.Marshal(map[string]json.RawMessage{m.Key: m.Value})
			var r record
			typed, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(one, &r))
			if !ok {
				continue
			}
			if typed.Field == "" {
				typed.Field = m.Key // from within a type that decodes itself
			}
			if !yield(at(strings.ToLower(m.Key)), plain(typed)) {
				return
			}
		}
	}
}

// LineNumbers returns the number of the line that each version of a pack's file is on, from 1.
func LineNumbers(data []byte) map[string]int {
	at := map[string]int{}
	for n, raw := range lines(data) {
		var l struct {
			Version string          `json:"version"`
			Yanked  json.RawMessage `json:"yanked"`
		}
		if json.Unmarshal(raw, &l) == nil && l.Yanked == nil && at[l.Version] == 0 {
			at[l.Version] = n
		}
	}
	return at
}
