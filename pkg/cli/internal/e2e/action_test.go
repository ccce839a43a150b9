//go:build slow

package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
)

// TestActionShape checks the form of action.yml: every input is documented and used, no input is pasted into a program,
// and other actions are pinned.
func TestActionShape(t *testing.T) {
	for _, file := range []string{"action.yml", "setup/action.yml", "setup/update/action.yml"} {
		t.Run(file, func(t *testing.T) { testActionShape(t, file) })
	}
}

func testActionShape(t *testing.T, file string) {
	a := readAction(t, file)
	if a.Runs.Using != "composite" {
		t.Errorf("runs.using is %q", a.Runs.Using)
	}
	guide := string(readFile(t, "../../../../docs/guides/ci-linting.md"))
	for name, in := range a.Inputs {
		if in.Description == "" || in.Required || in.Default == nil {
			t.Errorf("input %s needs a description and a default", name)
		}
		if file == "action.yml" && !strings.Contains(guide, "`"+name+"`") {
			t.Errorf("docs/guides/ci-linting.md does not mention the input `%s`", name)
		}
	}
	if got, want := a.used("inputs"), slices.Sorted(maps.Keys(a.Inputs)); !slices.Equal(got, want) {
		t.Errorf("the steps use the inputs %q, the action has %q", got, want)
	}
	for name, out := range a.Outputs {
		if out.Description == "" || !strings.HasPrefix(out.Value, "${{ steps.") {
			t.Errorf("output %s is %+v", name, out)
		}
	}
	pinned := regexp.MustCompile(`uses: [a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n`)
	text := readFile(t, "../../../../"+file)
	if got, want := len(pinned.FindAll(text, -1)), bytes.Count(text, []byte("uses:")); got != want {
		t.Errorf("%d of %d actions are pinned to a commit with its version behind it", got, want)
	}
	for _, s := range a.Runs.Steps {
		if s.Uses != "" {
			continue
		}
		if s.Shell != "bash" || strings.Contains(s.Run, "${{") {
			t.Errorf("step %q: shell %s, run %s", s.Name, s.Shell, s.Run)
		}
		script := string(readFile(t, "../../../../.github/action/"+strings.TrimSuffix(path.Base(s.Run), `"`)))
		for name := range s.Env {
			if uses := strings.Contains(script, "$"+name) || strings.Contains(script, "${"+name); !uses && !fetches(script, name) {
				t.Errorf("step %q sets %s, and its script does not use it", s.Name, name)
			}
		}
	}
}

func fetches(script, name string) bool {
	return strings.Contains(script, "/fetch.sh") && (name == "INPUT_MIRROR" || name == "INPUT_TOKEN")
}

// TestActionScripts checks that the scripts run with the bash 3.2 of macOS and never evaluate text.
func TestActionScripts(t *testing.T) {
	files, err := filepath.Glob("../../../../.github/action/*.sh")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	forbidden := regexp.MustCompile(`\b(eval|mapfile|readarray|coproc|(declare|local) -[An])\b|\$\{[^}]*(\^\^|,,|@[A-Z])|&>>|\|&`)
	for _, file := range files {
		text := readFile(t, filepath.ToSlash(file))
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), file); err != nil {
			t.Error(err)
		}
		if found := forbidden.Find(text); found != nil {
			t.Errorf("%s uses %s", file, found)
		}
		if bytes.Contains(text, []byte("\r")) {
			t.Errorf("%s has CRLF", file)
		}
	}
}

