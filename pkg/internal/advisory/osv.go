package advisory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// SchemaVersion is the version of OSV that skillpm writes.
const SchemaVersion = "1.7.0"

// Ecosystem is the ecosystem of packs of skills.
const Ecosystem = "AgentSkills"

// AnyPack is the package name of an advisory about content, whatever pack contains it.
const AnyPack = "*"

// MaxBytes is the greatest size of one advisory.
const MaxBytes = 1 << 20

// Advisory is an OSV record.
type Advisory struct {
	SchemaVersion string      `json:"schema_version"`              // version of OSV
	ID            string      `json:"id"`                          // id of the advisory
	Modified      time.Time   `json:"modified"`                    // time of the last change
	Published     *time.Time  `json:"published,omitempty"`         // time of publication
	Withdrawn     *time.Time  `json:"withdrawn,omitempty"`         // time since which it no longer counts
	Aliases       []string    `json:"aliases,omitempty"`           // ids of the same problem in other databases
	Related       []string    `json:"related,omitempty"`           // ids of related problems
	Summary       string      `json:"summary,omitempty"`           // problem in one sentence
	Details       string      `json:"details,omitempty"`           // problem in Markdown
	Severity      []Severity  `json:"severity,omitempty"`          // scores
	Affected      []Affected  `json:"affected"`                    // affected packs and content
	References    []Reference `json:"references,omitempty"`        // links
	Specific      *Specific   `json:"database_specific,omitempty"` // fields of skillpm
}

// Severity is a score, such as a CVSS vector.
type Severity struct {
	Type  string `json:"type"`  // kind of score, such as CVSS_V4
	Score string `json:"score"` // the score
}

// Reference is a link to more information.
type Reference struct {
	Type string `json:"type"` // kind of page, such as WEB or ADVISORY
	URL  string `json:"url"`  // address of the page
}

// Specific are the fields of skillpm for a whole advisory.
type Specific struct {
	Malicious bool `json:"malicious,omitempty"` // whether it is about an attack
}

// Affected is a pack with its affected versions, or content.
type Affected struct {
	Package  Package           `json:"package"`                     // name of the pack
	Ranges   []Range           `json:"ranges,omitempty"`            // ranges of affected versions
	Versions []string          `json:"versions,omitempty"`          // single affected versions
	Specific *AffectedSpecific `json:"database_specific,omitempty"` // fields of skillpm
}

// Package names a pack.
type Package struct {
	Ecosystem string `json:"ecosystem"` // AgentSkills for packs of skills
	Name      string `json:"name"`      // owner/name, or * for content in any pack
}

// Range is a range of versions.
type Range struct {
	Type   string  `json:"type"`   // SEMVER
	Events []Event `json:"events"` // where affected versions start and end
}

// Event is the start or the end of affected versions. Exactly one field is set. An introduced version of "0" is before
// every version.
type Event struct {
	Introduced   string `json:"introduced,omitempty"`    // first affected version
	Fixed        string `json:"fixed,omitempty"`         // first version that is not affected
	LastAffected string `json:"last_affected,omitempty"` // last affected version
}

// AffectedSpecific are the fields of skillpm for affected packs.
type AffectedSpecific struct {
	Trees        []string `json:"trees,omitempty"`        // tree digests of skills
	Capabilities []string `json:"capabilities,omitempty"` // what the affected skills can do, in the terms of policies
}

// idPattern is what skillpm accepts as an id: OSV's form, a prefix and a hyphen.
var idPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Z][A-Z0-9]*(-[A-Za-z0-9]+)+$`)
})

var packPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$`)
})

var treePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^t1:sha256:[0-9a-f]{64}$`) })

// maxSummary is the greatest length of a summary in bytes.
const maxSummary = 1000

// maxList is the greatest length of each list in an advisory.
const maxList = 10_000

// Parse reads one advisory. It ignores fields that it does not know, as OSV requires. The error names the field.
func Parse(data []byte) (*Advisory, error) {
	if len(data) > MaxBytes {
		return nil, diag.Errorf(diag.Invalid, "the advisory has %d bytes; the limit is %d", len(data), MaxBytes)
	}
	var a Advisory
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, diag.Errorf(diag.Invalid, "the advisory is not an OSV record: %v", err)
	}
	return &a, a.Check()
}

// Check returns what is wrong with an advisory; nil if it is valid.
func (a *Advisory) Check() error {
	if err := CheckID(a.ID); err != nil {
		return err
	}
	invalid := func(format string, args ...any) error {
		return diag.Errorf(diag.Invalid, "advisory %s: %s", a.ID, fmt.Sprintf(format, args...))
	}
	switch {
	case a.Modified.IsZero():
		return invalid("modified is missing")
	case len(a.Affected) == 0:
		return invalid("affected is empty")
	case len(a.Affected) > maxList || len(a.Aliases) > maxList:
		return invalid("a list has more than %d entries", maxList)
	case len(a.Summary) > maxSummary:
		return invalid("summary has %d bytes; the limit is %d", len(a.Summary), maxSummary)
	case strings.ContainsFunc(a.Summary, unicode.IsControl):
		return invalid("summary contains a line break or another control character")
	}
	for i, x := range a.Affected {
		if err := x.check(); err != nil {
			return invalid("affected[%d]: %v", i, err)
		}
	}
	return nil
}

// CheckID returns what is wrong with the id of an advisory; nil if it is valid.
func CheckID(id string) error {
	if !idPattern().MatchString(id) || len(id) > 64 {
		return diag.Errorf(diag.Invalid, "the advisory id %q is not a prefix and a number, such as SKILL-2026-0001", id)
	}
	return nil
}

// CheckTree returns what is wrong with a tree digest; nil if it is valid.
func CheckTree(digest string) error {
	if !treePattern().MatchString(digest) {
		return diag.Errorf(diag.Invalid, "the tree digest %q is not t1:sha256: and 64 hexadecimal digits", digest)
	}
	return nil
}

func (x Affected) check() error {
	switch {
	case x.Package.Ecosystem != Ecosystem:
		return nil // a record may also be about packages of other ecosystems
	case x.Package.Name == AnyPack && (len(x.Ranges) > 0 || len(x.Versions) > 0):
		return fmt.Errorf("the package %q cannot have versions", AnyPack)
	case len(x.Ranges) > maxList || len(x.Versions) > maxList || len(x.trees()) > maxList ||
		x.Specific != nil && len(x.Specific.Capabilities) > maxList:
		return fmt.Errorf("a list has more than %d entries", maxList)
	case len(x.Ranges)+len(x.Versions)+len(x.trees()) == 0:
		return fmt.Errorf("ranges, versions, or database_specific.trees are missing")
	}
	if x.Package.Name != AnyPack && !packPattern().MatchString(x.Package.Name) {
		return fmt.Errorf("the package name %q is not owner/name", x.Package.Name)
	}
	for _, v := range x.Versions {
		if _, err := semver.StrictNewVersion(v); err != nil {
			return fmt.Errorf("the version %q is not a semantic version", v)
		}
	}
	for _, t := range x.trees() {
		if err := CheckTree(t); err != nil {
			return err
		}
	}
	for _, r := range x.Ranges {
		if err := r.check(); err != nil {
			return err
		}
	}
	return nil
}

func (r Range) check() error {
	if r.Type != "SEMVER" {
		return fmt.Errorf("the range type is %q instead of SEMVER", r.Type)
	}
	introduced := false
	for _, e := range r.Events {
		set := 0
		for _, v := range []string{e.Introduced, e.Fixed, e.LastAffected} {
			if v == "" {
				continue
			}
			set++
			if _, err := parseVersion(v); err != nil {
				return fmt.Errorf("the version %q is not a semantic version", v)
			}
		}
		if set != 1 {
			return fmt.Errorf("an event must have one of introduced, fixed, and last_affected")
		}
		introduced = introduced || e.Introduced != ""
	}
	if !introduced {
		return fmt.Errorf("a range needs an introduced version")
	}
	return nil
}

// parseVersion parses a version of an event.
func parseVersion(v string) (*semver.Version, error) {
	if v == "0" {
		return semver.New(0, 0, 0, "0", ""), nil // before 0.0.0
	}
	return semver.StrictNewVersion(v)
}

func (x Affected) trees() []string {
	if x.Specific == nil {
		return nil
	}
	return x.Specific.Trees
}

// Malicious reports whether the advisory is about an attack, rather than about a mistake.
func (a *Advisory) Malicious() bool {
	malicious := func(id string) bool { return strings.HasPrefix(id, "MAL-") }
	return malicious(a.ID) || slices.ContainsFunc(a.Aliases, malicious) || a.Specific != nil && a.Specific.Malicious
}

// Encode returns the file of an advisory.
func (a *Advisory) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(a)
	return b.Bytes(), err
}
