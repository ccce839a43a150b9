package lint_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/lint"
)

// skills writes skills named by their keys, in order, with the given bodies.
func skills(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "-- %s/SKILL.md\n---\nname: %s\ndescription: Does what %s does, when asked.\n---\n%s\n", pairs[i], pairs[i], pairs[i], pairs[i+1])
	}
	return b.String()
}

// TestCrossReferences checks O19: references between skills, including missing targets and cycles.
func TestCrossReferences(t *testing.T) {
	for _, tt := range []struct{ name, files, want string }{
		{"known", skills("deploy", "Use the `roll-back` skill.", "roll-back", "Text"), ""},
		{"unknown", skills("deploy", "Use the `roll-bak` skill.", "roll-back", "Text"), `
			deploy/SKILL.md:5:10 XS001 warning skill "roll-bak" is neither among the validated skills nor installed`},
		{"bold, and before the name", skills("deploy", "The **nothing** skill. The skill `nobody`. A skill named `none-here`."), `
			deploy/SKILL.md:5:35 XS001 warning skill "nobody" is neither among the validated skills nor installed
			deploy/SKILL.md:5:59 XS001 warning skill "none-here" is neither among the validated skills nor installed`},
		{"said once", skills("deploy", "The `none` skill and the `none` skill."), `
			deploy/SKILL.md:5:6 XS001 warning skill "none" is neither among the validated skills nor installed`},
		{"installed", skills("deploy", "Use the `there` skill."), ""},
		{"dispatch", skills("deploy", "Then: execute @there and run @nobody."), `
			deploy/SKILL.md:5:31 XS001 warning skill "nobody" is neither among the validated skills nor installed`},
		{"itself", skills("deploy", "Use the `deploy` skill."), ""},
		{"words that are no names", skills("deploy", "The well-known skill, `a b` skills, a `Foo` skill, `--flag` skill, skill `1`, skills: `x/y`."), ""},
		{"words beside the word", skills("deploy", "In **this** skill, the skill `name`, and **shared** skills."), ""},
		{"in code", skills("deploy", "```\nUse the `nothing` skill.\nrun @nothing\n```\n\n    the `nothing` skill\n"), ""},
		{"a circle", skills("a-one", "Now use the `b-two` skill.", "b-two", "Load the `c-three` skill.", "c-three", "Invoke the `a-one` skill."), `
			a-one/SKILL.md:5:14 XS002 note the skills refer to each other in a cycle: a-one → b-two → c-three → a-one`},
		{"two circles", skills("a-one", "Use the `b-two` skill.", "b-two", "Use the `a-one` skill.", "c-three", "Use the `a-one` skill and the `d-four` skill.", "d-four", "Use the `c-three` skill."), `
			a-one/SKILL.md:5:10 XS002 note the skills refer to each other in a cycle: a-one → b-two → a-one
			c-three/SKILL.md:5:32 XS002 note the skills refer to each other in a cycle: c-three → d-four → c-three`},
		{"a condition", skills("a-one", "Use the `b-two` skill.", "b-two", "If it fails, see the `a-one` skill. Do not use the `a-one` skill."), `
			a-one/SKILL.md:5:10 XS002 note the skills refer to each other in a cycle: a-one → b-two → a-one`},
		{"spans and commands", skills("a-one", "First `b-two`.", "b-two", "Then /c-three, or /usr/a-one and a/c-three.", "c-three", "And `/a-one`."), `
			a-one/SKILL.md:5:8 XS002 note the skills refer to each other in a cycle: a-one → b-two → c-three → a-one`},
		{"links", skills("a-one", "See [two](../b-two/SKILL.md).", "b-two", "See [one](../a-one)."), `
			a-one/SKILL.md:5:11 REF003 warning the link points outside the skill, so it breaks if only the skill is installed
			a-one/SKILL.md:5:11 XS002 note the skills refer to each other in a cycle: a-one → b-two → a-one
			b-two/SKILL.md:5:11 REF003 warning the link points outside the skill, so it breaks if only the skill is installed`},
		{"names with their packs", skills("a-one", "`b-two@acme/ops`", "b-two", "Run a-one@acme/ops first."), `
			a-one/SKILL.md:5:2 XS002 note the skills refer to each other in a cycle: a-one → b-two → a-one`},
		{"without names", "-- a-one/SKILL.md\n---\ndescription: Does one, when asked.\n---\nUse `b-two`.\n-- b-two/SKILL.md\n---\ndescription: Does two, when asked.\n---\nUse `a-one`.\n", `
			a-one/SKILL.md:1:1 FM010 error name is missing
			a-one/SKILL.md:4:6 XS002 note the skills refer to each other in a cycle: a-one → b-two → a-one
			b-two/SKILL.md:1:1 FM010 error name is missing`},
		{"paths and code are not mentions", skills("a-one", "Use the `b-two` skill.", "b-two", "In src/a-one, /a-one/x, a-one, and:\n\n```\n/a-one\n```\n"), ""},
		{"names without marks", skills("a-one", "Use the b-two skill.", "b-two", "Use the a-one skill."), `
			a-one/SKILL.md:5:9 XS002 note the skills refer to each other in a cycle: a-one → b-two → a-one`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := lint.Run(context.Background(), tree(tt.files), []string{"."}, lint.Options{SkillExists: func(name string) bool { return name == "there" }})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, format(r), tt.want)
		})
	}
}