// TestActionVersion checks which release runs. It needs no binary.
func TestActionVersion(t *testing.T) {
	t.Parallel()
	w := newWorkflow(t)
	w.last = "find"
	r := hostRelease(t, nil, "2.0.0")
	changelog := "# Changelog\n\n## Unreleased\n\n## [1.2.3] - 2026-01-02\n\n## 1.2.2\n"
	for _, test := range []struct {
		name, version, ref, changelog string
		want                          string
		code                          int
		wantRequests                  string
	}{
		{name: "given", version: "1.1.0", ref: "v1", changelog: changelog, want: "1.1.0"},
		{name: "given with a v", version: "v1.1.0-rc.1", ref: "v1.0.0", changelog: changelog, want: "1.1.0-rc.1"},
		{name: "the tag of the action", ref: "v1.0.7", changelog: changelog, want: "1.0.7"},
		{name: "a moving tag", ref: "v1", changelog: changelog, want: "1.2.3"},
		{name: "a commit", ref: "0123456789abcdef0123456789abcdef01234567", changelog: changelog, want: "1.2.3"},
		{name: "a local action", changelog: changelog, want: "1.2.3"},
		{name: "other headings", changelog: "## v0.9.1\r\n", want: "0.9.1"},
		{name: "no release yet", ref: "main", changelog: "## Unreleased\n", want: "2.0.0", wantRequests: "HEAD latest"},
		{name: "latest", version: "latest", ref: "v1", changelog: changelog, want: "2.0.0", wantRequests: "HEAD latest"},
		{name: "a range", version: "1.x", changelog: changelog, code: 2},
		{name: "another directory", version: "../../1.2.3", changelog: changelog, code: 2},
		{name: "a second output", version: "1.2.3\nversion=6.6.6", changelog: changelog, code: 2},
		{name: "a command", version: "$(touch pwned)", changelog: changelog, code: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.ref = test.ref
			w.changelog(t, test.changelog)
			j := w.run(t, map[string]string{"version": test.version, "mirror": r.url})
			if j.code != test.code || j.outputs["version"] != test.want {
				t.Errorf("exit code %d, version %q, want %d, %q\n%s", j.code, j.outputs["version"], test.code, test.want, j.log)
			}
			if got := r.requests(); got != test.wantRequests {
				t.Errorf("requests %q, want %q", got, test.wantRequests)
			}
		})
	}
	w.os = "FreeBSD"
	j := w.run(t, map[string]string{"version": "1.2.3"})
	if j.code != 2 || !strings.Contains(j.log, "::error title=skillpm::there is no release for FreeBSD") {
		t.Errorf("exit code %d\n%s", j.code, j.log)
	}
	w.os = "Linux"
	for _, mirror := range []string{"http://releases.example", "file:///etc", "", "https:"} {
		if j := w.run(t, map[string]string{"version": "1.2.3", "mirror": mirror}); j.code != 2 {
			t.Errorf("mirror %q: exit code %d\n%s", mirror, j.code, j.log)
		}
	}
}

