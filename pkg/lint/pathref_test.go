package lint_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skillpm/skillpm/pkg/lint"
)

// skillFiles are the files beside SKILL.md in the tests of paths.
const skillFiles = "-- deploy/references/regions.md\nRegions\n-- deploy/scripts/check.py\npass\n-- deploy/data/zones.json\n{}\n"

// TestMissingPaths checks O21 for references that are not links: each shape is found if its file does not exist.
func TestMissingPaths(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"a braced variable in a link", "See [zones]({baseDir}/references/zones.md).", "5:13 REF012 references/zones.md"},
		{"a braced variable in a span", "Run `python {baseDir}/scripts/plan.py`.", "5:13 REF012 scripts/plan.py"},
		{"a shell variable in a command", "```bash\npython3 \"$SKILL_ROOT/scripts/plan.py\" --all\n```", "6:10 REF012 scripts/plan.py"},
		{"an agent's variable", "```sh\n${CLAUDE_SKILL_DIR}/scripts/plan.sh\n```", "6:1 REF012 scripts/plan.sh"},
		{"a variable in angle brackets", "- `node <skill-dir>/scripts/plan.mjs`", "5:9 REF012 scripts/plan.mjs"},
		{"a variable, and no directory", "See `{baseDir}/guide.md`.", "5:6 REF012 guide.md"},

		{"an interpreter in a command", "```bash\npython scripts/plan.py --region north\n```", "6:8 REF012 scripts/plan.py"},
		{"a script in a command", "```bash\n./scripts/plan.sh north |\n  tee plan.txt\n```", "6:1 REF012 scripts/plan.sh"},
		{"without a language", "```\nuv run scripts/plan.py\n```", "6:8 REF012 scripts/plan.py"},
		{"several scripts", "```bash\n# first\npython scripts/check.py\npython scripts/plan.py \\\n  --all\n```", "8:8 REF012 scripts/plan.py"},

		{"after an example", "- Examples: see `references/limits.md`", "5:18 REF012 references/limits.md"},
		{"a line of its own", "Run the extraction script:\nscripts/extract.py", "6:1 REF012 scripts/extract.py"},
		{"in a sentence", "Before a rollout, read references/limits.md.", "5:24 REF012 references/limits.md"},
		{"in bold in a list", "- **assets/plan.yaml**: the plan", "5:5 REF012 assets/plan.yaml"},
		{"in a table", "| when | read |\n|---|---|\n| always | references/limits.md |", "7:12 REF012 references/limits.md"},

		{"a wikilink", "See [[references/limits]].", "5:7 REF012 references/limits.md"},
		{"a wikilink with a text", "See [[references/limits.md|the limits]].", "5:7 REF012 references/limits.md"},
		{"a wikilink with a heading", "See [[references/limits#north]].", "5:7 REF012 references/limits.md"},

		{"an imported file", "@references/limits.md", "5:1 REF012 references/limits.md"},
		{"an imported file in a sentence", "Follow @references/limits.md exactly.", "5:8 REF012 references/limits.md"},
		{"an imported file with a dot", "Read `@./references/limits.md` now.", "5:7 REF012 references/limits.md"},

		{"a personal skill in a span", "Run `~/.claude/skills/deploy/scripts/plan.py`.", "5:6 REF012 scripts/plan.py"},
		{"a personal skill in a command", "```bash\npython $HOME/.agents/skills/deploy/scripts/plan.py\n```", "6:8 REF012 scripts/plan.py"},
		{"a project's skill", "Read `.github/skills/deploy/references/limits.md`.", "5:7 REF012 references/limits.md"},
		{"an absolute path", "Run `/opt/agents/skills/deploy/scripts/plan.py`.", "5:6 REF012 scripts/plan.py"},
		{"a link to a personal skill", "See [limits](~/.claude/skills/deploy/references/limits.md).", "5:14 REF012 references/limits.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+tt.body+"\n"+skillFiles))
			at, rest, _ := strings.Cut(tt.want, " ")
			id, name, _ := strings.Cut(rest, " ")
			compare(t, got, "deploy/SKILL.md:"+at+" "+id+" warning "+name+" does not exist in the skill")
		})
	}
}

