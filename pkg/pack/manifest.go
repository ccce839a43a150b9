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
	// LinkHard is LinkSymlink for agents' directories, and makes the files of installed skills hard links to those of
	// the store. This saves space, but editing such a file also changes the store, which notices at its next use.
	LinkHard = "hardlink"
)

// Manifest is the content of a skillpm.yaml: the packs that a project requires, and the pack that it makes.
type Manifest struct {
	Path string // for messages

	Name        ID     // of the pack; zero if there is none to publish
	Version     string // of the pack, strict semver
	Description string
	License     string
	Skillpm     string   // the range of skillpm versions that can use it
	Skills      []string // patterns of the directories that hold the pack's skills; empty means wherever they are
	Tags        []string // words to find the pack by
	Executable  []string // patterns of executable files, whatever their mode; see [Manifest.IsExecutable]
	// Requires is what the skills of the pack, or the project, need on a machine.
	Requires skill.Requirements

	Dependencies    []Dependency // in the order of the file
	DevDependencies []Dependency // in the order of the file; never inherited
	Aliases         []Alias      // in the order of the file

	Agents   []string // ids of the agents that skills are linked for; empty means those detected
	LinkMode string   // LinkSymlink, LinkCopy, LinkHard, or "" for the default
	// MinReleaseAge is how old a release must be before the solver selects it, 0 for any age.
	MinReleaseAge time.Duration
	Registries    []Registry        // in the order of the file
	Namespaces    map[string]string // owner to the only registry, by name or address, that may have its packs

	Profile   string   // the id of the project's profile, "" for the user's
	Workspace []string // patterns of the directories of packs that are developed and published together

	Validate Validate // how the skills are checked
	Publish  Publish  // what publishing the pack requires
	Budgets  []Budget // in the order of the file

	data     []byte
	validate yaml.Node  // the source of Validate
	root     *yaml.Node // only in a manifest that CheckManifest read
}

// Publish is the publish section of a manifest: what publishing the pack requires.
type Publish struct {
	RequireTests bool // each skill has offline tests, and all of them pass
}

// Alias is another name for a skill.
type Alias struct {
	Alias string // a legal name for a skill
	Skill string // the name it has in its pack
	Pack  ID     // the pack
}

// Target returns the skill@owner/name that the alias stands for.
func (a Alias) Target() string { return a.Skill + "@" + a.Pack.String() }

// Registry is a configured source of packs.
type Registry struct {
	Name string // the name that namespaces use; the address if the file has no name
	URL  string // an address, or a directory
}

var manifestKeys = []string{
	"name", "version", "description", "license", "tags", "skillpm", "skills", "executable", "requires", "dependencies",
	"dev-dependencies", "aliases",
	"agents", "link-mode", "min-release-age", "registries", "namespaces", "profile", "workspace", "validate", "publish",
	"budget",
}

// packKeys are the keys that describe a pack; the others are about the project that makes it.
var packKeys = []string{"name", "version", "description", "license", "skillpm", "skills", "executable", "dependencies"}

// NewManifest returns a manifest without content.
func NewManifest(path string) *Manifest { return &Manifest{Path: path} }

var manifestFormat = yamlx.Format{
	Name: ManifestName, MaxBytes: maxFile, NullIsEmpty: true, Salvage: true,
	ConflictHint: "keep the lines that you need, remove the lines <<<<<<<, " +
		"=======, and >>>>>>>, and run \"skillpm install --resolve-lock\"",
}

// ParseManifest reads a manifest. Errors have code [diag.Invalid] and start with path, line and column.
func ParseManifest(path string, data []byte) (*Manifest, error) {
	m, r := readManifest(path, data)
	if err := r.Err(); err != nil {
		return nil, err
	}
	m.root = nil
	return m, nil
}

// ProfileOf returns the profile that the text of a manifest names, "" if it names none or cannot be read.
func ProfileOf(path string, data []byte) string {
	if m, _ := readManifest(path, data); m != nil {
		return m.Profile
	}
	return ""
}

