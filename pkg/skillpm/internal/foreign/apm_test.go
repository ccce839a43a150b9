package foreign_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skillpm/internal/foreign"
)

func TestAPMManifest(t *testing.T) {
	imp := parse(t, "apm.yml", `name: web
version: 1.0.0
target: [claude, copilot]
scripts:
  start: "copilot -p hello"
dependencies:
  apm:
    # whole repositories
    - acme/ops
    - acme/Prompts#v1.0.0
    - acme/tools#main
    - acme/widget#^1.2.0
    - acme/exact#1.2.3
    - acme/range#>=2.0 <3
    - acme/pinned#`+sha1+`
    - acme/short#1f2e3d4
    - gitlab.com/acme/group/standards#v2.0
    - git.example/acme/ops-docs
    - git@git.example:acme/scp.git
    - ssh://git@git.example:7999/acme/port.git
    - https://git.example/acme/url.git#main
    - http://git.example/acme/plain.git
    - dev.azure.com/acme/web/_git/azure
    - dev.azure.com/acme/web/azure-short/skills/deploy
    # parts of repositories
    - globex/skills/skills/review
    - globex/skills/prompts/review.prompt.md
    # directories
    - ./packages/shared
    - ../sibling
    - ~/mine
    - .\packages\windows
    # objects
    - git: https://git.example/globex/mono.git
      path: packages/security
      ref: v2.0.0
      alias: acme-sec
    - git: globex/bundle
      ref: ~1.4
      skills: [rollout, canary]
      targets: [claude]
    - git: parent
      path: skills/shared
    - path: ./packages/object
      alias: Not.Legal
    - name: sec-check
      marketplace: acme-plugins
      version: "~2.1.0"
    - id: acme/toolkit
      version: ^2.0.0
    - registry: corp
      id: acme/pack
      version: 1.4.0
    - acme
    - acme/ops@alias
  mcp:
    - io.example/server
    - name: other
  lsp: []
devDependencies:
  apm:
    - acme/testing
    - acme/ops
`)
	check(t, imp, foreign.ToolAPM, `
9: acme/ops = git+https://github.com/acme/ops.git (acme/ops)
10: acme/prompts = git+https://github.com/acme/Prompts.git#v1.0.0 (acme/Prompts#v1.0.0)
11: acme/tools = git+https://github.com/acme/tools.git#main (acme/tools#main)
12: acme/widget = git+https://github.com/acme/widget.git "^1.2.0" (acme/widget#^1.2.0)
13: acme/exact = git+https://github.com/acme/exact.git "1.2.3" (acme/exact#1.2.3)
14: acme/range = git+https://github.com/acme/range.git ">=2.0 <3" (acme/range#>=2.0 <3)
15: acme/pinned = git+https://github.com/acme/pinned.git#1f2e3d4c5b6a79880123456789abcdef01234567 (acme/pinned#1f2e3d4c5b6a79880123456789abcdef01234567)
17: group/standards = git+https://gitlab.com/acme/group/standards.git#v2.0 (gitlab.com/acme/group/standards#v2.0)
18: acme/ops-docs = git+https://git.example/acme/ops-docs (git.example/acme/ops-docs)
19: acme/scp = git+ssh://git@git.example/acme/scp.git (git@git.example:acme/scp.git)
20: acme/port = git+ssh://git@git.example:7999/acme/port.git (ssh://git.example:7999/acme/port.git)
21: acme/url = git+https://git.example/acme/url.git#main (https://git.example/acme/url.git#main)
23: git/azure = git+https://dev.azure.com/acme/web/_git/azure (dev.azure.com/acme/web/_git/azure)
24: git/deploy = git+https://dev.azure.com/acme/web/_git/azure-short//skills/deploy (dev.azure.com/acme/web/azure-short/skills/deploy)
26: globex/review = git+https://github.com/globex/skills.git//skills/review (globex/skills/skills/review)
29: local/shared = ./packages/shared (./packages/shared)
30: local/sibling = ../sibling (../sibling)
32: local/windows = ./packages/windows (.\packages\windows)
34: globex/security = git+https://git.example/globex/mono.git//packages/security#v2.0.0 alias acme-sec (https://git.example/globex/mono.git)
38: globex/bundle = git+https://github.com/globex/bundle.git "~1.4" [canary rollout] (globex/bundle)
44: local/object = ./packages/object (./packages/object)
62: acme/testing = git+https://github.com/acme/testing.git dev (acme/testing)
16: - acme/short#1f2e3d4: 1f2e3d4 is an abbreviated commit; use all 40 digits
22: - http://git.example/acme/plain.git: plain HTTP is not allowed for packs; write git+https://git.example/…
27: - globex/skills/prompts/review.prompt.md: the source is a single file, not a skill
31: - ~/mine: the path is relative to a home directory; use an absolute path, or a relative path that starts with ./
41: - globex/bundle: targets: skillpm does not support this setting for a dependency
42: - parent: the source is relative to the repository of another dependency; use the URL of the repository
44: - alias Not.Legal: the name "Not.Legal" contains the capital letter N: only a-z, 0-9, and hyphens are allowed
46: - sec-check: the dependency comes from the marketplace acme-plugins; import the marketplace.json of the marketplace
49: - acme/toolkit: the package comes from an apm registry; add the registry with "skillpm registry add NAME apm+URL --namespace OWNER", and install the package with "skillpm install OWNER/NAME"
51: - acme/pack: the package comes from an apm registry; add the registry with "skillpm registry add NAME apm+URL --namespace OWNER", and install the package with "skillpm install OWNER/NAME"
54: - acme: invalid repository acme: use owner/name
55: - acme/ops@alias: invalid repository acme/ops@alias: use owner/name
57: - dependencies.mcp: skillpm installs only skills
`)
}