// TestFoundPaths checks that each shape counts as a reference to a file that exists, so that its own references are
// indirect.
func TestFoundPaths(t *testing.T) {
	for _, body := range []string{
		"[r]({baseDir}/references/regions.md)", "`{baseDir}/references/regions.md`", "`<SKILL_DIR>/references/regions.md`",
		"```bash\ncat \"${SKILL_DIR}/references/regions.md\"\n```", "```sh\ncat references/regions.md\n```",
		"references/regions.md", "Read references/regions.md, then go on.", "(see references/regions.md)",
		"[[references/regions]]", "[[references/regions.md]]", "[[references/regions|regions]]",
		"@references/regions.md", "`@references/regions.md`", "Follow @./references/regions.md",
		"`skills/deploy/references/regions.md`", "`.claude/skills/deploy/references/regions.md`",
		"`${CLAUDE_PLUGIN_ROOT}/skills/deploy/references/regions.md`",
	} {
		got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+body+
			"\n-- deploy/references/regions.md\nSee [north](north.md).\n-- deploy/references/north.md\nN\n"))
		compare(t, got, "deploy/references/north.md:0:0 REF014 note SKILL.md references references/north.md only through references/regions.md")
	}
}

// TestOtherPaths checks that paths that need not exist in the skill are not reported.
func TestOtherPaths(t *testing.T) {
	for _, tt := range []struct{ name, body string }{
		{"a plugin's file", "`${CLAUDE_PLUGIN_ROOT}/scripts/plan.py`"},
		{"another variable", "`$BASE_DIR/scripts/plan.py` `{project}/scripts/plan.py`"},
		{"an output", "```bash\npython scripts/check.py > {baseDir}/scripts/out.py\n```"},
		{"a script that the page creates", "```bash\ncat > scripts/plan.py <<'E'\nE\npython scripts/plan.py\n```"},
		{"a project's commands", "```bash\nnpm install\npython scripts/train.py\n```"},
		{"another repository's commands", "```bash\ngit clone https://host.example/tools.git\n```\n\n```bash\n./scripts/plan.sh\n```"},
		{"a tool's argument", "```bash\nnpx k6 run scripts/load.js\npython -m cProfile scripts/plan.py\n```"},
		{"a directory that the skill does not have", "```bash\npython tools/plan.py\n```"},
		{"an address", "https://host.example/scripts/plan.py and [x](https://host.example/references/a.md)"},
		{"a longer path", "In src/scripts/plan.py and /scripts/plan.py and scripts/plan.py/x."},
		{"a heading that names what follows", "### Plan (scripts/plan.py)\n\n```python\npass\n```"},
		{"a listing", "**scripts/plan.py:**\n```python\npass\n```"},
		{"an import", "`import plan from './references/plan.js'`"},
		{"an example", "Reference files, for example references/limits.md."},
		{"a supposition", "A `references/limits.md` file would be helpful."},
		{"a page of projects", "Read root `AGENTS.md` and `scripts/AGENTS.md`."},
		{"what to avoid", "✗ `references/limits.md`"},
		{"what to write", "Slashes: `references/limits.md`, not `references\\limits.md`."},
		{"what a command writes", "The `references/limits.md` will be written by the build."},
		{"a file to create", "1. Reads references/limits.md (create this file)"},
		{"a file to create if needed", "- North: `references/north.md` (create if needed)"},
		{"a file of a project", "Place this at `scripts/plan.py`."},
		{"data of the user", "**Plan storage:** `~/.claude/skills/deploy/plans.json`"},
		{"settings of the user", "Located at `~/.claude/skills/deploy/zones.yaml`. Edit zones there."},
		{"a path of another repository", "Ported from [acme/tools](https://github.com/acme/tools) - `references/limits.md`."},
		{"text after a path", "Details belong in references/。SKILL.md remains short."},
		{"a file to create, in Chinese", "创建 `references/limits.md` 文件："},
		{"a copy of an example", "Copy `data/zones.json` → `data/user.json`; edit `data/plan.yaml`, `data/team.toml`, and `data/keys.env`."},
		{"a generated page", "Do not edit: run `scripts/plan.py`."},
		{"a placeholder", "Run `python scripts/script_name.py --help`."},
		{"another skill's", "The `rollback` skill has a checklist in `references/rollback.md`."},
		{"another directory's", "`scripts/plan.py`, all below `../rollback/`."},
		{"the project's", "Run `scripts/ci.sh`."},
		{"packages", "Install @scripts/tools and @types/node."},
		{"in a comment", "<!-- references/limits.md -->"},
		{"shell tests and tables", "`[[ -f references ]]` and [[tool.mypy]] and [[ $x = references/a ]]"},
		{"a note of another system", "[[concepts/rollout]] and [[limits]]"},
		{"a link's text", "[references/limits.md](https://host.example/limits) [`references/limits.md`](https://host.example/limits)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+tt.body+"\n"+skillFiles+"-- deploy/data/user.example.json\n{}\n"+
				"-- deploy/data/plan_sample.yaml\na: 1\n-- deploy/data/team-template.toml\n-- deploy/data/keys.env.example\n"+
				"-- rollback/SKILL.md\n---\nname: rollback\ndescription: Takes a release back. Use when a rollout fails.\n---\nDo.\n"+
				"-- rollback/references/rollback.md\nList\n-- scripts/ci.sh 755\n#!/bin/sh\n"))
			compare(t, got, "")
		})
	}
}

