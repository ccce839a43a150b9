package foreign

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
)

// toolhiveLock reads a toolhive.lock.yaml of ToolHive: a list of skills with the reference that each resolved to, and
// its digest. Skills that only other skills require become dependencies, too.
func (c *collector) toolhiveLock(root *value) error {
	if root.field("version") != nil {
		if err := c.checkVersion(root, "version", "1"); err != nil {
			return err
		}
	}
	list, err := c.want(root.field("skills"), "skills", isList)
	if err != nil || list == nil {
		return asErrorValue(err)
	}
	for _, item := range list.items {
		if _, err := c.want(item, "a skill", isMapping); err != nil {
			return err
		}
		if err := c.toolhiveSkill(item); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) toolhiveSkill(item *value) error {
	text, err := c.fieldsOf(item, "name", "source", "resolvedReference", "digest")
	if err != nil {
		return err
	}
	e := requirement{name: text["name"], line: item.line, skills: []string{text["name"]}}
	where, digest := firstOf(text["resolvedReference"], text["source"]), text["digest"]
	if rest, ok := strings.CutPrefix(where, "git://"); ok { // git://host/path[@ref][#directory], over HTTPS
		rest, _, _ = strings.Cut(rest, "#")
		rest, ref, _ := strings.Cut(rest, "@")
		if e.reference, err = gitReference("https://"+rest, "", ref); err != nil {
			return c.skipError(e, err)
		}
		e.commit = digest
		return c.add(e)
	}
	if where == "" || !strings.Contains(where, "/") {
		return c.skip(e.line, e.name, "the lockfile does not record where "+printable(where)+" is")
	}
	e.reference = "oci://" + strings.TrimPrefix(where, "oci://")
	if strings.HasPrefix(digest, "sha256:") && !strings.Contains(e.reference, "@") {
		e.reference += "@" + digest
	}
	if ref, err := pack.Parse(e.reference); err == nil && ref.Rev != "" && ref.Digest != "" {
		e.reference = "oci://" + strings.TrimPrefix(ref.URL, "oci://") + "@" + ref.Digest // the digest decides
	}
	return c.add(e)
}
