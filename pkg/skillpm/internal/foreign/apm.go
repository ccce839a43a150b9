package foreign

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// apmManifest reads an apm.yml: dependencies.apm and devDependencies.apm.
func (c *collector) apmManifest(root *value) error {
	host, err := c.textOf(root, "default_host")
	if err != nil {
		return err
	}
	a := &apm{collector: c, host: host, registry: !root.field("registries").field("default").empty()}
	for _, section := range []string{"dependencies", "devDependencies"} {
		block, err := c.want(root.field(section), section, isMapping)
		if err != nil {
			return err.WithHint("list the dependencies under %s.apm", section)
		}
		if block == nil {
			continue
		}
		if err := a.section(section, block); err != nil {
			return err
		}
	}
	return nil
}

// apm reads the dependencies of an apm.yml.
type apm struct {
	*collector
	host     string // that a repository without a host is on; "" for GitHub
	registry bool   // a version is asked of a registry of apm's unless the repository is written in full
}

func (a *apm) section(name string, block *value) error {
	for i, key := range block.keys {
		list := block.items[i]
		switch {
		case list.empty():
			continue
		case key != "apm":
			if err := a.skip(list.line, name+"."+key, notSkills); err != nil {
				return err
			}
			continue
		}
		if _, err := a.want(list, name+".apm", isList); err != nil {
			return err
		}
		for _, item := range list.items {
			if err := a.dependency(item, name == "devDependencies"); err != nil {
				return err
			}
		}
	}
	return nil
}

// notSkills returns why a dependency that is not a package of skills is skipped.
const notSkills = "skillpm installs only skills"

// fromRegistry returns why a dependency from an apm registry is skipped: only the user's settings bind owners to
// registries.
const fromRegistry = "the package comes from an apm registry; " +
	"add the registry with \"skillpm registry add NAME apm+URL --namespace OWNER\", " +
	"and install the package with \"skillpm install OWNER/NAME\""

func (a *apm) dependency(item *value, dev bool) error {
	switch item.kind {
	case isText:
		return a.shorthand(item, dev)
	case isMapping:
		return a.object(item, dev)
	default:
		return a.errorf(item, "a dependency must be text or a mapping, not %s", item.kind)
	}
}

// shorthand reads a dependency that is one text.
func (a *apm) shorthand(item *value, dev bool) error {
	text := strings.TrimSpace(item.text)
	e := requirement{name: text, dev: dev, line: item.line}
	if isDir(text) {
		reference, err := dirReference(path.Dir(a.name), text)
		if err != nil {
			return a.skipError(e, err)
		}
		e.reference = reference
		return a.add(e)
	}
	where, rev, versioned := strings.Cut(text, "#")
	if a.registry && versioned && !isURL(where) {
		return a.skip(e.line, text, fromRegistry)
	}
	return a.repository(e, where, "", rev)
}

