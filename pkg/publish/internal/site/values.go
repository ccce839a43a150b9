package site

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// Write receives a file of the website: its slash-separated path and its bytes.
type Write func(path string, data []byte) error

// Options configure a [Site].
type Options struct {
	Title    string // "" means "Agent skills"
	BaseURL  string // URL where the website will be published; "" if unknown
	Registry string // the index's address for install commands; "" leaves it out

	AICatalog bool // pages link to the AI Catalog
}

// Pack is the metadata of a pack in the index, which lists and search show.
type Pack struct {
	ID           pack.ID
	Description  string
	License      string
	Tags         []string
	Deprecated   string            // deprecation message, "" if none
	Versions     []Version         // highest first
	Skills       []Skill           // of the displayed version
	Dependencies []pack.Dependency // of the displayed version
	Origin       index.Origin      // of the displayed version
}

// Version is one version of a pack.
type Version struct {
	Version   string
	Published string // RFC 3339; "" if unknown
	Yanked    string // reason; "" if not yanked
	Source    string // source, as in a lockfile
	Digest    string // of the artifact, or the commit
	Integrity string // "t1:sha256:…" over its skills
}

// Skill is one skill of a pack.
type Skill struct {
	Name        string
	Description string
	Tree        string // "t1:sha256:…"
}

// Details is the metadata from the files of the displayed version.
type Details struct {
	Problem    string // why the pack could not be fetched, or ""; if set, all other fields are empty
	Skills     []Content
	Signatures []Signature
	Signed     string // why signatures are unknown, or ""
	Provenance []Provenance
	Profiles   []string // the checked profiles
}

// Content is the files of a skill.
type Content struct {
	Name     string
	Markdown []byte // SKILL.md
	Files    bundle.Inventory
	Findings []diag.Finding // relative to the skill
}

// Signature is a signature of a pack.
type Signature struct {
	Signer   string // a key or an identity; "" if unknown
	Verified bool   // verified with a trusted key
	Digest   string // of the signature's artifact; "" if none
}

// Provenance is the origin of a pack.
type Provenance struct {
	Label string
	Value string // a link if it is an https URL
}

// Displayed returns the version that pages show: the highest that is neither yanked nor a pre-release, or else the
// highest that is not yanked, or else the highest.
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
