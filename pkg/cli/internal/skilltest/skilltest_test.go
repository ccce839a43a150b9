package skilltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/cli/internal/skilltest"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/schema"
)

const deploy = `---
name: deploy
description: Rolls a service out. Use when somebody asks for a deployment.
allowed-tools: Read(docs/**), Bash(kubectl rollout:*)
---

Roll $0 out to $1.
`

// put writes a skill and returns its directory.
func put(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deploy")
	all := map[string]string{"SKILL.md": deploy}
	maps.Copy(all, files)
	for name, text := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func options(t testing.TB) skilltest.Options {
	return skilltest.Options{
		Now: time.Now, Config: filepath.Join(t.TempDir(), "config"),
		Getenv: func(name string) string {
			switch name {
			case "PATH":
				return os.Getenv("PATH")
			case "SKILLPM_SESSION", "SKILLPM_PROFILE":
				return "none-of-this"
			case "HOME":
				return "/nonexistent"
			}
			return ""
		},
	}
}

// cases runs the cases of one test file.
func cases(t *testing.T, dir string, o skilltest.Options) []skilltest.Result {
	t.Helper()
	files, err := skilltest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []skilltest.Result
	for _, f := range files {
		results, err := skilltest.Run(context.Background(), dir, f, o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, results...)
	}
	return out
}

func wrong(r skilltest.Result) string {
	var b strings.Builder
	for _, w := range r.Mismatches {
		b.WriteString(w.Message + "\n" + w.Diff)
	}
	return b.String()
}

// TestO25Cases checks SPEC O25: a skill is tested in isolation, with predefined answers of its tools. Each case lists
// the expected result: passed, skipped, or a part of the failure.
func TestO25Cases(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("commands are replaced by scripts of a POSIX shell")
	}
	for _, test := range []struct{ name, text, want string }{
		{"a body", "arguments: web production\n    body: Roll web out to production.", "passed"},
		{"another body", "arguments: web staging\n    body: Roll web out to production.", "-Roll web out to production.\n+Roll web out to staging."},
		{"contains", "arguments: a b\n    contains: [Roll a, to b]\n    lacks: [$0]", "passed"},
		{"does not contain", "arguments: a b\n    contains: [Roll c]", `the text does not contain "Roll c"`},
		{"has what it should not", "arguments: a b\n    lacks: [Roll]", `the text contains "Roll"`},
		{"a body in a file", "arguments: a b\n    body-file: golden.md", "passed"},
		{"no file", "body-file: none.md", "create the file with: skillpm test --update"},
		{"a file outside", "body-file: ../SKILL.md", "not a path inside tests"},
		{"skipped", "skip: not yet\n    body: x", "skipped"},
		{"a user", "trigger: user\n    contains: [Roll]", "passed"},
		{"an error that does not come", "error: denied", "the skill was activated"},
		{"an unknown profile", "profile: nobody", "unknown profile"},
		{"another profile", "profile: claude-code\n    arguments: a b\n    body: Roll a out to b.", "passed"},

		{"allowed", `calls: [{tool: Bash, input: {command: kubectl rollout status}, reply: fine}]`, "passed"},
		{"refused", `calls: [{tool: Bash, input: {command: "kubectl rollout status; rm x"}, want: refused, because: rm x}]`, "passed"},
		{"refused for another reason", `calls: [{tool: Write, want: refused, because: rm x}]`, `which does not contain "rm x"`},
		{"should be allowed", `calls: [{tool: Write}]`, "call 1 (Write) is denied, but the case expects that it is allowed: Tool 'Write' not allowed by active skill 'deploy': skill deploy allows"},
		{"should be refused", `calls: [{tool: Bash, input: {command: kubectl rollout}, want: refused}]`, "is allowed, but the case expects a denial"},
		{"a reply to nothing", `calls: [{tool: Write, want: refused, reply: done}]`, "a denied call does not get a reply"},
		{"the project", `calls: [{tool: Read, input: {file_path: "{project-dir}/docs/a.md"}}]`, "passed"},
		{"not the project", `calls: [{tool: Read, input: {file_path: "{home-dir}/docs/a.md"}, want: refused}]`, "passed"},
		{"the skill's own files", `calls: [{tool: Read, input: {file_path: "{skill-dir}/docs/a.md"}}]`, "passed"},
		{"the second call", `calls: [{tool: skill}, {tool: Glob}]`, "call 2 (Glob)"},

		{"a script", "script: scripts/run.sh\n    args: [a, b c]\n    stdin: in\n    env: {X: y}\n    stdout: |\n      a/b c in y\n      in {project-dir} as {home-dir}", "passed"},
		{"another output", "script: scripts/run.sh\n    stdout: nothing", "standard output differs"},
		{"an output that has it", "script: scripts/run.sh\n    contains: [in /, x]", "standard output does not contain"},
		{"an exit code", "script: scripts/fail.sh\n    exit: 3\n    stderr: no", "passed"},
		{"another exit code", "script: scripts/fail.sh", "the script exited with 3 instead of 0; its standard error:\n  no"},
		{"another standard error", "script: scripts/fail.sh\n    exit: 3\n    stderr: yes", "standard error differs"},
		{"no script", "script: scripts/none.sh", "scripts/none.sh"},
		{"no script is wanted", "script: scripts/none.sh\n    error: none.sh", "passed"},
		{"a script outside", "script: ../../etc/passwd", "etc/passwd"},
		{"a limit", "script: scripts/slow.sh\n    limit: 100ms\n    exit: 143", "did not end within its time limit"},
		{"no command", "command: true", "does not have a command"},
		{"files", "script: scripts/cat.sh\n    files: {a/b.txt: hello}\n    stdout: hello", "passed"},
		{"files outside", "script: scripts/cat.sh\n    files: {../b.txt: hello}", "is not a path inside the project"},

		{"commands", "script: scripts/mocked.sh\n    commands: {kubectl: {stdout: \"it's $x `y`\\n\"}, cat: {exit: 7, stderr: \"no\\n\"}}\n    exit: 7\n    stdout: it's $x `y`\n    stderr: \"no\\nno\"\n    ran: [kubectl get pods, cat /etc/passwd, cat]", "passed"},
		{"commands that were not run", "script: scripts/run.sh\n    commands: {kubectl: {}}\n    ran: [kubectl]", "the list of replaced programs that ran differs"},
		{"a command with a path", "script: scripts/run.sh\n    commands: {../x: {}}", "is not the name of a program"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := put(t, map[string]string{
				"tests/x.yaml":       "cases:\n  - name: it\n    " + test.text + "\n",
				"tests/golden.md":    "\nRoll a out to b.\n\n",
				"scripts/run.sh":     "#!/bin/sh\nread line\necho \"$1/$2 $line $X\"\necho \"in $(pwd) as $HOME\"\n",
				"scripts/fail.sh":    "#!/bin/sh\necho no >&2\nexit 3\n",
				"scripts/slow.sh":    "#!/bin/sh\nsleep 60\n",
				"scripts/cat.sh":     "#!/bin/sh\ncat a/b.txt\n",
				"scripts/mocked.sh":  "#!/bin/sh\nkubectl get pods\ncat /etc/passwd | /bin/cat\ncat\n",
				"references/none.md": "x",
			})
			r := cases(t, dir, options(t))
			if len(r) != 1 {
				t.Fatalf("%d results", len(r))
			}
			switch {
			case test.want == r[0].Outcome:
			case r[0].Outcome == skilltest.Failed && strings.Contains(wrong(r[0]), test.want):
			default:
				t.Errorf("%s, want %q\n%s", r[0].Outcome, test.want, wrong(r[0]))
			}
			if r[0].Line != 2 || r[0].Name != "it" || r[0].File != "tests/x.yaml" {
				t.Errorf("it is %+v", r[0])
			}
		})
	}
}

