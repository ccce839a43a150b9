package foreign

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// pluginParts are the parts of a plugin besides skills.
var pluginParts = []string{
	"commands", "agents", "hooks", "mcpServers", "lspServers", "outputStyles", "monitors",
	"workflows", "themes",
}

// marketplace reads a marketplace.json. Each plugin becomes a pack.
func (c *collector) marketplace(root *value) error {
	plugins, err := c.want(root.field("plugins"), "plugins", isList)
	if err != nil {
		return err
	}
	if plugins == nil {
		return c.errorf(root, "the key plugins is missing")
	}
	metadata, err := c.want(root.field("metadata"), "metadata", isMapping)
	if err != nil {
		return err
	}
	name, textErr := c.textOf(metadata, "pluginRoot")
	if textErr != nil {
		return textErr
	}
	m := &market{collector: c, root: marketRoot(c.name), name: name}
	for _, item := range plugins.items {
		if item.kind != isMapping {
			return c.errorf(item, "a plugin must be an object, not %s", item.kind)
		}
		if err := m.plugin(item); err != nil {
			return err
		}
	}
	return nil
}

// market reads the plugins of a marketplace.
type market struct {
	*collector
	root string // the directory of the marketplace
	name string // the directory in it of the plugins whose source is a word
}

var hostDir = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.([a-z]+-)?plugin$`) })

// marketRoot returns the directory that relative sources of a marketplace start at: the parent of an agent's
// configuration directory, if the file is in one.
func marketRoot(name string) string {
	dir := path.Dir(name)
	parent := path.Dir(dir)
	switch base := path.Base(dir); {
	case hostDir().MatchString(base):
		return parent
	case base == "plugins" && path.Base(parent) == ".agents", base == "plugin" && path.Base(parent) == ".github":
		return path.Dir(parent)
	}
	return dir
}

func (m *market) plugin(item *value) error {
	name, err := m.textOf(item, "name")
	if err != nil {
		return err
	}
	if name == "" {
		return m.errorf(item, "a plugin does not have a name")
	}
	e := requirement{name: name, line: item.line}
	strict, err := m.boolOf(item, "strict", true)
	if err != nil {
		return err
	}
	skills, err := m.textsOf(item, "skills")
	if err != nil {
		return err
	}
	for _, part := range pluginParts {
		if v := item.field(part); !v.empty() {
			if err := m.skip(v.line, name+": "+part, notSkills); err != nil {
				return err
			}
		}
	}
	source := item.field("source")
	switch {
	case source.empty():
		return m.errorf(item, "the plugin %s does not have a source", printable(name))
	case source.kind == isText:
		return m.local(e, source.text, skills, strict)
	case source.kind == isMapping:
		return m.remote(e, source, skills, strict)
	default:
		return m.errorf(source, "source must be text or an object, not %s", source.kind)
	}
}

// local adds a plugin in the marketplace's own directory.
func (m *market) local(e requirement, dir string, skills []string, strict bool) error {
	if !strings.HasPrefix(dir, ".") && m.name != "" {
		dir = path.Join(m.name, dir)
	}
	if escapesRepository(dir) {
		return m.skip(e.line, e.name, printable(dir)+" is not inside the marketplace")
	}
	if path.Clean(dir) == "." && len(skills) > 0 {
		return m.checkListed(e, skills)
	}
	var err error
	if e.reference, err = dirReference(m.root, dir); err != nil {
		return m.skipError(e, err)
	}
	e.skills = only(skills, strict)
	return m.add(e)
}

// escapesRepository reports whether a relative directory is outside its base.
func escapesRepository(dir string) bool {
	dir = path.Clean(strings.ReplaceAll(dir, `\`, "/"))
	return pathx.Escapes(dir) || driveLetter().MatchString(dir)
}

// checkListed adds the skills of a plugin whose source is the marketplace's directory: those of each directory become a
// pack, because several plugins can share the source.
func (m *market) checkListed(e requirement, skills []string) error {
	for _, dir := range skills {
		if escapesRepository(dir) {
			if err := m.skip(e.line, e.name, printable(dir)+" is not inside the marketplace"); err != nil {
				return err
			}
			continue
		}
		parent, name := path.Split(path.Clean(dir))
		one := e
		if name = skillName(name, path.Join(dir, skill.File)); parent == "" {
			parent = dir
		} else {
			one.skills = []string{name}
		}
		var err error
		if one.reference, err = dirReference(m.root, parent); err != nil {
			err = m.skipError(one, err)
		} else {
			err = m.add(one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// only returns the names of the skills that an entry selects from its source, nil for all.
func only(dirs []string, strict bool) []string {
	if strict {
		return nil
	}
	var names []string
	for _, dir := range dirs {
		base := path.Base(path.Clean(dir))
		if base == "." || base == "/" || base == "skills" { // the plugin is the skill, or the directory of all
			return nil
		}
		names = append(names, skillName(base, path.Join(dir, skill.File)))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// remote adds a plugin from another source.
func (m *market) remote(e requirement, source *value, skills []string, strict bool) error {
	text, err := m.fieldsOf(source, "source", "repo", "url", "path", "ref", "sha", "package")
	if err != nil {
		return err
	}
	url := text["url"]
	switch text["source"] {
	case "github":
		url = "https://github.com/" + text["repo"]
		if text["repo"] == "" {
			return m.errorf(source, "the source of %s does not have a repo", printable(e.name))
		}
	case "url", "git", "git-subdir":
		if url == "" {
			return m.errorf(source, "the source of %s does not have a url", printable(e.name))
		}
		if text["source"] == "git-subdir" && text["path"] == "" {
			return m.errorf(source, "the source of %s does not have a path", printable(e.name))
		}
		if !isURL(url) { // owner/name is of GitHub
			url = "https://github.com/" + url
		}
	case "local", "directory":
		return m.local(e, text["path"], skills, strict)
	case "npm", "pip":
		return m.skip(e.line, e.name, "the source is the "+text["source"]+" package "+printable(
			text["package"])+", but skillpm installs only from git and skill registries")
	case "":
		return m.errorf(source, "the source of %s does not have a type", printable(e.name))
	default:
		return m.skip(e.line, e.name, "the source has the unknown type "+printable(text["source"]))
	}
	if e.reference, err = gitReference(url, strings.TrimPrefix(text["path"], "./"), text["ref"]); err != nil {
		return m.skipError(e, err)
	}
	e.commit, e.skills = text["sha"], only(skills, strict)
	return m.add(e)
}
