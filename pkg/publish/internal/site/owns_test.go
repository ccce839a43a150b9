package site

import "testing"

func TestOwns(t *testing.T) {
	for path, want := range map[string]bool{
		"index.html":                           true,
		".nojekyll":                            true,
		"all/2.html":                           true,
		"packs/aux-1/b.html":                   true,
		"search/terms/u-e4.json":               true,
		".well-known/agent-skills/aux.tar.gz":  true,
		".well-known/agent-skills/index.json":  true,
		".well-known/security.txt":             false,
		".well-known/agent-skills/.git/config": false,
		".well-known/agent-skills/../../x":     false,
		"README.md":                            false,
		"packs":                                false,
		"packs/":                               false,
		"packs/../.git/config":                 false,
		"packs/.git/config":                    false,
		`packs/..\.git`:                        false,
		"packs/git~1/config":                   false,
		"PACKS/a/b.html":                       false,
		".git/config":                          false,
		"/packs/a/b.html":                      false,
		"":                                     false,
	} {
		if Owns(path) != want {
			t.Errorf("%q: got %v", path, !want)
		}
	}
	for path, want := range map[string]bool{
		".claude-plugin/marketplace.json":           true,
		"plugins/acme-x/.claude-plugin/plugin.json": true,
		"plugins/acme-x/skills/a/SKILL.md":          true,
		"plugins/acme-x/skills/a/.gitignore":        true,
		"plugins/acme-x/skills/a/.GIT/config":       false,
		"plugins/acme-x/skills/.git/config":         false,
		"plugins/acme-x/skills/../../../.git/x":     false,
		"plugins/.git/skills/a/SKILL.md":            false,
		"plugins/acme-x/hooks/hooks.json":           false,
		"plugins/acme-x/skills/SKILL.md":            false,
		".git/config":                               false,
		".claude-plugin/other.json":                 false,
	} {
		if OwnsPlugin(path) != want {
			t.Errorf("%q: got %v", path, !want)
		}
	}
}
