package site

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Write takes a file of the catalogue: its slash-separated path and its bytes.
type Write func(path string, data []byte) error

// Options are about the catalogue as a whole.
type Options struct {
	Title    string // what the catalogue is called, "" for "Agent skills"
	BaseURL  string // where it will be published, "" where that is not known
	Registry string // how the index is named to skillpm in install commands, "" to leave it out
}

// Pack is what an index says of a pack, and what lists and search show.
type Pack struct {
	ID           pack.ID
	Description  string
	License      string
	Tags         []string
	Deprecated   string            // what its owner says instead of maintaining it, "" for not
	Versions     []Version         // highest first
	Skills       []Skill           // of the version that is shown
	Dependencies []pack.Dependency // likewise
}

// Version is one version of a pack.
type Version struct {
	Version   string
	Published string // RFC 3339, "" where the index does not say
	Yanked    string // why it was withdrawn, "" if it was not
	Source    string // the place, as a lock records it
	Digest    string // of the artifact, or the commit
	Integrity string // "t1:sha256:…" over its skills
}

// Skill is one skill of a pack.
type Skill struct {
	Name        string
	Description string
	Tree        string // "t1:sha256:…"
}

// Details is what only the fetched pack can tell of the version that is shown.
type Details struct {
	Problem    string // why it could not be fetched, "" if it was: then nothing else is known
	Skills     []Content
	Signatures []Signature
	Signed     string // why signatures are not known, "" where they are
	Provenance []Provenance
	Profiles   []string // those that skills were checked against
}

// Content is what is in a skill.
type Content struct {
	Name     string
	Markdown []byte // SKILL.md
	Files    bundle.Inventory
	Findings []diag.Finding // paths are relative to the skill
}

// Signature says who signed a pack.
type Signature struct {
	Signer   string // a key or an identity, "" where the signature names none
	Verified bool   // it was checked with a key that is trusted here
	Digest   string // of the signature's artifact, "" where there is none
}

// Provenance says where a pack comes from.
type Provenance struct {
	Label string
	Value string // shown as a link where it is an https URL
}

// Displayed returns the version that pages show: the highest that is neither withdrawn nor a pre-release, else the
// highest that is not withdrawn, else the highest.
func Displayed(versions []Version) int {
	best := -1
	for i, v := range versions {
		if v.Yanked != "" {
			continue
		}
		if !prerelease(v.Version) {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return max(best, 0)
}