// TestO25Trigger checks SPEC O25, P9: the rules about who may activate a skill also apply in tests.
func TestO25Trigger(t *testing.T) {
	dir := put(t, map[string]string{
		"SKILL.md": "---\nname: deploy\ndescription: Rolls out.\ndisable-model-invocation: true\n---\nGo.\n",
		"tests/x.yaml": `profile: claude-code
cases:
  - {name: the model, error: may not activate skill}
  - {name: the model by mistake, trigger: model}
  - {name: a user, trigger: user, body: Go.}
  - {name: another error, error: something else}
`,
	})
	var got []string
	for _, r := range cases(t, dir, options(t)) {
		got = append(got, r.Outcome)
	}
	if want := []string{"passed", "failed", "passed", "failed"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestO25Transcript checks SPEC O25: the transcript has every call with its verdict, and the reply of the allowed ones.
func TestO25Transcript(t *testing.T) {
	dir := put(t, map[string]string{"tests/x.yaml": `cases:
  - name: it
    calls:
      - {tool: Bash, input: {command: kubectl rollout restart}, reply: {code: 0}}
      - {tool: Write, want: refused}
`})
	r := cases(t, dir, options(t))[0]
	data, err := json.Marshal(r.Calls)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"tool":"Bash","input":{"command":"kubectl rollout restart"},"allowed":true,"reply":{"code":0}},` +
		`{"tool":"Write","allowed":false,"skill":"deploy","reason":"Tool 'Write' not allowed by active skill 'deploy': skill deploy allows Read(docs/**), Bash(kubectl rollout:*), but not Write"}]`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

// TestAlone checks that a case changes neither the skill nor the working directory, and leaves no files.
func TestAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are of a POSIX shell")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir := put(t, map[string]string{
		"SKILL.md":       "---\nname: deploy\ndescription: Rolls out.\nhooks: {pre: scripts/pre.sh}\n---\nGo.\n",
		"scripts/pre.sh": "#!/bin/sh\necho changed >\"$SKILL_DIR/SKILL.md\"\necho it >\"$HOME/written\"\n",
		"scripts/is.sh":  "#!/bin/sh\ncat \"$SKILL_DIR/SKILL.md\"; ls \"$HOME\"\n",
		"tests/x.yaml": "cases:\n  - {name: changes, contains: [Go]}\n  - {name: sees nothing of it, script: scripts/is.sh, contains: [Go], lacks: [changed, written]}\n" +
			"  - {name: fails, contains: [none]}\n",
	})
	before, err := os.ReadFile(filepath.Join(dir, "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := cases(t, dir, options(t))
	if r[0].Outcome != skilltest.Passed || r[1].Outcome != skilltest.Passed || r[2].Outcome != skilltest.Failed {
		t.Errorf("got %s, %s", wrong(r[0]), wrong(r[1]))
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "SKILL.md")); !bytes.Equal(before, after) {
		t.Errorf("the skill is changed: %s", after)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "skillpm-test-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLinkOut(t *testing.T) {
	dir := put(t, map[string]string{"tests/x.yaml": "cases:\n  - name: it\n", "references/a.md": "a"})
	if err := os.Symlink("references/a.md", filepath.Join(dir, "inside.md")); err != nil {
		t.Skip("no links here:", err)
	}
	if r := cases(t, dir, options(t))[0]; r.Outcome != skilltest.Passed {
		t.Errorf("a link inside the skill: %s", wrong(r))
	}
	if err := os.Symlink("../../../etc", filepath.Join(dir, "references", "out")); err != nil {
		t.Fatal(err)
	}
	if r := cases(t, dir, options(t))[0]; r.Outcome != skilltest.Failed || !strings.Contains(wrong(r), "references/out points outside the skill") {
		t.Errorf("a link out of the skill: %+v", r)
	}
}

func TestMatch(t *testing.T) {
	dir := put(t, map[string]string{"tests/x.yaml": "cases:\n  - name: one\n  - name: two\n"})
	o := options(t)
	o.Match = func(name string) bool { return name == "two" }
	if r := cases(t, dir, o); len(r) != 1 || r[0].Name != "two" {
		t.Errorf("got %+v", r)
	}
}

func TestInterrupted(t *testing.T) {
	dir := put(t, map[string]string{"tests/x.yaml": "cases:\n  - name: one\n"})
	files, err := skilltest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := skilltest.Run(ctx, dir, files[0], options(t)); diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("got %v", err)
	}
}

// TestO25Update checks SPEC O25: golden texts are rewritten, and the rest of a file stays unchanged.
func TestO25Update(t *testing.T) {
	const file = `# a comment
cases:
  - name: a block   # stays
    arguments: a b
    body: |
      old

      text

  # about the next one
  - name: a file
    arguments: c d
    body-file: golden/new.md
  - name: right already
    arguments: a b
    body: "Roll a out to b."
  - name: a line
    arguments: e f
    body: old
  - name: last
    body: |2-
        old
    arguments: g h
`
	dir := put(t, map[string]string{"tests/x.yaml": file})
	o := options(t)
	o.Update = true
	r := cases(t, dir, o)
	var outcomes []string
	for _, c := range r {
		outcomes = append(outcomes, c.Outcome)
	}
	if want := []string{"passed", "passed", "passed", "failed", "passed"}; !slices.Equal(outcomes, want) {
		t.Errorf("got %v, want %v", outcomes, want)
	}
	if !strings.Contains(wrong(r[3]), "cannot rewrite body: write") {
		t.Errorf("got %s", wrong(r[3]))
	}
	got, err := os.ReadFile(filepath.Join(dir, "tests/x.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("      old\n\n      text\n", "      Roll a out to b.\n", "body: |2-\n        old", "body: |\n      Roll g out to h.").Replace(file)
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if golden, _ := os.ReadFile(filepath.Join(dir, "tests/golden/new.md")); string(golden) != "Roll c out to d.\n" {
		t.Errorf("the golden file is %q", golden)
	}
	o.Update = false
	for _, c := range cases(t, dir, o) {
		if (c.Outcome == skilltest.Passed) != (c.Name != "a line") {
			t.Errorf("afterwards %s: %s", c.Name, wrong(c))
		}
	}
}

// TestUpdateStaysInside checks that --update writes only into the tests directory, even if there are links.
func TestUpdateStaysInside(t *testing.T) {
	dir := put(t, map[string]string{"tests/x.yaml": "cases:\n  - {name: it, arguments: a b, body-file: out/SKILL.md}\n", "references/a.md": "a"})
	if err := os.Symlink("..", filepath.Join(dir, "tests", "out")); err != nil {
		t.Skip("no links here:", err)
	}
	files, err := skilltest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Update = true
	_, err = skilltest.Run(context.Background(), dir, files[0], o)
	if got, _ := os.ReadFile(filepath.Join(dir, "SKILL.md")); string(got) != deploy || diag.CodeOf(err) != diag.Denied {
		t.Errorf("written through a link: %s, %v", got, err)
	}
}

// TestDeniedName checks that a policy denies a local skill by the name that it declares, whatever its directory.
func TestDeniedName(t *testing.T) {
	dir := put(t, map[string]string{"SKILL.md": "---\nname: evil\ndescription: Does evil.\n---\n", "tests/x.yaml": "cases:\n  - {name: it, body: x}\n"})
	o := options(t)
	o.Config = t.TempDir()
	if err := os.WriteFile(filepath.Join(o.Config, "policy.yaml"), []byte("version: 1\nskills: {deny: [evil]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := skilltest.RunSkill(t.Context(), dir, o); diag.CodeOf(err) != diag.Denied {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "t.yaml:1: the test file is empty",
		"cases: []":                            "t.yaml:1: the test file does not contain cases",
		"cases: [{name: a, body: x},\n ~]":     "t.yaml:2: an entry of cases does not have a value",
		"profile: x":                           "the test file does not contain cases",
		"cases:\n  - name: a\n    argument: x": `t.yaml:3: unknown key "argument"`,
		"case:\n  - name: a":                   `t.yaml:1: unknown key "case"`,
		"cases:\n  - arguments: a":             "t.yaml:2: the case does not have a name",
		"cases:\n  - name: a\n  - name: a":     "t.yaml:3: the case name \"a\" is duplicated; it first appears on line 2",
		"cases:\n  - name: [a]":                "t.yaml:2: an entry of cases.name must be text, not a list",
		"cases:\n\t- name: a":                  "t.yaml:2:",
		"cases:\n  - name: a\n---\nx: y":       "unexpected second YAML document",
		"cases:\n  - {name: a, script: x, command: true}":             "split the case into two",
		"cases:\n  - {name: a, script: x, body: y}":                   "split the case into two",
		"cases:\n  - {name: a, exit: 3}":                              "neither script nor command",
		"cases:\n  - {name: a, body: x, body-file: y}":                "both body and body-file",
		"cases:\n  - {name: a, body-file: t.yaml}":                    "compares with a test file",
		"cases:\n  - {name: a, script: s, stdout-file: ./B.YML}":      "compares with a test file",
		"cases:\n  - {name: a, script: s, stdout: x, stdout-file: y}": "both stdout and stdout-file",
		"cases:\n  - {name: a, error: x, contains: [y]}":              "the case expects both an error and a result",
		"cases:\n  - {name: a, trigger: me}":                          "use model or user",
		"cases:\n  - {name: a, contains: ['']}":                       "an empty text",
		"cases:\n  - {name: a, script: x, limit: soon}":               "is not a duration such as 5s",
		"cases:\n  - {name: a, script: x, limit: -1s}":                "is not a duration such as 5s",
		"cases:\n  - {name: a, calls: [{want: allowed}]}":             "call 1 does not name a tool",
		"cases:\n  - {name: a, calls: [{tool: x, want: maybe}]}":      "use allowed or refused",
		"cases:\n  - {name: a, calls: [{tool: x, because: y}]}":       "\"want\" is not \"refused\"",
		"cases:\n  - {name: a, calls: [{tool: x, inputs: {}}]}":       `unknown key "inputs"`,
		"cases:\n  - {name: a, commands: {x: {out: y}}}":              `unknown key "out"`,
		"cases:\n" + strings.Repeat("  - name: a\n", 1001):            "has 1001 cases; the limit is 1000",
		"cases:\n  - {name: a, name: b}":                              "is duplicated",
	} {
		_, err := skilltest.Parse("t.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || diag.CodeOf(err) != diag.Invalid || !strings.HasPrefix(err.Error(), "t.yaml:") {
			t.Errorf("%.60q: got %v, want %q", text, err, want)
		}
	}
}

func TestRead(t *testing.T) {
	if files, err := skilltest.Read(put(t, nil)); err != nil || len(files) > 0 {
		t.Errorf("without tests: %v, %v", files, err)
	}
	dir := put(t, map[string]string{
		"tests/b.yml": "cases:\n  - name: b\n", "tests/a.yaml": "cases:\n  - name: a\n", "tests/golden/c.yaml": "no test", "tests/d.txt": "", "tests/.e.yaml": "x",
	})
	files, err := skilltest.Read(dir)
	if err != nil || len(files) != 2 || files[0].Path != "tests/a.yaml" || files[1].Path != "tests/b.yml" {
		t.Errorf("got %v, %v", files, err)
	}
	bad := put(t, map[string]string{"tests/a.yaml": "x: y", "tests/b.yaml": "cases:\n  - name: b\n", "tests/c.yaml": "["})
	files, err = skilltest.Read(bad)
	if len(files) != 1 || err == nil || !strings.Contains(err.Error(), "tests/a.yaml:1") || !strings.Contains(err.Error(), "tests/c.yaml:1") {
		t.Errorf("got %v, %v", files, err)
	}
}

func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := schema.Read("skill-test")
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("skill-test", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("skill-test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaFields checks that the editor schema has exactly the fields that the parser reads.
func TestSchemaFields(t *testing.T) {
	s := compiled(t)
	item := s.Properties["cases"].Items2020.Ref
	for _, pair := range []struct {
		got  *jsonschema.Schema
		want reflect.Type
	}{
		{s, reflect.TypeFor[skilltest.File]()},
		{item, reflect.TypeFor[skilltest.Case]()},
		{item.Properties["calls"].Items2020.Ref, reflect.TypeFor[skilltest.Call]()},
		{s.Properties["commands"].Ref.AdditionalProperties.(*jsonschema.Schema), reflect.TypeFor[skilltest.Command]()},
	} {
		var want []string
		for f := range pair.want.Fields() {
			if tag := f.Tag.Get("yaml"); tag != "" && tag != "-" {
				want = append(want, tag)
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(pair.got.Properties)); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %v, and %v are read", pair.want.Name(), got, want)
		}
	}
}

// TestDocumentedFiles checks that the examples of the documentation are valid, also by the schema.
func TestDocumentedFiles(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/guides/write-and-test.md")
	if err != nil {
		t.Fatal(err)
	}
	s, files := compiled(t), 0
	for _, block := range strings.Split(strings.ReplaceAll(string(text), "\n   ", "\n"), "\n```yaml skills")[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		body, _, _ := strings.Cut(rest, "\n```")
		var v any
		if err := yaml.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		_, parseErr := skilltest.Parse(name, []byte(body))
		if schemaErr := s.Validate(v); (schemaErr == nil) != (parseErr == nil) || (parseErr == nil) == strings.HasSuffix(name, "wrong.yaml") {
			t.Errorf("%s: by the schema %v, when it is read %v", name, schemaErr, parseErr)
		}
		files++
	}
	if files < 1 {
		t.Errorf("%d files are documented", files)
	}
}

// FuzzParse checks that parsing terminates for any bytes, and that each parsed case has a name and a line.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"cases:\n  - name: a\n    body: |\n      x\n", "cases: [{name: a, calls: [{tool: b}]}]", "a: &a [*a]", "{", "cases: 3", "commands: {x: {exit: 1}}", "cases:\n  -", "cases: [~, {name: a}]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := skilltest.Parse("t.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, c := range file.Cases {
			if c.Name == "" || c.Line() < 1 {
				t.Fatalf("%q has a case %+v in line %d", text, c, c.Line())
			}
		}
	})
}

// TestFind checks that skills are found in the directories where users write them, and not where other packs' skills
// are installed.
func TestFind(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, dir := range []string{
		"a/b", ".claude/skills/c", ".skillpm/skills/d", "member/.skillpm/skills/e", ".skillpm/plugins/acme/x/f", "node_modules/.skillpm/skills/g",
		"a/b/.skillpm/skills/h", "vendor/skills/acme/x/.skillpm/skills/i",
	} {
		fsys[dir+"/SKILL.md"] = &fstest.MapFile{Data: []byte("x")}
	}
	fsys["vendor/skills/acme/x/.skillpm-vendor.json"] = &fstest.MapFile{}
	got, err := skilltest.Find(fsys, ".")
	if want := []string{".claude/skills/c", ".skillpm/skills/d", "a/b", "member/.skillpm/skills/e"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if got, err := skilltest.Find(fsys, ".skillpm/skills"); err != nil || !slices.Equal(got, []string{".skillpm/skills/d"}) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := skilltest.Find(fsys, "a/b"); err != nil || !slices.Equal(got, []string{"a/b"}) {
		t.Errorf("%q, %v", got, err)
	}
}
