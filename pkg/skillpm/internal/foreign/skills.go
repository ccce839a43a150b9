package foreign

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/skill"
)

// The versions of the formats of npm's skills.
const (
	projectLockVersion = "1"
	userLockVersion    = "3"
)

// projectLock reads a skills-lock.json, which maps skills to sources.
func (c *collector) projectLock(root *value) error { return c.skillsLock(root, projectLockVersion) }

// userLock reads a .skill-lock.json, which is the same for a user.
func (c *collector) userLock(root *value) error { return c.skillsLock(root, userLockVersion) }

func (c *collector) skillsLock(root *value, version string) error {
	if err := c.checkVersion(root, "version", version); err != nil {
		return err
	}
	skills, err := c.want(root.field("skills"), "skills", isMapping)
	if err != nil {
		return err
	}
	if skills == nil {
		return c.errorf(root, "the key skills is missing")
	}
	for i, name := range skills.keys {
		item, err := c.want(skills.items[i], "the skill "+printable(name), isMapping)
		if err != nil {
			return err
		}
		if item == nil {
			return c.errorf(skills.items[i], "the skill %s is empty", printable(name))
		}
		if err := c.lockedSkill(name, item); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion refuses a version of the format that is not known.
func (c *collector) checkVersion(root *value, key string, read ...string) error {
	v := root.field(key)
	if v == nil || v.kind != isNumber && v.kind != isText {
		return c.errorf(root, "the key %s is missing or is not a number", key)
	}
	if slices.Contains(read, v.text) {
		return nil
	}
	last := read[len(read)-1]
	if len(v.text) > len(last) || len(v.text) == len(last) && v.text > last {
		return c.errorf(v, "%s %s is newer than the newest format version that this skillpm supports, %s", key,
			printable(v.text),
			last).
			WithHint("use a newer skillpm, or install the packs by name with: skillpm install OWNER/NAME")
	}
	return c.errorf(v, "%s %s is not supported; skillpm supports %s", key, printable(v.text), strings.Join(read, " and ")).
		WithHint(
			"recreate the file with the tool that wrote it, or install the packs by name with: skillpm install OWNER/NAME")
}

// locked is one skill in a lockfile of npm's skills.
type locked struct {
	source, kind, url, site, ref, path string
}

func (c *collector) lockedSkill(name string, item *value) error {
	text, err := c.fieldsOf(item, "source", "sourceType", "sourceUrl", "sourceBaseUrl", "ref", "skillPath")
	if err != nil {
		return err
	}
	l := locked{
		text["source"], text["sourceType"], text["sourceUrl"], text["sourceBaseUrl"], text["ref"], text["skillPath"],
	}
	if l.source == "" && l.url == "" {
		return c.errorf(item, "the skill %s does not have a source", printable(name))
	}
	e := requirement{name: name, line: item.line}
	switch l.kind {
	case "github", "gitlab", "git", "":
		url := l.repository()
		if url == "" {
			return c.skip(e.line, name, "the lockfile does not record the server of "+printable(l.source))
		}
		e.reference, err = gitReference(url, "", l.ref)
	case "local":
		e.reference, err = dirReference(path.Dir(c.name), l.source)
	case "node_modules":
		return c.skip(e.line, name, "the skill comes from the npm package "+printable(l.source)+", which npm installs")
	case "well-known":
		if l.site == "" && l.url == "" {
			return c.skip(e.line, name, "the lockfile does not record the URL of "+printable(l.source))
		}
		e.reference = siteReference(cmp.Or(l.site, l.url))
	default:
		return c.skip(e.line, name, "the source has the unknown type "+printable(l.kind))
	}
	if err != nil {
		return c.skipError(e, err)
	}
	e.skills = []string{skillName(name, l.path)}
	return c.add(e)
}

// siteReference returns the reference of a website, of which a lockfile has the URL or that of a file of one skill.
func siteReference(url string) string {
	site, _, _ := strings.Cut(url, "/.well-known/")
	return "well-known+" + site
}

// repository returns the URL of the repository, "" if the lockfile leaves its host out.
func (l locked) repository() string {
	shorthand := strings.Count(l.source, "/") == 1 && !strings.ContainsAny(l.source, ":@\\")
	switch {
	case l.url != "":
		return l.url
	case shorthand && (l.kind == "github" || l.kind == ""):
		return "https://github.com/" + strings.TrimSuffix(l.source, ".git") + ".git"
	case !shorthand:
		return l.source
	default:
		return ""
	}
}

// skillName returns the name of a skill in its pack: the declared name, by which the lockfile knows it, if it is legal,
// and otherwise that of its directory.
func skillName(name, file string) string {
	base := path.Base(path.Dir(file))
	switch {
	case skill.LegalName(name), base == ".":
		return name
	case skill.LegalName(base):
		return base
	default:
		return skill.Slug(base)
	}
}
