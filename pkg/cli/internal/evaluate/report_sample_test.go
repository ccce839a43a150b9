package evaluate_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
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
		Variant: v, Number: number, Outcome: evaluate.Failed, Usage: evaluate.Usage{InputTokens: &in, OutputTokens: &out, CostUSD: &price},
		Duration:  time.Duration(scale * float64(8*time.Second) * (1 + random.ExpFloat64())).Round(time.Millisecond),
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
	if m.grader == "judge" {
		answer, third := out/3, price/3
		run.Judge = &evaluate.Usage{InputTokens: &in, OutputTokens: &answer, CostUSD: &third}
	}
	run.Output = "I looked at the staged changes and wrote this commit:\n\n    auth: extend the login timeout to 30 s\n\n" +
		"    Slow identity providers need more than 5 s.\n\nThe working tree is clean."
	return run
}

// compared is a report with the baseline that it is compared with.
type compared struct{ report, base *evaluate.Report }

// samples are reports of all kinds.
func samples() map[string]compared {
	interrupted := sample(3, 3)
	interrupted.Interrupted = true
	for i := range interrupted.Skills {
		cases := interrupted.Skills[i].Cases
		for j := range cases {
			if i > 0 || j > 3 {
				cases[j].Runs = nil
			}
		}
	}
	failed := sample(4, 2)
	failed.Skills = failed.Skills[1:2]
	for i := range failed.Skills[0].Cases {
		for j := range failed.Skills[0].Cases[i].Runs {
			run := &failed.Skills[0].Cases[i].Runs[j]
			*run = evaluate.Run{Variant: run.Variant, Number: run.Number, Outcome: evaluate.Errored, Error: "exec: \"claude\": executable file not found in $PATH"}
		}
	}
	one := sample(5, 1)
	one.Skills = one.Skills[:1]
	one.Skills[0].Cases = one.Skills[0].Cases[:1]
	one.Skills[0].Cases[0].Runs = one.Skills[0].Cases[0].Runs[:1]
	return map[string]compared{
		"sample": {sample(1, 6), sample(2, 6)}, "interrupted": {interrupted, nil}, "errors": {failed, nil},
		"one": {one, nil}, "none": {&evaluate.Report{Agent: "codex", Repeats: 3}, nil}, "hostile": {hostile(), hostile()},
		"many": {sample(6, 40), nil},
	}
}

// evil is a text that tries to be more than a text.
const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>&amp;%]]>` + "\u202e\x00\x1b[31m\u200f\r\n# heading"

// hostile returns a report in which all texts are hostile, and some numbers are extreme.
func hostile() *evaluate.Report {
	large, price := int64(1e12), 1e9
	run := evaluate.Run{
		Variant: evaluate.With, Number: 1, Outcome: evaluate.Failed, Error: evil, Activated: []string{evil}, ToolCalls: 1 << 40,
		Denials: 7, Usage: evaluate.Usage{InputTokens: &large, OutputTokens: &large, CostUSD: &price}, Duration: 1 << 62, Output: evil,
		Grades: []evaluate.Grade{{Grader: evil, Text: evil, Evidence: evil}},
	}
	other := run
	other.Variant, other.Outcome = evaluate.Without, evaluate.Errored
	long := strings.Repeat("x", 5000)
	return &evaluate.Report{
		Agent: evil, AgentVersion: evil, Model: evil, Duration: 1 << 62, Skills: []evaluate.Skill{{
			Name: evil, Dir: evil, Digest: evil, Previous: evil, Cases: []evaluate.Case{
				{ID: evil, Kind: evaluate.Task, File: evil, Prompt: evil, Runs: []evaluate.Run{run, other}},
				{ID: long, Kind: evaluate.Trigger, File: long, Prompt: long, Runs: []evaluate.Run{run}},
			},
		}},
	}
}

func html(t testing.TB, r, base *evaluate.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := evaluate.WriteHTML(&b, r, base); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