// TestPathsOfAuthoring checks that a skill about writing skills can have paths as examples.
func TestPathsOfAuthoring(t *testing.T) {
	body := "---\nname: skill-creator\ndescription: Creates skills. Use when asked for a skill.\n---\nPut policies in `references/policies.md`; see references/limits.md.\n"
	got, _ := run(t, tree("-- skill-creator/SKILL.md\n"+body))
	compare(t, got, "")
	got, _ = run(t, tree("-- deploy/SKILL.md\n"+head+"`references/page-template.md`\n-- deploy/references/page-template.md\nSee `references/limits.md`.\n"))
	compare(t, got, "")
}

// TestInstalledPaths checks that a path which works only for one way of installing the skill is a note.
func TestInstalledPaths(t *testing.T) {
	for _, path := range []string{"~/.claude/skills/deploy/", "$HOME/.agents/skills/deploy/", "/Users/ana/.codex/skills/deploy/"} {
		got, r := run(t, tree("-- deploy/SKILL.md\n"+head+"Run `python "+path+"scripts/check.py`.\n"+skillFiles))
		compare(t, got, "deploy/SKILL.md:5:6 REF006 note the path works only if the skill is installed in "+strings.TrimSuffix(path, "/"))
		if len(r.Findings) == 1 && r.Findings[0].Fix != "write scripts/check.py" {
			t.Errorf("fix %q", r.Findings[0].Fix)
		}
	}
	for _, body := range []string{
		"Run `/path/to/skills/deploy/scripts/check.py`.",
		"```bash\ncurl -s https://host.example/check.py > ~/.claude/skills/deploy/scripts/check.py\n```",
		"```bash\ncurl -s https://host.example/check.py -o \"$HOME/.claude/skills/deploy/scripts/check.py\"\n```",
	} {
		got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+body+"\n"+skillFiles))
		compare(t, got, "")
	}
}

// TestRepeatedPaths checks that a path which a page has many times is one finding of the page.
func TestRepeatedPaths(t *testing.T) {
	const command, installed = "python3 {baseDir}/scripts/plan.py ", "python3 ~/.claude/skills/deploy/scripts/check.py "
	got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+"See references/regions.md.\n\n```bash\n"+
		command+"north\n"+command+"south\n"+installed+"north\n"+installed+"south\n```\n"+skillFiles+
		"-- deploy/references/regions.md\n```bash\n"+command+"east\n```\n"))
	compare(t, got, `
		deploy/SKILL.md:8:9 REF012 warning scripts/plan.py does not exist in the skill
		deploy/SKILL.md:10:9 REF006 note the path works only if the skill is installed in ~/.claude/skills/deploy
		deploy/references/regions.md:2:9 REF012 warning scripts/plan.py does not exist in the skill`)
}

// TestPathsOfReferences checks that only paths which the agent is to read or to run count in referenced pages.
func TestPathsOfReferences(t *testing.T) {
	got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+"See references/regions.md.\n"+skillFiles+"-- deploy/references/regions.md\n"+
		"The loop is in `scripts/loop.py`, and `references/zones.md` lists zones.\n\nRead `references/north.md`.\n\n"+
		"Run `python3 scripts/south.py --all`.\n"))
	compare(t, got, `
		deploy/references/regions.md:3:7 REF012 warning references/north.md does not exist in the skill
		deploy/references/regions.md:5:14 REF012 warning scripts/south.py does not exist in the skill`)
}

