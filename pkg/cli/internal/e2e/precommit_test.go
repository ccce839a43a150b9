//go:build slow

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
)

// hook is an entry of .pre-commit-hooks.yaml.
type hook struct {
	ID, Name, Description, Entry, Language string

	Files         string
	PassFilenames bool `yaml:"pass_filenames"`
	AlwaysRun     bool `yaml:"always_run"`
	RequireSerial bool `yaml:"require_serial"`
}

// TestPreCommitShape checks the hooks against the comments in their file: they run for every commit, including one that
// only removes files, they receive no file names, and the command of each exists.
func TestPreCommitShape(t *testing.T) {
	var hooks []hook
	decode := yaml.NewDecoder(bytes.NewReader(readFile(t, "../../../../.pre-commit-hooks.yaml")))
	decode.KnownFields(true)
	if err := decode.Decode(&hooks); err != nil {
		t.Fatal(err)
	}
	guide := string(readFile(t, "../../../../docs/guides/ci-linting.md"))
	var ids []string
	for _, h := range hooks {
		ids = append(ids, h.ID)
		if h.Name == "" || h.Description == "" || h.Language != "golang" || !h.RequireSerial {
			t.Errorf("hook %+v", h)
		}
		if !h.AlwaysRun || h.PassFilenames || h.Files != "" {
			t.Errorf("hook %+v", h)
		}
		if !strings.Contains(guide, "`"+h.ID+"`") && !strings.Contains(guide, "{id: "+h.ID+"}") {
			t.Errorf("docs/guides/ci-linting.md does not mention the hook %s", h.ID)
		}
		words := strings.Fields(h.Entry)
		if words[0] != "skillpm" {
			t.Fatalf("hook %s runs %s", h.ID, words[0])
		}
		var out strings.Builder
		system := environ.Environment{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &out, Getenv: func(string) string { return "" },
			Dir: t.TempDir(), Now: time.Now,
		}
		if code := cli.Execute(t.Context(), system, append(words[1:], "--help")); code != 0 {
			t.Errorf("hook %s: %s: exit code %d\n%s", h.ID, h.Entry, code, &out)
		}
	}
	if want := []string{"skillpm-validate", "skillpm-validate-changed", "skillpm-fix"}; !slices.Equal(ids, want) {
		t.Errorf("hooks %q, want %q", ids, want)
	}
}

// scratch is a repository that uses our hooks, with all temporary directories of programs. It shares only Go's caches
// with this machine, so that nothing is downloaded and little is compiled.
type scratch struct {
	t   *testing.T
	dir string
	env []string
}

func newScratch(t *testing.T) *scratch {
	t.Helper()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	temp := filepath.Join(root, "tmp")
	s := &scratch{t: t, dir: filepath.Join(root, "project")}
	for _, dir := range []string{home, temp, s.dir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var env map[string]string
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &env); err != nil {
		t.Fatal(err)
	}
	s.env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "TMPDIR="+temp,
		"PRE_COMMIT_HOME="+filepath.Join(root, "pre-commit"), "PRE_COMMIT_COLOR=never", "GOFLAGS=-trimpath",
		"GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.com")
	for name, value := range env {
		s.env = append(s.env, name+"="+value)
	}
	return s
}

