package index

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Dependencies are the requirements of a published version by pack. They have names only and no sources, so that users
// decide which registries have the packs.
type Dependencies map[string]Dependency

// Dependency is one requirement. Its JSON is the constraint alone, or {"version", "skills"} if it requires only some
// skills of the pack.
type Dependency struct {
	Constraint string
	Skills     []string
}

type dependencyObject struct {
	Version string   `json:"version"`
	Skills  []string `json:"skills,omitempty"`
}

// MarshalJSON writes a string or an object.
func (d Dependency) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // constraints are full of < and >
	var v any = d.Constraint
	if len(d.Skills) > 0 {
		v = dependencyObject{Version: d.Constraint, Skills: d.Skills}
	}
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// UnmarshalJSON reads a string or an object.
func (d *Dependency) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		d.Skills = nil
		return json.Unmarshal(data, &d.Constraint)
	}
	var o dependencyObject
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	d.Constraint, d.Skills = o.Version, o.Skills
	return nil
}

// NewDependencies returns dependencies in their published form. A dependency with a source is an error.
func NewDependencies(list []pack.Dependency) (Dependencies, error) {
	if len(list) == 0 {
		return nil, nil
	}
	deps := make(Dependencies, len(list))
	for _, d := range list {
		if d.Ref != nil {
			return nil, diag.Errorf(diag.Invalid,
				"a published pack cannot depend on %s, because skillpm.yaml sets a source for this dependency", d.ID).
				WithHint("publish %s to a registry, and depend on the pack by name", d.ID)
		}
		skills := slices.Clone(d.Skills)
		slices.Sort(skills)
		deps[d.ID.String()] = Dependency{Constraint: d.Constraint, Skills: skills}
	}
	return deps, nil
}

// List returns the dependencies sorted by pack. An illegal name of a pack is an error.
func (d Dependencies) List() ([]pack.Dependency, error) {
	list := make([]pack.Dependency, 0, len(d))
	for _, name := range slices.Sorted(maps.Keys(d)) {
		id, err := pack.ParseID(name)
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "dependency: %w", err)
		}
		if strings.ContainsAny(d[name].Constraint, "\n\r\x00") {
			return nil, diag.Errorf(diag.Invalid,
				"dependency %s: version range %q contains a line break or zero byte", name, d[name].Constraint)
		}
		list = append(list, pack.Dependency{ID: id, Constraint: d[name].Constraint, Skills: d[name].Skills})
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, nil
}