// TestPathsOfDocs checks that paths in pages of a directory docs are those of a project.
func TestPathsOfDocs(t *testing.T) {
	got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+"See [plans](docs/plans.md).\n"+skillFiles+
		"-- deploy/docs/plans.md\nRead `references/north.md`.\n"))
	compare(t, got, "")
}

// TestScriptsOfProjects checks that scripts are those of a project if the skill does not have a directory of scripts.
func TestScriptsOfProjects(t *testing.T) {
	got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+"The project runs `scripts/plan.sh`. Run `~/.claude/skills/deploy/scripts/check.py` first.\n"))
	compare(t, got, "deploy/SKILL.md:5:42 REF012 warning scripts/check.py does not exist in the skill")
}

// TestAbsoluteLinks checks that only paths of a machine are absolute paths, and not addresses of a site or commands.
func TestAbsoluteLinks(t *testing.T) {
	for _, link := range []string{"/docs/api/reference#list", "/en/overview", "/acme:rollback", "/rollback", "~/.config/deploy.yaml", "/etc"} {
		got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+"[x]("+link+")\n"))
		compare(t, got, "")
	}
	for _, link := range []string{"/Users/ana/deploy.md", "/etc/deploy/deploy.md", "D:/deploy.md", "file:///srv/deploy.md"} {
		got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+"[x]("+link+")\n"))
		compare(t, got, "deploy/SKILL.md:5:5 REF006 warning an absolute path does not work on other machines")
	}
}

// TestMisreadFences checks that nothing is reported in what its author means as a code block.
func TestMisreadFences(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"a fence in a fence", "```markdown\n```bash\nls\n```\n[x](no.md) [y](#no)\n```\n", ""},
		{"a fence in a longer fence", "````markdown\n```bash\nls\n```\n[x](no.md)\n````\n[y](no.md)", "11:5"},
		{"a fence that only ends a block", "## Form\n\n[x](no.md)\n```\n\n```bash\nls\n```\n", ""},
		{"after a block", "```bash\nls\n```\n[x](no.md)", "8:5"},
		{"between blocks", "```\nls\n```\n[x](no.md)\n```bash\nls\n```", "8:5"},
		{"never closed", "```markdown\n```bash\nls\n```\n[x](no.md)\n", "9:5"},
		{"a form", "- [Plan](plan.md) - [Description]", ""},
		{"no form", "- [Plan](plan.md) - [x] [Text](https://host.example)", "5:10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+tt.body+"\n"))
			got = slices.DeleteFunc(got, func(line string) bool { return strings.Contains(line, " STR005 ") })
			want := ""
			if tt.want != "" {
				name := "no.md"
				if strings.Contains(tt.name, "form") {
					name = "plan.md"
				}
				want = "deploy/SKILL.md:" + tt.want + " REF001 error " + name + " does not exist"
			}
			compare(t, got, want)
		})
	}
	got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+"[x](#form)\n\n```\n## Form\n"))
	compare(t, got, "deploy/SKILL.md:7:1 STR005 warning this code block is not closed, so the rest of the file is code")
}

// TestListedFiles checks that lists of files which no selected agent reads are not checked, and entries that describe a
// file are.
func TestListedFiles(t *testing.T) {
	skill := func(files string) string {
		return "-- deploy/SKILL.md\n---\nname: deploy\ndescription: Deploys. Use when asked to deploy.\nfiles:\n" + files + "---\nDo.\n"
	}
	unknown := `deploy/SKILL.md:4:1 FM012 note "files" is not a field of Agent Skills (agentskills.io), but skillpm applies it; it is a field of toolset`
	for _, files := range []string{"  - src/**/*.ts\n", "  - \"*.tf\"\n  - modules/\n", "  - docs/plan.md\n"} {
		got, _ := run(t, tree(skill(files)))
		compare(t, got, unknown)
	}
	got, _ := run(t, tree(skill("  - {path: plan.md, description: The plan.}\n")))
	compare(t, got, unknown+"\ndeploy/SKILL.md:5:12 REF008 warning the listed file plan.md does not exist")
}

