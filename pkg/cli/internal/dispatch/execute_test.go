//go:build unix

package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

// skills maps the names of the test project's skills to their SKILL.md and scripts.
var skills = map[string]string{
	"page-maker/SKILL.md": "---\nname: page-maker\ndescription: Converts Markdown to HTML\n" +
		"command: sh scripts/convert.sh\nargument-hint: <source_page> [theme] [language]\n---\n# Converter\n",
	"page-maker/scripts/convert.sh": `printf '<h1>%s</h1>' "$1" > "$SKILL_WORK_DIR/page.html"
printf '{"output_path": "page.html", "code": "<h1>", "n": 2}'`,
	"name-finder/SKILL.md": "---\nname: name-finder\ndescription: Suggests a \"strategy\"\nmodel: opus\n---\nFor $ARGUMENTS <now>.\n",
	"slow-import/SKILL.md": "---\nname: slow-import\ndescription: Takes long\ncommand: echo begun; sleep 1000\n---\n",
	"failing/SKILL.md":     "---\nname: failing\ndescription: Fails\ncommand: \"echo 'no such\\n  table: users' >&2; exit 3\"\n---\n",
	"silent/SKILL.md":      "---\nname: silent\ndescription: Fails in silence\ncommand: kill -9 $$\n---\n",
	"printing/SKILL.md":    "---\nname: printing\ndescription: Prints\ncommand: cat\narguments: [file]\n---\n",
	"model/SKILL.md":       "---\nname: model\ndescription: Says the model\ncommand: printf \"$SKILLPM_MODEL\"\nmodel: sonnet\n---\n",
	"private/SKILL.md":     "---\nname: private\ndescription: Only for users\ncommand: echo hi\ndisable-model-invocation: true\n---\n",
	"damaged/SKILL.md":     "---\nname: damaged\n---\n",
}

