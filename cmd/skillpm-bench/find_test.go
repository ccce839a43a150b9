package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// findSkillText is the SKILL.md of a skill.
func findSkillText(name, description, body string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n\n" + body + "\n"
}

// writeFindData makes small repositories in the forms of the real ones, and a pool.
func writeFindData(t *testing.T) (data, pool string) {
	t.Helper()
	writeTree := func(dir string, files map[string]string) {
		for name, text := range files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, pool = t.TempDir(), t.TempDir()
	tasks := `{"task_id": "a", "instruction_text": "Weigh the printed part from its mesh. Weigh it twice."}
{"task_id": "b", "instruction_text": "Anything"}
{"task_id": "c", "instruction_text": "Read the ledger and the invoices"}
{"task_id": "d", "instruction_text": "Nothing that is in the pool"}
`
	relevance := `{"a": {"core_gt_ids": ["gt/mesh"], "gt_skill_ids": ["gt/mesh", "gt/absent"], "task_type": "clean"},
		"b": {"core_gt_ids": ["gt/mesh"], "gt_skill_ids": ["gt/mesh"], "task_type": "generic_only"},
		"c": {"core_gt_ids": ["gt/bills"], "gt_skill_ids": ["gt/bills", "gt/mesh"], "task_type": "mixed"},
		"d": {"core_gt_ids": ["gt/absent"], "gt_skill_ids": ["gt/absent"], "task_type": "clean"}}`
	cases := `{"skill_name": "deploy", "trigger": {
		"positive": [{"prompt": "ship the service"}, {"prompt": "bake a cake"}],
		"negative": [{"prompt": "keep a changelog", "owner": "notes"}, {"prompt": "deploy", "owner": "absent"}]}}`
	for repository, files := range map[string]map[string]string{
		routingTasks: {"data/eval_core/tasks.jsonl": tasks, "data/eval_core/relevance.json": relevance},
		routingSkills: {
			"tasks/x/environment/skills/mesh/SKILL.md": findSkillText("Mesh Analysis", "Handles printed parts.", "Weigh the mesh."),
			"tasks/y/environment/skills/mesh/SKILL.md": findSkillText("again", "Not read.", ""),
			"skills/other/SKILL.md":                    findSkillText("other", "Not of a task.", ""),
		},
		triggerCases: {
			"skills/deploy/SKILL.md":  findSkillText("deploy", "Ships a service.", ""),
			"skills/notes/SKILL.md":   findSkillText("notes", "Keeps a changelog.", ""),
			"evals/cases/deploy.json": cases,
		},
	} {
		dir := filepath.Join(data, strings.ReplaceAll(repository, "/", "+"))
		writeTree(dir, files)
		commitAll(t, dir)
	}
	writeTree(pool, map[string]string{
		"one/skills/bills/SKILL.md": findSkillText("bills", "Reads invoices.", "Check the ledger."),
		"two/bills/SKILL.md":        findSkillText("bills", "A second one of the name.", ""),
		"two/mesh/SKILL.md":         findSkillText("mesh", "A second one of the name.", ""),
		"two/ledgers/SKILL.md":      findSkillText("ledgers", "Reads, and the", "Anything."),
	})
	return data, pool
}

func TestFind(t *testing.T) {
	t.Parallel()
	data, pool := writeFindData(t)
	var stdout bytes.Buffer
	if code := run(t.Context(), testSystem(t, &stdout, "find", "--json", "--data", data, "--pool", pool)); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, stdout.String())
	}
	var rep findReport
	if err := json.Unmarshal(stdout.Bytes(), &rep); err != nil {
		t.Fatal(err)
	}
	if rep.Pool != 3 || len(rep.Routes) != 12 || len(rep.Triggers) != 12 {
		t.Fatalf("%+v", rep)
	}
	if got, want := rep.Routes[0], (routeCount{"skillpm", "even", 1, 1, 1, 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := rep.Routes[1]; got.Tasks != 1 || got.Hit5 != 1 || got.Recall10 < 0.5 {
		t.Errorf("%+v", got)
	}
	want := triggerCount{
		Engine: "skillpm", Positions: "all", Positive: 2, First: 1, Found: 1, Negative: 2, Rejected: 1, Below: 1, Owned: 1, OwnerFirst: 1,
	}
	if got := rep.Triggers[2]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, text := range []string{"| BM25, repeated words ", "| 1 (50.0%)"} {
		if !strings.Contains(rep.table(), text) {
			t.Errorf("the table does not contain %q:\n%s", text, rep.table())
		}
	}
}

func TestFindUsage(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	if code := run(t.Context(), testSystem(t, &stdout, "find", "--help")); code != exitOK || !strings.Contains(stdout.String(), poolRepositories()[0]) {
		t.Errorf("exit code %d\n%s", code, stdout.String())
	}
	for _, args := range [][]string{{"find"}, {"find", "--data", "x"}, {"find", "--data", "x", "--pool", "y", "z"}, {"find", "--nothing"}} {
		if code := run(t.Context(), testSystem(t, &stdout, args...)); code != exitUsage {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
	if code := run(t.Context(), testSystem(t, &stdout, "find", "--data", t.TempDir(), "--pool", t.TempDir())); code != exitFailed {
		t.Errorf("without data: exit code %d", code)
	}
}
