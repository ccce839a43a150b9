//go:build slow

package e2e

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// action is the part of an action.yml that a composite action needs.
type action struct {
	Inputs map[string]struct {
		Description string
		Required    bool
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

type step struct {
	ID, Name, If, Uses, Run, Shell string
	Env, With                      map[string]string
	WorkingDirectory               string `yaml:"working-directory"`
}

func readAction(t testing.TB, file string) action {
	t.Helper()
	var a action
	decode := yaml.NewDecoder(bytes.NewReader(readFile(t, "../../../../"+file)))
	if err := decode.Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

// workflow runs a composite action like a GitHub Actions runner, with actions/cache as the only other action.
type workflow struct {
	action    action
	bash      string
	checkout  string // the directory of the action
	ref       string // what the workflow wrote behind @
	workspace string
	runner    string // what the runner writes is below it; empty before each job
	cache     string
	os, arch  string
	last      string // the id of the last step that is run; "" for all of them
}

// job is the result of a run.
type job struct {
	code    int
	log     string
	summary string
	outputs map[string]string            // of the action
	steps   map[string]map[string]string // outputs by step
}

func newWorkflow(t *testing.T) *workflow {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workflow{
		action: readAction(t, "action.yml"), bash: bash(t), checkout: filepath.Join(dir, "action"), ref: "v1",
		workspace: filepath.Join(dir, "workspace"), runner: filepath.Join(dir, "runner"), cache: filepath.Join(dir, "cache"),
		os:   map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}[runtime.GOOS],
		arch: map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH],
	}
	if w.os == "" || w.arch == "" {
		t.Skipf("no release is made for %s on %s", runtime.GOOS, runtime.GOARCH)
	}
	scripts := filepath.Join(w.checkout, ".github", "action")
	if err := os.CopyFS(scripts, os.DirFS("../../../../.github/action")); err != nil {
		t.Fatal(err)
	}
	w.changelog(t, "# Changelog\n\n## Unreleased\n\n## [1.2.3] - 2026-01-02\n\n## 1.2.2\n")
	if err := os.MkdirAll(w.workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workflow) changelog(t testing.TB, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.checkout, "CHANGELOG.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// bash returns the bash that runners use: on Windows Git's bash, because the one on the PATH may belong to WSL.
func bash(t testing.TB) string {
	t.Helper()
	name := "bash"
	if runtime.GOOS == "windows" {
		name = filepath.Join(os.Getenv("ProgramFiles"), "Git", "bin", "bash.exe")
	}
	found, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	return found
}

// has reports whether the bash of the workflow finds a program.
func (w *workflow) has(program string) bool {
	return exec.Command(w.bash, "-c", "command -v "+program).Run() == nil
}

// run runs the action's steps with inputs. A failed step ends the job.
func (w *workflow) run(t *testing.T, inputs map[string]string) job {
	t.Helper()
	j := job{steps: map[string]map[string]string{}}
	all := map[string]string{}
	for name, in := range w.action.Inputs {
		if in.Default != nil {
			all[name] = *in.Default
		}
	}
	maps.Copy(all, inputs)
	value := func(name string) string {
		root, rest, _ := strings.Cut(name, ".")
		switch {
		case root == "inputs":
			return all[rest]
		case name == "github.action_ref":
			return w.ref
		case root == "steps":
			parts := strings.Split(rest, ".")
			return j.steps[parts[0]][parts[len(parts)-1]]
		}
		t.Fatalf("unknown expression %q", name)
		return ""
	}
	if err := errors.Join(os.RemoveAll(w.runner), os.MkdirAll(filepath.Join(w.runner, "temp"), 0o755)); err != nil {
		t.Fatal(err)
	}
	save := func() {}
	for _, s := range w.action.Runs.Steps {
		if s.If != "" && !condition(t, s.If, value) {
			continue
		}
		if s.Uses != "" {
			save = w.restore(t, interpolate(s.With["path"], value), interpolate(s.With["key"], value))
			continue
		}
		if j.code = w.step(t, s, value, &j); j.code != 0 {
			break
		}
		if s.ID == w.last {
			break
		}
	}
	if j.code == 0 {
		save()
	}
	j.outputs = map[string]string{}
	for name, out := range w.action.Outputs {
		j.outputs[name] = interpolate(out.Value, value)
	}
	return j
}

// step runs a script like `shell: bash`.
func (w *workflow) step(t *testing.T, s step, value func(string) string, j *job) int {
	t.Helper()
	file := func(name string) string { return filepath.Join(w.runner, name) }
	if err := os.WriteFile(file("script.sh"), []byte(s.Run), 0o644); err != nil {
		t.Fatal(err)
	}
	os.Remove(file("output"))
	env := append(os.Environ(),
		"GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH="+w.checkout, "GITHUB_WORKSPACE="+w.workspace, "GITHUB_OUTPUT="+file("output"),
		"GITHUB_PATH="+file("path"), "GITHUB_STEP_SUMMARY="+file("summary"), "RUNNER_OS="+w.os, "RUNNER_ARCH="+w.arch,
		"RUNNER_TEMP="+file("temp"), "RUNNER_TOOL_CACHE="+file("tools"), "HOME="+w.runner, "NO_PROXY=*", "no_proxy=*")
	for name, v := range s.Env {
		env = append(env, name+"="+interpolate(v, value))
	}
	cmd := exec.Command(w.bash, "--noprofile", "--norc", "-e", "-o", "pipefail", file("script.sh"))
	cmd.Dir = filepath.Join(w.workspace, interpolate(s.WorkingDirectory, value))
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	j.log += string(out)
	j.steps[s.ID] = outputs(t, file("output"))
	if summary, err := os.ReadFile(file("summary")); err == nil {
		j.summary = string(summary)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// restore is actions/cache: it restores the content of the key, and returns a function that saves it after a successful
// job.
func (w *workflow) restore(t *testing.T, dir, key string) (save func()) {
	t.Helper()
	kept := filepath.Join(w.cache, key)
	if _, err := os.Stat(kept); err == nil {
		if err := os.CopyFS(dir, os.DirFS(kept)); err != nil {
			t.Fatal(err)
		}
		return func() {}
	}
	return func() {
		if err := os.CopyFS(kept, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z_.-]+) *\}\}`)

func interpolate(text string, value func(string) string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		return value(expression.FindStringSubmatch(e)[1])
	})
}

func condition(t testing.TB, text string, value func(string) string) bool {
	t.Helper()
	m := regexp.MustCompile(`^([a-z_.-]+) == '([^']*)'$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("unknown condition %q", text)
	}
	return value(m[1]) == m[2]
}

// outputs reads what a step wrote to $GITHUB_OUTPUT. A second value for a name counts as smuggled in.
func outputs(t testing.TB, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if _, twice := out[name]; !ok || twice {
			t.Errorf("the step's output %q", line)
		}
		out[name] = value
	}
	return out
}

// used returns the names of a context, as "inputs", that the steps of an action use, sorted and each once.
func (a action) used(context string) []string {
	var names []string
	reference := regexp.MustCompile(`\b` + context + `\.([a-z_-]+)`)
	collect := func(text string) {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
	}
	for _, s := range a.Runs.Steps {
		collect(s.If)
		collect(s.WorkingDirectory)
		for _, values := range []map[string]string{s.Env, s.With} {
			for _, v := range values {
				collect(v)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
