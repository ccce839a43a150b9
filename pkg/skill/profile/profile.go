// Package profile describes the systems that read skills, one YAML file for each. Start reading at [Profile].
//
// A profile has the JSON Schema of the frontmatter, the defaults of missing fields, the layers in which the agent looks
// for skills, and the violations that are common enough to be warnings. It also describes how the agent's model gets
// skills: the list and its budget, the text of an activation, the arguments, and the tools that ask for skills. Code
// that depends on an agent's behavior reads it here and does not compare ids of profiles.
//
// The id of an agent stands for its profile. Users add their own profiles: a file that extends one of these and has the
// differences. This package may change at any time.
package profile

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// Default is the default profile for validation.
const Default = "agentskills"

// Runtime is the default profile for serving skills.
const Runtime = "omniforge"

// Profile describes one agent or skill system.
type Profile struct {
	ID     string `yaml:"id"`
	Title  string `yaml:"title"`
	Schema string `yaml:"schema"` // name of its schema in package schema

	// Preset marks a stricter set of rules instead of an agent: `--profile all` leaves it out, and fields that only it
	// defines are violations.
	Preset bool `yaml:"preset"`

	// NameIsDirectory is the severity of a skill name that differs from its directory's; nil for none.
	NameIsDirectory *diag.Severity `yaml:"name-is-directory"`

	// Defaults are the sources of missing fields, "directory" and "first-paragraph", and the default type of agent.
	Defaults map[string]string `yaml:"defaults"`

	// Recognition is how a project of the system is recognized; nil if it is not.
	Recognition *Recognition `yaml:"recognition"`

	// Recommended are optional fields that the agent needs to work well.
	Recommended []string `yaml:"recommended"`

	// ToolForm is the syntax of allowed-tools: "space", "comma", "list", "any", or "" if the field does not exist.
	ToolForm string `yaml:"tool-form"`

	// Listing limits what the agent shows to the model before a skill is loaded.
	Listing *Listing `yaml:"listing"`

	// PlainPaths forbids a leading ./ in the `files` list.
	PlainPaths bool `yaml:"plain-paths"`

	// MaxBytes is the maximum total size of a skill's files, in bytes; 0 means unlimited.
	MaxBytes int64 `yaml:"max-bytes"`

	// Downgrades are schema violations that are not errors.
	Downgrades []Downgrade `yaml:"downgrades"`

	Serving `yaml:",inline"`

	User bool `yaml:"-"` // whether it is a custom profile
}

// Listing limits the total length of fields.
type Listing struct {
	Fields []string `yaml:"fields"`
	Limit  int      `yaml:"limit"` // total, in code points
}

// Downgrade reduces the severity of violations of one schema keyword at one path.
type Downgrade struct {
	// a JSON pointer into the frontmatter; * is any element, ** any number of elements
	At       string        `yaml:"at"`
	Keyword  string        `yaml:"keyword"` // of the schema, for example "type"
	Values   []string      `yaml:"values"`  // only for values of these types; empty means all
	Rule     string        `yaml:"rule"`    // the rule that reports it instead
	Severity diag.Severity `yaml:"severity"`
	Reason   string        `yaml:"reason"`
}

//go:embed *.yaml
var files embed.FS

// Agents returns the profiles of agents, without presets: the default one first, then by id.
func Agents() ([]*Profile, error) {
	all, err := All()
	return slices.DeleteFunc(all, func(p *Profile) bool { return p.Preset }), err
}