// TestAPMDefaultRegistry checks that shorthands with a version come from apm's default registry, if it has one.
func TestAPMDefaultRegistry(t *testing.T) {
	imp := parse(t, "apm.yml", `
registries:
  corp: {url: "https://registry.example/"}
  default: corp
dependencies:
  apm:
    - acme/ops#^2.0.0
    - acme/tools
    - https://git.example/acme/url.git#v1.0.0
`)
	check(t, imp, foreign.ToolAPM, `
8: acme/tools = git+https://github.com/acme/tools.git (acme/tools)
9: acme/url = git+https://git.example/acme/url.git#v1.0.0 (https://git.example/acme/url.git#v1.0.0)
7: - acme/ops#^2.0.0: the package comes from an apm registry; add the registry with "skillpm registry add NAME apm+URL --namespace OWNER", and install the package with "skillpm install OWNER/NAME"
`)
}

func TestAPMDefaultHost(t *testing.T) {
	imp := parse(t, "apm.yml", "default_host: git.example\ndependencies:\n  apm: [acme/ops/skills/deploy, github.com/acme/ops]\n")
	check(t, imp, foreign.ToolAPM, `
3: acme/deploy = git+https://git.example/acme/ops//skills/deploy (acme/ops/skills/deploy)
3: acme/ops = git+https://github.com/acme/ops.git (github.com/acme/ops)
`)
}

