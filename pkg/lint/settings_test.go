package lint_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/lint"
)

const brokenLink = head + "[a](missing.md)\n"

func TestSettings(t *testing.T) {
	fsys := tree("-- skills/deploy/SKILL.md\n" + brokenLink + "-- skills/deploy/scripts/a.sh 755\n#!/bin/sh\n-- vendor/other/SKILL.md\nno frontmatter\n")
	for _, tt := range []struct {
		name     string
		settings lint.Settings
		want     string
	}{
		{"none", lint.Settings{}, `
			skills/deploy/SKILL.md:5:5 REF001 error missing.md does not exist
			skills/deploy/scripts/a.sh:0:0 REF013 note neither SKILL.md nor its references mention scripts/a.sh
			vendor/other/SKILL.md:1:1 FM001 error the frontmatter is missing: the first line is not ---`},
		{"a directory is passed over", lint.Settings{Ignore: []lint.Ignore{{Path: "vendor/**"}}, Levels: []lint.Level{{Rules: "REF", Off: true}}}, ``},
		{"of several levels the last counts", lint.Settings{
			Ignore: []lint.Ignore{{Path: "vendor"}},
			Levels: []lint.Level{{Rules: "REF", Off: true}, {Rules: "ref001", Severity: diag.SeverityWarning}, {Rules: "SEC2*", Severity: diag.SeverityNote}},
		}, `
			skills/deploy/SKILL.md:0:0 SEC201 note the skill has a script: scripts/a.sh
			skills/deploy/SKILL.md:5:5 REF001 warning missing.md does not exist`},
		{"strict leaves facts and advice", lint.Settings{
			Strict: true, Ignore: []lint.Ignore{{Path: "vendor"}}, Levels: []lint.Level{{Rules: "SEC201", Own: true}},
		}, `
			skills/deploy/SKILL.md:0:0 SEC201 warning the skill has a script: scripts/a.sh
			skills/deploy/SKILL.md:5:5 REF001 error missing.md does not exist
			skills/deploy/scripts/a.sh:0:0 REF013 note neither SKILL.md nor its references mention scripts/a.sh`},
		{"rules below a path", lint.Settings{Root: ".", Ignore: []lint.Ignore{
			{Path: "skills/**", Rules: []string{"REF", "SEC201"}, Reason: "an example"}, {Path: "vendor"},
		}, Levels: []lint.Level{{Rules: "SEC201", Own: true}}}, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, r := runWith(t, fsys, tt.settings)
			compare(t, got, tt.want)
			if strings.HasPrefix(tt.name, "rules below") && (len(r.Suppressed) != 3 || r.Suppressed[0].Reason != "an example" || r.Suppressed[0].By != lint.ByConfiguration) {
				t.Errorf("suppressed: %+v", r.Suppressed)
			}
		})
	}
}

func TestStrict(t *testing.T) {
	got, _ := runWith(t, tree("-- deploy/SKILL.md\n---\nname: deploy\ndescription: Deploys.\nmetadata: {version: 1.0}\n---\nText\n"), lint.Settings{Strict: true})
	compare(t, got, `deploy/SKILL.md:4:21 FM020 error metadata.version must be text, not a number`)
}

func TestStyle(t *testing.T) {
	fsys := tree("-- deploy/SKILL.md\n---\nname: deploy\ndescription: I deploy.\n---\nText\n")
	if got, _ := runWith(t, fsys, lint.Settings{}); len(got) > 0 {
		t.Errorf("without being asked: %q", got)
	}
	got, _ := runWith(t, fsys, lint.Settings{Levels: []lint.Level{{Rules: "STY", Own: true}}})
	compare(t, got, `
		deploy/SKILL.md:3:14 STY001 note the description does not explain when to use the skill
		deploy/SKILL.md:3:14 STY002 note the description uses "I"
		deploy/SKILL.md:3:14 STY003 note the description has only 2 words`)
}

