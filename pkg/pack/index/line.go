package index

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Line is one published version of a pack.
type Line struct {
	Name         string       `json:"name"`                // owner/name
	Version      string       `json:"version"`             // strict semver without build metadata
	Published    string       `json:"published,omitempty"` // RFC 3339, in UTC
	Source       string       `json:"source"`              // by [pack.Ref.Locked]
	Digest       string       `json:"digest"`              // "sha256:…" of the artifact, or the commit
	Integrity    string       `json:"integrity,omitempty"` // "t1:sha256:…" over the skills
	Skills       []Skill      `json:"skills"`              // sorted by name
	Dependencies Dependencies `json:"dependencies,omitempty"`
	Description  string       `json:"description,omitempty"` // of the pack, in a sentence
	License      string       `json:"license,omitempty"`     // an SPDX expression
	Tags         []string     `json:"tags,omitempty"`        // words to find it by
	// Requires is what the skills need on a machine.
	Requires skill.Requirements `json:"requires,omitzero"`

	Yanked string `json:"-"` // why the version is yanked, "" if it is not; from another line of the file
}

// Skill is one skill of a version.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Tree        string `json:"tree"` // "t1:sha256:…"
}

// Encode returns the line of the file with its newline.
func (l Line) Encode() []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(l) // strings always encode
	return buf.Bytes()
}

// Check returns the first problem of the line.
func (l Line) Check() error {
	for _, err := range l.problems() {
		return err
	}
	return nil
}

// problems yields the errors of the line with their locations.
func (l Line) problems() iter.Seq2[location, error] {
	return func(yield func(location, error) bool) {
		_, nameErr := pack.ParseID(l.Name)
		_, timeErr := time.Parse(time.RFC3339, l.Published)
		versionErr := CheckVersion(l.Version)
		switch {
		case nameErr != nil && !yield(at("name"), nameErr):
		case versionErr != nil && !yield(at("version"), versionErr):
		case l.Published != "" && timeErr != nil && !yield(at("published"), diag.Errorf(diag.Invalid,
			"invalid time %q for published: use RFC 3339, such as 2026-01-31T12:00:00Z", l.Published)):
		case (l.Source == "" || l.Digest == "") &&
			!yield(at(l.missingMember()), diag.Errorf(diag.Invalid, "a version requires a source and a digest")):
		case l.Integrity != "" && !isTree(l.Integrity) && !yield(at("integrity"),
			diag.Errorf(diag.Invalid, "invalid integrity %q: use t1:sha256: and 64 hexadecimal digits", l.Integrity)):
		case !l.checkTags(yield):
		case len(l.Skills) == 0:
			yield(at("skills"), diag.Errorf(diag.Invalid, "a version requires at least one skill"))
		default:
			l.checkSkills(yield)
		}
	}
}

// missingMember returns the first required member that is missing.
func (l Line) missingMember() string {
	if l.Source == "" {
		return "source"
	}
	return "digest"
}

// checkTags yields invalid tags. It reports whether to go on.
func (l Line) checkTags(yield func(location, error) bool) bool {
	if len(l.Tags) > maxTags {
		return yield(at("tags"), diag.Errorf(diag.Invalid, "the line has %d tags; the limit is %d", len(l.Tags),
			maxTags))
	}
	for i, tag := range l.Tags {
		invalid := tag == "" || utf8.RuneCountInString(tag) > maxTag ||
			strings.ContainsFunc(tag, func(c rune) bool { return c <= ' ' || c == 0x7f })
		if invalid && !yield(at("tags", i),
			diag.Errorf(diag.Invalid, "invalid tag %q: use one word of at most %d characters", tag, maxTag)) {
			return false
		}
	}
	return true
}

// maxTags is the number of tags that a version may have, and maxTag the number of characters of each.
const maxTags, maxTag = 64, 64

func (l Line) checkSkills(yield func(location, error) bool) {
	seen := make(map[string]bool, len(l.Skills))
	for i, s := range l.Skills {
		if (s.Name == "" || seen[s.Name]) &&
			!yield(at("skills", i, "name"), diag.Errorf(diag.Invalid, "skill name %q is empty or duplicated", s.Name)) {
			return
		}
		if !isTree(s.Tree) && !yield(at("skills", i, "tree"), diag.Errorf(diag.Invalid,
			"invalid tree digest %q of skill %s: use t1:sha256: and 64 hexadecimal digits", s.Tree, s.Name)) {
			return
		}
		seen[s.Name] = true
	}
}

