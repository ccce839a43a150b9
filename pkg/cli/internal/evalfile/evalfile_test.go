package evalfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
	"github.com/skillpm/skillpm/pkg/diag"
)

// put writes the files of a skill.
func put(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// guide is the form of the guide of agentskills.io, and of the variants of other programs.
const guide = `{
  "skill_name": "csv-analyzer",
  "evals": [
    {
      "id": 1,
      "prompt": "Find the top months.",
      "expected_output": "A chart.",
      "files": ["evals/files/sales.csv", "files/more/b.csv", "SKILL.md"],
      "assertions": ["The chart has labeled axes", {"id": "1.2", "text": "It has 3 bars"}],
      "graders": [
        {"type": "file-exists", "file": "chart.png"},
        {"type": "exact", "text": "done"},
        {"type": "regexp", "pattern": "(?i)total", "file": "out.txt", "not": true},
        {"type": "file-equals", "file": "a.csv", "expected": "evals/files/sales.csv"},
        {"type": "command", "command": ["test", "-e", "x"], "exit": 1},
        {"type": "judge", "text": "It is short"}
      ],
      "trap": "unused"
    },
    {"id": "clean", "query": "Clean it.", "fixture": "start", "expected_behavior": "It is clean", "skills": ["x"]},
    {"prompt": "Is this for it?", "should_trigger": false}
  ]
}`

func TestRead(t *testing.T) {
	dir := put(t, map[string]string{
		"SKILL.md": "x", "evals/evals.json": guide, "evals/files/sales.csv": "a", "evals/files/more/b.csv": "b",
		"evals/start/x": "x", "evals/results.json": "{", "evals/runs/trigger.json": "{",
		"evals/train_queries.json":   `[{"query": "a", "should_trigger": true}]`,
		"evals/trigger-eval.json":    `{"should_trigger": ["b", {"prompt": "c"}], "should_not_trigger": ["d"]}`,
		"evals/eval_queries.json":    `{"cases": [{"id": "q", "query": "e", "should_trigger": true, "split": "validation"}]}`,
		"evals/.eval_queries.json":   "{",
		"evals/files/triggers.json":  "{",
		"evals/notes-on-triggers.md": "{",
	})
	s, err := evalfile.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tasks) != 2 {
		t.Fatalf("tasks: %+v", s.Tasks)
	}
	first, second := s.Tasks[0], s.Tasks[1]
	files := []evalfile.File{
		{Source: "evals/files/sales.csv", Target: "sales.csv"},
		{Source: "evals/files/more/b.csv", Target: "more/b.csv"},
		{Source: "SKILL.md", Target: "SKILL.md"},
	}
	if first.ID != "1" || first.Line != 4 || first.Expected != "A chart." || !slices.Equal(first.Files, files) {
		t.Errorf("the first task is %+v", first)
	}
	var types []string
	for _, g := range first.Graders {
		types = append(types, string(g.Type))
	}
	if want := "file-exists exact regexp file-equals command judge judge judge"; strings.Join(types, " ") != want {
		t.Errorf("the graders are %q, want %q", types, want)
	}
	if g := first.Graders[7]; *g.Text != "It has 3 bars" {
		t.Errorf("the last grader is %+v", g)
	}
	if second.ID != "clean" || second.Fixture != "evals/start" || len(second.Graders) != 1 || second.Prompt != "Clean it." {
		t.Errorf("the second task is %+v", second)
	}
	var queries []string
	for _, q := range s.Queries {
		queries = append(queries, strings.TrimSpace(strings.Join([]string{q.ID, q.Prompt, map[bool]string{true: "yes", false: "no"}[q.ShouldTrigger], q.Split}, " ")))
	}
	want := []string{
		"eval_queries/q e yes validation", "3 Is this for it? no", "train_queries/1 a yes train", "trigger-eval/1 b yes",
		"trigger-eval/2 c yes", "trigger-eval/3 d no",
	}
	if !slices.Equal(queries, want) {
		t.Errorf("the queries are %q, want %q", queries, want)
	}
	if want := []string{"evals/evals.json:1: skillpm does not use 2 fields: trap, skills"}; !slices.Equal(s.Notes, want) {
		t.Errorf("notes: %q", s.Notes)
	}
}

