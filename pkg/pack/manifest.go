package pack

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// ManifestName is the name of a manifest's file.
const ManifestName = "skillpm.yaml"

// The link modes: how agents' directories get a skill.
const (
	LinkSymlink = "symlink" // a relative symbolic link, a junction on Windows; the default
	LinkCopy    = "copy"    // a copy of the skill's files
	// LinkHard is LinkSymlink for agents' directories, and has the files of installed skills share their content with the
	// store by hard links. Saves space; who edits such a file edits the store, which notices when it is used next.
	LinkHard = "hardlink"
)

// Manifest is what a skillpm.yaml says: which packs a project wants, and what the pack that it makes is.
type Manifest struct {
	Path string // for messages

	Name        ID     // of the pack; zero when there is none to publish
	Version     string // of the pack, strict semver
	Description string
	License     string
	Skillpm     string   // the range of skillpm versions that can use it
	Skills      []string // patterns of the directories that hold the pack's skills; empty means wherever they are
	Tags        []string // words that the pack is found by
	Executable  []string // patterns of files that are programs, whatever their mode; see [Manifest.Runs]

	Dependencies    []Dependency // in the order of the file
	DevDependencies []Dependency // in the order of the file; never inherited
	Aliases         []Alias      // in the order of the file

	Agents   []string // ids of the agents that skills are linked for; empty means those detected
	LinkMode string   // LinkSymlink, LinkCopy, LinkHard, or "" for the default
	// MinReleaseAge is how old a release must be before it is chosen, 0 for any.
	MinReleaseAge time.Duration
	Registries    []Registry        // in the order of the file
	Namespaces    map[string]string // owner to the registry, by name or address, that alone is asked for its packs

	Workspace []string // patterns of the directories that hold packs which are developed and published together

	Validate Validate // how the skills are checked

	data     []byte
	validate yaml.Node // as it is written
	places   places
}

// Alias is another name for a skill: alone where its own is taken, or chosen.
type Alias struct {
	Alias string // a legal name for a skill
	Skill string // the name it has in its pack
	Pack  ID     // the pack
}

// Target returns the skill@owner/name that the alias stands for.
func (a Alias) Target() string { return a.Skill + "@" + a.Pack.String() }

// Registry is a place that packs are looked up in.
type Registry struct {
	Name string // as namespaces refer to it; the address where the file gives none
	URL  string // an address, or a directory
}

var manifestKeys = []string{
	"name", "version", "description", "license", "tags", "skillpm", "skills", "executable", "dependencies", "dev-dependencies", "aliases",
	"agents", "link-mode", "min-release-age", "registries", "namespaces", "workspace", "validate",
}

// packKeys are those of an installed pack's manifest; the others are about the project that makes it.
var packKeys = []string{"name", "version", "description", "license", "skillpm", "skills", "executable", "dependencies"}

// NewManifest returns a manifest without content.
func NewManifest(path string) *Manifest { return &Manifest{Path: path} }

// ParseManifest reads a manifest. Errors have code [diag.Invalid] and start with path, line and column.
func ParseManifest(path string, data []byte) (*Manifest, error) {
	return reader{path: path}.manifest(data)
}

func (r reader) manifest(data []byte) (*Manifest, error) {
	root, err := r.mapping(data, maxFile)
	if err != nil {
		return nil, err
	}
	m := &Manifest{Path: r.path, data: slices.Clone(data)}
	if r.notes != nil {
		m.places.root = root
	}
	if err := r.fields(root, ManifestName, manifestKeys, func(k, v *yaml.Node) error { return m.field(r, k.Value, v) }); err != nil {
		return nil, err
	}
	return m, m.check(r, root)
}