func TestAPMLock(t *testing.T) {
	imp := parse(t, "apm.lock.yaml", strings.NewReplacer("SHA1", sha1, "SHA2", sha2).Replace(`lockfile_version: '2'
generated_at: '2026-01-02T03:04:05.678901+00:00'
apm_version: 0.31.0
dependencies:
- repo_url: acme/ops
  name: ops
  host: github.com
  resolved_commit: SHA1
  resolved_ref: v1.0.0
  version: 1.0.0
  package_type: apm_package
  deployed_files:
  - .claude/skills/deploy
  content_hash: sha256:00
- repo_url: https://github.com/acme/security
  resolved_commit: SHA2
  resolved_ref: main
  depth: 2
  resolved_by: acme/ops
- repo_url: globex/skills
  host: github.com
  resolved_commit: SHA1
  resolved_ref: v2.0.0
  virtual_path: skills/review
  is_virtual: true
  package_type: claude_skill
  is_dev: true
- repo_url: globex/bundle
  host: git.example
  port: 8443
  resolved_commit: SHA2
  resolved_ref: ~1.4
  resolved_tag: bundle--v1.4.2
  constraint: ~1.4
  skill_subset:
  - canary
  - rollout
- repo_url: globex/hooks
  resolved_commit: SHA2
  package_type: hook_package
- repo_url: globex/prompts
  resolved_commit: SHA2
  virtual_path: prompts/review.prompt.md
- repo_url: _local/shared
  source: local
  local_path: ./packages/shared
- repo_url: acme/toolkit
  source: registry
  version: 2.1.0
  resolved_url: https://registry.example/x
- repo_url: acme/short
  resolved_commit: 1f2e3d4
mcp_servers:
- github
`))
	check(t, imp, foreign.ToolAPM, `
5: acme/ops = git+https://github.com/acme/ops.git#v1.0.0 @1f2e3d4 (acme/ops)
15: acme/security = git+https://github.com/acme/security.git#89abcdef0123456789abcdef0123456789abcdef (https://github.com/acme/security)
20: globex/review = git+https://github.com/globex/skills.git//skills/review#v2.0.0 @1f2e3d4 dev (globex/skills/skills/review)
28: globex/bundle = git+https://git.example:8443/globex/bundle#89abcdef0123456789abcdef0123456789abcdef [canary rollout] (globex/bundle)
44: local/shared = ./packages/shared (./packages/shared)
38: - globex/hooks: the dependency contains hooks: skillpm installs only skills
41: - globex/prompts/prompts/review.prompt.md: the source is a single file, not a skill
47: - acme/toolkit: the package comes from an apm registry; add the registry with "skillpm registry add NAME apm+URL --namespace OWNER", and install the package with "skillpm install OWNER/NAME"
51: - acme/short: 1f2e3d4 is not a commit of 40 hexadecimal digits
54: - mcp_servers: skillpm installs only skills
`)
}

func TestAPMRepositories(t *testing.T) {
	imp := parse(t, "apm.yml", `
dependencies:
  apm:
    - acme.visualstudio.com/web/_git/one
    - acme.visualstudio.com/web/two
    - dev.azure.com/acme/web
    - dev.azure.com/acme/web/_git
    - acme.ghe.com/acme/three/skills/deploy
    - {git: acme/four/skills, path: deploy}
    - {git: acme/five, alias: first}
    - {git: acme/five, alias: second}
    - {git: acme/five, skills: review}
    - {git: acme/six, skills: [a]}
    - {git: acme/six, skills: [b, a], alias: six}
    - {git: acme/six, ref: v1.0.0}
    - {git: acme/seven, skills: [Not Legal]}
    - acme//eight
  lsp:
    server: x
  conflict_resolution: intersection-pick
`)
	check(t, imp, foreign.ToolAPM, `
4: git/one = git+https://acme.visualstudio.com/web/_git/one (acme.visualstudio.com/web/_git/one)
5: git/two = git+https://acme.visualstudio.com/web/_git/two (acme.visualstudio.com/web/two)
8: acme/deploy = git+https://acme.ghe.com/acme/three//skills/deploy (acme.ghe.com/acme/three/skills/deploy)
10: acme/five = git+https://github.com/acme/five.git alias first (acme/five)
13: acme/six = git+https://github.com/acme/six.git [a b] alias six (acme/six)
6: - dev.azure.com/acme/web: invalid Azure DevOps repository dev.azure.com/acme/web
7: - dev.azure.com/acme/web/_git: invalid Azure DevOps repository dev.azure.com/acme/web/_git
9: - acme/four/skills: the dependency names two directories, skills and deploy
11: - alias second: acme/five already has the alias first on line 10
15: - acme/six: the source or version differs from acme/six on line 13: git+https://github.com/acme/six.git
16: - acme/seven: the dependency requires a skill with an invalid name: the name "Not Legal" contains the capital letter N: only a-z, 0-9, and hyphens are allowed
17: - acme//eight: invalid repository acme//eight: use owner/name
19: - dependencies.lsp: skillpm installs only skills
20: - dependencies.conflict_resolution: skillpm installs only skills
`)
}