func TestSpanPaths(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"a missing reference", "Read `references/none.md` first.", "5:7 REF012 warning references/none.md does not exist in the skill"},
		{"in a command", "Run `python3 scripts/none.py --x` now.", "5:14 REF012 warning scripts/none.py does not exist in the skill"},
		{"with the skill's variable", "Run `${CLAUDE_SKILL_DIR}/tool/none.py`.", "5:6 REF012 warning tool/none.py does not exist in the skill"},
		{"in a directory that is there", "`data/none.json`", "5:2 REF012 warning data/none.json does not exist in the skill"},
		{"in one that is not", "`src/main.go` and `app/models/user.rb`", ""},
		{"there", "`references/a.md` and `a.md` and `scripts/b.py`", ""},
		{"placeholders", "`references/<name>.md` `scripts/*.py` `references/{x}.md` `path/to/a.md` `references/…`", ""},
		{"no files", "`scripts/` `references/a` `and/or` `1/2` `user@scripts/a.md` `--scripts/a.md` `/scripts/none.py`", ""},
		{"addresses", "`https://host.example/references/none.md`", ""},
		{"in a block", "```\nscripts/none.py\n```", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+tt.body+"\n-- deploy/references/a.md\nA\n-- deploy/scripts/b.py\npass\n-- deploy/data/c.json\n{}\n"))
			want := ""
			if tt.want != "" {
				want = "deploy/SKILL.md:" + tt.want
			}
			compare(t, got, want)
		})
	}
}

func TestOrphans(t *testing.T) {
	for _, tt := range []struct{ name, files, want string }{
		{"nothing mentions it", "-- deploy/SKILL.md\n" + head + "Text\n-- deploy/notes.md\nN\n", "deploy/notes.md:0:0 REF013 note neither SKILL.md nor its references mention notes.md"},
		{"a link, a span, a word, a directory", "-- deploy/SKILL.md\n" + head + "[a](a.md), `b.md`, c.md, and all of references/.\n-- deploy/a.md\nA\n-- deploy/b.md\nB\n-- deploy/c.md\nC\n-- deploy/references/d.md\nD\n-- deploy/references/more/e.md\nE\n", ""},
		{"a directory's name inside a path is no mention", "-- deploy/SKILL.md\n" + head + "references/a.md\n-- deploy/references/a.md\nA\n-- deploy/references/b.md\nB\n", "deploy/references/b.md:0:0 REF013 note neither SKILL.md nor its references mention references/b.md"},
		{"what is mentioned by what is mentioned", "-- deploy/SKILL.md\n" + head + "Run scripts/a.py\n-- deploy/scripts/a.py\nimport helper\n-- deploy/scripts/helper.py\nopen('data.csv')\n-- deploy/scripts/data.csv\n1,2\n", ""},
		{"for people and tools", "-- deploy/SKILL.md\n" + head + "Text\n-- deploy/README.md\nR\n-- deploy/LICENSE.txt\nL\n-- deploy/tests/test_a.py\nT\n-- deploy/requirements.txt\nx\n-- deploy/scripts/__init__.py\n", ""},
		{"many in a directory are one finding", "-- deploy/SKILL.md\n" + head + "Text\n-- deploy/x/a.txt\nA\n-- deploy/x/b.txt\nB\n-- deploy/x/c.txt\nC\n-- deploy/x/d.txt\nD\n", "deploy/x/a.txt:0:0 REF013 note neither SKILL.md nor its references mention x/a.txt or 3 other files in x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := runWith(t, tree(tt.files), lint.Settings{Levels: []lint.Level{{Rules: "SEC", Off: true}}})
			compare(t, got, tt.want)
		})
	}
}