// ParsePack reads the manifest of a pack that somebody else made: what it says of the pack, and nothing about the
// project around it, which may use keys of a newer skillpm. Those that are not known are returned as warnings.
func ParsePack(path string, data []byte) (m *Manifest, warnings []string, err error) {
	r := reader{path: path}
	root, err := r.mapping(data, maxFile)
	if err != nil {
		return nil, nil, err
	}
	m = &Manifest{Path: path, data: slices.Clone(data)}
	for k, v := range pairs(root) {
		switch {
		case slices.Contains(packKeys, k.Value):
			err = m.field(r, k.Value, v)
		case k.Value == "workspace":
			m.Workspace, _ = r.texts(v, k.Value, checkPattern) // of a newer skillpm, perhaps: then it says nothing
		case k.Value == "tags":
			m.Tags, _ = r.tags(v) // likewise
		case !slices.Contains(manifestKeys, k.Value):
			warning := r.errorf(k, "unknown key %q", k.Value).Error()
			if near := diag.Nearest(k.Value, manifestKeys); near != "" {
				warning += ": did you mean " + near + "?"
			}
			warnings = append(warnings, warning)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return m, warnings, m.check(r, root)
}

// Bytes returns the file's content: as it was read, with the edits since.
func (m *Manifest) Bytes() []byte { return slices.Clone(m.data) }

// Dependency returns what the manifest says of a pack, in dependencies or dev-dependencies.
func (m *Manifest) Dependency(id ID) (Dependency, bool) {
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		if d.ID == id {
			return d, true
		}
	}
	return Dependency{}, false
}

// field reads one key of the root. A null value means that the key says nothing, so that `dependencies:` alone is fine.
func (m *Manifest) field(r reader, key string, v *yaml.Node) (err error) {
	if isNull(v) && v.Value == "" {
		return nil
	}
	switch key {
	case "name":
		m.Name, err = r.packID(v, "name")
	case "version":
		m.Version, err = r.version(v)
	case "description":
		m.Description, err = r.prose(v, "description")
		m.Description = strings.TrimSpace(m.Description)
	case "license":
		m.License, err = r.text(v, "license")
	case "skillpm":
		m.Skillpm, err = r.constraint(v, "skillpm")
	case "skills":
		m.Skills, err = r.texts(v, key, checkPattern)
	case "tags":
		m.Tags, err = r.tags(v)
	case "executable":
		m.Executable, err = r.texts(v, key, checkProgram)
	case "dependencies":
		m.Dependencies, err = r.dependencies(v, key)
	case "dev-dependencies":
		m.DevDependencies, err = r.dependencies(v, key)
	case "aliases":
		m.Aliases, err = r.aliases(v)
	case "workspace":
		m.Workspace, err = r.texts(v, key, checkPattern)
	case "validate":
		m.validate = *v
		m.Validate, err = r.validate(v)
	default:
		var s settings
		err = s.field(r, key, v)
		m.use(key, s)
	}
	return err
}

// use takes over the setting of one key.
func (m *Manifest) use(key string, s settings) {
	switch key {
	case "agents":
		m.Agents = s.agents
	case "link-mode":
		m.LinkMode = s.linkMode
	case "min-release-age":
		m.MinReleaseAge = s.minAge
	case "registries":
		m.Registries = s.registries
	case "namespaces":
		m.Namespaces = s.namespaces
	}
}

// check looks at what no single key can say.
func (m *Manifest) check(r reader, root *yaml.Node) error {
	direct := make(map[string]bool, len(m.Dependencies))
	for _, d := range m.Dependencies {
		direct[d.ID.String()] = true
	}
	for k := range pairs(lookup(root, "dev-dependencies")) {
		if m.DevDependencies == nil || !direct[k.Value] {
			continue
		}
		err := r.errorf(k, "%s is in dependencies and in dev-dependencies", k.Value).WithHint("remove one of the two")
		if err := r.note(err); err != nil {
			return err
		}
	}
	for k := range pairs(lookup(root, "dependencies")) {
		if m.Name.IsZero() || k.Value != m.Name.String() {
			continue
		}
		if err := r.note(r.errorf(k, "%s depends on itself", k.Value).WithHint("remove this line")); err != nil {
			return err
		}
	}
	return nil
}

// packID reads a pack's owner/name.
func (r reader) packID(v *yaml.Node, what string) (ID, error) {
	s, err := r.text(v, what)
	if err != nil {
		return ID{}, err
	}
	id, err := ParseID(s)
	return id, r.at(v, err)
}

// version reads a strict semantic version.
func (r reader) version(v *yaml.Node) (string, error) {
	s, err := r.text(v, "version")
	if err != nil {
		return "", err
	}
	return s, r.at(v, checkVersion(s))
}

func checkVersion(s string) error {
	if _, err := semver.StrictNewVersion(s); err == nil {
		return nil
	}
	err := diag.Errorf(diag.Invalid, "version %q is not a semantic version", s)
	if loose, e := semver.NewVersion(s); e == nil {
		return err.WithHint("write it as %q", loose.String())
	}
	return err.WithHint("write three numbers, as in \"1.4.0\"")
}

// constraint reads a range of versions.
func (r reader) constraint(v *yaml.Node, what string) (string, error) {
	s, err := r.text(v, what)
	if err != nil {
		return "", err
	}
	return s, r.at(v, checkConstraint(s))
}

func checkConstraint(s string) error {
	if s == "latest" {
		return nil
	}
	if _, err := semver.NewConstraint(s); err != nil || strings.TrimSpace(s) == "" {
		return diag.Errorf(diag.Invalid, "%q is not a range of versions", s).
			WithHint("write a range as in \"^1.2\", \"~1.2.3\", \">=1.2 <2\", or \"*\" for any version")
	}
	return nil
}

// checkPattern checks where some of the pack's own skills are.
func checkPattern(s string) error {
	clean := strings.TrimSuffix(strings.TrimPrefix(s, "./"), "/")
	_, err := path.Match(clean, "")
	switch {
	case err != nil:
		return diag.Errorf(diag.Invalid, "skills pattern %q is not closed", s)
	case strings.Contains(s, `\`):
		return diag.Errorf(diag.Invalid, "skills pattern %q has a backslash", s).WithHint("write forward slashes")
	case s == "" || path.IsAbs(s) || path.Clean(clean) != clean || clean == ".." || strings.HasPrefix(clean, "../"):
		return diag.Errorf(diag.Invalid, "skills pattern %q is not a directory inside the pack", s).
			WithHint("write a path relative to this file, as in \"skills/*\"")
	}
	return nil
}

// aliases reads the mapping of alias to skill@owner/name.
func (r reader) aliases(v *yaml.Node) ([]Alias, error) {
	if err := r.mappingOf(v, "aliases"); err != nil {
		return nil, err
	}
	var list []Alias
	of := make(map[Alias]string) // by what they stand for
	err := r.fields(v, "aliases", nil, func(k, v *yaml.Node) error {
		badName := r.at(k, checkAlias(k.Value))
		if err := r.note(badName); err != nil {
			return err
		}
		target, err := r.text(v, "alias "+k.Value)
		if err != nil {
			return err
		}
		a, err := parseAlias(k.Value, target)
		if err != nil {
			return r.at(v, err)
		}
		stands := Alias{Skill: a.Skill, Pack: a.Pack}
		if other, ok := of[stands]; ok {
			return r.errorf(k, "%s has two aliases, %s and %s", a.Target(), other, a.Alias)
		}
		of[stands] = a.Alias
		if badName == nil {
			list = append(list, a)
		}
		return nil
	})
	return list, err
}

func checkAlias(name string) error {
	if err := skill.CheckName(name); err != nil {
		return diag.Errorf(diag.Invalid, "alias %q: %w", name, err)
	}
	return nil
}

func parseAlias(alias, target string) (Alias, error) {
	name, pack, ok := strings.Cut(target, "@")
	if !ok {
		return Alias{}, diag.Errorf(diag.Invalid, "alias %s stands for %q, which does not name a skill and its pack", alias, target).
			WithHint("write it as \"skill@owner/name\"")
	}
	id, err := ParseID(pack)
	if err != nil {
		return Alias{}, err
	}
	if err := skill.CheckName(name); err != nil {
		return Alias{}, diag.Errorf(diag.Invalid, "alias %s: skill %q: %w", alias, name, err)
	}
	return Alias{Alias: alias, Skill: name, Pack: id}, nil
}