// All returns all profiles: the default one first, then by id.
func All() ([]*Profile, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	var all []*Profile
	for _, e := range entries {
		p, err := read(e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Profile) int {
		return cmp.Or(cmp.Compare(rank(a.ID), rank(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

func rank(id string) int {
	if id == Default {
		return 0
	}
	return 1
}

// IDs returns the ids of all profiles, in the order of [All].
func IDs() []string {
	ids := []string{Default}
	entries, _ := fs.ReadDir(files, ".") // reading an embedded directory never fails
	for _, e := range entries {
		if id := strings.TrimSuffix(e.Name(), ".yaml"); id != Default {
			ids = append(ids, id)
		}
	}
	return ids
}

// Lookup returns the built-in profile with an id, or that of an agent. The error has the code Usage, and names the most
// similar profile or lists all.
func Lookup(id string) (*Profile, error) { return lookup(id, nil) }

// lookup is Lookup with additional ids for suggestions.
func lookup(id string, others []string) (*Profile, error) {
	ids := IDs()
	if slices.Contains(ids, id) {
		return read(id + ".yaml")
	}
	if a, ok := agent.Find(id); ok {
		return ofAgent(a)
	}
	ids = append(ids, others...)
	err := diag.Errorf(diag.Usage, "unknown profile %q", id)
	if near := cmp.Or(nearest(id, ids), nearest(id, agent.IDs())); near != "" {
		return nil, err.WithHint("did you mean %s?", near)
	}
	return nil, err.WithHint("use %s", textx.OneOf(ids))
}

// ofAgent returns the profile of an agent, with the agent's own directories in its own order if they are known.
func ofAgent(a agent.Agent) (*Profile, error) {
	p, err := read(cmp.Or(a.Profile, Default) + suffix)
	if err != nil || a.Order == "" {
		return p, err
	}
	p.Layers, p.Unordered = nil, a.Unordered
	for dir := range strings.FieldsSeq(a.Order) {
		name := "project"
		if strings.HasPrefix(dir, "~") {
			name = "personal"
		}
		p.Layers = append(p.Layers, Layer{Name: name, Dirs: []string{dir + "/skills"}, Depth: 4})
	}
	p.Layers = withEnterprise(append(p.Layers, Layer{Name: "plugin", Dirs: []string{"{plugins}"}}))
	if top, _, _ := strings.Cut(a.Mark, "/"); a.UserEnv != "" {
		p.Moved = map[string]string{"~/" + top: a.UserEnv}
	}
	return p, nil
}

// nearest returns the most similar id, ignoring case, by prefix or with a few other letters, or "".
func nearest(id string, ids []string) string {
	folded := strings.ToLower(id)
	for _, known := range ids {
		if known == folded || len(folded) > 2 && strings.HasPrefix(known, folded) {
			return known
		}
	}
	return diag.Nearest(folded, ids)
}

// Select returns the profiles with the given ids, without duplicates. "all" means those of all agents, and no ids mean
// the default. The errors are those of [Lookup].
func Select(ids []string) ([]*Profile, error) { return SelectFrom(ids, nil) }

// SelectFrom is Select with custom profiles, as in [Resolve].
func SelectFrom(ids []string, user fs.FS) ([]*Profile, error) {
	if len(ids) == 0 {
		ids = []string{Default}
	}
	var out []*Profile
	for _, id := range ids {
		some, err := agentsOrOne(id, user)
		if err != nil {
			return nil, err
		}
		for _, p := range some {
			if !slices.ContainsFunc(out, func(q *Profile) bool { return q.ID == p.ID }) {
				out = append(out, p)
			}
		}
	}
	return out, nil
}

func agentsOrOne(id string, user fs.FS) ([]*Profile, error) {
	if id == "all" {
		return Agents()
	}
	p, err := Resolve(id, user)
	if err != nil {
		return nil, err
	}
	return []*Profile{p}, nil
}

// read parses a built-in profile.
func read(name string) (*Profile, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p := new(Profile)
	if err := yamlx.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	return p, nil
}

// Downgraded returns the downgrade for a keyword's violation at a JSON pointer by a value of a type, or nil.
func (p *Profile) Downgraded(pointer, keyword, valueType string) *Downgrade {
	for i := range p.Downgrades {
		d := &p.Downgrades[i]
		if d.Keyword == keyword && matchPointer(d.At, pointer) &&
			(len(d.Values) == 0 || slices.Contains(d.Values, valueType)) {
			return d
		}
	}
	return nil
}

func matchPointer(pattern, pointer string) bool {
	if pattern == "**" {
		return true
	}
	want, segments := strings.Split(pattern, "/"), strings.Split(pointer, "/")
	return slices.EqualFunc(want, segments, func(w, g string) bool { return w == "*" || w == g })
}
