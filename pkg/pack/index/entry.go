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

// MaxBytes is the greatest size of a pack's file.
const MaxBytes = 32 << 20

// Entry is the content of a pack's file.
type Entry struct {
	ID         pack.ID
	Versions   []Line // highest first
	Deprecated string // why users should not start to use the pack, "" if it is not deprecated
}

// Line returns the line of a version.
func (e *Entry) Line(version string) (Line, bool) {
	i := slices.IndexFunc(e.Versions, func(l Line) bool { return l.Version == version })
	if i < 0 {
		return Line{}, false
	}
	return e.Versions[i], true
}

// SyntaxError is an error in a line of a pack's file.
type SyntaxError struct {
	Path string
	Line int // counts from 1
	Err  error
}

// Error returns path:line: and the error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err) }

// Unwrap returns the error without the position.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Code returns [diag.Invalid].
func (e *SyntaxError) Code() diag.Code { return diag.Invalid }

// Parse parses a pack's file; path is its name in messages. Lines that yank versions set [Line.Yanked], and lines that
// deprecate the pack set [Entry.Deprecated].
func Parse(path string, data []byte) (*Entry, error) {
	if len(data) > MaxBytes {
		return nil, tooLarge(path)
	}
	p := parser{path: path, versions: make(map[string]int)}
	for n, raw := range lines(data) {
		for _, err := range p.line(raw) {
			return nil, &SyntaxError{Path: path, Line: n, Err: err}
		}
	}
	if p.entry.ID.IsZero() {
		return nil, diag.Errorf(diag.Invalid, "%s does not contain a version", path)
	}
	sortLines(p.entry.Versions)
	return &p.entry, nil
}

// IDOf returns the pack of a file from its first line with a name, even if the file is otherwise invalid. It is zero if
// there is none.
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

// lines yields the lines that are not blank with their numbers, from 1, and without space at their ends.
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
	path     string
	strict   bool // report also what makes a version unusable
	entry    Entry
	versions map[string]int // the index in entry.Versions
}

// record is any line: a version, or a note that yanks a version or deprecates the pack.
type record struct {
	Line
	Yanked     json.RawMessage `json:"yanked"`
	Deprecated json.RawMessage `json:"deprecated"`
}

// isNote reports whether a line has no member that only a version has.
func (r *record) isNote() bool { return r.Source == "" && r.Digest == "" && r.Skills == nil }

// line parses one line and yields its errors. It records the valid part, so that it understands later lines.
func (p *parser) line(raw []byte) iter.Seq2[location, error] {
	return func(yield func(location, error) bool) {
		var r record
		mistyped := map[string]bool{} // members of another type
		if err := json.Unmarshal(raw, &r); err != nil {
			for loc, err := range typeErrors(raw, err) {
				if !yield(loc, err) {
					return
				}
				mistyped[loc.steps[0].(string)] = true
			}
			if len(mistyped) == 0 {
				yield(location{offset: jsonErrorOffset(raw, err)}, describeJSON(err))
				return
			}
		}
		if offset, err := checkKeys(raw); err != nil && !yield(location{offset: offset}, err) {
			return
		}
		problems := p.version(r)
		switch {
		case r.Yanked != nil:
			problems = p.yank(r)
		case r.Deprecated != nil:
			problems = p.deprecate(r)
		}
		for loc, err := range problems {
			if !(len(loc.steps) > 0 && mistyped[loc.steps[0].(string)]) && !yield(loc, err) {
				return
			}
		}
	}
}

// version adds the line of a version.
func (p *parser) version(r record) iter.Seq2[location, error] {
	return func(yield func(location, error) bool) {
		for loc, err := range r.problems() {
			if !yield(loc, err) {
				return
			}
		}
		if _, duplicate := p.versions[r.Version]; duplicate {
			yield(at("version"), fmt.Errorf(
				"an earlier line already publishes version %s, and a published version never changes",
				r.Version))
			return
		}
		id, err := pack.ParseID(r.Name)
		if err == nil && !p.entry.ID.IsZero() && p.entry.ID != id {
			if !yield(at("name"), fmt.Errorf("the file is for %s, but this line is for %s", p.entry.ID, id)) {
				return
			}
		} else if err == nil {
			p.entry.ID = id
		}
		if CheckVersion(r.Version) == nil {
			p.versions[r.Version] = len(p.entry.Versions)
			p.entry.Versions = append(p.entry.Versions, r.Line)
		}
		if !p.strict {
			return
		}
		for loc, err := range r.usabilityProblems() {
			if !yield(loc, err) {
				return
			}
		}
	}
}

