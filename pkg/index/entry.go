package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// MaxBytes is the size over which a pack's file is refused.
const MaxBytes = 32 << 20

// Entry is all that an index says about one pack.
type Entry struct {
	ID       source.ID
	Versions []Line // highest first
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
// they are about.
func Parse(path string, data []byte) (*Entry, error) {
	if len(data) > MaxBytes {
		return nil, diag.Errorf(diag.Invalid, "%s is larger than %d bytes", path, MaxBytes)
	}
	p := parser{path: path, at: make(map[string]int)}
	for n := 1; len(data) > 0; n++ {
		var raw []byte
		raw, data, _ = bytes.Cut(data, []byte("\n"))
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue
		}
		if err := p.line(raw); err != nil {
			return nil, &SyntaxError{Path: path, Line: n, Err: err}
		}
	}
	if p.entry.ID.IsZero() {
		return nil, diag.Errorf(diag.Invalid, "%s has no version", path)
	}
	sortLines(p.entry.Versions)
	return &p.entry, nil
}

type parser struct {
	path  string
	entry Entry
	at    map[string]int // version -> position in entry.Versions
}

// record is any line: a version, or the withdrawal of one.
type record struct {
	Line
	Yanked json.RawMessage `json:"yanked"`
}

func (p *parser) line(raw []byte) error {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return plain(err)
	}
	if err := checkKeys(raw); err != nil {
		return err
	}
	if r.Yanked != nil {
		return p.yank(r)
	}
	if err := r.Check(); err != nil {
		return err
	}
	if at, dup := p.at[r.Version]; dup {
		return fmt.Errorf("version %s is published a second time (the first is number %d): a published version never changes", r.Version, at+1)
	}
	id, err := source.ParseID(r.Name)
	if err != nil {
		return err
	}
	if !p.entry.ID.IsZero() && p.entry.ID != id {
		return fmt.Errorf("the file is about %s, and this line about %s", p.entry.ID, id)
	}
	p.entry.ID = id
	p.at[r.Version] = len(p.entry.Versions)
	p.entry.Versions = append(p.entry.Versions, r.Line)
	return nil
}

func (p *parser) yank(r record) error {
	if r.Source != "" || r.Digest != "" || r.Skills != nil {
		return errors.New("a line that withdraws a version has only version and yanked")
	}
	at, ok := p.at[r.Version]
	if !ok {
		return fmt.Errorf("version %q is withdrawn but was not published above", r.Version)
	}
	if r.Name != "" && r.Name != p.entry.ID.String() {
		return fmt.Errorf("the file is about %s, and this line about %s", p.entry.ID, r.Name)
	}
	if bytes.Equal(r.Yanked, []byte("false")) {
		p.entry.Versions[at].Yanked = ""
		return nil
	}
	var reason string
	if err := json.Unmarshal(r.Yanked, &reason); err != nil || reason == "" {
		return errors.New("yanked is neither a reason nor false")
	}
	p.entry.Versions[at].Yanked = reason
	return nil
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
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) && typed.Field == "" {
		return errors.New("a line is a JSON object")
	}
	if typed != nil {
		return fmt.Errorf("%s has a %s where something else belongs", typed.Field, typed.Value)
	}
	return err
}