// TestStyleOfWords checks which words of a description the style rules judge: English ones, and not those of users in
// quotes.
func TestStyleOfWords(t *testing.T) {
	const trigger, person = "STY001", "STY002"
	for _, tt := range []struct{ name, description, want string }{
		{"in double quotes", `Checks a diff. Use when asked to "review my diff" or "check our code".`, ""},
		{"in single quotes", `Plans posts. Use when the user mentions 'who is my reader,' or 'what should I post.'`, ""},
		{"in curly quotes", `Times work. Use when the user writes “am I in a session?”.`, ""},
		{"an apostrophe is not a quote", `Checks the user's diff. Use when it's my turn and the team's.`, person},
		{"a quote without an end", `Shows 5" of your plan. Use when asked for it.`, person},
		{"outside of quotes", `Checks your diff. Use when asked to "review it".`, person},
		{"an activation", "Runs a plan. Activate on any `plan` command or mention of plans.", ""},
		{"a purpose", "Use this skill to query the notebooks of the team.", ""},
		{"without an occasion", "Runs a plan and reports what the service did.", trigger},
		{"another script", "当用户提供名词时，返回百科中的条目解释。", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := tree("-- deploy/SKILL.md\n---\nname: deploy\ndescription: >-\n  " + tt.description + "\n---\nText\n")
			got, _ := runWith(t, fsys, lint.Settings{Levels: []lint.Level{{Rules: "STY", Own: true}}})
			var ids []string
			for _, f := range got {
				ids = append(ids, strings.Fields(f)[1])
			}
			if all := strings.Join(ids, " "); all != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSuppressions(t *testing.T) {
	for _, tt := range []struct{ name, text, want, reasons string }{
		{
			"on the line before", head + "<!-- skillpm-ignore REF001: made at release -->\n[a](missing.md)\n", "", "made at release",
		},
		{
			"the next line with text", head + "<!-- skillpm-ignore REF001: made at release -->\n\n\n[a](missing.md)\n", "", "made at release",
		},
		{"on the line", head + "[a](missing.md) <!-- skillpm-ignore REF: later -->\n", "", "later"},
		{"another line", head + "<!-- skillpm-ignore REF001: later -->\nText\n\n[a](missing.md)\n", `
			deploy/SKILL.md:5:6 SUP002 warning the suppression does not match a finding of REF001
			deploy/SKILL.md:8:5 REF001 error missing.md does not exist`, ""},
		{"the whole file", head + "[a](missing.md)\n\n[b](missing.md)\n\n<!-- skillpm-ignore-file REF001: later -->\n", "", "later later"},
		{"without a reason", head + "[a](missing.md) <!-- skillpm-ignore REF001 -->\n", `
			deploy/SKILL.md:5:5 REF001 error missing.md does not exist
			deploy/SKILL.md:5:22 SUP001 warning the suppression does not have a reason, so skillpm ignores it`, ""},
		{"an unknown rule", head + "[a](missing.md) <!-- skillpm-ignore REF001, REF999: later -->\n", `
			deploy/SKILL.md:5:22 SUP003 warning unknown rule "REF999"`, "later"},
		{"ended", head + "[a](missing.md) <!-- skillpm-ignore REF001: later until 2026-01-31 -->\n", `
			deploy/SKILL.md:5:5 REF001 error missing.md does not exist
			deploy/SKILL.md:5:22 SUP004 warning the suppression expired on 2026-01-31`, ""},
		{"not ended", head + "[a](missing.md) <!-- skillpm-ignore REF001: later (until 2026-12-31) -->\n", "", "later"},
		{
			"in the frontmatter", "---\nname: deploy\ndescription: Deploys.\n# skillpm-ignore FM011: our own\nowner: me\n---\nText\n", "", "our own",
		},
		{"a day that does not exist", head + "[a](missing.md) <!-- skillpm-ignore REF001: later until 2027-13-45 -->\n", `
			deploy/SKILL.md:5:5 REF001 error missing.md does not exist
			deploy/SKILL.md:5:22 SUP004 warning the suppression has an invalid end date, so skillpm ignores it`, ""},
		{"without a colon", head + "[a](missing.md) <!-- skillpm-ignore REF001 made later -->\n", `
			deploy/SKILL.md:5:5 REF001 error missing.md does not exist
			deploy/SKILL.md:5:22 SUP001 warning the suppression does not have a colon before its reason, so skillpm ignores it`, ""},
		{"no comment", head + "skillpm-ignore REF001: later [a](missing.md)\n", `
			deploy/SKILL.md:5:34 REF001 error missing.md does not exist`, ""},
		{"in code", head + "`<!-- skillpm-ignore REF001: x -->` [a](missing.md)\n", `
			deploy/SKILL.md:5:41 REF001 error missing.md does not exist`, ""},
		{"of itself", head + "[a](missing.md) <!-- skillpm-ignore REF001, SUP001 -->\n", `
			deploy/SKILL.md:5:5 REF001 error missing.md does not exist
			deploy/SKILL.md:5:22 SUP001 warning the suppression does not have a reason, so skillpm ignores it`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := lint.Run(context.Background(), tree("-- deploy/SKILL.md\n"+tt.text), []string{"."}, lint.Options{
				Now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Settings: lint.Settings{Levels: []lint.Level{{Rules: "SEC", Off: true}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, format(r), tt.want)
			var reasons []string
			for _, s := range r.Suppressed {
				reasons = append(reasons, s.Reason)
			}
			if strings.Join(reasons, " ") != tt.reasons {
				t.Errorf("suppressed %q, want %q", reasons, tt.reasons)
			}
		})
	}
}

// TestUnusedSuppression checks that a comment for a rule that the settings switch off is not reported as unused, and
// that its path can be ignored.
func TestUnusedSuppression(t *testing.T) {
	fsys := tree("-- deploy/SKILL.md\n" + head + "<!-- skillpm-ignore REF001: made at release -->\nText\n")
	got, _ := runWith(t, fsys, lint.Settings{})
	compare(t, got, "deploy/SKILL.md:5:6 SUP002 warning the suppression does not match a finding of REF001")
	got, _ = runWith(t, fsys, lint.Settings{Levels: []lint.Level{{Rules: "REF", Off: true}}})
	compare(t, got, "")
	got, r := runWith(t, fsys, lint.Settings{Ignore: []lint.Ignore{{Path: "deploy", Rules: []string{"SUP"}, Reason: "an example"}}})
	compare(t, got, "")
	if len(r.Suppressed) != 1 {
		t.Errorf("suppressed %v", r.Suppressed)
	}
}

func TestSuppressionInScript(t *testing.T) {
	got, r := runWith(t, tree("-- deploy/SKILL.md\n"+head+"Run `./scripts/a.sh now`.\n-- deploy/scripts/a.sh\n#!bin/sh # skillpm-ignore SCR006: for a museum\n"),
		lint.Settings{Levels: []lint.Level{{Rules: "SEC", Off: true}, {Rules: rule.Executable, Off: true}}})
	compare(t, got, "")
	if len(r.Suppressed) != 1 {
		t.Errorf("suppressed %v", r.Suppressed)
	}
}

func TestAccept(t *testing.T) {
	_, r := run(t, tree("-- deploy/SKILL.md\n"+brokenLink))
	r.Accept(lint.ByBaseline, func(f diag.Finding) (string, bool) { return "old", f.Rule == rule.Broken })
	if len(r.Findings) != 0 || len(r.Suppressed) != 1 || r.Suppressed[0].Reason != "old" || !r.OK() {
		t.Errorf("got %+v", r)
	}
}

// TestMerge checks that merged reports of projects for other agents name all of these agents.
func TestMerge(t *testing.T) {
	var all lint.Report
	for _, id := range []string{"agentskills", "pegasus", "agentskills"} {
		_, r := run(t, tree("-- "+id+"/SKILL.md\n"+head+"Text\n"), id)
		all.Merge(r)
	}
	if want := []string{"agentskills", "pegasus"}; !slices.Equal(all.Profiles, want) || len(all.Verdicts) != 3 {
		t.Errorf("profiles %q, verdicts %v", all.Profiles, all.Verdicts)
	}
}

func TestVerdicts(t *testing.T) {
	_, r := run(t, tree("-- deploy/SKILL.md\n---\nname: deploy\n---\nText\n-- good/SKILL.md\n---\nname: good\ndescription: Is good.\n---\nText\n"), "agentskills", "claude-code")
	var got []string
	for _, v := range r.Verdicts {
		got = append(got, v.Skill+" "+v.Profile+" "+strings.Join(v.Reasons, ","))
		if v.Accepted != (len(v.Reasons) == 0) {
			t.Errorf("%+v", v)
		}
	}
	want := []string{"deploy agentskills FM010", "deploy claude-code ", "good agentskills ", "good claude-code "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWrongCaseTarget checks that a target's file with the name skill.md is a finding, and not a missing skill.
func TestWrongCaseTarget(t *testing.T) {
	r, err := lint.Run(context.Background(), fstest.MapFS{"deploy/skill.md": {Data: []byte("# Deploy\n")}}, []string{"deploy"}, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, format(r), `
		deploy/skill.md:0:0 STR001 error skill.md must be named SKILL.md
		deploy/skill.md:1:1 FM001 error the frontmatter is missing: the first line is not ---`)
}

// TestSuppressionInBlock checks that in a code block a comment in the code's language counts.
func TestSuppressionInBlock(t *testing.T) {
	got, r := runWith(t, tree("-- deploy/SKILL.md\n"+head+"```bash\n# skillpm-ignore SEC208: on a machine of our own\nclaude --dangerously"+"-skip-permissions\n```\n"), enabled("SEC208"))
	compare(t, got, "")
	if len(r.Suppressed) != 1 || r.Suppressed[0].Reason != "on a machine of our own" {
		t.Errorf("suppressed %+v", r.Suppressed)
	}
}
