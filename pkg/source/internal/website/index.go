package website

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// schema02 identifies an index of version 0.2 of the draft. An index of version 0.1 does not name a schema.
const schema02 = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

// The bounds of an index.
const (
	maxIndex    = 8 << 20 // bytes
	maxSkills   = 10_000
	maxFiles    = 5_000 // of one skill, in an index of version 0.1
	maxWarnings = 20
)

// The types of artifacts.
const (
	typeSkill   = "skill-md" // a SKILL.md
	typeArchive = "archive"  // a .tar.gz or .zip of the skill's directory
	typeFiles   = ""         // version 0.1: separate files
)

// entry is a skill in an index.
type entry struct {
	name        string
	description string
	kind        string
	url         *url.URL // of the artifact, or of the directory of the files
	digest      string   // "sha256:…" of the artifact; "" in version 0.1
	files       []string // version 0.1
}

// parseIndex reads an index from base. It leaves out invalid entries, with warnings.
func parseIndex(base *url.URL, data []byte) (entries []entry, warnings []string, err error) {
	var raw struct {
		Schema *string           `json:"$schema"`
		Skills []json.RawMessage `json:"skills"`
	}
	if err := jsonx.Decode(data, &raw, jsonx.Options{}); err != nil {
		return nil, nil, diag.Errorf(diag.Invalid, "%s: %w", base, err)
	}
	if raw.Schema != nil && *raw.Schema != schema02 {
		return nil, nil, diag.Errorf(diag.Invalid, "%s has the unknown schema %q", base, *raw.Schema).
			WithHint("use a newer skillpm")
	}
	if len(raw.Skills) > maxSkills {
		return nil, nil, diag.Errorf(diag.Invalid, "%s lists %d skills; the limit is %d", base, len(raw.Skills), maxSkills)
	}
	seen := map[string]bool{}
	for i, item := range raw.Skills {
		e, err := parseEntry(base, item, raw.Schema != nil)
		if err == nil && seen[e.name] {
			err = fmt.Errorf("the name is duplicated")
		}
		if err != nil {
			if len(warnings) < maxWarnings {
				warnings = append(warnings, fmt.Sprintf("left out skill %d (%q) of %s: %v", i+1, e.name, base, err))
			}
			continue
		}
		seen[e.name] = true
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, warnings, nil
}

// parseEntry reads one entry. Unknown fields are ignored, as the draft requires.
func parseEntry(base *url.URL, data []byte, artifact bool) (entry, error) {
	var raw struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Type        string   `json:"type"`
		URL         string   `json:"url"`
		Digest      string   `json:"digest"`
		Files       []string `json:"files"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return entry{}, fmt.Errorf("it has a field of the wrong type")
	}
	e := entry{name: raw.Name, description: raw.Description}
	if !skill.LegalName(raw.Name) {
		return e, fmt.Errorf("invalid name")
	}
	if !artifact {
		e.url, e.files = base.JoinPath("..", raw.Name), raw.Files
		return e, checkFiles(raw.Files)
	}
	e.kind, e.digest = raw.Type, raw.Digest
	if raw.Type != typeSkill && raw.Type != typeArchive {
		return e, fmt.Errorf("unknown type %q", raw.Type)
	}
	if !pack.IsDigest(raw.Digest) {
		return e, fmt.Errorf("invalid digest %q", raw.Digest)
	}
	at, err := base.Parse(raw.URL)
	if err != nil || raw.URL == "" || at.Host == "" || at.User != nil {
		return e, fmt.Errorf("invalid URL %q", raw.URL)
	}
	e.url = at
	return e, nil
}

// checkFiles checks the paths of an index of version 0.1.
func checkFiles(files []string) error {
	if len(files) > maxFiles {
		return fmt.Errorf("it has %d files; the limit is %d", len(files), maxFiles)
	}
	var check bundle.Checker
	for _, f := range files {
		if err := check.AddFile(f, 0); err != nil {
			return err
		}
	}
	if !slices.Contains(files, skill.File) {
		return fmt.Errorf("its files do not contain %s", skill.File)
	}
	return nil
}