// usabilityProblems yields what makes clients reject the version of a valid line.
func (l Line) usabilityProblems() iter.Seq2[location, error] {
	return func(yield func(location, error) bool) {
		if l.Check() == nil && !l.checkConsistency(yield) {
			return
		}
		for i, s := range l.Skills {
			if err := skill.CheckName(s.Name); s.Name != "" && err != nil && !yield(at("skills", i, "name"), err) {
				return
			}
		}
		for _, name := range slices.Sorted(maps.Keys(l.Dependencies)) {
			d := l.Dependencies[name]
			if _, err := (Dependencies{name: d}).List(); err != nil && !yield(at("dependencies", name), err) {
				return
			}
			if _, err := semver.NewConstraint(cmp.Or(d.Constraint, "*")); err != nil && d.Constraint != "latest" &&
				!yield(at("dependencies", name),
					diag.Errorf(diag.Invalid, "invalid version range %q", d.Constraint)) {
				return
			}
		}
	}
}

// checkConsistency yields contradictions between valid members. It reports whether to go on.
func (l Line) checkConsistency(yield func(location, error) bool) bool {
	id, err := pack.ParseID(l.Name)
	if err != nil {
		return true
	}
	if _, err := l.ref(id, pack.Ref{Kind: pack.KindPath, URL: "."}); err != nil {
		member := "source"
		if h, _ := strings.CutPrefix(l.Digest, "sha256:"); !isHex(h, 64) && !isHex(h, 40) {
			member = "digest"
		}
		if !yield(at(member), err) {
			return false
		}
	}
	trees := make(map[string]string, len(l.Skills))
	for _, s := range l.Skills {
		trees[s.Name] = s.Tree
	}
	if want := bundle.Integrity(trees); l.Integrity != "" && l.Integrity != want {
		return yield(at("integrity"),
			diag.Errorf(diag.Invalid, "the integrity is %s, but the skills have the integrity %s", l.Integrity, want))
	}
	return true
}

// CheckVersion returns an error unless v can be published: strict semver without a leading v and without build
// metadata, because tags of OCI repositories cannot contain a plus sign, and versions that differ only there are equal.
func CheckVersion(v string) error {
	parsed, err := semver.StrictNewVersion(v)
	if err != nil {
		return diag.Errorf(diag.Invalid, "invalid version %q: use a semantic version such as 1.4.0", v)
	}
	if parsed.Metadata() != "" {
		return diag.Errorf(diag.Invalid, "version %q has build metadata, which is not allowed in an index", v).
			WithHint("remove the plus sign and the text after it")
	}
	return nil
}

// Pack returns the line as a pack. base is the source of the index, for relative layouts: they are [pack.KindEmbedded]
// in an embedded index, and a [pack.KindLayout] below an index that is a directory.
func (l Line) Pack(base pack.Ref) (*pack.Pack, error) {
	id, err := pack.ParseID(l.Name)
	if err != nil {
		return nil, err
	}
	ref, err := l.ref(id, base)
	if err != nil {
		return nil, err
	}
	deps, err := l.Dependencies.List()
	if err != nil {
		return nil, err
	}
	p := &pack.Pack{
		ID: id, Version: l.Version, Ref: ref, Integrity: l.Integrity,
		Description: l.Description, License: l.License, Tags: l.Tags,
		Dependencies: deps, Published: l.Published, Yanked: l.Yanked,
		Skills: make([]pack.Skill, len(l.Skills)), Requires: skill.ParseRequirements(l.Requires.Table()),
	}
	for i, s := range l.Skills {
		p.Skills[i] = pack.Skill(s)
	}
	slices.SortFunc(p.Skills, func(a, b pack.Skill) int { return strings.Compare(a.Name, b.Name) })
	return p, nil
}

func (l Line) ref(id pack.ID, base pack.Ref) (pack.Ref, error) {
	if dir, ok := strings.CutPrefix(l.Source, layoutScheme); ok {
		return layoutRef(dir, l.Digest, id, base)
	}
	ref, err := pack.ParseLocked(l.Source, l.Digest, id)
	if err != nil {
		return pack.Ref{}, err
	}
	if ref.Kind != pack.KindOCI && ref.Kind != pack.KindGit || ref.URL == "" {
		return pack.Ref{}, diag.Errorf(diag.Invalid, "%s %s: an index cannot refer to the source %q", l.Name,
			l.Version, l.Source)
	}
	return ref, nil
}

func isTree(s string) bool {
	h, ok := strings.CutPrefix(s, "t1:sha256:")
	return ok && isHex(h, 64)
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}