// ValidateProfiles returns the ids of the profiles that the project's skills are validated for, "all" for all, none for
// the default.
func (m *Manifest) ValidateProfiles() []string {
	switch {
	case m.Validate.All:
		return []string{"all"}
	case len(m.Validate.Profiles) == 0 && m.Profile != "":
		return []string{m.Profile}
	}
	return m.Validate.Profiles
}

// readManifest returns what can be read of a manifest, nil if nothing can.
func readManifest(path string, data []byte) (*Manifest, *yamlx.Reader) {
	r := yamlx.Read(path, data, manifestFormat)
	root, ok := r.Root()
	if !ok {
		return nil, r
	}
	m := &Manifest{Path: path, data: slices.Clone(data), root: root.Node}
	for key, v := range root.Fields(manifestKeys...) {
		m.field(key, v)
	}
	m.check(root)
	return m, r
}

// ParsePack reads the manifest of an installed pack. It reads only what describes the pack: the rest may use keys of a
// newer skillpm. It returns unknown keys as warnings.
func ParsePack(path string, data []byte) (m *Manifest, warnings []string, err error) {
	r := yamlx.Read(path, data, manifestFormat)
	root, _ := r.Root()
	m = &Manifest{Path: path, data: slices.Clone(data)}
	for key, v := range root.Fields() {
		switch {
		case slices.Contains(packKeys, key):
			m.field(key, v)
		case key == "workspace" || key == "tags" || key == "requires": // perhaps of a newer skillpm: ignored
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

// Bytes returns the content of the file with all edits.
func (m *Manifest) Bytes() []byte { return slices.Clone(m.data) }

// Dependency returns the requirement of a pack in dependencies or dev-dependencies.
func (m *Manifest) Dependency(id ID) (Dependency, bool) {
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		if d.ID == id {
			return d, true
		}
	}
	return Dependency{}, false
}

// field reads one key of the root. A null value counts as absent, so that `dependencies:` alone is valid.
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
		m.Executable = v.Texts(checkExecutable)
	case "requires":
		m.Requires = requirements(v)
	case "dependencies":
		m.Dependencies = dependencies(v)
	case "dev-dependencies":
		m.DevDependencies = dependencies(v)
	case "aliases":
		m.Aliases = aliases(v)
	case "profile":
		m.Profile = v.Text(checkProfile("list profiles with: skillpm profile list"))
	case "workspace":
		m.Workspace = v.Texts(checkPattern)
	case "validate":
		m.validate = *v.Node
		m.Validate = validate(v)
	case "publish":
		for key, v := range v.Fields("require-tests") {
			if key == "require-tests" {
				m.Publish.RequireTests = v.Bool()
			}
		}
	case "budget":
		m.Budgets = budgets(v)
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

// check checks rules that involve several keys.
func (m *Manifest) check(root yamlx.Value) {
	direct := make(map[string]bool, len(m.Dependencies))
	for _, d := range m.Dependencies {
		direct[d.ID.String()] = true
	}
	for k := range yamlx.Pairs(root.Get("dev-dependencies").Node) {
		if m.DevDependencies != nil && direct[k.Value] {
			root.At(k).Errorf("remove one of the two entries", "%s is in both dependencies and dev-dependencies", k.Value)
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
	err := diag.Errorf(diag.Invalid, "invalid version %q", s)
	if loose, e := semver.NewVersion(s); e == nil {
		return err.WithHint("use %q", loose.String())
	}
	return err.WithHint("use three numbers, such as \"1.4.0\"")
}

func checkConstraint(s string) error {
	if s == "latest" {
		return nil
	}
	if _, err := semver.NewConstraint(s); err != nil || strings.TrimSpace(s) == "" {
		return diag.Errorf(diag.Invalid, "invalid version range %q", s).
			WithHint("use a range such as \"^1.2\", \"~1.2.3\", \">=1.2 <2\", or \"*\" for any version")
	}
	return nil
}

// checkPattern checks a pattern of directories of skills.
func checkPattern(s string) error {
	clean := strings.TrimSuffix(strings.TrimPrefix(s, "./"), "/")
	_, err := path.Match(clean, "")
	switch {
	case err != nil:
		return diag.Errorf(diag.Invalid, "skills pattern %q contains an unclosed bracket", s)
	case strings.Contains(s, `\`):
		return diag.Errorf(diag.Invalid, "skills pattern %q contains a backslash", s).WithHint("use forward slashes")
	case path.Clean(clean) != clean || pathx.Escapes(clean):
		return diag.Errorf(diag.Invalid, "skills pattern %q is not a directory inside the pack", s).
			WithHint("use a path relative to this file, such as \"skills/*\"")
	}
	return nil
}

// aliases reads the mapping of alias to skill@owner/name.
func aliases(v yamlx.Value) []Alias {
	var list []Alias
	byTarget := make(map[Alias]string)
	for name, v := range v.Fields() {
		legal := v.Key().Check(checkAlias(name))
		a := yamlx.As(v.Named("alias "+name), func(target string) (Alias, error) { return parseAlias(name, target) })
		if a.Skill == "" {
			continue
		}
		target := Alias{Skill: a.Skill, Pack: a.Pack}
		if other, ok := byTarget[target]; ok {
			v.Key().Errorf("remove one of the aliases", "%s has two aliases, %s and %s", a.Target(), other, a.Alias)
			continue
		}
		byTarget[target] = a.Alias
		if legal {
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
		return Alias{}, diag.Errorf(diag.Invalid, "alias %s refers to %q instead of a skill and its pack",
			alias, target).
			WithHint("use the form \"skill@owner/name\"")
	}
	id, err := ParseID(pack)
	if err != nil {
		return Alias{}, err
	}
	if err := skill.CheckName(name); err != nil {
		return Alias{}, diag.Errorf(diag.Invalid, "alias %s refers to the invalid skill name %q: %w", alias, name, err)
	}
	return Alias{Alias: alias, Skill: name, Pack: id}, nil
}

// maxTags is the number of tags that a manifest may have.
const maxTags = 20

func tags(v yamlx.Value) []string {
	list := v.Texts(checkTag)
	if len(list) > maxTags {
		v.Errorf("keep the most important tags", "the pack has %d tags; the limit is %d", len(list), maxTags)
	}
	return list
}

// checkTag checks a tag, which is written like the name of a skill.
func checkTag(s string) error {
	if skill.LegalName(s) {
		return nil
	}
	err := diag.Errorf(diag.Invalid, "tag %q may contain only lowercase letters, digits, and single hyphens", s)
	if tag, ok := Tag(s); ok {
		return err.WithHint("write %s", tag)
	}
	return err
}

// Tag turns words into a tag, as "Kubernetes Jobs" into kubernetes-jobs, and reports whether the result is legal.
func Tag(word string) (string, bool) {
	word = strings.Join(strings.FieldsFunc(strings.ToLower(word),
		func(r rune) bool { return r <= ' ' || r == '_' || r == '-' }), "-")
	return word, skill.LegalName(word)
}

// checkExecutable checks a pattern of executable files.
func checkExecutable(s string) error {
	switch {
	case strings.Contains(s, `\`):
		return diag.Errorf(diag.Invalid, "executable pattern %q contains a backslash", s).WithHint("use forward slashes")
	case path.Clean(s) != s || s == "." || pathx.Escapes(s):
		return diag.Errorf(diag.Invalid, "executable pattern %q is not a path inside the pack", s).
			WithHint("use the path in the skill or in the pack, such as \"scripts/*.sh\"")
	}
	return nil
}

// IsExecutable reports whether a pattern of the manifest matches a file, by its path in the skill in directory dir or
// by its path in the pack. Such a file is executable on every system, so that a pack has the same digests on systems
// without executable bits.
func (m *Manifest) IsExecutable(dir, file string) bool {
	inPack := path.Join(dir, file)
	for _, pattern := range m.Executable {
		if MatchGlob(pattern, file) || MatchGlob(pattern, inPack) {
			return true
		}
	}
	return false
}
