package foreign_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/skillpm/internal/foreign"
)

// TestProjectLock uses the format that skills 1.7.4 wrote for a repository on a host, one on GitHub, one on GitLab, a
// directory, a web site, and an npm package.
func TestProjectLock(t *testing.T) {
	imp := parse(t, "skills-lock.json", `{
  "version": 1,
  "skills": {
    "Deploy It": {
      "source": "https://git.example/acme/ops.git",
      "sourceUrl": "https://git.example/acme/ops.git",
      "ref": "v1.2.0",
      "sourceType": "git",
      "skillPath": "skills/deploy/SKILL.md",
      "computedHash": "78bb51239e50a6b4c453bf9a34227a2419a31f32766b7406761f23d71cf53648"
    },
    "docs": {
      "source": "docs.example",
      "sourceUrl": "https://docs.example/",
      "sourceType": "well-known",
      "computedHash": "",
      "wellKnownDigest": "sha256:00"
    },
    "lint": {
      "source": "@acme/lint",
      "sourceType": "node_modules",
      "skillPath": "skills/lint/SKILL.md",
      "version": "1.0.0",
      "computedHash": ""
    },
    "notes": {
      "source": "../globex/notes",
      "sourceType": "local",
      "computedHash": ""
    },
    "pdf": {
      "source": "Globex/Skills",
      "sourceType": "github",
      "skillPath": "skills/pdf/SKILL.md",
      "computedHash": ""
    },
    "review": {
      "source": "acme/tools/review",
      "sourceUrl": "https://gitlab.com/acme/tools/review.git",
      "sourceType": "gitlab",
      "skillPath": "SKILL.md",
      "computedHash": ""
    },
    "rollback": {
      "source": "https://git.example/acme/ops.git",
      "sourceUrl": "https://git.example/acme/ops.git",
      "ref": "v1.2.0",
      "sourceType": "git",
      "skillPath": "skills/rollback/SKILL.md",
      "computedHash": ""
    },
    "scan": {
      "source": "git@git.example:acme/scan.git",
      "sourceType": "git",
      "skillPath": "scan/SKILL.md",
      "computedHash": ""
    },
    "status": {
      "source": "https://git.example/acme/ops.git",
      "sourceUrl": "https://git.example/acme/ops.git",
      "ref": "main",
      "sourceType": "git",
      "skillPath": "skills/status/SKILL.md",
      "computedHash": ""
    },
    "tokens": {
      "source": "acme/tokens",
      "sourceType": "git",
      "computedHash": ""
    },
    "zip": {
      "source": "acme/zip",
      "sourceType": "download",
      "computedHash": ""
    }
  }
}
`)
	check(t, imp, foreign.ToolSkills, `
4: acme/ops = git+https://git.example/acme/ops.git#v1.2.0 [deploy rollback] (Deploy It, rollback)
12: docs-example/skills = well-known+https://docs.example [docs] (docs)
26: local/notes = ../globex/notes [notes] (notes)
31: globex/skills = git+https://github.com/Globex/Skills.git [pdf] (pdf)
37: tools/review = git+https://gitlab.com/acme/tools/review.git [review] (review)
52: acme/scan = git+ssh://git@git.example/acme/scan.git [scan] (scan)
19: - lint: the skill comes from the npm package @acme/lint, which npm installs
58: - status: the source or version differs from acme/ops on line 4: git+https://git.example/acme/ops.git#v1.2.0
66: - tokens: the lockfile does not record the server of acme/tokens
71: - zip: the source has the unknown type download
`)
}

// TestProjectLockBelow checks a project in a subdirectory: directories are relative to the lockfile.
func TestProjectLockBelow(t *testing.T) {
	imp := parse(t, "packages/web/skills-lock.json", `{"version": 1, "skills": {
"a": {"source": "./tools", "sourceType": "local"},
"b": {"source": "../shared", "sourceType": "local"},
"c": {"source": ".", "sourceType": "local"},
"d": {"source": "../..", "sourceType": "local"},
"e": {"source": "/srv/skills", "sourceType": "local"}}}`)
	check(t, imp, foreign.ToolSkills, `
2: local/tools = ./packages/web/tools [a] (a)
3: local/shared = ./packages/shared [b] (b)
4: local/web = ./packages/web [c] (c)
6: local/skills = /srv/skills [e] (e)
5: - d: the path is the directory of the project, which does not need a dependency
`)
}

// TestUserLock uses the format that skills 1.7.4 wrote with --global.
func TestUserLock(t *testing.T) {
	imp := parse(t, ".skill-lock.json", `{
  "version": 3,
  "skills": {
    "deploy": {
      "source": "acme/ops",
      "sourceType": "github",
      "sourceUrl": "https://github.com/acme/ops.git",
      "skillPath": "skills/deploy/SKILL.md",
      "skillFolderHash": "78bb51239e50a6b4c453bf9a34227a2419a31f32",
      "pluginName": "ops",
      "installedAt": "2026-01-02T03:04:05.678Z",
      "updatedAt": "2026-01-02T03:04:05.678Z"
    },
    "rollback": {
      "source": "acme/ops",
      "sourceType": "github",
      "sourceUrl": "https://github.com/acme/ops.git",
      "skillPath": "skills/rollback/SKILL.md",
      "skillFolderHash": "",
      "installedAt": "2026-01-02T03:04:05.678Z",
      "updatedAt": "2026-01-02T03:04:05.678Z"
    }
  },
  "dismissed": {},
  "lastSelectedAgents": ["claude-code"]
}`)
	check(t, imp, foreign.ToolSkills, `
4: acme/ops = git+https://github.com/acme/ops.git [deploy rollback] (deploy, rollback)
`)
}

// TestLockNamesOfSkills checks that only valid skill names get into a dependency.
func TestLockNamesOfSkills(t *testing.T) {
	imp := parse(t, "skills-lock.json", `{"version": 1, "skills": {
"Pull Request": {"source": "acme/a", "sourceType": "github", "skillPath": "skills/Pull_Request/SKILL.md"},
"--all": {"source": "acme/b", "sourceType": "github"},
"a b": {"source": "acme/c", "sourceType": "github", "skillPath": "skills/!/SKILL.md"}}}`)
	check(t, imp, foreign.ToolSkills, `
2: acme/a = git+https://github.com/acme/a.git [pull-request] (Pull Request)
4: acme/c = git+https://github.com/acme/c.git [skill-bb7208bc] (a b)
3: - --all: the dependency requires a skill with an invalid name: the name "--all" starts or ends with a hyphen
`)
}

// TestLockSources checks the source kinds of a lockfile that another version of the tool wrote, and incomplete sources.
func TestLockSources(t *testing.T) {
	imp := parse(t, "skills-lock.json", `{"version": 1, "skills": {
"a": {"source": "acme/a"},
"b": {"source": "https://git.example/acme/b.git"},
"c": {"source": "~/skills", "sourceType": "local"},
"d": {"source": "acme/d#x", "sourceUrl": "https://git.example/acme/d.git#x", "sourceType": "git"},
"e": {"source": "acme/e.git", "sourceType": "github", "ref": null}}}`)
	check(t, imp, foreign.ToolSkills, `
2: acme/a = git+https://github.com/acme/a.git [a] (a)
3: acme/b = git+https://git.example/acme/b.git [b] (b)
6: acme/e = git+https://github.com/acme/e.git [e] (e)
4: - c: the path is relative to a home directory; use an absolute path, or a relative path that starts with ./
5: - d: invalid repository URL https://git.example/acme/d.git#x
`)
}
