//go:build slow

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// updateProject is a project in a repository with a remote, and a gh that writes down what it is asked.
type updateProject struct {
	*workflow
	remote, calls string
}

// stubGH writes its arguments and the body of a pull request to files, and knows one pull request after it created it.
const stubGH = `#!/usr/bin/env bash
printf '%s\n' "$@" --- >>"$CALLS/arguments"
while [ $# -gt 0 ]; do
  if [ "$1" = --body-file ]; then cp "$2" "$CALLS/body"; fi
  if [ "$1" = list ] && [ -e "$CALLS/created" ]; then echo https://github.example/acme/app/pull/1; fi
  if [ "$1" = create ]; then touch "$CALLS/created"; echo https://github.example/acme/app/pull/1; fi
  shift
done
`

func newUpdateProject(t *testing.T, manifest string) *updateProject {
	t.Helper()
	p := &updateProject{workflow: newWorkflow(t), remote: filepath.Join(t.TempDir(), "remote.git"), calls: t.TempDir()}
	p.action = readAction(t, "setup/update/action.yml")
	p.checkout = filepath.Join(p.checkout, "setup", "update")
	if err := os.MkdirAll(p.checkout, 0o755); err != nil {
		t.Fatal(err)
	}
	tools := t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(tools, "gh"):                   stubGH,
		filepath.Join(p.workspace, "skillpm.yaml"):   strings.ReplaceAll(manifest, "^1.3", "1.3.0"),
		filepath.Join(p.workspace, ".gitignore"):     ".skillpm\n.agents\n",
		filepath.Join(p.workspace, ".gitattributes"): "* -text\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CALLS", p.calls)
	t.Setenv("PATH", tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.execute(t, "git", "init", "-q", "--bare", p.remote)
	p.execute(t, "git", "init", "-q", "-b", "main")
	p.execute(t, self(t), "install", "-q")
	if err := os.WriteFile(filepath.Join(p.workspace, "skillpm.yaml"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	p.execute(t, self(t), "install", "-q")
	p.execute(t, "git", "add", "-A")
	p.execute(t, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "start")
	p.execute(t, "git", "remote", "add", "origin", p.remote)
	p.execute(t, "git", "push", "-q", "origin", "main")
	return p
}

// execute runs a program in the project.
func (p *updateProject) execute(t *testing.T, line ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Dir = p.workspace
	cmd.Env = append(os.Environ(), "HOME="+p.runner, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(line, " "), err, out)
	}
	return string(out)
}

// update runs the step that updates.
func (p *updateProject) update(t *testing.T, inputs map[string]string) job {
	t.Helper()
	j := job{steps: map[string]map[string]string{}}
	if err := os.MkdirAll(filepath.Join(p.runner, "temp"), 0o755); err != nil {
		t.Fatal(err)
	}
	value := func(name string) string {
		if name == "steps.install.outputs.program" {
			return self(t)
		}
		name = strings.TrimPrefix(name, "inputs.")
		if v, ok := inputs[name]; ok {
			return v
		}
		return *p.action.Inputs[name].Default
	}
	i := slices.IndexFunc(p.action.Runs.Steps, func(s step) bool { return s.ID == "update" })
	j.code = p.step(t, p.action.Runs.Steps[i], value, &j)
	j.outputs = j.steps["update"]
	return j
}

func (p *updateProject) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(p.calls, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestActionUpdate runs the action on a project: it pushes a branch with the update, and opens one pull request with
// the changes to the skills, which the next run refreshes.
func TestActionUpdate(t *testing.T) {
	p := newUpdateProject(t, "dependencies:\n  acme/deploy: \"^1.3\"\n")
	j := p.update(t, nil)
	const url = "https://github.example/acme/app/pull/1"
	if j.code != 0 || j.outputs["changed"] != "true" || j.outputs["pull-request"] != url {
		t.Fatalf("exit %d, outputs %q\n%s", j.code, j.outputs, j.log)
	}
	lock := p.execute(t, "git", "--git-dir", p.remote, "show", "skillpm/update:skillpm.lock")
	if !strings.Contains(lock, `version: "1.4.0"`) {
		t.Errorf("the branch has\n%s", lock)
	}
	files := p.execute(t, "git", "--git-dir", p.remote, "diff", "--name-only", "main", "skillpm/update")
	if strings.TrimSpace(files) != "skillpm.lock" {
		t.Errorf("the branch changes %q", files)
	}
	body := p.read(t, "body")
	for _, want := range []string{"~ acme/deploy 1.4.0 (was 1.3.0)", "\n+++ ", "Review them like code."} {
		if !strings.Contains(body, want) {
			t.Errorf("the pull request does not contain %q:\n%s", want, body)
		}
	}
	p.execute(t, "git", "checkout", "-q", "main")
	p.execute(t, "git", "reset", "-q", "--hard", "origin/main")
	if j := p.update(t, nil); j.code != 0 || j.outputs["pull-request"] != url {
		t.Errorf("again: exit %d, outputs %q\n%s", j.code, j.outputs, j.log)
	}
	if got := p.read(t, "arguments"); strings.Count(got, "create\n") != 1 || strings.Count(got, "edit\n") != 1 {
		t.Errorf("gh was called with\n%s", got)
	}

	// Text of inputs is never run, and is never an option.
	marker := filepath.Join(p.calls, "marker")
	p.execute(t, "git", "reset", "-q", "--hard", "origin/main")
	for name, inputs := range map[string]map[string]string{
		"pack":         {"packs": "$(touch " + marker + ")\n"},
		"option":       {"packs": "--force"},
		"branch":       {"branch": "--mirror"},
		"same branch":  {"branch": "main"},
		"latest":       {"latest": "yes"},
		"another base": {"base": "main", "branch": "a..b"},
	} {
		if j := p.update(t, inputs); j.code == 0 {
			t.Errorf("%s: %s", name, j.log)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the name of a pack was run")
	}
	title := "Update $(touch " + marker + ") `skills`"
	if j := p.update(t, map[string]string{"title": title, "packs": "acme/deploy@1.4.0\r\n", "branch": "bot/skills"}); j.code != 0 {
		t.Fatal(j.log)
	}
	if got := p.execute(t, "git", "log", "-1", "--format=%s"); strings.TrimSpace(got) != title {
		t.Errorf("the title is %q", got)
	}

	// Without anything to update, nothing is pushed.
	if j := p.update(t, map[string]string{"base": "main", "branch": "bot/other"}); j.code != 0 || j.outputs["changed"] != "false" {
		t.Errorf("exit %d, outputs %q\n%s", j.code, j.outputs, j.log)
	}
}

// TestActionUpdateCapabilities checks that the pull request begins with the capabilities that the update adds, and that a
// policy that asks about them stops the action before it pushes anything.
func TestActionUpdateCapabilities(t *testing.T) {
	p := newUpdateProject(t, "dependencies:\n  acme/deploy: \"^1.3\"\n")
	publish := func(version string, files map[string]string) {
		t.Helper()
		dir := t.TempDir()
		files["skillpm.yaml"] = "name: acme/tool\nversion: \"" + version + "\"\n"
		for name, text := range files {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p.execute(t, self(t), "-C", dir, "publish", "-q")
	}
	commit := func() {
		t.Helper()
		p.execute(t, "git", "add", "-A")
		p.execute(t, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "more")
		p.execute(t, "git", "push", "-q", "origin", "main")
	}
	const head = "---\nname: tool\ndescription: A tool. Use it when asked to.\n---\n\n"
	publish("1.0.0", map[string]string{"tool/SKILL.md": head + "Work.\n"})
	p.execute(t, self(t), "install", "-q", "acme/tool")
	policy := filepath.Join(p.workspace, "skillpm-policy.yaml")
	if err := os.WriteFile(policy, []byte("version: 1\nupdates: {capability-increase: ask}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	commit()
	publish("1.1.0", map[string]string{
		"tool/SKILL.md": head + "Run `scripts/x.sh`.\n", "tool/scripts/x.sh": "curl https://evil.example.net/\n",
	})
	if j := p.update(t, nil); j.code != 7 || !strings.Contains(j.log, "without consent") {
		t.Errorf("exit %d: %s", j.code, j.log)
	}
	if refs := p.execute(t, "git", "--git-dir", p.remote, "for-each-ref", "--format=%(refname:short)"); refs != "main\n" {
		t.Errorf("pushed: %s", refs)
	}
	if err := os.Remove(policy); err != nil {
		t.Fatal(err)
	}
	commit()
	if j := p.update(t, nil); j.code != 0 {
		t.Fatalf("exit %d: %s", j.code, j.log)
	}
	body := p.read(t, "body")
	const want = "**This update adds capabilities.** Review the first lines below before the rest.\n\n```\n" +
		"acme/tool 1.1.0 in place of 1.0.0 adds capabilities:\n  ! scripts        tool/scripts/x.sh is a script\n" +
		"  ! network-tools  tool/scripts/x.sh:1 reaches evil.example.net with curl\n"
	if !strings.HasPrefix(body, want) || !strings.Contains(body, "diff\n# acme/tool 1.1.0 in place of 1.0.0 adds capabilities:\n") {
		t.Errorf("the pull request is\n%s", body)
	}
}

// TestActionUpdateFence checks that the text of a pack cannot leave the code block of the pull request, also if grep
// takes the text for binary data.
func TestActionUpdateFence(t *testing.T) {
	p := newUpdateProject(t, "dependencies:\n  acme/deploy: \"^1.3\"\n")
	program := filepath.Join(t.TempDir(), "skillpm")
	script := "#!/bin/sh\nif [ \"$1\" = diff ]; then printf '+\\000\\377\\n'; " +
		"printf '+%s\\n' '" + strings.Repeat("`", 99) + "' '@everyone' '```'; " +
		"for i in $(seq 4000); do echo '+0123456789'; done; exit; fi\nexec '" + self(t) + "' \"$@\"\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.action.Runs.Steps, func(s step) bool { return s.ID == "update" })
	p.action.Runs.Steps[i].Env["PROGRAM"] = program
	if j := p.update(t, nil); j.code != 0 {
		t.Fatal(j.log)
	}
	body := p.read(t, "body")
	fence := "\n" + strings.Repeat("`", 100)
	if !strings.Contains(body, fence+"diff\n") || !strings.HasSuffix(body, "\n(cut)"+fence+"\n") || len(body) > 65536 {
		t.Errorf("%d bytes: %.300s … %s", len(body), body, body[len(body)-40:])
	}
}