// write writes files below the workspace.
func (w *workflow) write(t testing.TB, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(w.workspace, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAction runs the whole action against a release that the test creates.
func TestAction(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a release")
	}
	binary := buildRelease(t, "1.2.3")
	t.Run("validate", func(t *testing.T) { testActionValidate(t, hostRelease(t, binary, "1.2.3")) })
	t.Run("download", func(t *testing.T) { testActionDownload(t, binary) })
	t.Run("audit", func(t *testing.T) { testActionAudit(t, hostRelease(t, binary, "1.2.3")) })
	t.Run("setup", func(t *testing.T) { testActionSetup(t, hostRelease(t, binary, "1.2.3")) })
	t.Run("words", func(t *testing.T) { testActionWords(t, hostRelease(t, binary, "1.2.3")) })
	t.Run("archives", func(t *testing.T) { testActionArchives(t, binary) })
}

func testActionValidate(t *testing.T, r *release) {
	w := newWorkflow(t)
	w.write(t, map[string]string{
		"good/one/SKILL.md":   gittest.Skill("one", "Does one thing. Use for one."),
		"good/two/SKILL.md":   gittest.Skill("two", "Does two things. Use for two."),
		"bad/three/SKILL.md":  gittest.Skill("three", "Does three things.") + "\nSee [this](missing.md) and [that](gone.md).\n",
		"empty/README.md":     "Nothing here.\n",
		"skills/SKILL.md":     gittest.Skill("skills", "Is its own directory. Use for that."),
		"good/two/scripts/go": "#!/bin/sh\necho go\n",
	})
	for _, test := range []struct {
		name   string
		inputs map[string]string
		code   int
		errors string
		log    string
	}{
		{"clean", map[string]string{"paths": "good"}, 0, "0", ""},
		{"several paths", map[string]string{"paths": "good/one\n\ngood/two\n"}, 0, "0", ""},
		{"errors", map[string]string{}, 3, "2", "::error file=bad/three/SKILL.md,line="},
		{"another directory", map[string]string{"working-directory": "bad"}, 3, "2", "::error file=bad/three/SKILL.md,line="},
		{"text", map[string]string{"format": "text"}, 3, "2", "  10:12 error REF001: missing.md does not exist"},
		{"no skill", map[string]string{"paths": "empty"}, 4, "", "error: "},
		{"no such path", map[string]string{"paths": "nowhere"}, 4, "", "error: "},
		{"no such flag", map[string]string{"args": "--nonsense"}, 2, "", "error: "},
		{"no such profile", map[string]string{"profile": "nonsense"}, 2, "", "error: "},
		{"a profile", map[string]string{"paths": "good", "profile": "claude-code,agentskills"}, 0, "0", ""},
		{"strict", map[string]string{"paths": "good/one", "strict": "true"}, 0, "0", ""},
		{"audit without a lockfile", map[string]string{"paths": "good", "audit": "true"}, 4, "0", "error: "},
		{"neither true nor false, audit", map[string]string{"audit": "yes"}, 2, "", "::error title=skillpm::the input 'audit'"},
		{"neither true nor false", map[string]string{"strict": "yes"}, 2, "", "::error title=skillpm::the input 'strict'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inputs := maps.Clone(test.inputs)
			inputs["mirror"] = r.url
			j := w.run(t, inputs)
			if j.code != test.code || j.outputs["errors"] != test.errors || !strings.Contains(j.log, test.log) {
				t.Errorf("exit code %d, errors %q, want %d, %q and %q\n%s",
					j.code, j.outputs["errors"], test.code, test.errors, test.log, j.log)
			}
			if want := strconv.Itoa(test.code); j.steps["validate"]["exit-code"] != "" && j.outputs["exit-code"] != want {
				t.Errorf("output exit-code %s, want %s", j.outputs["exit-code"], want)
			}
			summary := "<h3>skillpm</h3>" // of the format github
			if format := test.inputs["format"]; format != "" && format != "github" {
				summary = "errors " + test.errors + ", warnings " + j.outputs["warnings"] + ", notes " + j.outputs["notes"]
			}
			if (test.errors != "") != strings.Contains(j.summary, summary) {
				t.Errorf("the summary is %q", j.summary)
			}
			if j.outputs["version"] != "1.2.3" {
				t.Errorf("version %q", j.outputs["version"])
			}
		})
	}
	j := w.run(t, map[string]string{"mirror": r.url, "sarif-file": "a b.sarif", "output": "json=one.json\ntext=two.txt\n"})
	for file, want := range map[string]string{"a b.sarif": `"2.1.0"`, "one.json": `"findings"`, "two.txt": "missing.md"} {
		if text, err := os.ReadFile(filepath.Join(w.workspace, file)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %s\n%s", file, err, text, j.log)
		}
	}
}

