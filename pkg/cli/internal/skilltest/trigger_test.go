package skilltest_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/cli/internal/skilltest"
	"github.com/skillpm/skillpm/pkg/diag"
)

// queries are trigger queries of a skill for gardens.
const queries = `[
  {"query": "schedule the irrigation of my greenhouse", "should_trigger": true},
  {"query": "which plants need repotting", "should_trigger": true},
  {"query": "clean the rows of this spreadsheet", "should_trigger": false}
]`

func skillText(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nGo.\n"
}

// putPack writes the files of a directory with several skills.
func putPack(t *testing.T, files map[string]string) string {
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

// outcomes returns the outcomes and messages of a skill's cases.
func outcomes(s skilltest.Skill) (list []string) {
	for _, r := range s.Results {
		list = append(list, r.Outcome+" "+wrong(r))
	}
	return list
}

func TestTriggers(t *testing.T) {
	for _, test := range []struct {
		name, description, other string
		want                     []string
	}{
		{
			name: "a vague description", description: "Helps with plants.",
			want: []string{"failed the prompt leads to no skill", "passed", "passed"},
		},
		{
			name: "a good one", description: "Plans the irrigation of a greenhouse, and the repotting of plants.",
			want: []string{"passed", "passed", "passed"},
		},
		{
			name: "another skill is better", description: "Helps with plants.", other: "Schedules the irrigation of a greenhouse.",
			want: []string{"failed the prompt leads to the skill other instead", "passed", "passed"},
		},
		{
			name: "too broad", description: "Plants, repotting, irrigation of a greenhouse, cleans spreadsheet rows.",
			want: []string{"passed", "passed", "failed the prompt leads to this skill, which it should not"},
		},
		{
			name: "for users only", description: "Plants in a greenhouse.\ndisable-model-invocation: true",
			want: []string{"failed only users may activate the skill", "failed", "passed"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{
				"skills/garden/SKILL.md": skillText("garden", test.description), "skills/garden/evals/eval_queries.json": queries,
			}
			if test.other != "" {
				files["skills/other/SKILL.md"] = skillText("other", test.other)
			}
			s, err := runDir(context.Background(), putPack(t, files), options(t))
			if err != nil || len(s.Skills) != 1 {
				t.Fatalf("%+v, %v", s, err)
			}
			got := outcomes(s.Skills[0])
			for i, want := range test.want {
				if len(got) != len(test.want) || !strings.HasPrefix(got[i], want) || strings.Count(got[i], "description: ") > 1 {
					t.Errorf("got %q, want %q", got, test.want)
					break
				}
			}
		})
	}
}

// TestTriggerAdvice checks that a failed query names the words that the description does not contain.
func TestTriggerAdvice(t *testing.T) {
	dir := putPack(t, map[string]string{"s/SKILL.md": skillText("s", "Helps with plants."), "s/evals/eval_queries.json": queries})
	s, err := runDir(context.Background(), dir, options(t))
	if err != nil {
		t.Fatal(err)
	}
	r := s.Skills[0].Results[0]
	if r.File != "evals/eval_queries.json" || r.Line != 2 || r.Name != "schedule the irrigation of my greenhouse" || !*r.ShouldTrigger {
		t.Errorf("got %+v", r)
	}
	want := "name and description do not contain these words of the prompt: schedule, irrigation, greenhouse"
	if len(r.Mismatches) != 3 || r.Mismatches[1].Message != want {
		t.Errorf("got %q", wrong(r))
	}
}

// TestSummary checks that a summary has test files and queries of all skills, and errors in their files.
func TestSummary(t *testing.T) {
	dir := putPack(t, map[string]string{
		"a/SKILL.md": skillText("a", "Helps with plants."), "a/tests/x.yaml": "cases:\n  - name: one\n  - {name: two, skip: later}\n",
		"a/evals/eval_queries.json": queries,
		"b/SKILL.md":                skillText("b", "Other."), "b/evals/evals.json": "{", "b/tests/x.yaml": "x: y",
		"c/SKILL.md": skillText("c", "No tests."),
	})
	o := options(t)
	s, err := runDir(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Passed != 3 || s.Failed != 1 || s.Skipped != 1 || s.Invalid != 1 || s.OK() {
		t.Errorf("got %+v", s)
	}
	if len(s.Skills) != 2 || s.Skills[0].Dir != "a" || s.Skills[1].Dir != "b" {
		t.Fatalf("got %+v", s.Skills)
	}
	for _, want := range []string{"tests/x.yaml:1", "evals/evals.json:1"} {
		if !strings.Contains(s.Skills[1].Problem, want) {
			t.Errorf("%q does not contain %q", s.Skills[1].Problem, want)
		}
	}
	o.Match = func(name string) bool {
		return slices.Contains([]string{"a/x.yaml/one", "a/evals/eval_queries.json/which plants need repotting"}, name)
	}
	if s, err = runDir(context.Background(), dir, o); err != nil || s.Passed != 2 || s.Failed+s.Skipped != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := runDir(ctx, dir, options(t)); diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("got %v", err)
	}
}

// runDir runs all offline tests of the skills in a directory, which compete with one another for their queries.
func runDir(ctx context.Context, dir string, o skilltest.Options) (*skilltest.Summary, error) {
	found, err := skilltest.Find(os.DirFS(dir), ".")
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(found))
	for i, name := range found {
		paths[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	o.Others = skilltest.ListSkills(paths, o)
	s := &skilltest.Summary{}
	for i, path := range paths {
		one, err := skilltest.RunSkill(ctx, path, o)
		if err != nil {
			return s, err
		}
		one.Dir = found[i]
		s.Add(one)
	}
	return s, nil
}
