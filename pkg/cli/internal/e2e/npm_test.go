//go:build slow

package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
)

// npmProgram returns the command line of an npm program: the words of a variable that .ci/npm.sh sets.
func npmProgram(t *testing.T, variable string) []string {
	t.Helper()
	words := strings.Fields(os.Getenv(variable))
	if len(words) == 0 && os.Getenv("SKILLPM_REQUIRE_NPM") == "1" {
		t.Fatalf("%s does not name the program", variable)
	}
	if len(words) == 0 {
		t.Skipf("%s does not name the program", variable)
	}
	return words
}

// catalogue builds the website and the marketplace of the embedded index with the binary.
func catalogue(t *testing.T) (site, market string) {
	t.Helper()
	index, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "registry-index"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	site, market = filepath.Join(dir, "site"), filepath.Join(dir, "market")
	execute(t, dir, self(t), "index", "site", index, "--output", site, "--marketplace", market, "--title", "Acme skills")
	return site, market
}

// execute runs a program in a directory that is its home, too, and returns what it prints.
func execute(t *testing.T, dir string, line ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1", "CI=1", "DO_NOT_TRACK=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(line, " "), err, out)
	}
	return string(out)
}

// TestNPMSkills installs everything from a catalog on a web server with npm's skills.
func TestNPMSkills(t *testing.T) {
	t.Parallel()
	program := npmProgram(t, "SKILLPM_NPM_SKILLS")
	site, _ := catalogue(t)
	server := httptest.NewServer(http.FileServer(http.Dir(site)))
	defer server.Close()
	project := t.TempDir()
	out := execute(t, project, append(program, "add", server.URL, "--skill", "*", "--agent", "claude-code", "--copy", "-y")...)
	source := filepath.Join("..", "..", "..", "..", "registry-index", "src", "acme")
	for installed, from := range map[string]string{
		"rollback/SKILL.md":                "deploy/1.4.0/skills/rollback/SKILL.md",
		"rollback/scripts/revisions.sh":    "deploy/1.4.0/skills/rollback/scripts/revisions.sh",
		"acme-deploy/scripts/preflight.sh": "deploy/1.4.0/skills/deploy/scripts/preflight.sh",
	} {
		got, err := os.ReadFile(filepath.Join(project, ".claude", "skills", filepath.FromSlash(installed)))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if want := readFile(t, filepath.Join(source, filepath.FromSlash(from))); string(got) != string(want) {
			t.Errorf("%s is not what was published", installed)
		}
	}
	renamed := string(readFile(t, filepath.Join(project, ".claude", "skills", "globex-deploy", "SKILL.md")))
	if !strings.Contains(renamed, "\nname: globex-deploy\n") {
		t.Errorf("a skill whose name another pack has, too, is\n%s", renamed)
	}
}

// TestClaudePlugins makes Claude Code check the marketplace and install a plugin from it, by directory and from git.
func TestClaudePlugins(t *testing.T) {
	program := npmProgram(t, "SKILLPM_CLAUDE")
	_, market := catalogue(t)
	home := t.TempDir()
	run := func(args ...string) string { return execute(t, home, append(program, args...)...) }
	if out := run("plugin", "validate", market); !strings.Contains(out, "Validation passed") || strings.Contains(out, "warning") {
		t.Errorf("plugin validate says\n%s", out)
	}
	run("plugin", "marketplace", "add", market)
	run("plugin", "install", "acme-deploy@acme-skills")
	plugin := filepath.Join(home, ".claude", "plugins", "cache", "acme-skills", "acme-deploy", "1.4.0", "skills", "deploy", "SKILL.md")
	want := readFile(t, filepath.Join("..", "..", "..", "..", "registry-index", "src", "acme", "deploy", "1.4.0", "skills", "deploy", "SKILL.md"))
	if got := readFile(t, plugin); string(got) != string(want) {
		t.Errorf("%s is not what was published", plugin)
	}
	git := func(args ...string) {
		execute(t, market, append([]string{"git", "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "plugins")
	run("plugin", "marketplace", "remove", "acme-skills")
	repositories := t.TempDir()
	git("clone", "-q", "--bare", market, filepath.Join(repositories, "market.git"))
	run("plugin", "marketplace", "add", gittest.Serve(t, repositories)+"/market.git")
	run("plugin", "install", "globex-ops@acme-skills")
	if _, err := os.Stat(filepath.Join(home, ".claude", "plugins", "cache", "acme-skills", "globex-ops", "1.3.0", "skills", "rollout", "SKILL.md")); err != nil {
		t.Error(err)
	}
}