// isDir reports whether a dependency is a directory.
func isDir(s string) bool {
	return slices.ContainsFunc([]string{"./", "../", "/", "~/", `.\`, `..\`, `~\`},
		func(p string) bool { return strings.HasPrefix(s, p) }) ||
		s == "." || s == ".." || driveLetter().MatchString(s)
}

// isURL reports whether a repository has a scheme, or the form user@host:path.
func isURL(s string) bool { return strings.Contains(s, ":") }

// object reads a dependency that is a mapping. Its keys say which kind it is.
func (a *apm) object(item *value, dev bool) error {
	text, err := a.fieldsOf(item, "git", "path", "ref", "alias", "name", "marketplace", "id", "registry", "version")
	if err != nil {
		return err
	}
	e := requirement{alias: text["alias"], dev: dev, line: item.line}
	if e.skills, err = a.textsOf(item, "skills"); err != nil {
		return err
	}
	e.name = firstOf(text["name"], text["id"], text["git"], text["path"], text["marketplace"], text["registry"])
	switch {
	case text["marketplace"] != "":
		return a.skip(e.line, e.name, "the dependency comes from the marketplace "+printable(
			text["marketplace"])+"; import the marketplace.json of the marketplace")
	case text["id"] != "" || text["registry"] != "":
		return a.skip(e.line, e.name, fromRegistry)
	case text["git"] == "parent":
		return a.skip(e.line, e.name,
			"the source is relative to the repository of another dependency; use the URL of the repository")
	case text["git"] != "":
		if err := a.passedOver(item, e, "agents", "targets", "target"); err != nil {
			return err
		}
		return a.repository(e, text["git"], text["path"], text["ref"])
	case text["path"] != "":
		if e.reference, err = dirReference(path.Dir(a.name), text["path"]); err != nil {
			return a.skipError(e, err)
		}
		return a.add(e)
	default:
		return a.errorf(item, "a dependency requires one of the keys git, path, id, and marketplace")
	}
}

// passedOver lists the keys of an entry that a dependency can't express.
func (c *collector) passedOver(item *value, e requirement, keys ...string) error {
	for _, key := range keys {
		if v := item.field(key); !v.empty() {
			if err := c.skip(v.line, e.name+": "+key,
				"skillpm does not support this setting for a dependency"); err != nil {
				return err
			}
		}
	}
	return nil
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// repository adds a dependency on a repository or on a directory in it.
func (a *apm) repository(e requirement, where, dir, ref string) error {
	url, below, err := a.url(where)
	if err != nil {
		return a.skipError(e, err)
	}
	if dir == "" {
		dir = below
	} else if below != "" {
		return a.skip(e.line, e.name, "the dependency names two directories, "+printable(below)+" and "+printable(dir))
	}
	if isFile(dir) {
		return a.skip(e.line, e.name, "the source is a single file, not a skill")
	}
	rev := ""
	switch {
	case isRange(ref):
		e.constraint = ref
	case shortCommit().MatchString(ref):
		return a.skip(e.line, e.name, printable(ref)+" is an abbreviated commit; use all 40 digits")
	default:
		rev = ref
	}
	if e.reference, err = gitReference(url, dir, rev); err != nil {
		return a.skipError(e, err)
	}
	return a.add(e)
}

var (
	rangeText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^[\^~<>=]|^\d+(\.\d+)?\.[xX*]|^\d+\.\d+\.\d+$|\|\|`)
	})
	shortCommit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{7,39}$`) })
)

// isRange reports whether apm looks for a version among the tags, rather than taking ref for a tag.
func isRange(ref string) bool {
	if !rangeText().MatchString(ref) {
		return false
	}
	_, err := semver.NewConstraint(ref)
	return err == nil
}

// isFile reports whether apm takes a path for one file, by its extension.
func isFile(p string) bool {
	return slices.ContainsFunc([]string{".prompt.md", ".instructions.md", ".agent.md", ".chatmode.md"},
		func(end string) bool {
			return strings.HasSuffix(p, end)
		})
}

// url splits a repository in apm's form into its URL and a directory: [host/]owner/name[/directory], or the URL of a
// repository.
func (a *apm) url(where string) (url, dir string, err error) {
	if isURL(where) {
		return where, "", nil
	}
	parts := strings.Split(strings.Trim(where, "/"), "/")
	host := firstOf(a.host, "github.com")
	if strings.Contains(parts[0], ".") && len(parts) > 2 {
		host, parts = parts[0], parts[1:]
	}
	if len(parts) < 2 || slices.Contains(parts, "") || strings.Contains(where, "@") {
		return "", "", diag.Errorf(diag.Invalid, "invalid repository %s: use owner/name", printable(where))
	}
	repository := 2
	switch host = strings.ToLower(host); {
	case host == "dev.azure.com" || strings.HasSuffix(host, ".visualstudio.com"):
		if parts, repository = azure(parts, host); repository == 0 {
			return "", "", diag.Errorf(diag.Invalid, "invalid Azure DevOps repository %s", printable(where))
		}
	case host != "github.com" && !strings.HasSuffix(host, ".ghe.com") && host != strings.ToLower(a.host):
		repository = len(parts) // groups lie in each other there
	}
	return "https://" + host + "/" + strings.Join(parts[:repository], "/"), strings.Join(parts[repository:], "/"), nil
}

// azure adds the _git of URLs to a repository of Azure DevOps, and counts its parts.
func azure(parts []string, host string) (all []string, repository int) {
	before := 2 // organisation and project
	if host != "dev.azure.com" {
		before = 1
	}
	if len(parts) <= before {
		return parts, 0
	}
	if parts[before] != "_git" {
		parts = slices.Insert(slices.Clone(parts), before, "_git")
	}
	if len(parts) < before+2 {
		return parts, 0
	}
	return parts, before + 2
}
