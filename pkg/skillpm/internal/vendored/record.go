package vendored

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// recordName is the file that describes a pack's directory. No skill can have this name.
const recordName = skill.VendorRecord

// record describes the copy of one pack.
type record struct {
	Note     string                   `json:"note"`
	Pack     string                   `json:"pack"`
	Version  string                   `json:"version"`
	Source   string                   `json:"source"`
	Resolved string                   `json:"resolved,omitempty"`
	Skills   map[string]recordedSkill `json:"skills"`
}

// recordedSkill is a skill: its tree digest, and the inventory line of each file up to the path, such as "644 1204
// 9f86…".
type recordedSkill struct {
	Tree  string            `json:"tree"`
	Files map[string]string `json:"files"`
}

const recordNote = "Written by skillpm vendor. " +
	"Do not edit: skillpm vendor --check compares this directory with skillpm.lock."

// newRecord describes a locked pack with the inventories of its skills.
func newRecord(id pack.ID, p *pack.LockedPack, inventories map[string]bundle.Inventory) *record {
	r := &record{
		Note: recordNote, Pack: id.String(), Version: p.Version, Source: p.Source, Resolved: p.Resolved,
		Skills: make(map[string]recordedSkill, len(p.Skills)),
	}
	for name, tree := range p.Skills {
		files := map[string]string{}
		for line := range bytes.Lines(inventories[name].Encode()) {
			if fact, path, ok := strings.Cut(strings.TrimSpace(string(line)), ` "`); ok {
				files[strings.TrimSuffix(path, `"`)] = fact
			}
		}
		r.Skills[name] = recordedSkill{Tree: tree, Files: files}
	}
	return r
}

func (r *record) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(r)
	return b.Bytes(), err
}

// parseRecord reads a record, empty if it is unreadable or about another pack.
func parseRecord(data []byte, id pack.ID) *record {
	r := &record{}
	if json.Unmarshal(data, r) != nil || r.Pack != id.String() {
		return &record{}
	}
	return r
}

// inventory returns the recorded files of a skill, if they match the recorded digest.
func (r *record) inventory(skill string) (bundle.Inventory, bool) {
	known, ok := r.Skills[skill]
	if !ok {
		return nil, false
	}
	lines := bundle.Inventory(nil).Encode()
	for _, path := range slices.Sorted(maps.Keys(known.Files)) {
		lines = append(lines, known.Files[path]+` "`+path+"\"\n"...)
	}
	inv, err := bundle.ParseInventory(lines)
	return inv, err == nil && inv.Digest() == known.Tree
}

// isUnedited reports whether the files of a skill are as recorded, apart from missing files and modes, so that
// replacing them loses no local edit.
func (r *record) isUnedited(skill string, got bundle.Inventory) bool {
	want, ok := r.inventory(skill)
	return ok && workspace.IsSubset(got, want)
}

// difference names the first file in which a tree differs from its expected inventory.
func difference(want, got bundle.Inventory) (path, what string) {
	for _, e := range want {
		f, ok := got.Find(e.Path)
		switch {
		case !ok:
			return e.Path, "is missing"
		case f.SHA256 != e.SHA256:
			return e.Path, "was changed"
		case f.Executable != e.Executable:
			return e.Path, "has a different mode: " + modeText(e.Executable)
		}
	}
	for _, e := range got {
		if _, ok := want.Find(e.Path); !ok {
			return e.Path, "is not part of the skill"
		}
	}
	return "", ""
}

func modeText(executable bool) string {
	if executable {
		return "it must be executable"
	}
	return "it must not be executable"
}