// newHost creates a project with the skills, and a host that runs in it.
func newHost(t *testing.T) (*runtime.Host, string) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "project")
	for name, text := range skills {
		put(t, filepath.Join(dir, ".agents", "skills", filepath.FromSlash(name)), text)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		if name == "PATH" {
			return os.Getenv(name)
		}
		return ""
	}
	paths, err := scope.New(scope.Env{Home: filepath.Join(root, "home"), Dir: dir, Getenv: getenv, OS: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	paths.Enterprise = filepath.Join(root, "enterprise")
	h, err := runtime.New(t.Context(), runtime.Options{
		Environment: environ.Environment{Paths: paths, Dir: dir, Getenv: getenv, Now: now},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h, dir
}

func now() time.Time { return time.Date(2026, 11, 22, 8, 15, 0, 0, time.UTC) }

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// execute runs a dispatch line.
func execute(t *testing.T, h *runtime.Host, line string, o Options) *Reply {
	t.Helper()
	o.Now = now
	r, err := Execute(t.Context(), h, line, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestD3Golden checks SPEC D3, D4, D5, D7: the exact text and JSON of every status, every type of error, and both types
// of skills.
func TestD3Golden(t *testing.T) {
	h, _ := newHost(t)
	for _, c := range []struct {
		name, line string
		o          Options
		code       diag.Code
	}{
		{name: "success", line: "execute @page-maker README.md"},
		{name: "success-zh", line: "执行 @page-maker README.md"},
		{name: "prompt", line: `Task("skills", "find good names", "run @name-finder tea", {model: "any/model"})`},
		{name: "prompt-zh", line: "run @name-finder tea", o: Options{Language: Chinese}},
		{name: "pending", line: "execute @page-maker", code: diag.Usage},
		{name: "pending-zh", line: "execute @page-maker", o: Options{Language: Chinese}, code: diag.Usage},
		{name: "not-found", line: "execute @page-makr x", code: diag.NotFound},
		{name: "not-found-zh", line: "execute @nothing-like-it x", o: Options{Language: Chinese}, code: diag.NotFound},
		{name: "not-found-pack", line: "execute @deploy@acme/deploy x", code: diag.NotFound},
		{name: "metadata", line: "execute @damaged", code: diag.Invalid},
		{name: "param", line: "execute @page-maker", o: Options{Strict: true}, code: diag.Usage},
		{name: "param-zh", line: "execute @page-maker", o: Options{Strict: true, Language: Chinese}, code: diag.Usage},
		{name: "no-skill", line: "execute", code: diag.Usage},
		{name: "failed", line: "execute @failing", code: diag.Internal},
		{name: "failed-zh", line: "execute @failing", o: Options{Language: Chinese}, code: diag.Internal},
		{name: "killed", line: "execute @silent", code: diag.Internal},
		{name: "steps", line: "execute @failing then execute @silent", code: diag.Usage},
		{name: "two-skills", line: "execute @failing @silent", code: diag.Usage},
		{name: "denied", line: "execute @private", code: diag.Denied},
		{name: "timeout", line: "execute @slow-import", o: Options{Limit: 200 * time.Millisecond}, code: diag.Internal},
		{name: "timeout-zh", line: "execute @slow-import", o: Options{Limit: 200 * time.Millisecond, Language: Chinese}, code: diag.Internal},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := execute(t, h, c.line, c.o)
			if r.Code != c.code {
				t.Errorf("exit code %v, want %v", r.Code, c.code)
			}
			var data strings.Builder
			enc := json.NewEncoder(&data)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(r); err != nil {
				t.Fatal(err)
			}
			got := elapsed().ReplaceAllString(r.Text()+"\n"+data.String(), "${1}0.2$2")
			golden := filepath.Join("testdata", c.name+".txt")
			if *update {
				put(t, golden, got)
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// elapsed matches the run time of a command, which never equals its limit exactly.
func elapsed() *regexp.Regexp { return regexp.MustCompile(`(elapsed"?: )[0-9.]+(,)`) }

// TestD4Recoverable checks SPEC D4: which errors are recoverable.
func TestD4Recoverable(t *testing.T) {
	for typ, want := range map[errorType]string{
		skillNotFound: "true", metadataMissing: "false", paramMissing: "true", runtimeFailed: "null", timedOut: "true",
	} {
		if got, _ := json.Marshal(typ.Recoverable()); string(got) != want {
			t.Errorf("%s: %s, want %s", typ, got, want)
		}
	}
}

// TestD5Directory checks SPEC D5: a command runs in the skill's directory, and finds its own files and the caller's.
func TestD5Directory(t *testing.T) {
	h, dir := newHost(t)
	put(t, filepath.Join(dir, ".agents/skills/resize/SKILL.md"),
		"---\nname: resize\ndescription: Resizes\ncommand: sh resize.sh\n---\n")
	put(t, filepath.Join(dir, ".agents/skills/resize/own"), "own")
	put(t, filepath.Join(dir, "photo.jpg"), "photo")
	put(t, filepath.Join(dir, ".agents/skills/resize/resize.sh"), `echo x > small
printf '{"output_path": "small", "own": "%s", "caller": "%s", "rest": "%s", "dir": "%s"}' \
  "$(cat own)" "$(cat "$1")" "$2 $3" "$(pwd)"`)
	r := execute(t, h, "执行 @resize photo.jpg --width 800", Options{})
	real, err := filepath.EvalSymlinks(filepath.Join(dir, ".agents/skills/resize"))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"output_path": ".agents/skills/resize/small", "own": "own", "caller": "photo", "rest": "--width 800", "dir": real,
	} {
		if got := dataValue(r.Data, key); got != want {
			t.Errorf("%s: got %v, want %s\n%s", key, got, want, r.Text())
		}
	}
}

// TestD1Names checks SPEC D1: a skill is found by its directory's id and by its name, which may have spaces, and an id
// wins over a longer name.
func TestD1Names(t *testing.T) {
	h, dir := newHost(t)
	put(t, filepath.Join(dir, ".agents/skills/marketing-ideas/SKILL.md"),
		"---\nname: Marketing Ideas Generator\ndescription: Ideas\n---\n$ARGUMENTS\n")
	put(t, filepath.Join(dir, ".agents/skills/other/SKILL.md"), "---\nname: silent failing\ndescription: Other\n---\n")
	put(t, filepath.Join(dir, ".agents/skills/zone/SKILL.md"), "---\nname: zone\ndescription: Zone\n---\n")
	for line, want := range map[string]string{
		"执行 @marketing-ideas tea":                "marketing-ideas/Marketing Ideas Generator",
		"执行 @Marketing Ideas Generator tea":      "marketing-ideas/Marketing Ideas Generator",
		`run @"Marketing Ideas Generator" tea`:   "marketing-ideas/Marketing Ideas Generator",
		"run @zone Marketing Ideas":              "zone/zone",
		"run @Marketing Ideas tea":               "SkillNotFound",
		"run @Marketing \"Ideas Generator\" tea": "SkillNotFound",
		"run @silent failing":                    "RuntimeFailed",
		"run @other":                             "other/silent failing",
	} {
		r := execute(t, h, line, Options{})
		got, _ := dataValue(r.Data, "skill").(string)
		if name, ok := dataValue(r.Data, "name").(string); ok {
			got += "/" + name
		}
		if typ, ok := dataValue(r.Data, "type").(errorType); ok {
			got = string(typ)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s\n%s", line, got, want, r.Text())
		}
		if content, ok := dataValue(r.Data, "content").(string); ok && strings.HasPrefix(want, "marketing") &&
			!strings.HasSuffix(content, "tea\n") {
			t.Errorf("%s: %s", line, content)
		}
	}
}

// TestD4Metadata checks SPEC D4: the metadata of a skill whose directory exists cannot be read, whatever the reason.
func TestD4Metadata(t *testing.T) {
	h, dir := newHost(t)
	for name, text := range map[string]string{
		"bare/README.md":         "x",
		"wrong-case/skill.md":    "---\nname: wrong-case\ndescription: x\n---\n",
		"directory/SKILL.md/x":   "x",
		"empty/SKILL.md":         "",
		"no-front/SKILL.md":      "# Title\n",
		"unclosed/SKILL.md":      "---\nname: unclosed\ndescription: x\n",
		"list/SKILL.md":          "---\n- a\n---\n",
		"no-name/SKILL.md":       "---\ndescription: x\n---\n",
		"yaml/SKILL.md":          "---\nname: yaml\ndescription: [x\n---\n",
		"bytes/SKILL.md":         "---\nname: bytes\ndescription: \xff\n---\n",
		"tools/SKILL.md":         "---\nname: tools\ndescription: x\nallowed-tools: [a\n---\n",
		"command-yaml/SKILL.md":  "---\nname: command-yaml\ndescription: x\ncommand: sh: x: 'y\n---\n",
		"large/SKILL.md":         "---\nname: large\ndescription: x\n---\n" + strings.Repeat("x", 4<<20),
		"large-front/SKILL.md":   "---\nname: large-front\ndescription: x\n# " + strings.Repeat("x", 128<<10) + "\n---\n",
		"merge/SKILL.md":         "---\nname: merge\ndescription: x\n<<: {command: x}\n---\n",
		"wrong-sandbox/SKILL.md": "---\nname: wrong-sandbox\ndescription: x\nexecution: yes please\n---\n",
	} {
		put(t, filepath.Join(dir, ".agents/skills", filepath.FromSlash(name)), text)
		id, _, _ := strings.Cut(name, "/")
		for _, verb := range []string{"run", "执行"} {
			h.Reload()
			r := execute(t, h, verb+" @"+id, Options{})
			if dataValue(r.Data, "type") != metadataMissing || r.Code != diag.Invalid {
				t.Errorf("%s: %s", name, r.Text())
			}
		}
	}
}

// TestD5Timeout checks SPEC D5: at the limit, the command and its child processes end.
func TestD5Timeout(t *testing.T) {
	h, dir := newHost(t)
	put(t, filepath.Join(dir, ".agents/skills/escaping/SKILL.md"),
		"---\nname: escaping\ndescription: Leaves a process\ncommand: (trap '' TERM; echo $$ > pid; while :; do sleep 1; done) & wait\n---\n")
	r := execute(t, h, "run @escaping", Options{Limit: time.Second})
	if r.State != Timeout || string(dataValue(r.Data, "limit").(json.Number)) != "1" {
		t.Fatalf("%s", r.Text())
	}
	if _, err := os.Stat(filepath.Join(dir, ".agents/skills/escaping/pid")); err != nil {
		t.Error("the command did not run in the skill's directory")
	}
	if h.Config().Skills.ScriptLimit != 0 || session.DefaultScriptLimit != 90*time.Second {
		t.Error("where the settings say nothing, the limit is 90 seconds")
	}
}

// TestD7Model checks SPEC D7: the model of the line, or else the skill's own, reaches the command and the reply.
func TestD7Model(t *testing.T) {
	h, _ := newHost(t)
	for line, want := range map[string]string{
		`run @model`: "sonnet",
		`Task("skills", "tell the model", "run @model", {model: "haiku"})`: "haiku",
	} {
		if r := execute(t, h, line, Options{}); r.Meta.Model != want || dataValue(r.Data, "content") != want {
			t.Errorf("%s: %s", line, r.Text())
		}
	}
}

// TestD6PassThrough checks SPEC D6: pass-through by key, inline up to the limits and in files beyond them.
func TestD6PassThrough(t *testing.T) {
	text := func(n int) string { return strings.Repeat("字", n) }
	lines := func(n int) string { return strings.Repeat("x\n", n) }
	object := func(key, value string) string {
		data, _ := json.Marshal(map[string]string{key: value})
		return string(data)
	}
	for _, c := range []struct {
		name, printed string
		key           string // of the data
		inline        string // its value, "" for a file
		file          string // what the file holds
	}{
		{"content", object("content", text(2000)), "content", text(2000), ""},
		{"long content", object("content", text(2001)), "content_path", "", text(2001)},
		{"text", object("text", "x"), "text", "x", ""},
		{"long text", object("text", text(2001)), "text_path", "", text(2001)},
		{"long article", object("article", text(2001)), "article_path", "", text(2001)},
		{"code", object("code", lines(100)), "code", lines(100), ""},
		{"long code", object("code", lines(101)), "code_path", "", lines(101)},
		{"wide code", object("code", text(5000)), "code", text(5000), ""},
		{"long script", object("script", lines(101)), "script_path", "", lines(101)},
		{"analysis", object("analysis", text(9000)), "analysis", text(9000), ""},
		{"report", object("report", lines(9000)), "report", lines(9000), ""},
		{"other", object("other", text(2001)), "other_path", "", text(2001)},
		{"plain", "just text\n", "content", "just text", ""},
		{"long plain", text(2001), "content_path", "", text(2001)},
		{"list", `[1, 2]`, "content", "[1, 2]", ""},
		{"two objects", "{}\n{}", "content", "{}\n{}", ""},
		{"binary", "\xff\x00\x01", "content_path", "", "\xff\x00\x01"},
		{"hostile keys", `{"a\n  state: success": "x"}`, "a\n  state: success", "x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, dir := newHost(t)
			put(t, filepath.Join(dir, "in"), c.printed)
			put(t, filepath.Join(dir, ".agents/skills/printing/SKILL.md"), "---\nname: printing\ndescription: Prints\ncommand: cat\n---\n")
			r := execute(t, h, "run @printing in", Options{})
			if r.State != Success {
				t.Fatal(r.Text())
			}
			got, _ := dataValue(r.Data, c.key).(string)
			if strings.Count(r.Text(), "\n") != 4 {
				t.Errorf("the text has other lines:\n%s", r.Text())
			}
			if c.file == "" {
				if got != c.inline || dataValue(r.Data, "output_path") != nil {
					t.Errorf("got %.80q, path %v", got, dataValue(r.Data, "output_path"))
				}
				return
			}
			if dataValue(r.Data, "output_path") != got || !strings.HasPrefix(got, ".skillpm/output/printing-") {
				t.Errorf("paths %v and %v", got, dataValue(r.Data, "output_path"))
			}
			data, err := os.ReadFile(filepath.Join(dir, got))
			if err != nil || string(data) != c.file {
				t.Errorf("the file holds %.80q, %v", data, err)
			}
			if size := dataValue(r.Data, "output_size"); size != humanSize(int64(len(c.file))) {
				t.Errorf("size %v", size)
			}
		})
	}
}

// TestD6Files checks SPEC D6: skillpm overwrites no files, and writes none outside the directory.
func TestD6Files(t *testing.T) {
	h, dir := newHost(t)
	put(t, filepath.Join(dir, "in"), strings.Repeat("x", 2001))
	seen := map[string]bool{}
	for range 3 {
		r := execute(t, h, "run @printing in", Options{})
		path, _ := dataValue(r.Data, "output_path").(string)
		if seen[path] || path == "" {
			t.Fatalf("path %q: %s", path, r.Text())
		}
		seen[path] = true
	}
	if data, err := os.ReadFile(filepath.Join(dir, defaultOutputDir, ".gitignore")); err != nil || string(data) != "*\n" {
		t.Errorf(".gitignore: %q, %v", data, err)
	}
	elsewhere := t.TempDir()
	r := execute(t, h, "run @printing in", Options{OutputDir: filepath.Join(elsewhere, "new")})
	if path, _ := dataValue(r.Data, "output_path").(string); filepath.Dir(path) != filepath.Join(elsewhere, "new") {
		t.Errorf("written to %q", path)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".skillpm")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, ".skillpm")); err != nil {
		t.Fatal(err)
	}
	if r := execute(t, h, "run @printing in", Options{}); r.State != Failed || dataValue(r.Data, "type") != runtimeFailed {
		t.Errorf("a link out of the project was followed: %s", r.Text())
	}
	if list, _ := os.ReadDir(elsewhere); len(list) != 1 {
		t.Errorf("%d entries where the link leads", len(list))
	}
}

// TestD6Bounds checks that several thousand keys are written as text, and that a large output keeps its start and end.
func TestD6Bounds(t *testing.T) {
	h, dir := newHost(t)
	put(t, filepath.Join(dir, "in"), `{"a":1`+strings.Repeat(`,"b":2`, maxKeys+5)+"}")
	if r := execute(t, h, "run @printing in", Options{}); dataValue(r.Data, "a") == nil {
		t.Errorf("keys that are there twice count: %.300s", r.Text())
	}
	put(t, filepath.Join(dir, "in"), strings.Repeat("x", maxOutput+1000))
	r := execute(t, h, "run @printing in", Options{})
	if dataValue(r.Data, "truncated") != true || dataValue(r.Data, "output_path") == nil {
		t.Errorf("%.300s", r.Text())
	}
}

// TestD6Size checks that the size is that of the file that the command names, and that a missing file has none.
func TestD6Size(t *testing.T) {
	h, dir := newHost(t)
	put(t, filepath.Join(dir, "in"), `{"output_path":"own.txt"}`)
	if r := execute(t, h, "run @printing in", Options{}); dataValue(r.Data, "output_path") != "own.txt" || dataValue(r.Data, "output_size") != nil {
		t.Errorf("%s", r.Text())
	}
	put(t, filepath.Join(dir, "own.txt"), "12345")
	if r := execute(t, h, "run @printing in", Options{}); dataValue(r.Data, "output_size") != "5B" {
		t.Errorf("%s", r.Text())
	}
}

// TestD5PromptIsActivated checks that a skill without a command is activated, and that its frontmatter decides who may
// do so.
func TestD5PromptIsActivated(t *testing.T) {
	h, dir := newHost(t)
	put(t, filepath.Join(dir, ".agents/skills/hidden/SKILL.md"), "---\nname: hidden\ndescription: For the model\nuser-invocable: false\n---\nx\n")
	if r := execute(t, h, "run @hidden", Options{Trigger: session.User}); r.Code != diag.Denied {
		t.Errorf("%s", r.Text())
	}
	if r := execute(t, h, "run @hidden", Options{}); r.State != Success || dataValue(r.Data, "executable") != false {
		t.Errorf("%s", r.Text())
	}
	if r := execute(t, h, "run @private", Options{Trigger: session.User}); r.State != Success {
		t.Errorf("%s", r.Text())
	}
}

func TestExecuteCancelled(t *testing.T) {
	h, _ := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Execute(ctx, h, "run @slow-import", Options{Now: now}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 40 * time.Millisecond: "0", 50 * time.Millisecond: "0.1", 1800 * time.Millisecond: "1.8", 90 * time.Second: "90",
	} {
		if got := seconds(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func TestHumanSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 3482: "3.4KB", 1 << 20: "1MB", 5 << 40: "5120GB"} {
		if got := humanSize(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"a-content-20260129": "a-content-20260129", "../../etc/passwd-1": "etc-passwd-1", "技能-content-1": "content-1",
		strings.Repeat("x", 300) + "-1": strings.Repeat("x", 118) + "-1",
	} {
		if got := slug(text); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzObject checks that a reply has its four lines for any output of a command, and that its values are the printed
// ones.
func FuzzObject(f *testing.F) {
	f.Add(`{"content": "x", "a b": [1, {"c": null}]}`)
	f.Add("{\"a\\n  state: error\": \"\\u2028\\n  meta: {}\"}")
	f.Fuzz(func(t *testing.T, printed string) {
		fields, ok := object([]byte(printed))
		if !ok {
			return
		}
		p := &passing{}
		for _, field := range fields {
			raw := field.Value.(json.RawMessage)
			if utf8.RuneCount(raw) > maxText {
				return
			}
			p.field(field.Key, raw)
		}
		r := &Reply{State: Success, Summary: printed, Data: p.data}
		if n := strings.Count(r.Text(), "\n"); n != 4 {
			t.Fatalf("%d lines: %s", n, r.Text())
		}
		if data, err := json.Marshal(r); err != nil || !json.Valid(data) {
			t.Fatalf("%s, %v", data, err)
		}
	})
}

// TestO14Denied checks SPEC D4, O14: a skill that a policy denies counts as present, and the reply does not suggest
// installing it.
func TestO14Denied(t *testing.T) {
	h, dir := newHost(t)
	put(t, filepath.Join(filepath.Dir(dir), "home", ".config", "skillpm", "policy.yaml"), "version: 1\nmode: enforce\nskills: {deny: [page-maker]}\n")
	r := execute(t, h, "execute @page-maker x", Options{})
	text := r.Text()
	if r.Code != diag.Denied || !strings.Contains(text, "RuntimeFailed") || !strings.Contains(text, "policy.yaml") || strings.Contains(text, "skillpm install") {
		t.Errorf("exit code %v: %s", r.Code, text)
	}
}

// dataValue returns the value of a key, or nil.
func dataValue(d Data, key string) any {
	for _, f := range d {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}
