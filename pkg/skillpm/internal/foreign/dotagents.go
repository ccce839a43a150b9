package foreign

import (
	"path"
	"strings"
)

// allOf is the name that stands for all skills of a source in an agents.toml.
const allOf = "*"

// dotagentsManifest reads an agents.toml of dotagents: a list of tables with the keys name, source, ref, and path, or
// in its first releases a table for each name.
func (c *collector) dotagentsManifest(root *value) error {
	if err := c.checkVersion(root, "version", "1"); err != nil {
		return err
	}
	skills := root.field("skills")
	if skills != nil && skills.kind == isMapping {
		return c.dotagentsSkills(skills)
	}
	list, err := c.want(skills, "skills", isList)
	if err != nil || list == nil {
		return asErrorValue(err)
	}
	for _, item := range list.items {
		name, err := c.textOf(item, "name")
		if err != nil {
			return err
		}
		if err := c.dotagentsSkill(name, item); err != nil {
			return err
		}
	}
	return nil
}

// dotagentsLock reads an agents.lock, which has a table for each skill.
func (c *collector) dotagentsLock(root *value) error {
	if err := c.checkVersion(root, "version", "1"); err != nil {
		return err
	}
	skills, err := c.want(root.field("skills"), "skills", isMapping)
	if err != nil || skills == nil {
		return asErrorValue(err)
	}
	return c.dotagentsSkills(skills)
}

func (c *collector) dotagentsSkills(skills *value) error {
	for i, name := range skills.keys {
		if err := c.dotagentsSkill(name, skills.items[i]); err != nil {
			return err
		}
	}
	return nil
}

// dotagentsSkill adds one skill. The commit in a lockfile is a pin.
func (c *collector) dotagentsSkill(name string, item *value) error {
	if _, err := c.want(item, "the skill "+printable(name), isMapping); err != nil {
		return err
	}
	text, err := c.fieldsOf(item, "source", "ref", "resolved_url", "resolved_ref", "resolved_commit", "resolved_path")
	if err != nil {
		return err
	}
	e := requirement{name: name, line: item.line, commit: text["resolved_commit"]}
	source, ref := text["source"], firstOf(text["resolved_ref"], text["ref"])
	switch {
	case strings.HasPrefix(source, "path:"):
		if e.reference, err = dirReference(path.Dir(c.name), strings.TrimPrefix(source, "path:")); err != nil {
			return c.skipError(e, err)
		}
		e.commit = ""
		return c.add(e)
	case strings.HasPrefix(source, "npm:"):
		return c.skip(e.line, name, "the skill comes from the npm package "+printable(source)+", which npm installs")
	case strings.HasPrefix(source, "http://"), strings.HasPrefix(source, "https://"):
		if text["resolved_path"] == "" && ref == "" {
			return c.skip(e.line, name, "the skill comes from "+printable(
				source)+", which is not a repository or a registry")
		}
	}
	url, pinned := dotagentsURL(source)
	if ref = firstOf(ref, pinned); text["resolved_url"] != "" {
		url = text["resolved_url"]
	}
	if url == "" {
		return c.skip(e.line, name, printable(source)+" is not a source that skillpm can read")
	}
	if e.reference, err = gitReference(url, "", ref); err != nil {
		return c.skipError(e, err)
	}
	if name != allOf {
		e.skills = []string{skillName(name, path.Join(text["resolved_path"], "SKILL.md"))}
	}
	return c.add(e)
}

// dotagentsURL returns the URL of a repository, and the revision behind @ in the short form OWNER/REPO@REF.
func dotagentsURL(source string) (url, ref string) {
	if url, ok := strings.CutPrefix(source, "git:"); ok && !strings.HasPrefix(url, "//") { // git:// is the scheme of a URL
		return url, ""
	}
	if strings.Contains(source, ":") {
		return source, ""
	}
	short, ref, _ := strings.Cut(source, "@")
	if strings.Count(short, "/") != 1 || strings.HasPrefix(short, ".") {
		return "", ""
	}
	return "https://github.com/" + short + ".git", ref
}