// TestSupposedSkills checks that a skill which the text supposes, or which something else brings, need not exist.
func TestSupposedSkills(t *testing.T) {
	for _, body := range []string{
		"For example, a `plan-release` skill.", "Write a `plan-release` skill.", "When building an `audit-log` skill, ask.",
		"The audit plugin brings the `audit-log` skill.", "Install the `audit-log` skill first.",
		"The old `audit-log` skill is gone.", "This replaces the\n`audit-log` skill.",
		"The `audit-log` skill (`npx skills add acme/audit-log`) helps.",
		"The `audit-log` skill was deleted.", "Use the `audit-log` skill\nif it is available.",
		"Use the `audit-log` skill if it is installed.", "Use the `docx` skill.", "Use the `second` skill.",
	} {
		got, _ := run(t, tree("-- deploy/SKILL.md\n"+head+body+
			"\n-- second/SKILL.md\n---\nname: second-one\ndescription: Does two. Use when asked for two.\n---\nDo.\n"))
		if all := strings.Join(got, "\n"); strings.Contains(all, "XS001") {
			t.Errorf("%s: %s", body, all)
		}
	}
	got, _ := run(t, tree("-- skill-writer/SKILL.md\n---\nname: skill-writer\ndescription: Writes skills. Use when asked for one.\n---\nUse the `audit-log` skill.\n"))
	compare(t, got, "")
}

// TestCollections checks that only skills that are installed together must have different names.
func TestCollections(t *testing.T) {
	skill := func(dir string) string { return "-- " + dir + "/deploy/SKILL.md\n" + head + "Do.\n" }
	for _, tt := range []struct{ a, b, want string }{
		{"plugins/one/skills", "plugins/two/skills", ""},
		{"preview", "skills", ""},
		{".claude/skills", ".agents/skills", ""},
		{"skills/one", "skills/two", `skills/two/deploy/SKILL.md:2:7 PACK001 warning the skill in skills/one/deploy/SKILL.md already has the name "deploy"`},
		{"one", "two", `two/deploy/SKILL.md:2:7 PACK001 warning the skill in one/deploy/SKILL.md already has the name "deploy"`},
	} {
		got, _ := run(t, tree(skill(tt.a)+skill(tt.b)))
		compare(t, got, tt.want)
	}
}

// TestCompanions checks that files which belong to tools, or to a page for users, need not be mentioned.
func TestCompanions(t *testing.T) {
	off := lint.Settings{Levels: []lint.Level{{Rules: "SEC", Off: true}}}
	for _, tt := range []struct{ name, files, want string }{
		{"an icon", "-- deploy/agents/openai.yaml\ninterface:\n  icon_small: assets/mark.svg\n-- deploy/assets/mark.svg\n<svg/>\n", ""},
		{"a picture of the readme", "-- deploy/README.md\n![demo](demo.txt)\n-- deploy/demo.txt\nx\n", ""},
		{"a page of the readme", "-- deploy/README.md\nSee notes.md.\n-- deploy/notes.md\nN\n", "deploy/notes.md:0:0 REF013 note neither SKILL.md nor its references mention notes.md"},
		{"data of tests", "-- deploy/evals/README.md\nRun scripts/evaluate.py.\n-- deploy/scripts/evaluate.py\npass\n", ""},
		{"schemas and tools' data", "-- deploy/schemas/plan.xsd\n<x/>\n-- deploy/_meta.json\n{}\n-- deploy/rules/_template.md\nT\n-- deploy/AGENTS.md\nA\n", ""},
		{"a program of a package", "-- deploy/package.json\n{\"main\": \"plan.js\"}\n-- deploy/plan.js\nimport './lib/store.js'\n-- deploy/lib/store.js\nrequire('./zones')\n-- deploy/lib/zones.js\n1\n", ""},
		{"a program that nothing names", "-- deploy/package.json\n{\"main\": \"plan.js\"}\n-- deploy/lib/store.js\n1\n", "deploy/lib/store.js:0:0 REF013 note neither SKILL.md nor its references mention lib/store.js"},
		{"types, locks, and manifests", "-- deploy/plan.d.ts\nexport {}\n-- deploy/pnpm-lock.yaml\na: 1\n-- deploy/Taskfile.yml\nversion: 3\n-- deploy/demo.plugin.json\n{}\n", ""},
		{"a list of names", "-- deploy/rules/no-skips.md\nN\n", ""},
		{"a name without its ending", "-- deploy/scripts/wait.py\npass\n", ""},
		{"a directory without a slash", "-- deploy/fonts/a.txt\nA\n", ""},
		{"nothing", "-- deploy/fonts2/a.txt\nA\n", "deploy/fonts2/a.txt:0:0 REF013 note neither SKILL.md nor its references mention fonts2/a.txt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := runWith(t, tree("-- deploy/SKILL.md\n"+head+"- `no-skips`: skip nothing\n\nRun python scripts/wait with the files in `fonts`.\n"+tt.files), off)
			compare(t, got, tt.want)
		})
	}
}

