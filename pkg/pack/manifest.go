package pack

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// ManifestName is the name of a manifest's file.
const ManifestName = "skillpm.yaml"

// The link modes: how agents' directories get a skill.
const (
	LinkSymlink = "symlink" // a relative symbolic link, a junction on Windows; the default
	LinkCopy    = "copy"    // a copy of the skill's files
	// LinkHard is LinkSymlink for agents' directories, and has the files of installed skills share their content with
	// the store by hard links. Saves space; who edits such a file edits the store, which notices when it is used next.
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

	data      []byte
	validate  yaml.Node // as it is written
	positions keyPositions
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
	"name", "version", "description", "license", "tags", "skillpm", "skills", "executable", "dependencies",
	"dev-dependencies", "aliases",
	"agents", "link-mode", "min-release-age", "registries", "namespaces", "workspace", "validate",
}

// packKeys are those of an installed pack's manifest; the others are about the project that makes it.
var packKeys = []string{"name", "version", "description", "license", "skillpm", "skills", "executable", "dependencies"}

// NewManifest returns a manifest without content.
func NewManifest(path string) *Manifest { return &Manifest{Path: path} }

var manifestFormat = yamlx.Format{
	Name: ManifestName, MaxBytes: maxFile, NullIsEmpty: true, Salvage: true,
	ConflictHint: "choose one side, remove the lines <<<<<<<, ======= and >>>>>>>, and run skillpm install",
}

// ParseManifest reads a manifest. Errors have code [diag.Invalid] and start with path, line and column.
func ParseManifest(path string, data []byte) (*Manifest, error) {
	m, r := readManifest(path, data)
	if err := r.Err(); err != nil {
		return nil, err
	}
	m.positions.root = nil // [Manifest.Position] is for those that are checked
	return m, nil
}

// readManifest returns what can be read of a manifest, nil if nothing can.
func readManifest(path string, data []byte) (*Manifest, *yamlx.Reader) {
	r := yamlx.Read(path, data, manifestFormat)
	root, ok := r.Root()
	if !ok {
		return nil, r
	}
	m := &Manifest{Path: path, data: slices.Clone(data), positions: keyPositions{root: root.Node}}
	for key, v := range root.Fields(manifestKeys...) {
		m.field(key, v)
	}
	m.check(root)
	return m, r
}

// ParsePack reads the manifest of a pack that somebody else made: what it says of the pack, and nothing about the
// project around it, which may use keys of a newer skillpm. Those that are not known are returned as warnings.
func ParsePack(path string, data []byte) (m *Manifest, warnings []string, err error) {
	r := yamlx.Read(path, data, manifestFormat)
	root, _ := r.Root()
	m = &Manifest{Path: path, data: slices.Clone(data)}
	for key, v := range root.Fields() {
		switch {
		case slices.Contains(packKeys, key):
			m.field(key, v)
		case key == "workspace" || key == "tags": // of a newer skillpm, perhaps: then it says nothing
			m.field(key, v.Quiet())
		case !slices.Contains(manifestKeys, key):
			warning := v.Key().NewError("", "unknown key %q", key).Error()
			if near := diag.Nearest(key, manifestKeys); near != "" {
				warning += ": did you mean " + near + "?"
			}
			warnings = append(warnings, warning)
		}
	}
	m.check(root)
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return m, warnings, nil
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
func (m *Manifest) field(key string, v yamlx.Value) {
	if v.IsBlank() {
		return
	}
	switch key {
	case "name":
		m.Name = yamlx.As(v, ParseID)
	case "version":
		m.Version = v.Text(checkVersion)
	case "description":
		m.Description = strings.TrimSpace(v.Prose())
	case "license":
		m.License = v.Text()
	case "skillpm":
		m.Skillpm = v.Text(checkConstraint)
	case "skills":
		m.Skills = v.Texts(checkPattern)
	case "tags":
		m.Tags = tags(v)
	case "executable":
		m.Executable = v.Texts(checkProgram)
	case "dependencies":
		m.Dependencies = dependencies(v)
	case "dev-dependencies":
		m.DevDependencies = dependencies(v)
	case "aliases":
		m.Aliases = aliases(v)
	case "workspace":
		m.Workspace = v.Texts(checkPattern)
	case "validate":
		m.validate = *v.Node
		m.Validate = validate(v)
	case "agents":
		m.Agents = v.Texts()
	case "link-mode":
		m.LinkMode = v.Text(checkLinkMode)
	case "min-release-age":
		m.MinReleaseAge = yamlx.As(v, releaseAge)
	case "registries":
		m.Registries = registries(v)
	case "namespaces":
		m.Namespaces = namespaces(v)
	}
}

// check looks at what no single key can say.
func (m *Manifest) check(root yamlx.Value) {
	direct := make(map[string]bool, len(m.Dependencies))
	for _, d := range m.Dependencies {
		direct[d.ID.String()] = true
	}
	for k := range yamlx.Pairs(root.Get("dev-dependencies").Node) {
		if m.DevDependencies != nil && direct[k.Value] {
			root.At(k).Errorf("remove one of the two", "%s is in dependencies and in dev-dependencies", k.Value)
		}
	}
	for k := range yamlx.Pairs(root.Get("dependencies").Node) {
		if !m.Name.IsZero() && k.Value == m.Name.String() {
			root.At(k).Errorf("remove this line", "%s depends on itself", k.Value)
		}
	}
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
	case path.Clean(clean) != clean || pathx.Escapes(clean):
		return diag.Errorf(diag.Invalid, "skills pattern %q is not a directory inside the pack", s).
			WithHint("write a path relative to this file, as in \"skills/*\"")
	}
	return nil
}

