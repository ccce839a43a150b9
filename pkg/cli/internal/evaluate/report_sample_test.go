package evaluate_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/evaluate"
)

// made describes a case of a made-up report: the shares of runs that pass.
type made struct {
	id, prompt              string
	should                  *bool // of a trigger case
	with, without, previous float64
	grader, text            string
}

var yes, no = true, false

// sampleSkills are a skill that helps, one that does not, and one with trigger cases only.
var sampleSkills = []struct {
	name, dir, previous string
	cases               []made
}{
	{"commit-messages", "skills/commit-messages", "1.4.0", []made{
		{"subject-in-imperative", "Write a commit message for the staged changes.", nil, 1, 0.6, 0.9, "regexp", "the subject is in the imperative"},
		{"subject-at-most-72", "Commit my changes. The diff renames 14 files and fixes two bugs that the rename uncovered.", nil, 0.9, 0.3, 0.8, "exec", "the subject has at most 72 characters"},
		{"names-the-issue", "Commit the fix for the login timeout, see issue 4711", nil, 0.8, 0.1, 0.8, "judge", "the body names the issue and why the change is needed"},
		{"keeps-unstaged-files", "Commit only what is staged", nil, 1, 1, 1, "file", "README.md is unchanged"},
		{"breaking-change-footer", "We drop the v1 API in this commit. Write the message and commit.", nil, 0.5, 0, 0.5, "regexp", "the footer begins with BREAKING CHANGE"},
		{"trigger-1", "can you commit this for me?", &yes, 1, 0, 0.8, "", ""},
		{"trigger-2", "what should my commit message say", &yes, 0.9, 0, 0.6, "", ""},
		{"trigger-3", "Save my work in git with a good description", &yes, 0.6, 0, 0.2, "", ""},
		{"trigger-4", "Explain what git rebase does", &no, 1, 1, 1, "", ""},
		{"trigger-5", "Write the release notes for 2.0", &no, 0.7, 1, 0.7, "", ""},
	}},
	{"sql-review", "skills/sql-review", "", []made{
		{"finds-missing-index", "Review migrations/0042_orders.sql", nil, 0.7, 0.7, 0, "judge", "the review names the missing index on orders.customer_id"},
		{"no-false-alarm", "Review migrations/0043_noop.sql", nil, 0.8, 0.9, 0, "judge", "the review does not ask for changes"},
		{"locks-of-a-large-table", "Is this migration safe to run during the day? It adds a NOT NULL column with a default to events.", nil, 0.4, 0.5, 0, "judge", "the answer warns about the table lock"},
	}},
	{"release-notes", "skills/release-notes", "", []made{
		{"for-a-tag", "What changed since v1.8? Write it up for our users.", &yes, 1, 0, 0, "", ""},
		{"changelog", "Update CHANGELOG.md", &yes, 0.8, 0, 0, "", ""},
		{"not-for-commits", "Commit this", &no, 1, 0, 0, "", ""},
	}},
}

// sample returns a made-up report of realistic size. The same seed gives the same report.
func sample(seed uint64, repeats int) *evaluate.Report {
	random := rand.New(rand.NewPCG(seed, 1))
	r := &evaluate.Report{
		Agent: "claude-code", AgentVersion: "2.1.14", Model: "claude-sonnet-4-5", Repeats: repeats,
		Started: time.Date(2026, 11, 28, 14, 3, 0, 0, time.UTC), Duration: 754 * time.Second,
	}
	for i, k := range sampleSkills {
		s := evaluate.Skill{
			Name: k.name, Dir: k.dir, Previous: k.previous, Digest: fmt.Sprintf("sha256:%064d", i),
		}
		for _, m := range k.cases {
			c := evaluate.Case{ID: m.id, Kind: evaluate.Task, File: "evals/evals.json", Prompt: m.prompt, ShouldTrigger: m.should}
			shares := map[evaluate.Variant]float64{evaluate.With: m.with, evaluate.Without: m.without}
			if k.previous != "" {
				shares[evaluate.Previous] = m.previous
			}
			if m.should != nil {
				c.Kind, c.File = evaluate.Trigger, "evals/triggers.json"
				delete(shares, evaluate.Without)
			}
			for _, v := range []evaluate.Variant{evaluate.With, evaluate.Without, evaluate.Previous} {
				share, ok := shares[v]
				for n := range repeats {
					if ok {
						c.Runs = append(c.Runs, sampleRun(random, m, k.name, v, n+1, random.Float64() < share))
					}
				}
			}
			s.Cases = append(s.Cases, c)
		}
		r.Skills = append(r.Skills, s)
	}
	// Some runs end otherwise.
	first := &r.Skills[0].Cases[1].Runs[0]
	*first = evaluate.Run{Variant: first.Variant, Number: 1, Outcome: evaluate.TimedOut, Duration: 300 * time.Second, ToolCalls: 41}
	second := &r.Skills[1].Cases[0].Runs[1%repeats]
	*second = evaluate.Run{
		Variant: second.Variant, Number: second.Number, Outcome: evaluate.Errored, Duration: 2 * time.Second,
		Error: "claude: exit status 1: API Error: 529 overloaded_error",
	}
	return r
}

func sampleRun(random *rand.Rand, m made, skill string, v evaluate.Variant, number int, passed bool) evaluate.Run {
	scale := map[evaluate.Variant]float64{evaluate.With: 1, evaluate.Without: 0.8, evaluate.Previous: 1.15}[v]
	in, out := int64(scale*(9000+random.Float64()*9000)), int64(scale*(300+random.Float64()*900))
	price := float64(in)*3e-6 + float64(out)*15e-6
	run := evaluate.Run{
		Variant: v, Number: number, Outcome: evaluate.Failed, InputTokens: &in, OutputTokens: &out, CostUSD: &price,
		Duration: time.Duration(scale * float64(8*time.Second) * (1 + random.ExpFloat64())).Round(time.Millisecond),
		ToolCalls: int(scale * float64(2+random.IntN(7))),
	}
	if passed {
		run.Outcome = evaluate.Passed
	}
	if v != evaluate.Without && random.Float64() < 0.1 {
		run.Denials = 1
	}
	if m.should != nil {
		if passed == *m.should {
			run.Activated = []string{skill}
		}
		return run
	}
	if v != evaluate.Without {
		run.Activated = []string{skill}
	}
	grade := evaluate.Grade{Grader: m.grader, Text: m.text, Passed: passed, Evidence: "the output has it in the first line"}
	if !passed {
		grade.Evidence = "not found in 6 lines of output; the nearest is \"Fixed login and renamed files\""
	}
	run.Grades = []evaluate.Grade{grade, {Grader: "exit", Text: "git log -1 succeeds", Passed: true}}
	run.Output = "I looked at the staged changes and wrote this commit:\n\n    auth: extend the login timeout to 30 s\n\n" +
		"    Slow identity providers need more than 5 s.\n\nThe working tree is clean."
	return run
}