// yank sets or clears the reason in the line of a version.
func (p *parser) yank(r record) iter.Seq2[location, error] {
	return func(yield func(location, error) bool) {
		if !r.isNote() || r.Deprecated != nil {
			yield(at(), errors.New("a line that yanks a version must contain only version and yanked"))
			return
		}
		reason, ok := parseNote(r.Yanked)
		published, found := p.versions[r.Version]
		switch {
		case !found:
			if !yield(at("version"), fmt.Errorf("version %q is yanked, but no earlier line publishes it", r.Version)) {
				return
			}
		case r.Name != "" && r.Name != p.entry.ID.String():
			if !yield(at("name"), fmt.Errorf("the file is for %s, but this line is for %s", p.entry.ID, r.Name)) {
				return
			}
		}
		if !ok {
			yield(at("yanked"), errors.New("yanked must be a reason or false"))
		} else if found {
			p.entry.Versions[published].Yanked = reason
		}
	}
}

// deprecate sets or clears the message of the pack.
func (p *parser) deprecate(r record) iter.Seq2[location, error] {
	return func(yield func(location, error) bool) {
		message, ok := parseNote(r.Deprecated)
		switch {
		case !r.isNote() || r.Version != "":
			yield(at(), errors.New("a line that deprecates the pack must contain only deprecated"))
		case p.entry.ID.IsZero():
			yield(at("deprecated"), errors.New("the pack is deprecated, but no earlier line publishes a version"))
		case r.Name != "" && r.Name != p.entry.ID.String():
			yield(at("name"), fmt.Errorf("the file is for %s, but this line is for %s", p.entry.ID, r.Name))
		case !ok:
			yield(at("deprecated"), errors.New("deprecated must be a message or false"))
		default:
			p.entry.Deprecated = message
		}
	}
}

// parseNote parses a text, or false as "". ok is false for any other value.
func parseNote(raw json.RawMessage) (text string, ok bool) {
	if bytes.Equal(raw, []byte("false")) {
		return "", true
	}
	err := json.Unmarshal(raw, &text)
	return text, err == nil && text != ""
}

// sortLines sorts lines by version, the highest first. The versions are valid.
func sortLines(lines []Line) {
	versions := make(map[string]*semver.Version, len(lines))
	for _, l := range lines {
		versions[l.Version] = semver.MustParse(l.Version)
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return versions[b.Version].Compare(versions[a.Version]) })
}

// describeJSON returns a JSON error without Go's names of types.
func describeJSON(err error) error {
	typed, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case typed.Field == "":
		return errors.New("a line must be a JSON object")
	default:
		return fmt.Errorf("%s has the wrong type: %s", strings.TrimPrefix(typed.Field, "Line."), typed.Value)
	}
}

// typeErrors yields the members of an object that have the wrong type, if err says that there are some.
func typeErrors(raw []byte, err error) iter.Seq2[location, error] {
	return func(yield func(location, error) bool) {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
			return
		}
		for m := range jsonx.Members(raw) {
			single, _ := json.Marshal(map[string]json.RawMessage{m.Key: m.Value})
			var r record
			typed, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(single, &r))
			if !ok {
				continue
			}
			if typed.Field == "" {
				typed.Field = m.Key // the error of a type with UnmarshalJSON
			}
			if !yield(at(strings.ToLower(m.Key)), describeJSON(typed)) {
				return
			}
		}
	}
}

// LineNumbers returns the line number of each version in a pack's file, from 1.
func LineNumbers(data []byte) map[string]int {
	numbers := map[string]int{}
	for n, raw := range lines(data) {
		var l struct {
			Version string          `json:"version"`
			Yanked  json.RawMessage `json:"yanked"`
		}
		if json.Unmarshal(raw, &l) == nil && l.Yanked == nil && numbers[l.Version] == 0 {
			numbers[l.Version] = n
		}
	}
	return numbers
}
