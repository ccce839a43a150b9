package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// InitOptions describes the pack that a new manifest declares.
type InitOptions struct {
	Name        string // owner/name; "" writes a manifest that only consumes packs
	Version     string // "" means 0.1.0
	Description string
	License     string
}

// Init writes a skillpm.yaml into the client's directory and returns its path. A manifest that is there is a conflict.
func (c *Client) Init(_ context.Context, o InitOptions) (string, error) {
	path := filepath.Join(c.Dir, pack.ManifestName)
	text, err := manifestText(o)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		return path, extendManifest(path, text, o)
	}
	if _, err := pack.ParseManifest(path, text); err != nil {
		return "", err
	}
	return path, createFile(path, text)
}

// extendManifest makes the manifest of a project also that of a pack: it adds the fields above the others.
func extendManifest(path string, fields []byte, o InitOptions) error {
	exists := diag.Errorf(diag.Conflict, "%s already exists", path)
	data, err := safefile.ReadOptional(path)
	if err != nil {
		return err
	}
	m, err := pack.ParseManifest(path, data)
	switch {
	case err != nil:
		return exists.WithHint("correct %s first: %v", path, err)
	case !m.Name.IsZero():
		return exists.WithHint("edit or delete the file, which describes the pack %s", m.Name)
	case o.Name == "":
		return exists.WithHint("run \"skillpm init OWNER/NAME\" to make the project a pack, too")
	}
	text := slices.Concat(fields, []byte("\n"), data)
	if _, err := pack.ParseManifest(path, text); err != nil {
		return exists.WithHint("add the lines name: and version: to the file")
	}
	return atomicfile.Write(path, text, atomicfile.Options{Mode: 0o644})
}

func manifestText(o InitOptions) ([]byte, error) {
	var b strings.Builder
	if o.Name == "" {
		b.WriteString("# The packs of this project. Add one with: skillpm install owner/name\ndependencies: {}\n")
		return []byte(b.String()), nil
	}
	id, err := pack.ParseID(o.Name)
	if err != nil {
		return nil, err
	}
	if o.Version == "" {
		o.Version = "0.1.0"
	}
	if _, err := semver.StrictNewVersion(o.Version); err != nil {
		return nil, diag.Errorf(diag.Usage, "invalid --pack-version %q", o.Version).
			WithHint("use three numbers, such as 0.1.0")
	}
	fmt.Fprintf(&b, "name: %s\nversion: %q\n", id, o.Version)
	for _, field := range []struct{ key, value string }{{"description", o.Description}, {"license", o.License}} {
		if field.value == "" {
			continue
		}
		line, err := yamlLine(field.key, field.value)
		if err != nil {
			return nil, err
		}
		b.WriteString(line)
	}
	return []byte(b.String()), nil
}

// yamlLine formats "key: value", and quotes the value if necessary.
func yamlLine(key, value string) (string, error) {
	node := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if strings.ContainsAny(value, "\n") {
		return "", diag.Errorf(diag.Usage, "the %s must be one line", key)
	}
	out, err := yaml.Marshal(map[string]*yaml.Node{key: &node})
	if err != nil {
		return "", diag.Errorf(diag.Usage, "cannot write the %s as YAML: %v", key, err)
	}
	return string(out), nil
}

// NewOptions describes a skill to scaffold.
type NewOptions struct {
	Name        string
	Description string
	License     string
	Tools       []string // patterns of allowed-tools; nil for no restriction
	Tags        []string
	// the parent of the skill's directory; "" means skills/ of a pack, a directory that the project's profile reads, or
	// else the client's directory
	Dir     string
	Scripts bool // with an example script

	Profile *profile.Profile // of the project; nil for the default
	Project string           // its root, "" for the one of the manifest
	Named   bool             // the project has chosen the profile
}

// MaxDescription is the longest description that the Agent Skills specification allows, in characters.
const MaxDescription = 1024

// New writes a valid skill with a sample evaluation and returns its directory. A skill that exists is a conflict, and
// policies may deny it.
func (c *Client) New(_ context.Context, o NewOptions) (string, error) {
	if err := skill.CheckName(o.Name); err != nil {
		e := diag.Errorf(diag.Usage, "%v", err)
		if slug := skill.Slug(o.Name); slug != "" {
			return "", e.WithHint("use a valid name: skillpm new %s", slug)
		}
		return "", e
	}
	if n := len([]rune(o.Description)); strings.TrimSpace(o.Description) == "" || n > MaxDescription {
		return "", diag.Errorf(diag.Usage,
			"a skill requires a description of 1 to %d characters", MaxDescription).
			WithHint("set the description with: skillpm new %s --description \"…\"", o.Name)
	}
	dir := filepath.Join(c.newSkillParent(o), o.Name)
	if _, err := os.Lstat(dir); err == nil {
		return "", diag.Errorf(diag.Conflict, "%s already exists", dir).
			WithHint("choose another name, or edit the existing skill")
	}
	text, err := skillText(o)
	if err != nil {
		return "", err
	}
	if err := c.mayCreate(c.layerOf(dir), o.Name); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := createFile(filepath.Join(dir, skill.File), text); err != nil {
		return "", err
	}
	if _, err := writeEvals(dir, o.Name, o.Description); err != nil {
		return "", err
	}
	if o.Scripts {
		return dir, writeExample(dir)
	}
	return dir, nil
}

// mayCreate checks the policies, and warns about those that only observe.
func (c *Client) mayCreate(layer, name string) error {
	notes, err := c.MayCreate(layer, name)
	for _, note := range notes {
		c.Warn(note)
	}
	return err
}

