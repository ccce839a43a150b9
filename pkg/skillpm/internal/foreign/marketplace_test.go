package foreign_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skillpm/internal/foreign"
)

func TestMarketplace(t *testing.T) {
	imp := parse(t, ".claude-plugin/marketplace.json", strings.NewReplacer("SHA1", sha1, "SHA2", sha2).Replace(`{
  "$schema": "https://json.schemastore.org/claude-code-marketplace.json",
  "name": "acme-plugins",
  "owner": {"name": "Acme"},
  "metadata": {"description": "Tools", "version": "1.0.0", "pluginRoot": "./plugins"},
  "plugins": [
    {"name": "formatter", "source": "./plugins/formatter", "skills": ["./extra/more"], "strict": true},
    {"name": "bare", "source": "bare-word", "version": "2.1.0"},
    {"name": "cut", "source": "./plugins/cut", "strict": false, "skills": ["./skills/a", "./b"], "hooks": "./hooks.json", "mcpServers": {"x": {}}},
    {"name": "all", "source": "./plugins/all", "strict": false, "skills": "./skills/"},
    {"name": "documents", "source": "./", "strict": false, "skills": ["./skills/pdf", "./skills/xlsx"]},
    {"name": "examples", "source": "./", "strict": false, "skills": ["./skills/art", "./top"]},
    {"name": "itself", "source": "./"},
    {"name": "deploy", "source": {"source": "github", "repo": "acme/deploy", "ref": "v1.0.0", "sha": "SHA1"}},
    {"name": "branch", "source": {"source": "github", "repo": "acme/branch", "ref": "main", "sha": "SHA2"}},
    {"name": "latest", "source": {"source": "github", "repo": "acme/latest"}},
    {"name": "lab", "source": {"source": "url", "url": "https://gitlab.com/globex/lab.git", "sha": "SHA2"}},
    {"name": "ssh", "source": {"source": "url", "url": "git@git.example:globex/ssh.git", "ref": "v3.0.0"}},
    {"name": "sub", "source": {"source": "git-subdir", "url": "https://github.com/globex/mono.git", "path": "./plugins/sub", "ref": "v4.0.0"}},
    {"name": "sub2", "source": {"source": "git-subdir", "url": "globex/mono", "path": "plugins/sub2"}},
    {"name": "npm", "source": {"source": "npm", "package": "@acme/plugin", "version": "^2.0.0"}},
    {"name": "pip", "source": {"source": "pip", "package": "acme-plugin"}},
    {"name": "zip", "source": {"source": "archive", "url": "https://files.example/x.zip"}},
    {"name": "badsha", "source": {"source": "github", "repo": "acme/badsha", "sha": "main"}}
  ]
}`))
	check(t, imp, foreign.ToolMarketplace, `
7: local/formatter = ./plugins/formatter (formatter)
8: local/bare-word = ./plugins/bare-word (bare)
9: local/cut = ./plugins/cut [a b] (cut)
10: local/all = ./plugins/all (all)
11: local/skills = ./skills [art pdf xlsx] (documents, examples)
12: local/top = ./top (examples)
14: acme/deploy = git+https://github.com/acme/deploy.git#v1.0.0 @1f2e3d4 (deploy)
15: acme/branch = git+https://github.com/acme/branch.git#89abcdef0123456789abcdef0123456789abcdef (branch)
16: acme/latest = git+https://github.com/acme/latest.git (latest)
17: globex/lab = git+https://gitlab.com/globex/lab.git#89abcdef0123456789abcdef0123456789abcdef (lab)
18: globex/ssh = git+ssh://git@git.example/globex/ssh.git#v3.0.0 (ssh)
19: globex/sub = git+https://github.com/globex/mono.git//plugins/sub#v4.0.0 (sub)
20: globex/sub2 = git+https://github.com/globex/mono.git//plugins/sub2 (sub2)
9: - cut: hooks: skillpm installs only skills
9: - cut: mcpServers: skillpm installs only skills
13: - itself: the path is the directory of the project, which does not need a dependency
21: - npm: the source is the npm package @acme/plugin, but skillpm installs only from git and skill registries
22: - pip: the source is the pip package acme-plugin, but skillpm installs only from git and skill registries
23: - zip: the source has the unknown type archive
24: - badsha: main is not a commit of 40 hexadecimal digits
`)
}

// TestMarketplaceRoot checks that relative paths start at the parent of the agent's directory.
func TestMarketplaceRoot(t *testing.T) {
	for name, want := range map[string]string{
		"marketplace.json":                            "./plugins/ops",
		".claude-plugin/marketplace.json":             "./plugins/ops",
		".cursor-plugin/marketplace.json":             "./plugins/ops",
		".agents/plugins/marketplace.json":            "./plugins/ops",
		".github/plugin/marketplace.json":             "./plugins/ops",
		"vendor/acme/.claude-plugin/marketplace.json": "./vendor/acme/plugins/ops",
		"../acme/.claude-plugin/marketplace.json":     "../acme/plugins/ops",
		"/srv/acme/.claude-plugin/marketplace.json":   "/srv/acme/plugins/ops",
	} {
		for _, source := range []string{`"./plugins/ops"`, `{"source": "local", "path": "./plugins/ops"}`} {
			imp := parse(t, name, `{"plugins": [{"name": "ops", "source": `+source+`}]}`)
			if len(imp.Dependencies) != 1 || imp.Dependencies[0].Dependency.Ref.URL != want {
				t.Errorf("%s: got\n%swant %s", name, show(imp), want)
			}
		}
	}
}