// run runs a program in the repository and returns whether it succeeded and what it printed.
func (s *scratch) run(name string, args ...string) (bool, string) {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

func (s *scratch) must(name string, args ...string) string {
	s.t.Helper()
	ok, out := s.run(name, args...)
	if !ok {
		s.t.Fatalf("%s %q:\n%s", name, args, out)
	}
	return strings.TrimSpace(out)
}

func (s *scratch) write(name, text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// publish creates a repository of the current checkout, and returns its directory and its only commit.
func (s *scratch) publish() (dir, commit string) {
	s.t.Helper()
	list := exec.Command("git", "ls-files", "-co", "--exclude-standard", "-z")
	list.Dir = filepath.Join("..", "..", "..", "..")
	out, err := list.Output()
	if err != nil {
		s.t.Skipf("this is not a git checkout: %v", err)
	}
	here, there := filepath.Join("..", "..", "..", ".."), filepath.Join(filepath.Dir(s.dir), "skillpm")
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(here, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			s.t.Fatal(err)
		}
		file := filepath.Join(there, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	s.must("git", "-C", there, "init", "-q")
	s.must("git", "-C", there, "add", "-A")
	s.must("git", "-C", there, "commit", "-q", "-m", "this checkout")
	return there, s.must("git", "-C", there, "rev-parse", "HEAD")
}

// TestPreCommit uses the hooks like a new user, with the real pre-commit.
func TestPreCommit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pre-commit"); err != nil {
		if os.Getenv("SKILLPM_REQUIRE_PRE_COMMIT") != "" {
			t.Fatal(err)
		}
		t.Skip("pre-commit is not installed")
	}
	s := newScratch(t)
	hooks, commit := s.publish()
	s.must("git", "init", "-q")
	s.write(".pre-commit-config.yaml", fmt.Sprintf(`repos:
- repo: %s
  rev: %s
  hooks:
  - id: skillpm-validate
  - id: skillpm-validate-changed
    stages: [manual]
  - id: skillpm-fix
    stages: [manual]
`, filepath.ToSlash(hooks), commit))
	s.write("skills/one/SKILL.md", gittest.Skill("one", "Does one thing. Use for one.")+"\nSee [more](references/more.md).\n")
	s.write("skills/one/references/more.md", "# More\n\nRun `./scripts/run.sh` first.\n")
	s.must("pre-commit", "install")
	start := time.Now()
	s.must("pre-commit", "install-hooks")
	t.Logf("installing the hooks took %v", time.Since(start).Round(100*time.Millisecond))

	s.must("git", "add", "-A")
	s.hook("skillpm-validate-changed", true, "Passed", "--hook-stage", "manual") // before there is any commit
	s.commits("a good skill", true, "validate agent skills", "add", "-A")
	s.commits("the reference is removed", false, "references/more.md does not exist", "rm", "-q", "skills/one/references/more.md")
	s.must("git", "reset", "-q", "--hard")
	s.write("skills/one/scripts/run.sh", "#!/bin/sh\r\necho run\r\n")
	s.commits("only a script is changed", false, "carriage return", "add", "-A")
	s.must("git", "reset", "-q", "--hard")
	s.write("README.md", "# Skills\n")
	s.commits("no skill is changed", true, "Passed", "add", "-A")

	s.write("old skills/two/SKILL.md", gittest.Skill("other", "Has another name. Use for that."))
	s.must("git", "add", "-A")
	s.must("git", "commit", "-q", "--no-verify", "-m", "somebody's mistake")
	s.hook("skillpm-validate", false, "old skills/two/SKILL.md", "--all-files")
	s.hook("skillpm-validate-changed", true, "Passed", "--hook-stage", "manual", "--all-files") // nothing has changed
	s.write("skills/one/references/more.md", "# More\n\nRun `./scripts/run.sh` twice.\n")
	s.must("git", "add", "-A")
	s.hook("skillpm-validate-changed", true, "Passed", "--hook-stage", "manual")
	s.write("skills/one/scripts/run.sh", "#!/bin/sh\r\necho run\r\n")
	s.must("git", "add", "-A")
	s.hook("skillpm-validate-changed", false, "carriage return", "--hook-stage", "manual")

	s.must("git", "rm", "-q", "-r", "old skills")
	s.must("git", "add", "-A")
	s.hook("skillpm-fix", false, "files were modified by this hook", "--hook-stage", "manual")
	s.must("git", "add", "-A")
	s.hook("skillpm-fix", true, "Passed", "--hook-stage", "manual")
	s.commits("what was mended", true, "Passed", "add", "-A")
}

// commits stages a change with git, commits it, and checks whether the hook lets it pass, and what it prints.
func (s *scratch) commits(what string, pass bool, want string, stage ...string) {
	s.t.Helper()
	s.must("git", stage...)
	if ok, out := s.run("git", "commit", "-m", what); ok != pass || !strings.Contains(out, want) {
		s.t.Errorf("%s: committed: %t, want %t and %q\n%s", what, ok, pass, want, out)
	}
}

func (s *scratch) hook(id string, pass bool, want string, args ...string) {
	s.t.Helper()
	start := time.Now()
	ok, out := s.run("pre-commit", append([]string{"run", id}, args...)...)
	if ok != pass || !strings.Contains(out, want) {
		s.t.Errorf("%s %q: passed: %t, want %t and %q\n%s", id, args, ok, pass, want, out)
	}
	s.t.Logf("%s took %v", id, time.Since(start).Round(10*time.Millisecond))
}