// aliases reads the mapping of alias to skill@owner/name.
func aliases(v yamlx.Value) []Alias {
	var list []Alias
	of := make(map[Alias]string) // by what they stand for
	for name, v := range v.Fields() {
		isName := v.Key().Check(checkAlias(name))
		a := yamlx.As(v.Named("alias "+name), func(target string) (Alias, error) { return parseAlias(name, target) })
		if a.Skill == "" {
			continue
		}
		target := Alias{Skill: a.Skill, Pack: a.Pack}
		if other, ok := of[target]; ok {
			v.Key().Errorf("", "%s has two aliases, %s and %s", a.Target(), other, a.Alias)
			continue
		}
		of[target] = a.Alias
		if isName {
			list = append(list, a)
		}
	}
	return list
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
		return Alias{}, diag.Errorf(diag.Invalid, "alias %s stands for %q, which does not name a skill and its pack",
			alias, target).
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

// maxTags is how many words a manifest may list that its pack is found by.
const maxTags = 20

// tags reads the words that a pack is found by.
func tags(v yamlx.Value) []string {
	list := v.Texts(checkTag)
	if len(list) > maxTags {
		v.Errorf("keep those that somebody would search for", "%d tags are more than %d", len(list), maxTags)
	}
	return list
}

// checkTag checks a word that a pack is found by: it is written as a skill's name is.
func checkTag(s string) error {
	if skill.LegalName(s) {
		return nil
	}
	err := diag.Errorf(diag.Invalid, "tag %q is not written in small letters, digits and single hyphens", s)
	if tag, ok := Tag(s); ok {
		return err.WithHint("write %s", tag)
	}
	return err
}

// Tag returns a word as a tag, as "Kubernetes Jobs" as kubernetes-jobs, and reports whether it can be one.
func Tag(word string) (string, bool) {
	word = strings.Join(strings.FieldsFunc(strings.ToLower(word),
		func(r rune) bool { return r <= ' ' || r == '_' || r == '-' }), "-")
	return word, skill.LegalName(word)
}

// checkProgram checks a pattern of files that are programs.
func checkProgram(s string) error {
	switch {
	case strings.Contains(s, `\`):
		return diag.Errorf(diag.Invalid, "executable pattern %q has a backslash", s).WithHint("write forward slashes")
	case path.Clean(s) != s || s == "." || pathx.Escapes(s):
		return diag.Errorf(diag.Invalid, "executable pattern %q is not a path inside the pack", s).
			WithHint("write the path in the skill or in the pack, as in \"scripts/*.sh\"")
	}
	return nil
}

// IsExecutable reports whether the manifest says that a file is a program, by its path in the skill in directory dir of
// the pack, or by that in the pack. What says so adds the executable bit on every system, so that a pack has the same
// digests where files have no such bit.
func (m *Manifest) IsExecutable(dir, file string) bool {
	inPack := path.Join(dir, file)
	for _, pattern := range m.Executable {
		if MatchGlob(pattern, file) || MatchGlob(pattern, inPack) {
			return true
		}
	}
	return false
}