// layerOf returns the layer that a new skill's directory belongs to.
func (c *Client) layerOf(dir string) string {
	root := c.Dir
	if s, found, err := c.Paths.Project(c.Dir); err == nil && found {
		root = s.Root
	}
	below, inHome := pathx.Rel(c.Paths.Home, dir)
	switch {
	case pathx.Contains(c.Paths.Enterprise, dir):
		return DeployEnterprise
	case !pathx.Contains(root, c.Paths.Home) && pathx.Contains(root, dir), !inHome, !strings.HasPrefix(below, "."):
		return DeployProject
	}
	return DeployPersonal
}

// newSkillParent returns the parent of a new skill's directory: one where the layers of the project look, or from where
// the pack is published. In a directory of its own, or if the manifest cannot be read, it is the client's directory.
func (c *Client) newSkillParent(o NewOptions) string {
	if o.Dir != "" {
		return c.Machine.Abs(o.Dir)
	}
	s, found, err := c.Paths.Project(c.Dir)
	if err != nil {
		return c.Dir
	}
	if !found {
		return cmp.Or(o.layerDir(o.Project, true), c.Dir)
	}
	data, err := safefile.ReadOptional(s.Manifest())
	if err != nil {
		return c.Dir
	}
	m, err := pack.ParseManifest(s.Manifest(), data)
	switch {
	case err != nil:
		return c.Dir
	case m.Name.IsZero():
		return cmp.Or(o.layerDir(s.Root, false), filepath.Join(s.Root, ".agents", "skills"))
	}
	return filepath.Join(s.Root, filepath.FromSlash(publishedParent(m, o.Name)))
}

// layerDir returns the directory of a project for a new skill that the profile reads, "" if the project does not show
// that it uses one: the system's own directory, the first one of a profile that the project has chosen, or one that
// exists.
func (o NewOptions) layerDir(root string, existing bool) string {
	if o.Profile == nil || root == "" {
		return ""
	}
	own := "." + o.Profile.ID
	isDir := func(dir string) bool {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir)))
		return err == nil && info.IsDir()
	}
	dirs := o.Profile.ProjectDirs()
	for _, dir := range dirs {
		if strings.HasPrefix(dir, "./"+own+"/") && isDir(own) || existing && !o.Named && isDir(dir) {
			return filepath.Join(root, filepath.FromSlash(dir))
		}
	}
	if o.Named && len(dirs) > 0 {
		return filepath.Join(root, filepath.FromSlash(dirs[0]))
	}
	return ""
}

// publishedParent returns the directory of a pack in which a new skill is published: skills/, unless the manifest lists
// other ones.
func publishedParent(m *pack.Manifest, name string) string {
	if len(m.Skills) == 0 || slices.ContainsFunc(m.Skills, func(pattern string) bool {
		return pack.MatchGlob(pattern, "skills/"+name)
	}) {
		return "skills"
	}
	for _, pattern := range m.Skills {
		if dir, ok := strings.CutSuffix(pattern, "/*"); ok && !strings.ContainsAny(dir, "*?") {
			return dir
		}
	}
	return "skills"
}

func skillText(o NewOptions) ([]byte, error) {
	var b strings.Builder
	b.WriteString("---\nname: " + o.Name + "\n")
	description, err := yamlLine("description", strings.TrimSpace(o.Description))
	if err != nil {
		return nil, err
	}
	b.WriteString(description)
	if o.License != "" {
		license, err := yamlLine("license", o.License)
		if err != nil {
			return nil, err
		}
		b.WriteString(license)
	}
	if err := o.writeLists(&b); err != nil {
		return nil, err
	}
	title := strings.ReplaceAll(o.Name, "-", " ")
	fmt.Fprintf(&b, "---\n\n# %s\n\n", strings.ToUpper(title[:1])+title[1:])
	b.WriteString("## Steps\n\n1. " + lint.TemplateStep + "\n2. " + lint.TemplateCheck + "\n")
	if o.Scripts {
		b.WriteString("3. Run [scripts/check.sh](scripts/check.sh) and read its output.\n")
	}
	return []byte(b.String()), nil
}

// writeLists writes the tools in the form of the profile, and the tags.
func (o NewOptions) writeLists(b *strings.Builder) error {
	if o.Tools != nil {
		form := "space"
		if o.Profile != nil && o.Named {
			form = o.Profile.ToolForm
		}
		patterns, err := tool.ParseList(o.Tools)
		if err != nil {
			return diag.Errorf(diag.Usage, "invalid --tools: %w", err).
				WithHint("use patterns such as Read, or Bash(git log:*)")
		}
		var texts []string
		for _, p := range patterns {
			texts = append(texts, p.String())
		}
		var value any = texts
		switch form {
		case "comma":
			value = strings.Join(texts, ", ")
		case "space", "any":
			value = strings.Join(texts, " ")
		}
		if err := yamlField(b, "allowed-tools", value); err != nil {
			return err
		}
	}
	if len(o.Tags) == 0 {
		return nil
	}
	return yamlField(b, "tags", o.Tags)
}

// yamlField writes a field with a text or a list.
func yamlField(b *strings.Builder, key string, value any) error {
	out, err := yaml.Marshal(map[string]any{key: value})
	if err != nil {
		return diag.Errorf(diag.Usage, "cannot write %s as YAML: %v", key, err)
	}
	b.Write(out)
	return nil
}

const exampleScript = `#!/bin/sh
# ` + lint.TemplateScript + ` The script gets its input as arguments, and the agent reads its output.
set -eu
echo "ok: $#"
`

func writeExample(dir string) error {
	scripts := filepath.Join(dir, "scripts")
	if err := os.Mkdir(scripts, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(scripts, "check.sh"), []byte(exampleScript), 0o755)
}

// createFile writes a file that must not exist yet.
func createFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return diag.Errorf(diag.Conflict, "%s already exists", path).WithHint("edit the file, or remove it first")
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