// testActionAudit checks that an affected pack in the lockfile fails the job, after the skills were validated.
func testActionAudit(t *testing.T, r *release) {
	w := newWorkflow(t)
	w.write(t, map[string]string{
		"one/SKILL.md": gittest.Skill("one", "Does one thing. Use for one."),
		"skillpm.yaml": "dependencies:\n  acme/kubectl-basics: \"^2\"\n",
	})
	program := w.run(t, map[string]string{"mirror": r.url, "paths": "one"}).steps["install"]["program"]
	kept := filepath.Join(t.TempDir(), filepath.Base(program)) // jobs start with an empty directory of tools
	if err := os.WriteFile(kept, readFile(t, program), 0o755); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	skillpm := func(args ...string) {
		t.Helper()
		cmd := exec.Command(kept, args...)
		cmd.Dir, cmd.Env = w.workspace, append(os.Environ(), "HOME="+home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	skillpm("install")
	skillpm("index", "init", "index")
	w.write(t, map[string]string{"skillpm.yaml": "registries: [{name: team, url: ./index}]\ndependencies:\n  acme/kubectl-basics: \"^2\"\n"})
	skillpm("key", "generate", "--output", filepath.Join(home, "feed"), "--no-password")
	publish := func() {
		skillpm("index", "advisory", "publish", "--index", "index", "--signing-key", filepath.Join(home, "feed.key"))
	}
	publish()
	inputs := map[string]string{"mirror": r.url, "paths": "one", "audit": "true", "audit-sarif-file": "a b.sarif"}
	check := func(code int, log, report string) {
		t.Helper()
		j := w.run(t, inputs)
		text, err := os.ReadFile(filepath.Join(w.workspace, "a b.sarif"))
		if j.code != code || j.outputs["exit-code"] != strconv.Itoa(code) || j.outputs["errors"] != "0" ||
			!strings.Contains(j.log, log) || err != nil || !strings.Contains(string(text), report) {
			t.Errorf("exit code %d, want %d; %v\n%s\n%s", j.code, code, err, j.log, text)
		}
	}
	check(0, "", `"results": []`)
	skillpm("index", "advisory", "add", "acme/kubectl-basics", "--malicious", "--id", "MAL-2026-1", "--summary", "Sends keys", "--index", "index")
	publish()
	check(3, "::error file=skillpm.lock,line=", `"ruleId": "MAL-2026-1"`)
	inputs["format"] = "text"
	check(3, "acme/kubectl-basics 2.1.0 is malicious", `"ruleId": "MAL-2026-1"`)
}

// testActionSetup runs setup/action.yml: skillpm is on the PATH, and the locked packs are installed.
func testActionSetup(t *testing.T, r *release) {
	t.Parallel()
	w := newWorkflow(t)
	w.action = readAction(t, "setup/action.yml")
	w.checkout = filepath.Join(w.checkout, "setup")
	if err := os.MkdirAll(w.checkout, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(w.workspace, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("skillpm.yaml", "dependencies:\n  acme/kubectl-basics: \"^2\"\n")
	if j := w.run(t, map[string]string{"mirror": r.url, "install": "true"}); j.code == 0 {
		t.Errorf("a project without a lockfile was installed:\n%s", j.log)
	}
	j := w.run(t, map[string]string{"mirror": r.url})
	if j.code != 0 || j.outputs["version"] != "1.2.3" {
		t.Fatalf("exit %d, version %q\n%s", j.code, j.outputs["version"], j.log)
	}
	lock := exec.Command(j.steps["install"]["program"], "install")
	lock.Dir, lock.Env = w.workspace, append(os.Environ(), "HOME="+w.runner)
	if out, err := lock.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(w.workspace, ".skillpm")); err != nil {
		t.Fatal(err)
	}
	if j := w.run(t, map[string]string{"mirror": r.url, "install": "true"}); j.code != 0 {
		t.Errorf("exit %d\n%s", j.code, j.log)
	}
	if _, err := os.Stat(filepath.Join(w.workspace, ".skillpm/plugins/acme/kubectl-basics/kubectl-basics/SKILL.md")); err != nil {
		t.Error(err)
	}
}

func testActionDownload(t *testing.T, binary []byte) {
	w := newWorkflow(t)
	w.write(t, map[string]string{"one/SKILL.md": gittest.Skill("one", "Does one thing. Use for one.")})
	r := hostRelease(t, binary, "1.2.3")
	kept := filepath.Join(w.cache, r.archive, r.archive)
	sums, archive := r.get("checksums.txt"), r.get(r.archive)
	run := func(name string, code int, wantRequests string, inputs map[string]string) job {
		t.Helper()
		in := map[string]string{"mirror": r.url}
		maps.Copy(in, inputs)
		j := w.run(t, in)
		if got := strings.ReplaceAll(r.requests(), r.archive, "ARCHIVE"); j.code != code || got != wantRequests {
			t.Errorf("%s: exit code %d, want %d; requests:\n%s\nwant:\n%s\n%s", name, j.code, code, got, wantRequests, j.log)
		}
		return j
	}
	both := "GET checksums.txt\nGET checksums.txt\nGET ARCHIVE\nGET ARCHIVE" // each is a redirect and a file

	for name, bad := range map[string][]byte{
		"another checksum":   bytes.ReplaceAll(sums, []byte(r.sum()), bytes.Repeat([]byte("0"), 64)),
		"no checksum":        []byte("\n"),
		"another file's":     bytes.ReplaceAll(sums, []byte(r.archive), []byte("x"+r.archive)),
		"two checksums":      append(bytes.Clone(sums), sums...),
		"no hexadecimal":     bytes.ReplaceAll(sums, []byte(r.sum()), []byte("*")),
		"a cut-off checksum": bytes.ReplaceAll(sums, []byte(r.sum()), []byte(r.sum()[:60])),
		"an error page":      []byte("<html>" + r.archive + "</html>\n"),
	} {
		r.set("checksums.txt", bad)
		j := run(name, 6, both, nil)
		if j.steps["install"]["program"] != "" || j.steps["validate"] != nil || !strings.Contains(j.log, "::error title=skillpm::") {
			t.Errorf("%s: something was run\n%s", name, j.log)
		}
	}
	r.set("checksums.txt", nil)
	run("checksums are missing", 8, "GET checksums.txt", nil)
	r.set("checksums.txt", sums)
	r.set(r.archive, archive[:len(archive)/2])
	run("half an archive", 6, both, nil)
	r.set(r.archive, nil)
	run("the archive is missing", 8, "GET checksums.txt\nGET checksums.txt\nGET ARCHIVE", nil)
	if _, err := os.Stat(w.cache); err == nil {
		t.Error("something was kept of a release that is not right")
	}

	r.set(r.archive, archive)
	run("first run", 0, both, nil)
	run("second run", 0, "", nil)
	run("without a cache", 0, both, map[string]string{"cache": "false"})
	if err := os.WriteFile(kept, archive[:1000], 0o644); err != nil {
		t.Fatal(err)
	}
	run("a damaged cache", 0, both, nil)
	token := run("a token", 0, "GET checksums.txt +Bearer s3cr.et\nGET checksums.txt\nGET ARCHIVE +Bearer s3cr.et\nGET ARCHIVE",
		map[string]string{"token": "s3cr.et", "cache": "false"})
	if strings.Contains(token.log, "s3cr.et") {
		t.Error("the token is in the log")
	}
	run("no bearer token", 2, "", map[string]string{"token": "a\"\nurl = \"http://elsewhere.example"})
}

// testActionWords gives every input text that a shell would run, and checks that it left no traces.
func testActionWords(t *testing.T, r *release) {
	w := newWorkflow(t)
	w.write(t, map[string]string{"one/SKILL.md": gittest.Skill("one", "Does one thing. Use for one.")})
	for _, text := range []string{
		"$(touch pwned)", "`touch pwned`", "\"; touch pwned; \"", "' ; touch pwned; '", "| touch pwned && touch pwned",
		"a[$(touch pwned)]", "x\ny=z", "<(touch pwned)", "-",
	} {
		alone := []string{"version", "token", "strict", "cache", "audit"}
		jobs := map[string]string{"mirror": r.url}
		for name := range w.action.Inputs {
			// No program receives working-directory: the runner itself changes to it.
			if name != "mirror" && name != "working-directory" && !slices.Contains(alone, name) {
				jobs[name] = text
			}
		}
		all := []map[string]string{
			jobs, {"mirror": r.url + text}, {"mirror": r.url, "audit": "true", "audit-sarif-file": text},
		}
		for _, name := range alone {
			all = append(all, map[string]string{"mirror": r.url, name: text})
		}
		for _, inputs := range all {
			j := w.run(t, inputs)
			if j.code > 8 || strings.Contains(j.log, "syntax error") || strings.Contains(j.log, "command not found") {
				t.Errorf("%q: exit code %d\n%s", inputs, j.code, j.log)
			}
		}
	}
	err := filepath.WalkDir(filepath.Dir(w.workspace), func(file string, _ os.DirEntry, err error) error {
		if filepath.Base(file) == "pwned" {
			t.Errorf("something was evaluated: %s", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	names := []string{"with a space", "$(touch pwned)", "it's", "a;b", "-dash", "{x,y}", "~"}
	if runtime.GOOS != "windows" {
		names = append(names, `"quoted"`, `back\slash`, "*", "a|b")
	}
	for _, name := range names {
		w.write(t, map[string]string{"odd/" + name + "/SKILL.md": gittest.Skill("other", "Has another name. Use for that.")})
		j := w.run(t, map[string]string{"mirror": r.url, "paths": "odd/" + name, "output": "json=a report.json"})
		if j.code != 3 || j.outputs["errors"] == "0" {
			t.Errorf("the skill %q: exit code %d, errors %q\n%s", name, j.code, j.outputs["errors"], j.log)
		}
	}
	w.write(t, map[string]string{"-dash/SKILL.md": gittest.Skill("dash", "Has another name. Use for that.")})
	if j := w.run(t, map[string]string{"mirror": r.url, "paths": "-dash"}); j.code != 3 {
		t.Errorf("a path that looks like a flag: exit code %d\n%s", j.code, j.log)
	}
}

// testActionArchives uses the archive of every target. Each archive contains this machine's program.
// TestActionKeyless checks that the setup action installs skillpm-keyless as skillpm.
func TestActionKeyless(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program of this release is a shell script")
	}
	w := newWorkflow(t)
	w.action = readAction(t, "setup/action.yml")
	w.checkout = filepath.Join(w.checkout, "setup")
	if err := os.MkdirAll(w.checkout, 0o755); err != nil {
		t.Fatal(err)
	}
	r := hostRelease(t, []byte("#!/bin/sh\necho skillpm\n"), "1.2.3")
	archive := strings.Replace(r.archive, "skillpm_", "skillpm-keyless_", 1)
	data := packTar(t, [][2]string{{"skillpm-keyless", "#!/bin/sh\necho skillpm-keyless\n"}})
	r.set(archive, data)
	r.set("checksums.txt", fmt.Appendf(r.get("checksums.txt"), "%x  %s\n", sha256.Sum256(data), archive))
	for keyless, want := range map[string]string{"false": "skillpm", "true": "skillpm-keyless"} {
		j := w.run(t, map[string]string{"mirror": r.url, "keyless": keyless})
		program := j.steps["install"]["program"]
		out, err := exec.Command(program).Output()
		if j.code != 0 || err != nil || string(out) != want+"\n" || filepath.Base(program) != "skillpm" {
			t.Errorf("keyless: %s installed %s as %s: %v\n%s", keyless, out, program, err, j.log)
		}
	}
}

func testActionArchives(t *testing.T, binary []byte) {
	for _, target := range [][4]string{
		{"Linux", "X64", "linux", "amd64"},
		{"Linux", "ARM64", "linux", "arm64"},
		{"macOS", "ARM64", "darwin", "arm64"},
		{"macOS", "X64", "darwin", "amd64"},
		{"Windows", "X64", "windows", "amd64"},
		{"Windows", "ARM64", "windows", "arm64"},
	} {
		t.Run(target[2]+"-"+target[3], func(t *testing.T) {
			w := newWorkflow(t)
			if target[0] == "Windows" && !w.has("unzip") {
				t.Skip("unzip is not installed")
			}
			w.os, w.arch = target[0], target[1]
			w.write(t, map[string]string{"one/SKILL.md": gittest.Skill("one", "Does one thing. Use for one.")})
			r := newRelease(t, binary, "1.2.3", target[2], target[3])
			if j := w.run(t, map[string]string{"mirror": r.url}); j.code != 0 || j.outputs["errors"] != "0" {
				t.Errorf("exit code %d\n%s", j.code, j.log)
			}
		})
	}
}