func TestReadNothing(t *testing.T) {
	s, err := evalfile.Read(put(t, map[string]string{"SKILL.md": "x"}))
	if err != nil || !reflect.DeepEqual(s, &evalfile.Suite{}) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := evalfile.Read(filepath.Join(t.TempDir(), "none")); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	entry := func(fields string) string { return "{\"evals\": [\n{\"prompt\": \"x\", " + fields + "}]}" }
	grader := func(fields string) string { return entry(`"graders": [{` + fields + `}]`) }
	for text, want := range map[string]string{
		"":                                   "evals/evals.json:1: invalid JSON",
		"[":                                  "invalid JSON",
		"{}":                                 `evals/evals.json:1: the file does not contain a list of "evals"`,
		`{"evals": {}}`:                      `the file does not contain a list of "evals"`,
		"{\"evals\": [\n1]}":                 "evals/evals.json:2: an entry must be an object with a prompt",
		"{\"evals\": [\n{\"id\": 1}]}":       "evals/evals.json:2: the entry does not have a prompt",
		`[{"prompt": 3}]`:                    "prompt must be text",
		`{"evals": [], "Evals": []}`:         "is duplicated",
		entry(`"id": true`):                  "evals/evals.json:2: id must be text",
		entry(`"should_trigger": "yes"`):     "should_trigger must be true or false",
		entry(`"split": "test"`):             "use train or validation",
		entry(`"files": "x"`):                "files must be a list",
		entry(`"files": ["../x"]`):           "is not a path inside the skill",
		entry(`"files": ["/etc/passwd"]`):    "is not a path inside the skill",
		entry(`"files": ["none"]`):           "the skill does not contain none",
		entry(`"fixture": "SKILL.md"`):       "is not a directory of the skill",
		entry(`"fixture": "."`):              "is not a directory of the skill",
		entry(`"assertions": {}`):            "assertions must be a list",
		entry(`"assertions": [{}]`):          "the assertion does not have a text",
		entry(`"graders": {}`):               "graders must be a list",
		grader(`"type": "magic"`):            "use exact, regexp, file-exists, file-equals, command, or judge",
		grader(`"type": "exact", "txt": ""`): `unknown field "txt"`,
		grader(`"type": "exact"`):            "needs text",
		grader(`"type": "exact", "text": "a", "exit": 2`):              "cannot have exit",
		grader(`"type": "regexp", "pattern": "("`):                     "is not a regular expression",
		grader(`"type": "file-exists", "file": "../x"`):                "must be a path inside the project",
		grader(`"type": "file-equals", "file": "x"`):                   "needs either text or expected",
		grader(`"type": "file-equals", "file": "x", "expected": "no"`): "does not exist in the skill",
		grader(`"type": "command", "command": [""]`):                   "does not name a program",
		grader(`"type": "command", "command": "x"`):                    "the grader is invalid",
		grader(`"type": "judge", "text": " "`):                         "the statement of the grader is empty",
		`[{"id": 1, "prompt": "a"}, {"id": "1", "prompt": "b"}]`:       `the id "1" is duplicated`,
	} {
		_, err := evalfile.Read(put(t, map[string]string{"SKILL.md": "x", "evals/evals.json": text}))
		if err == nil || !strings.Contains(err.Error(), want) || diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	_, err := evalfile.Read(put(t, map[string]string{"evals/queries.json": `[{"query": "a"}]`}))
	if err == nil || !strings.Contains(err.Error(), `evals/queries.json:1: the query does not have "should_trigger"`) {
		t.Errorf("got %v", err)
	}
}

// TestHostile checks that an error about a file does not contain the whole file, and that reading it stays linear.
func TestHostile(t *testing.T) {
	const n = 90_000
	var fields strings.Builder
	for i := range n {
		fmt.Fprintf(&fields, `"u%d":0,`, i)
	}
	for name, text := range map[string]string{
		"entries":    "[" + strings.Repeat("{},", n) + "{}]",
		"queries":    `{"should_trigger": [` + strings.Repeat(`"a",`, n) + `"a"]}`,
		"graders":    `[{"prompt": "a", "graders": [` + strings.Repeat("1,", n) + "1]}]",
		"assertions": `[{"prompt": "a", "assertions": [` + strings.Repeat(`"",`, n) + `""]}]`,
		"long path":  `[{"prompt": "a", "files": ["/` + strings.Repeat("a", n) + `"]}]`,
		"fields":     "{" + fields.String() + `"evals": []}`,
	} {
		s, err := evalfile.Read(put(t, map[string]string{"evals/evals.json": text}))
		if (err == nil) != (name == "fields") || err != nil && len(err.Error()) > 20_000 {
			t.Errorf("%s: got %.200v", name, err)
		}
		if len(s.Tasks)+len(s.Queries) > 1000 || len(strings.Join(s.Notes, "")) > 1000 {
			t.Errorf("%s: %d tasks, %d queries, notes %.200q", name, len(s.Tasks), len(s.Queries), s.Notes)
		}
	}
}

// TestLinks checks that inputs of a skill are not read through links that lead out of it.
func TestLinks(t *testing.T) {
	dir := put(t, map[string]string{"evals/evals.json": `[{"prompt": "x", "files": ["evals/files/a"]}]`, "evals/files/b": "b"})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "evals", "files", "a")); err != nil {
		t.Skip("no links here:", err)
	}
	if _, err := evalfile.Read(dir); err == nil || !strings.Contains(err.Error(), "the skill does not contain evals/files/a") {
		t.Errorf("got %v", err)
	}
	dir = put(t, map[string]string{"SKILL.md": "x"})
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "evals")); err != nil {
		t.Fatal(err)
	}
	if _, err := evalfile.Read(dir); err == nil || err.Error() != "evals: cannot read the directory: a link leads out of the directory" {
		t.Errorf("got %v", err)
	}
}

// FuzzRead checks that reading ends for any bytes, and that each entry has an id, a prompt, and a line.
func FuzzRead(f *testing.F) {
	for _, s := range []string{guide, "[]", `{"evals": [{"prompt": "a"}]}`, `[{"prompt":"a","should_trigger":true}]`, `{"should_trigger":["a"]}`} {
		f.Add(s)
	}
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "evals"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "evals", "evals.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := evalfile.Read(dir)
		if err != nil {
			return
		}
		for _, task := range s.Tasks {
			if task.ID == "" || strings.TrimSpace(task.Prompt) == "" || task.Line < 1 {
				t.Fatalf("%q has a task %+v", text, task)
			}
		}
	})
}

// TestCase checks that the name of the file with tasks ignores case.
func TestCase(t *testing.T) {
	s, err := evalfile.Read(put(t, map[string]string{"evals/EVALS.json": `[{"id": "a", "prompt": "b"}]`}))
	if err != nil || len(s.Tasks) != 1 || s.Tasks[0].ID != "a" {
		t.Errorf("got %+v, %v", s, err)
	}
}
