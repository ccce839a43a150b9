package foreign

import (
	"path"
	"strings"
)

// apmLock reads an apm.lock.yaml. Transitive dependencies become direct ones, because skillpm could not find them
// through apm's packages.
func (c *collector) apmLock(root *value) error {
	if err := c.checkVersion(root, "lockfile_version", "1", "2"); err != nil {
		return err
	}
	list, err := c.want(root.field("dependencies"), "dependencies", isList)
	if err != nil {
		return err
	}
	if list != nil {
		for _, item := range list.items {
			if _, err := c.want(item, "a dependency", isMapping); err != nil || item.kind == isNull {
				return c.errorf(item, "a dependency must be a mapping, not %s", item.kind)
			}
			if err := c.lockedPackage(item); err != nil {
				return err
			}
		}
	}
	for _, key := range []string{"mcp_servers", "lsp_servers"} {
		if servers := root.field(key); !servers.empty() {
			if err := c.skip(servers.line, key, notSkills); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collector) lockedPackage(item *value) error {
	text, err := c.fieldsOf(item, "repo_url", "host", "port", "registry_prefix", "resolved_ref", "resolved_tag",
		"resolved_commit", "virtual_path", "source", "local_path", "package_type")
	if err != nil {
		return err
	}
	e := requirement{name: text["repo_url"], line: item.line, commit: text["resolved_commit"]}
	if dir := text["virtual_path"]; dir != "" {
		e.name += "/" + dir
	}
	if e.dev, err = c.boolOf(item, "is_dev", false); err != nil {
		return err
	}
	if e.skills, err = c.textsOf(item, "skill_subset"); err != nil {
		return err
	}
	switch {
	case text["source"] == "local":
		e.name, e.commit = firstOf(text["local_path"], e.name), ""
		if e.reference, err = dirReference(path.Dir(c.name), text["local_path"]); err != nil {
			return c.skipError(e, err)
		}
		return c.add(e)
	case text["source"] != "" || text["registry_prefix"] != "":
		return c.skip(e.line, e.name, fromRegistry)
	case text["repo_url"] == "":
		return c.errorf(item, "a dependency does not have a repo_url")
	case text["package_type"] == "hook_package":
		return c.skip(e.line, e.name, "the dependency contains hooks: "+notSkills)
	case isFile(text["virtual_path"]):
		return c.skip(e.line, e.name, "the source is a single file, not a skill")
	}
	url := lockedURL(text["repo_url"], text["host"], text["port"])
	rev := firstOf(text["resolved_tag"], text["resolved_ref"])
	if isRange(rev) {
		rev = "" // the commit says it
	}
	if e.reference, err = gitReference(url, text["virtual_path"], rev); err != nil {
		return c.skipError(e, err)
	}
	return c.add(e)
}

// lockedURL returns the URL of a locked repository.
func lockedURL(repository, host, port string) string {
	if isURL(repository) {
		return repository
	}
	host = firstOf(host, "github.com")
	if first, rest, ok := strings.Cut(repository, "/"); ok && strings.Contains(first, ".") &&
		strings.Contains(rest, "/") {
		host, repository = first, rest
	}
	if port != "" {
		host += ":" + port
	}
	return "https://" + host + "/" + repository
}