// TestManyOrphans checks that a text that is searched for many files is split into words instead.
func TestManyOrphans(t *testing.T) {
	var files strings.Builder
	files.WriteString("-- deploy/SKILL.md\n" + head)
	for i := range 60 {
		if i%2 == 0 {
			fmt.Fprintf(&files, "See dir%d/file-%d.txt.\n", i, i)
		}
	}
	for i := range 60 {
		fmt.Fprintf(&files, "-- deploy/dir%d/file-%d.txt\nx\n", i, i)
	}
	got, _ := runWith(t, tree(files.String()), lint.Settings{})
	if len(got) != 30 {
		t.Errorf("%d findings, want 30: %q", len(got), got)
	}
	for _, line := range got {
		if !strings.Contains(line, "REF013") {
			t.Error(line)
		}
	}
}

func TestDeep(t *testing.T) {
	got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+"[a](a.md)\n-- deploy/a.md\n[b](b.md) [c](c.md)\n-- deploy/b.md\nB\n-- deploy/c.md\nC\n"))
	compare(t, got, `
		deploy/b.md:0:0 REF014 note SKILL.md references b.md only through a.md
		deploy/c.md:0:0 REF014 note SKILL.md references c.md only through a.md`)
}

// TestAPIUpload checks that the upload API applies the standard strictly.
func TestAPIUpload(t *testing.T) {
	got, _ := run(t, tree("-- claude-tools/SKILL.md\n---\nname: claude-tools\ndescription: Makes <b>bold</b> things, if x < y.\nversion: \"1\"\nallowed-tools: [Read]\n---\nText\n-- claude-tools/big.txt\n"+
		strings.Repeat("x", 3<<20)+"\n-- claude-tools/big2.txt\n"+strings.Repeat("x", 3<<20)+"\n-- claude-tools/big3.txt\n"+strings.Repeat("x", 3<<20)+"\n"), "api-upload")
	compare(t, got, `
		claude-tools/SKILL.md:0:0 STR014 error the skill has 9 MiB; the limit is 8 MiB
		claude-tools/SKILL.md:2:7 FM026 error name contains a word that the API reserves, claude or anthropic
		claude-tools/SKILL.md:3:14 FM027 error description contains an XML tag
		claude-tools/SKILL.md:4:1 FM011 error "version" is not a field of the upload API
		claude-tools/SKILL.md:5:16 FM019 warning allowed-tools must be text, not a list`)
}

// TestForeignFieldOnce checks S3: another agent's field is reported once for all agents that do not know it.
func TestForeignFieldOnce(t *testing.T) {
	got, _ := run(t, tree("-- deploy/SKILL.md\n---\nname: deploy\ndescription: Deploys.\nwhen_to_use: Now.\n---\nText\n"), "agentskills", "claude-code", "kodelet")
	compare(t, got, `
		deploy/SKILL.md:4:1 FM012 note "when_to_use" is not a field of Agent Skills (agentskills.io), Kodelet, but skillpm applies it; it is a field of claude-code (agentskills,kodelet)`)
}

func TestCollision(t *testing.T) {
	got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+"Text\n-- deploy/Notes.md\nN\n-- deploy/notes.md\nn\n"))
	compare(t, got, "deploy/notes.md:0:0 STR015 error notes.md and Notes.md are the same file on some file systems")
}

// TestMirrored checks that a skill in the directories of two agents counts once.
func TestMirrored(t *testing.T) {
	skill := "---\nname: deploy\ndescription: Deploys.\n---\nText\n"
	got, _ := run(t, tree("-- skillpm.yaml\n{}\n-- .claude/skills/deploy/SKILL.md\n"+skill+"-- .agents/skills/deploy/SKILL.md\n"+skill))
	compare(t, got, "")
	got, _ = run(t, tree("-- skillpm.yaml\n{}\n-- a/deploy/SKILL.md\n"+skill+"-- b/deploy/SKILL.md\n"+skill))
	compare(t, got, `b/deploy/SKILL.md:2:7 PACK001 error the skill in a/deploy/SKILL.md already has the name "deploy"`)
}
