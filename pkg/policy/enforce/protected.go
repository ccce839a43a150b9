package enforce

import (
	"bufio"
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// ownFiles are skillpm's own files in a project. A skill must not name one in allowed-paths, whatever a policy allows.
var ownFiles = [...]string{scope.ManifestName, scope.LockName, ProjectPolicyName, ProjectApprovalsName, ".skillpm"}

// controlFiles are files and directories of a project that control unconfined programs: git, agents, editors, and
// programs that run commands on entering a directory or on a commit. controlPaths adds [ownFiles] and [agentDirs].
// Without .git, git takes a directory with HEAD, objects, and refs for a repository.
var controlFiles = [...]string{
	"vendor/skills", ".git", "HEAD", ".gitmodules", ".gitattributes", ".husky", ".githooks", ".pre-commit-config.yaml",
	".pre-commit-config.yml",
	"lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml",
	".lefthook.toml", ".lefthook.json", ".overcommit.yml",
	".github", ".gitlab-ci.yml", ".circleci",
	".mcp.json", "AGENTS.md", "AGENTS.override.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md",
	"CRUSH.md", "WARP.md", "replit.md",
	".omniforge", ".kodelet", ".opencode", "opencode.json", "opencode.jsonc", "crush.json", ".crush.json",
	".cursorrules", ".windsurfrules", ".clinerules", ".roorules",
	".roomodes", ".kilocode", ".kilocodemodes", ".goosehints", ".aider.conf.yml", ".amazonq", ".rules", ".zed",
	".vscode", ".idea", ".fleet", ".devcontainer", ".devcontainer.json", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc",
	".lvimrc", ".dir-locals.el", ".dir-locals-2.el",
	".envrc", "mise.toml", ".mise.toml", "mise.local.toml", ".mise", "mise", ".config/mise", ".config/mise.toml",
	".tool-versions",
}

// agentDirs returns the configuration directories of agents in a project. For an agent without its own directory name,
// it returns the directory of skills.
func agentDirs() (dirs []string) {
	for _, a := range agent.All() {
		for _, dir := range []string{a.Project, a.Mark} {
			first, _, _ := strings.Cut(dir, "/")
			switch {
			case strings.HasPrefix(dir, ".") && first != ".config":
				dirs = append(dirs, first)
			case dir == a.Project:
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// controlPaths returns the paths in a project that control other programs. A skill that may write to the project may
// not write to them unless it names them.
func controlPaths(root string) []string {
	names := append(ownFiles[:], append(controlFiles[:], agentDirs()...)...)
	names = append(names, submodules(root)...)
	for i, name := range names {
		names[i] = filepath.Join(root, filepath.FromSlash(name))
	}
	return names
}

// checkNamed returns an error for a path that a skill names and that controls other programs. No skill may name
// skillpm's own files. If a policy confines all skills, that policy must list any other such path.
func (c *sandboxBuilder) checkNamed(text, real string) error {
	for _, root := range []string{c.real.Project, c.real.Work} {
		if root == "" {
			continue
		}
		for _, name := range ownFiles {
			if pathx.Contains(filepath.Join(root, name), real) {
				return diag.Errorf(diag.Denied,
					"%s requests execution.allowed-paths %q, which skillpm itself uses: no skill may write to this path",
					c.skill.subject(), text)
			}
		}
		for _, name := range append(controlFiles[:], agentDirs()...) {
			path := filepath.Join(root, filepath.FromSlash(name))
			if !pathx.Contains(path, real) {
				continue
			}
			for _, p := range c.set {
				if p.Execution.Sandbox != policy.SandboxAlways ||
					slices.ContainsFunc(p.Execution.Paths, func(dir string) bool {
						bound, err := pathx.Resolve(c.tilde(dir))
						return err == nil && pathx.Contains(path, bound) && pathx.Contains(bound, real)
					}) {
					continue
				}
				if err := c.refuse(p, "allowed-paths", text); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// maxModules limits how many bytes of .gitmodules are read.
const maxModules = 1 << 20

// submodules returns the paths that lead git to the settings of a repository's submodules.
func submodules(root string) (names []string) {
	data, err := safefile.ReadFile(filepath.Join(root, ".gitmodules"), maxModules)
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), "=")
		if dir := strings.Trim(strings.TrimSpace(value), `"`); strings.TrimSpace(key) == "path" &&
			filepath.IsLocal(dir) {
			names = append(names, path.Join(dir, ".git"))
		}
	}
	return names
}

// existingBelow returns the resolved paths that exist below a directory without links. It omits links that lead
// elsewhere: otherwise whoever can create links could read files outside.
func existingBelow(dir string, paths []string) (below []string) {
	for _, path := range paths {
		if _, err := os.Lstat(path); err != nil {
			continue // the common case
		}
		if real, err := pathx.ResolveExisting(path); err == nil && pathx.ContainsStrict(dir, real) {
			below = append(below, real)
		}
	}
	return below
}
