package index

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// Line is one published version of a pack.
type Line struct {
	Name         string       `json:"name"`                // owner/name
	Version      string       `json:"version"`             // strict semver without build metadata
	Published    string       `json:"published,omitempty"` // RFC 3339, in UTC
	Source       string       `json:"source"`              // the place, as the lock records it
	Digest       string       `json:"digest"`              // "sha256:…" of the artifact, or the commit
	Integrity    string       `json:"integrity,omitempty"` // "t1:sha256:…" over the skills
	Skills       []Skill      `json:"skills"`              // sorted by name
	Dependencies Dependencies `json:"dependencies,omitempty"`

	Yanked string `json:"-"` // why the version was withdrawn, "" if it was not; a line of its own in the file
}

// Skill is one skill of a version.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Tree        string `json:"tree"` // "t1:sha256:…"
}

// Encode returns the line as it stands in the file, with its newline.
func (l Line) Encode() []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(l) // strings always encode
	return buf.Bytes()
}

// Check reports what is wrong with the line, or nil.
func (l Line) Check() error {
	if _, err := source.ParseID(l.Name); err != nil {
		return err
	}
	if err := CheckVersion(l.Version); err != nil {
		return err
	}
	if _, err := time.Parse(time.RFC3339, l.Published); l.Published != "" && err != nil {
		return diag.Errorf(diag.Invalid, "published %q is not an RFC 3339 time", l.Published)
	}
	if l.Source == "" || l.Digest == "" {
		return diag.Errorf(diag.Invalid, "a version needs a source and a digest")
	}
	if l.Integrity != "" && !isTree(l.Integrity) {
		return diag.Errorf(diag.Invalid, "integrity %q is not t1:sha256: and 64 hex digits", l.Integrity)
	}
	return l.checkSkills()
}

func (l Line) checkSkills() error {
	if len(l.Skills) == 0 {
		return diag.Errorf(diag.Invalid, "a version needs at least one skill")
	}
	seen := make(map[string]bool, len(l.Skills))
	for _, s := range l.Skills {
		if s.Name == "" || seen[s.Name] {
			return diag.Errorf(diag.Invalid, "skill name %q is empty or used twice", s.Name)
		}
		if !isTree(s.Tree) {
			return diag.Errorf(diag.Invalid, "tree %q of skill %s is not t1:sha256: and 64 hex digits", s.Tree, s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// CheckVersion reports whether v is a version that may be published: strict semver, no leading v, no build metadata,
// because registries' tags cannot hold a plus sign and two versions that differ only there are one.
func CheckVersion(v string) error {
	parsed, err := semver.StrictNewVersion(v)
	if err != nil {
		return diag.Errorf(diag.Invalid, "version %q is not a semantic version like 1.4.0", v)
	}
	if parsed.Metadata() != "" {
		return diag.Errorf(diag.Invalid, "version %q has build metadata, which cannot be published", v).
			WithHint("leave out everything from the plus sign on")
	}
	return nil
}

// Pack returns the line as a pack; base is the place of the index itself, against which a relative layout is resolved:
// an embedded index makes it [source.KindEmbedded], a directory's a [source.KindLayout] below it.
func (l Line) Pack(base source.Ref) (*source.Pack, error) {
	id, err := source.ParseID(l.Name)
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
	p := &source.Pack{
		ID: id, Version: l.Version, Ref: ref, Integrity: l.Integrity,
		Dependencies: deps, Published: l.Published, Yanked: l.Yanked,
		Skills: make([]source.Skill, len(l.Skills)),
	}
	for i, s := range l.Skills {
		p.Skills[i] = source.Skill(s)
	}
	slices.SortFunc(p.Skills, func(a, b source.Skill) int { return strings.Compare(a.Name, b.Name) })
	return p, nil
}

func (l Line) ref(id source.ID, base source.Ref) (source.Ref, error) {
	if dir, ok := strings.CutPrefix(l.Source, layoutScheme); ok {
		return layoutRef(dir, l.Digest, id, base)
	}
	ref, err := source.ParseLocked(l.Source, l.Digest, id)
	if err != nil {
		return source.Ref{}, err
	}
	if ref.Kind != source.KindOCI && ref.Kind != source.KindGit {
		return source.Ref{}, diag.Errorf(diag.Invalid, "%s %s: an index cannot point to %q", l.Name, l.Version, l.Source)
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