// TestCopiedPages checks that pages which were copied from web sites or other repositories may have links of these.
func TestCopiedPages(t *testing.T) {
	for _, tt := range []struct{ name, page, link, want string }{
		{"a page of a site", "references/site.md", `<a href="../guides/rollout">x</a>`, ""},
		{"a neighbor on a site", "references/site.md", `<a href="first-steps">x</a>`, ""},
		{"an element of a site", "references/site.md", `<upload src="1/a.png"/>`, ""},
		{"a license", "references/site.md", `[license](LICENSE)`, ""},
		{"a translation", "references/site.md", `[中文](README-zh.md)`, ""},
		{"an example", "references/example.md", `[x](no.md)`, ""},
		{"a file", "references/site.md", `<a href="no.html">x</a>`, "references/site.md:1:10 REF007 warning references/no.html"},
		{"a picture", "references/site.md", `<img src="no.png">`, "references/site.md:1:11 REF007 warning references/no.png"},
		{"a directory", "references/site.md", `[x](plans/)`, "references/site.md:1:5 REF007 warning references/plans"},
		{"a directory of the skill", "references/site.md", `[x](../scripts/plan)`, "references/site.md:1:5 REF007 warning scripts/plan"},
		{"the skill itself", "SKILL.md", `[x](wiki/rollout)`, ""},
		{"the skill's own file", "SKILL.md", `[x](references/rollout)`, "SKILL.md:6:5 REF001 error references/rollout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "-- deploy/SKILL.md\n" + head + "[p](references/site.md) [q](references/example.md)\n"
			if tt.page == "SKILL.md" {
				text += tt.link + "\n-- deploy/references/site.md\nS\n-- deploy/references/example.md\nE\n"
			} else {
				text += "-- deploy/references/site.md\nS\n-- deploy/references/example.md\nE\n-- deploy/" + tt.page + "\n" + tt.link + "\n"
			}
			got, _ := run(t, tree(text))
			want := ""
			if tt.want != "" {
				want = "deploy/" + tt.want + " does not exist"
			}
			compare(t, got, want)
		})
	}
}

// TestPathsLinear checks that the time for hostile pages is in proportion to their length. A slow machine may need more
// than one attempt.
func TestPathsLinear(t *testing.T) {
	measure := func(text string) time.Duration {
		fsys := tree("-- deploy/SKILL.md\n" + head + "[x](references/long.md)\n" + skillFiles)
		fsys["deploy/references/long.md"] = &fstest.MapFile{Data: []byte(text)}
		start := time.Now()
		run(t, fsys)
		return time.Since(start)
	}
	linear := func(start, piece string) bool {
		n := 50_000 / len(piece)
		for range 5 {
			short, long := measure(start+strings.Repeat(piece, n)), measure(start+strings.Repeat(piece, 8*n))
			if long < 24*short+100*time.Millisecond {
				return true
			}
			t.Logf("%q: %v, and %v for 8 times the length", piece, short, long)
		}
		return false
	}
	for _, piece := range []string{
		"```bash\n" + strings.Repeat("python scripts/no.py\n", 20) + "```\n", "python scripts/no.py; ", "scripts/", "scripts/no.py ",
		"[[", "[[scripts/no.py]] ", "@a.b", "`scripts/no.py` ", "```a\n", "[x](a/b) ", "[x](#no) ", "<a href=no.md>", "[A] [x](no.md)\n",
		"~/.claude/skills/deploy/", "{baseDir}/scripts/no.py ",
	} {
		if !linear("", piece) {
			t.Errorf("%q", piece)
		}
	}
	for _, start := range []string{"```bash\n", "```bash\npython scripts/no.py "} {
		if !linear(start, "python scripts/no.py;") {
			t.Errorf("%q in one line", start)
		}
	}
}
