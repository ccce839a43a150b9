package lint_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// tree is a file system in a string: a line "-- path" or "-- path 755" starts a file.
func tree(text string) fstest.MapFS {
	fsys := fstest.MapFS{}
	var file *fstest.MapFile
	for line := range strings.Lines(text) {
		if head, ok := strings.CutPrefix(line, "-- "); ok {
			name, mode, _ := strings.Cut(strings.TrimSpace(head), " ")
			file = &fstest.MapFile{Mode: 0o644}
			switch mode {
			case "755":
				file.Mode = 0o755
			case "link":
				file.Mode = fs.ModeSymlink | 0o777
			}
			fsys[name] = file
			continue
		}
		file.Data = append(file.Data, line...)
	}
	return fsys
}

// run checks a tree and returns the findings as "path:line:column RULE severity message", and the report. Rules that
// report nearly every tree are off.
func run(t testing.TB, fsys fs.FS, profiles ...string) ([]string, lint.Report) {
	t.Helper()
	return runWith(t, fsys, lint.Settings{Levels: []lint.Level{
		{Rules: "SEC", Off: true}, {Rules: rule.Orphan, Off: true}, {Rules: rule.FinalNewline, Off: true}, {Rules: rule.FieldOrder, Off: true},
	}}, profiles...)
}

// runWith is run with settings.
func runWith(t testing.TB, fsys fs.FS, settings lint.Settings, profiles ...string) ([]string, lint.Report) {
	t.Helper()
	o := lint.Options{Settings: settings}
	for _, id := range profiles {
		p, err := profile.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		o.Profiles = append(o.Profiles, p)
	}
	r, err := lint.Run(context.Background(), fsys, []string{"."}, o)
	if err != nil {
		t.Fatal(err)
	}
	return format(r), r
}

// format writes the findings as "path:line:column RULE severity message".
func format(r lint.Report) []string {
	var out []string
	for _, f := range r.Findings {
		s := fmt.Sprintf("%s:%d:%d %s %s %s", f.Path, f.Line, f.Column, f.Rule, f.Severity, f.Message)
		if f.Profile != "" {
			s += " (" + f.Profile + ")"
		}
		out = append(out, s)
	}
	return out
}

// compare reports what differs between two lists of lines.
func compare(t *testing.T, got []string, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if !slices.Equal(got, lines) {
		t.Errorf("got:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

const head = "---\nname: deploy\ndescription: Deploys. Use when asked to deploy.\n---\n"

func TestCleanSkill(t *testing.T) {
	got, r := run(t, tree("-- deploy/SKILL.md\n"+head+"# Deploy\n\nSee [more](references/more.md#second).\n"+
		"-- deploy/references/more.md\n# First\n\n## Second\n\n[back](../SKILL.md) and [from the root](scripts/go.sh)\n"+
		"-- deploy/scripts/go.sh 755\n#!/usr/bin/env bash\n"), profile.IDs()...)
	compare(t, got, "")
	if len(r.Skills) != 1 || r.Skills[0] != "deploy" || !r.OK() {
		t.Errorf("got %+v", r)
	}
}

// TestP1NoFrontmatter checks that a SKILL.md without frontmatter is valid under the profiles that require no field, and
// an error under all others.
func TestP1NoFrontmatter(t *testing.T) {
	for profiles, want := range map[string]string{
		"pegasus":             "",
		"claude-code":         "",
		"pegasus,claude-code": "",
		"kodelet":             "deploy/SKILL.md:1:1 FM001 error the frontmatter is missing: the first line is not ---",
		"pegasus,kodelet,omniforge": "deploy/SKILL.md:1:1 FM001 error the frontmatter is missing: " +
			"the first line is not --- (kodelet,omniforge)",
	} {
		got, _ := run(t, tree("-- deploy/SKILL.md\n# Deploy\n\nRoll it out.\n"), strings.Split(profiles, ",")...)
		compare(t, got, want)
	}
	got, _ := run(t, tree("-- deploy/SKILL.md\n\n"), "pegasus")
	compare(t, got, "deploy/SKILL.md:1:1 STR002 warning the skill does not contain instructions")
}

// TestFrontmatter checks S1, K1, O1, T1: frontmatter with the profiles. Every finding has the exact line and column.
func TestFrontmatter(t *testing.T) {
	tests := []struct{ name, profile, front, want string }{
		{"all is missing", "agentskills", "license: MIT\n", `
			deploy/SKILL.md:1:1 FM010 error description is missing
			deploy/SKILL.md:1:1 FM010 error name is missing`},
		{"a number for a name", "agentskills", "name: 123\ndescription: x\n", `
			deploy/SKILL.md:2:7 FM013 error name must be text, not a number
			deploy/SKILL.md:2:7 FM018 error the name is "123", but the directory is "deploy"`},
		{"capitals", "agentskills", "name: Deploy\ndescription: x\n", `
			deploy/SKILL.md:2:7 FM017 error the name "Deploy" contains the capital letter D: only a-z, 0-9, and hyphens are allowed`},
		{"another directory", "agentskills", "description: x\nname:   'other'\n", `
			deploy/SKILL.md:3:9 FM018 error the name is "other", but the directory is "deploy"`},
		// P1, P2
		{"another directory, where it does not matter", "pegasus", "description: x\nname: other\n", ""},
		{"no name, where the directory's counts", "pegasus", "description: x\n", ""},
		{"no description, where it is recommended", "pegasus", "name: deploy\n", `
			deploy/SKILL.md:1:1 FM023 warning description is missing, so Pegasus uses the first paragraph of the skill`},
		{"empty description", "agentskills", "name: deploy\ndescription:\n", `
			deploy/SKILL.md:3:1 FM016 error description does not have a value`},
		{"blank description", "agentskills", "name: deploy\ndescription: '  '\n", `
			deploy/SKILL.md:3:14 FM016 error description does not have a value`},
		{"empty licence", "agentskills", "name: deploy\ndescription: x\nlicense:\n", `
			deploy/SKILL.md:4:1 FM016 warning license does not have a value`},
		{"unknown key with a near one", "agentskills", "name: deploy\ndescription: x\nallowed_tools: Read\n", `
			deploy/SKILL.md:4:1 FM011 warning "allowed_tools" is not a field of Agent Skills (agentskills.io)`},
		{"key of another host", "agentskills", "name: deploy\ndescription: x\nargument-hint: a\n", `
			deploy/SKILL.md:4:1 FM012 note "argument-hint" is not a field of Agent Skills (agentskills.io), but skillpm applies it; it is a field of claude-code, dispatch, pegasus`},
		{"metadata that is not text", "agentskills", "name: deploy\ndescription: x\nmetadata:\n  version: 1.10\n  date: 2026-01-02\n  ok: \"1\"\n  tags: [a]\n", `
			deploy/SKILL.md:5:12 FM020 warning metadata.version must be text, not a number
			deploy/SKILL.md:6:9 FM020 warning metadata.date must be text, not a date
			deploy/SKILL.md:8:9 FM020 warning metadata.tags must be text, not a list`},
		{"requirements as ClawHub reads them", "agentskills", "name: deploy\ndescription: x\nmetadata:\n  openclaw: {requires: {bins: [git]}}\n", ""},
		{"tools in a list", "agentskills", "name: deploy\ndescription: x\nallowed-tools: [Read, Bash]\n", `
			deploy/SKILL.md:4:16 FM019 warning allowed-tools must be text, not a list`},
		{"tools with commas", "agentskills", "name: deploy\ndescription: x\nallowed-tools: Bash(gh pr:*), Read\n", `
			deploy/SKILL.md:4:16 FM019 warning allowed-tools uses commas as separators, but the standard uses spaces`},
		{"tools with a comma and a space inside", "agentskills", "name: deploy\ndescription: x\nallowed-tools: Bash(gh pr:*,x) Read\n", ""},
		{"tools as text where a list is needed", "omniforge", "name: deploy\ndescription: x\nallowed-tools: Read Bash\n", `
			deploy/SKILL.md:4:16 FM013 error allowed-tools must be a list, not text`},
		{"tools in any form", "claude-code", "name: deploy\ndescription: x\nallowed-tools: Read, Bash\n", ""},
		{"agent without fork", "claude-code", "name: deploy\ndescription: x\nagent: Explore\n", `
			deploy/SKILL.md:4:1 FM021 error agent has no effect without context: fork`},
		{"agent with another context", "omniforge", "name: deploy\ndescription: x\nagent: Explore\ncontext: inherit\n", `
			deploy/SKILL.md:4:1 FM021 error agent has no effect without context: fork`},
		{"agent with fork", "omniforge", "name: deploy\ndescription: x\nagent: Explore\ncontext: fork\n", ""},
		{"a value that is not allowed", "claude-code", "name: deploy\ndescription: x\ncontext: frok\neffort: 3\n", `
			deploy/SKILL.md:4:10 FM014 error context must be one of inline, fork, not "frok"
			deploy/SKILL.md:5:9 FM014 error effort must be one of low, medium, high, xhigh, max, not "3"`},
		{"quoted boolean", "pegasus", "name: deploy\ndescription: x\nuser-invocable: \"false\"\n", `
			deploy/SKILL.md:4:17 FM013 error user-invocable must be true or false, not text`},
		{"two lines where one is needed", "omniforge", "name: deploy\ndescription: |\n  one\n  two\n", `
			deploy/SKILL.md:3:14 FM022 error description must be one line of text`},
		{"folded to one line", "omniforge", "name: deploy\ndescription: >\n  one\n  two\n", ""},
		{"a file without a description", "toolset", "name: deploy\ndescription: x\nfiles:\n  - path: a.md\n    descripton: y\n  - path: ./a.md\n    description: y\n", `
			deploy/SKILL.md:5:5 FM010 error files[0] does not have the field description
			deploy/SKILL.md:6:5 FM011 warning "descripton" is not a field of Toolset skills
			deploy/SKILL.md:7:11 REF009 error ./a.md starts with ./`},
		{"a template", "agentskills", "name: deploy\ndescription: {{about}}\n", `
			deploy/SKILL.md:3:14 FM013 note description is a placeholder of a template, which YAML reads as a mapping`},
		{"a list of several", "agentskills", "name: deploy\ndescription: x\nagents: [a, b]\n", `
			deploy/SKILL.md:4:1 FM011 warning "agents" is not a field of Agent Skills (agentskills.io)`},
		{"a nested unknown key", "omniforge", "name: deploy\ndescription: x\nhooks: {pr: a.md}\n", `
			deploy/SKILL.md:4:9 FM011 warning "pr" is not a field of OmniForge`},
		{"a title for a name", "dispatch", "name: The Deployer\ndescription: x\n", ""},
		{"a broken field hides no other", "agentskills", "name: Deploy\ndescription: Use when: always\nlicense: 3\n", `
			deploy/SKILL.md:2:7 FM017 error the name "Deploy" contains the capital letter D: only a-z, 0-9, and hyphens are allowed
			deploy/SKILL.md:3:22 FM003 error a value without quotes contains a colon and a space
			deploy/SKILL.md:4:10 FM013 error license must be text, not a number`},
		{"the same key twice", "agentskills", "name: deploy\ndescription: x\nname: deploy\n", `
			deploy/SKILL.md:4:1 FM006 error the key "name" is duplicated; it first appears on line 2`},
		{"columns are characters", "agentskills", "name: deploy\ndescription: x\nmetadata: {é日: 1, b: 2}\n", `
			deploy/SKILL.md:4:16 FM020 warning metadata.é日 must be text, not a number
			deploy/SKILL.md:4:22 FM020 warning metadata.b must be text, not a number`},
		{"a tab", "agentskills", "name: deploy\ndescription: x\nmetadata:\n\ta: b\n", `
			deploy/SKILL.md:5:1 FM004 error YAML does not allow tabs for indentation`},
		{"a list", "agentskills", "- name\n- deploy\n", `
			deploy/SKILL.md:2:1 FM005 error the frontmatter is not a mapping of fields`},
		{"a bomb of aliases", "agentskills", "name: deploy\ndescription: x\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", `
			deploy/SKILL.md:2:1 FM022 error cannot check the frontmatter: its references expand to too many values`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, tree("-- deploy/SKILL.md\n---\n"+tt.front+"---\nDo it.\n-- deploy/a.md\nx\n"), tt.profile)
			compare(t, got, tt.want)
		})
	}
}

// TestLengthsAreCharacters checks that lengths are counted in characters: 1,024 wide ones are allowed, one more is not.
func TestLengthsAreCharacters(t *testing.T) {
	for n, want := range map[int]string{
		1024: "",
		1025: "deploy/SKILL.md:3:14 FM015 error description has 1025 characters; the limit is 1024",
	} {
		got, _ := run(t, tree("-- deploy/SKILL.md\n---\nname: deploy\ndescription: "+strings.Repeat("日", n)+"\n---\nDo it.\n"))
		compare(t, got, want)
	}
}

func TestFormOfTheFile(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no frontmatter", "# Deploy\n", "deploy/SKILL.md:1:1 FM001 error the frontmatter is missing: the first line is not ---"},
		{"empty", "", "deploy/SKILL.md:1:1 FM001 error the frontmatter is missing: the first line is not ---"},
		{"not closed", "---\nname: deploy\ndescription: x\n\n# Deploy\n", "deploy/SKILL.md:1:1 FM002 error the frontmatter is not closed"},
		{"byte order mark", "\ufeff" + head + "Do it.\n", "deploy/SKILL.md:1:1 FM007 warning the file starts with a byte order mark"},
		{"text before it", "Hello\n" + head + "Do it.\n", "deploy/SKILL.md:1:1 FM008 error unexpected text before the opening ---"},
		{"not UTF-8", head + "Do \xff it.\n", "deploy/SKILL.md:5:4 FM009 error the file is not valid UTF-8"},
		{"crlf", strings.ReplaceAll(head+"[x](y.md)\n", "\n", "\r\n"), "deploy/SKILL.md:5:5 REF001 error y.md does not exist"},
		{"no body", head, "deploy/SKILL.md:4:1 STR002 warning the skill does not contain instructions after the frontmatter"},
		{"many lines", head + strings.Repeat("a\n", 501), "deploy/SKILL.md:505:1 STR003 warning the body has 501 lines; the standard recommends at most 500"},
		{"500 lines", head + strings.Repeat("a\n", 500), ""},
		{"many tokens", head + strings.Repeat("a word ", 3000), "deploy/SKILL.md:5:1 STR004 warning the body has about 6000 tokens; the standard recommends at most 5000"},
		{"open fence", head + "Do\n\n~~~ sh\nx\n", "deploy/SKILL.md:7:1 STR005 warning this code block is not closed, so the rest of the file is code"},
		{"closed fence at the end", head + "Do\n\n```sh\nx\n```", ""},
		{"brackets without end", head + strings.Repeat("[", 20_000) + "\n", ""},
		{"quotes without end", head + strings.Repeat("> ", 200) + "x\n", ""},
		{"many paragraphs with brackets", head + strings.Repeat("[a] [b]\n\n", 240) + "\n", ""},
		{"nested fence", head + "````md\n```\n[x](y.md)\n```\n````\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, fstest.MapFS{"deploy/SKILL.md": {Data: []byte(tt.text)}})
			compare(t, got, tt.want)
		})
	}
}

// TestReferences checks O21: exactly the references to missing files are reported.
func TestReferences(t *testing.T) {
	const at = "deploy/SKILL.md:5:"
	tests := []struct{ name, body, want string }{
		{"inline", "[x](no.md)", at + "5 REF001 error no.md does not exist"},
		{"image", "![x](no.png)", at + "6 REF001 error no.png does not exist"},
		{"after a quotation", "Write \"yes\"; see [x](no.md)", at + "22 REF001 error no.md does not exist"},
		{"in a quotation", "Bad: \"See [x](no.md)\". Write “see [x](no.md)”.", ""},
		{"with a title", `[x](no.md "title")`, at + "5 REF001 error no.md does not exist"},
		{"in angle brackets", "[x](<no file.md>)", at + "6 REF001 error no file.md does not exist"},
		{"in angle brackets, there", "[x](<my file.md>)", ""},
		{"percent-encoded, there", "[x](my%20file.md)", ""},
		{"percent-encoded, not there", "[x](no%20file.md)", at + "5 REF001 error no file.md does not exist"},
		{"parentheses, there", "[x](a(b).md)", ""},
		{"escaped parentheses, there", `[x](a\(b\).md)`, ""},
		{"entities, there", "[x](a&amp;b.md)", ""},
		{"reference style", "[x][r] and [y][r]\n\n[r]: no.md 'title'", "deploy/SKILL.md:7:6 REF001 error no.md does not exist"},
		{"collapsed and shortcut", "[r][] [r]\n\n[r]: <references/more.md>", ""},
		{"unused definition", "x\n\n[r]: no.md", ""},
		{"footnote", "x[^1]\n\n[^1]: no.md", ""},
		{"in a table", "| a | b |\n|---|---|\n| x | [x](no.md) |", "deploy/SKILL.md:7:11 REF001 error no.md does not exist"},
		{"in a list and a quote", "- > [x](no.md)", at + "9 REF001 error no.md does not exist"},
		{"after wide characters", "日本 [x](no.md)", at + "8 REF001 error no.md does not exist"},
		{"html", `<img alt="a" src='no.png'> and <a href=no.md>x</a>`, at + "19 REF001 error no.png does not exist\n" + at + "40 REF001 error no.md does not exist"},
		{"html block", "<div>\n<img\n  src=\"no&amp;.png\">\n</div>", "deploy/SKILL.md:7:8 REF001 error no&.png does not exist"},
		{"html comment", "<!-- [x](no.md) <img src=no.png> -->", ""},
		{"html comment inside a paragraph", "a <!-- <img src=no.png> --> b", ""},
		{"pre", "<pre>\n<img src=no.png>\n</pre>", ""},
		{"code span", "`[x](no.md)`", ""},
		{"code block", "```\n[x](no.md)\n```", ""},
		{"indented code", "x\n\n    [x](no.md)", ""},
		{"escaped", `\[x](no.md)`, ""},
		{"elsewhere", "[a](https://x.test/no.md) [b](mailto:a@b.test) [c](//x.test/no.md) [d](skill://x) <https://x.test>", ""},
		{"placeholders", "[a]({baseDir}/no.md) [b](${DIR}/x) [c](<no-such>) [d](path/to/no.md) [e](...) [f](url) [g](docs/*.md) [h](%7Bx%7D/y)", at + "5 REF012 warning no.md does not exist in the skill\n" + at + "41 REF001 error no-such does not exist"},
		{"nothing", "[a]() [b](#) [c](<>)", ""},
		{"a directory", "[a](references) [b](references/) [c](./) [d](.)", ""},
		{"a query", "[a](references/more.md?raw=1)", ""},
		{"another case", "[a](References/More.md)", at + "5 REF002 error References/More.md differs in case from the file references/more.md"},
		{"another composition", "[a](cafe\u0301.md)", at + "5 REF002 error cafe\u0301.md differs in case from the file café.md"},
		{"out of the skill, there", "[a](../other/SKILL.md)", at + "5 REF003 warning the link points outside the skill, so it breaks if only the skill is installed"},
		{"out of the skill, not there", "[a](../no/SKILL.md)", at + "5 REF003 error the link points outside the skill, and ../no/SKILL.md does not exist"},
		{"out of everything", "[a](../../../x.md)", at + "5 REF003 warning the link points outside the skill, so it breaks if only the skill is installed"},
		{"out and in again", "[a](../deploy/references/more.md)", at + "5 REF003 warning the link points outside the skill, so it breaks if only the skill is installed"},
		{"backslashes", `[a](references\more.md) [b](references\\no.md)`, at + "5 REF005 error the path of the link contains a backslash\n" + at + "29 REF005 error the path of the link contains a backslash"},
		{"absolute", "[a](/references/more.md) [b](C:/x.md) [c](file:///x.md) [d](~/x.md)", at + "5 REF006 warning an absolute path does not work on other machines\n" +
			at + "30 REF006 warning an absolute path does not work on other machines\n" + at + "43 REF006 warning an absolute path does not work on other machines"},
		{"anchors", "# One Thing!\n\n[a](#one-thing) [b](#two) <a id=\"three\"></a> [c](#three) [d](#one-thing-1)", "deploy/SKILL.md:7:21 REF004 warning no heading of SKILL.md has the anchor #two"},
		{"an anchor of other letters, encoded", "# Über uns\n\n[a](#%C3%BCber-uns) [b](#über-uns)", ""},
		{"anchors elsewhere", "[a](references/more.md#more) [b](references/more.md#no) [c](scripts/x.py#L10)", at + "34 REF004 warning no heading of references/more.md has the anchor #no"},
		{"links of a page", "[a](references/bad.md)", "deploy/references/bad.md:1:5 REF007 warning references/no.md does not exist\ndeploy/references/bad.md:2:5 REF003 warning the link points outside the skill, and ../no.md does not exist"},
		{"a near name", "[a](references/mroe.md)", at + "5 REF001 error references/mroe.md does not exist"},
		{"nested brackets", "[![x](no.png)](https://x.test)", at + "7 REF001 error no.png does not exist"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := tree("-- deploy/my file.md\nx\n-- deploy/a(b).md\nx\n-- deploy/a&b.md\nx\n-- deploy/café.md\nx\n" +
				"-- deploy/references/more.md\n# More\n\n[self](#more) [up](../SKILL.md) [same](bad.md)\n-- deploy/scripts/x.py\nx\n")
			fsys["deploy/my file.md"] = &fstest.MapFile{Data: []byte("x\n")}
			if strings.Contains(tt.body, "bad.md") {
				fsys["deploy/references/bad.md"] = &fstest.MapFile{Data: []byte("[a](no.md)\n[b](../../no.md)\n[c](scripts/x.py)\n")}
			} else {
				fsys["deploy/references/more.md"].Data = []byte("# More\n\n[self](#more) [up](../SKILL.md)\n")
			}
			fsys["other/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: other\ndescription: y\n---\nDo.\n")}
			fsys["deploy/SKILL.md"] = &fstest.MapFile{Data: []byte(head + tt.body + "\n")}
			got, _ := run(t, fsys)
			compare(t, got, tt.want)
		})
	}
}

// TestFields checks T2, D5, O12: the targets that the frontmatter names must exist.
func TestFields(t *testing.T) {
	tests := []struct{ name, profile, front, want string }{
		{"files", "toolset", "files:\n  - {path: a.md, description: x}\n  - {path: b.md, description: x}\n  - {path: A.md, description: x}\n", `
			deploy/SKILL.md:6:12 REF008 error the listed file b.md does not exist
			deploy/SKILL.md:7:12 REF008 error the listed file A.md does not exist`},
		{"files outside", "toolset", "files:\n  - {path: ../x.md, description: x}\n  - {path: /etc/passwd, description: x}\n  - {path: 'scripts\\run.sh', description: x}\n  - {path: scripts, description: x}\n", `
			deploy/SKILL.md:5:12 REF009 error ../x.md is not inside the skill
			deploy/SKILL.md:6:12 REF009 error /etc/passwd is not inside the skill
			deploy/SKILL.md:7:12 REF009 error scripts\run.sh contains backslashes
			deploy/SKILL.md:8:12 REF008 error the listed path scripts is a directory`},
		{"hooks", "omniforge", "hooks:\n  pre: scripts/run.sh\n  post: scripts/no.sh\n", `
			deploy/SKILL.md:6:9 REF010 error scripts/no.sh does not exist in the skill`},
		{"hooks of claude", "claude-code", "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - {type: command, command: ./scripts/no.sh --x}\n        - {type: command, command: \"${CLAUDE_PLUGIN_ROOT}/scripts/run.sh\"}\n        - {type: command, command: jq .}\n", `
			deploy/SKILL.md:8:36 REF010 error scripts/no.sh does not exist in the skill`},
		{"command", "dispatch", "command: python3 -u scripts/no.py {file}\n", `
			deploy/SKILL.md:4:10 REF011 error scripts/no.py does not exist in the skill`},
		{"command that is there", "dispatch", "command: X=1 python3 scripts/run.py\n", ""},
		{"command by its path", "dispatch", "command: ./scripts/no\n", `
			deploy/SKILL.md:4:10 REF011 error scripts/no does not exist in the skill`},
		{"command on PATH", "dispatch", "command: pandoc -o out.html\n", ""},
		{"command of a module", "dispatch", "command: python3 -m http.server\n", ""},
		{"slash command", "dispatch", "command: /hub:run\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, tree("-- deploy/SKILL.md\n---\nname: deploy\ndescription: x\n"+tt.front+"---\nDo it.\n"+
				"-- deploy/a.md\nx\n-- deploy/scripts/run.sh 755\n#!/bin/sh\n-- deploy/scripts/run.py\nx\n"), tt.profile)
			compare(t, got, tt.want)
		})
	}
}

func TestScripts(t *testing.T) {
	const body = "-- deploy/SKILL.md\n" + head
	tests := []struct{ name, tree, want string }{
		{"well", body + "Run `./scripts/a.sh`.\n-- deploy/scripts/a.sh 755\n#!/bin/sh\n", ""},
		{"not executable", body + "Run.\n-- deploy/scripts/a.sh\n#!/bin/sh\n", ""},
		{"named in a span, and interpreted", body + "Use `scripts/a.py --all`.\n```\npython scripts/a.py --all\n```\n-- deploy/scripts/a.py\n#!/bin/py\n", ""},
		{"named in a span with arguments", body + "Use `scripts/a.py --all`.\n-- deploy/scripts/a.py\n#!/bin/py\n", "deploy/scripts/a.py:1:1 SCR002 warning the skill calls the script by its path, but the script is not executable"},
		{"executable module", body + "Run.\n-- deploy/scripts/__init__.py 755\nx\n", ""},
		{"called in a span", body + "Run `./scripts/a.sh`.\n-- deploy/scripts/a.sh\n#!/bin/sh\n", "deploy/scripts/a.sh:1:1 SCR002 warning the skill calls the script by its path, but the script is not executable"},
		{"mentioned in a span", body + "See `scripts/a.sh`.\n-- deploy/scripts/a.sh\n#!/bin/sh\n", ""},
		{"called in a block", body + "```bash\ncd x && FOO=1 \"${CLAUDE_SKILL_DIR}/scripts/a.sh\" --x\n```\n-- deploy/scripts/a.sh\n#!/bin/sh\n", "deploy/scripts/a.sh:1:1 SCR002 warning the skill calls the script by its path, but the script is not executable"},
		{"called by the path of an installed skill", body + "```\n~/.agents/skills/deploy/scripts/a.py\n```\n-- deploy/scripts/a.py\nx\n", "deploy/SKILL.md:6:1 REF006 note the path works only if the skill is installed in ~/.agents/skills/deploy\ndeploy/scripts/a.py:1:1 SCR001 warning the skill calls the script by its path, but the script does not have a shebang"},
		{"given to an interpreter", body + "```bash\npython scripts/a.py\n```\n-- deploy/scripts/a.py\nx\n", ""},
		{"in a drawing", body + "```\n| scripts/a.py  (stage 2) |\n```\n-- deploy/scripts/a.py\nx\n", ""},
		{"in text with spans", body + "```\n`scripts/a.py` (old)\n```\n-- deploy/scripts/a.py\nx\n", ""},
		{"an output", body + "```\ncat x \\\n  > scripts/a.py\n```\n-- deploy/scripts/a.py\nx\n", ""},
		{"a module in a list of files", body + "```\nscripts/__init__.py   # the version\n```\n-- deploy/scripts/__init__.py\nx\n", ""},
		{"in a changelog", body + "See [changes](CHANGELOG.md).\n-- deploy/CHANGELOG.md\n- New: `scripts/a.py --all`\n-- deploy/scripts/a.py\nx\n", ""},
		{"data that is not JSON", body + "Run.\n-- deploy/assets/plan.json\n{\n", "deploy/assets/plan.json:1:1 SCR009 warning this { is not closed"},
		{"data in a directory of tests", body + "Run.\n-- deploy/tests/plan.json\n{\n", ""},
		{"data for a test", body + "Run.\n-- deploy/assets/malformed-plan.json\n{\n", ""},
		{"data that is not YAML", body + "Run.\n-- deploy/assets/plan.yaml\n[a] b\n", "deploy/assets/plan.yaml:1:5 SCR010 warning expected a document: start the document with the line ---"},
		{"keys of a template", body + "Run.\n-- deploy/assets/vars.yaml\n[role_name]_port: [port]\n", ""},
		{"executable without a shebang", body + "Run.\n-- deploy/scripts/a.py 755\nx\n", "deploy/scripts/a.py:1:1 SCR001 note the script is executable, but does not have a shebang"},
		{"shell library", body + "Run.\n-- deploy/scripts/a.sh\nx\n", "deploy/scripts/a.sh:1:1 SCR001 note the script does not have a shebang"},
		{"module", body + "Run.\n-- deploy/scripts/a.py\nx\n", ""},
		{"native", body + "Run.\n-- deploy/scripts/a 755\n\x7fELF\x00\n", ""},
		{"carriage return, interpreted", body + "Run.\n-- deploy/scripts/a.py 755\n#!/bin/py\r\n", "deploy/scripts/a.py:1:10 SCR003 note the shebang ends with a carriage return"},
		{"carriage return, by a script", body + "Run.\n-- deploy/a.sh 755\n#!/bin/sh\n\"$DIR\"/b.py\n-- deploy/b.py 755\n#!/bin/py\r\n", "deploy/b.py:1:10 SCR003 error the shebang ends with a carriage return"},
		{"carriage return in a shell script", body + "Run.\n-- deploy/scripts/a.sh 755\n#!/bin/sh\r\n", "deploy/scripts/a.sh:1:10 SCR007 warning the line ends with a carriage return"},
		{"carriage return", body + "Run `./scripts/a.sh`.\n-- deploy/scripts/a.sh 755\n#!/bin/sh\r\n", "deploy/scripts/a.sh:1:10 SCR003 error the shebang ends with a carriage return"},
		{"byte order mark, interpreted", body + "Run.\n-- deploy/scripts/a.py 755\n\ufeff#!/bin/py\n", "deploy/scripts/a.py:1:1 SCR004 note the script has a byte order mark before the shebang"},
		{"byte order mark", body + "Run `./scripts/a.sh`.\n-- deploy/scripts/a.sh 755\n\ufeff#!/bin/sh\n", "deploy/scripts/a.sh:1:1 SCR004 error the script has a byte order mark before the shebang"},
		{"second line", body + "Run.\n-- deploy/scripts/a.py\n# hello\n#!/usr/bin/python\n", "deploy/scripts/a.py:2:1 SCR005 warning the shebang is not on the first line"},
		{"relative interpreter", body + "Run.\n-- deploy/scripts/a.py 755\n#!python3\n", "deploy/scripts/a.py:1:3 SCR006 warning the shebang does not contain an absolute path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, tree(tt.tree))
			compare(t, got, tt.want)
		})
	}
}

func TestStructure(t *testing.T) {
	tests := []struct{ name, tree, want string }{
		{"another case", "-- deploy/Skill.md\n" + head + "Do.\n", "deploy/Skill.md:0:0 STR001 error Skill.md must be named SKILL.md"},
		{"a page of that name", "-- deploy/SKILL.md\n" + head + "Do.\n-- deploy/docs/skill.md\n---\ntitle: Skills\n---\n", ""},
		{
			"nested", "-- deploy/SKILL.md\n" + head + "Do.\n-- deploy/sub/inner/SKILL.md\n---\nname: inner\ndescription: z\n---\nDo.\n",
			"deploy/SKILL.md:0:0 STR006 warning deploy/sub/inner/SKILL.md belongs to the skill deploy and is not installed as a separate skill",
		},
		{"nested with an error", "-- deploy/SKILL.md\n" + head + "Do.\n-- deploy/inner/SKILL.md\n---\nname: inner\n---\nDo.\n", `
			deploy/SKILL.md:0:0 STR006 warning deploy/inner/SKILL.md belongs to the skill deploy and is not installed as a separate skill
			deploy/inner/SKILL.md:1:1 FM010 error description is missing`},
		{
			"nested examples", "-- deploy/SKILL.md\n" + head + "Do.\n-- deploy/tests/a/SKILL.md\n---\nname: A\n---\nDo.\n" +
				"-- deploy/tests/b/SKILL.md\nDo.\n",
			"deploy/SKILL.md:0:0 STR018 note skillpm does not validate 2 skills, for example the skill in tests/a",
		},
		{
			"another case without frontmatter", "-- deploy/SKILL.md\n" + head + "Do.\n-- other/skill.md\n# Other\n",
			"other/skill.md:0:0 STR001 warning skill.md is not read as a skill, because its name is not SKILL.md",
		},
		{"another case among pages", "-- deploy/SKILL.md\n" + head + "Do.\n-- other/skill.md\n# Skill\n-- other/pack.md\n# Pack\n", ""},
		{
			"only another case without frontmatter", "-- other/skill.md\n# Other\n",
			"other/skill.md:0:0 STR001 warning skill.md is not read as a skill, because its name is not SKILL.md",
		},
		{"links", "-- deploy/SKILL.md\n" + head + "Do.\n-- deploy/x.md link\n/etc/passwd", "deploy/x.md:0:0 STR007 error x.md is a symbolic link"},
		{"a link as SKILL.md", "-- deploy/SKILL.md link\n../secret.txt\n-- secret.txt\nTOKEN=1\n", `
			deploy/SKILL.md:0:0 STR007 error SKILL.md is a symbolic link
			deploy/SKILL.md:0:0 STR009 error SKILL.md is not a regular file`},
		{"leftovers", "-- deploy/SKILL.md\n" + head + "Do.\n-- deploy/a.md~\n-- deploy/.env\n-- deploy/.DS_Store\n-- deploy/node_modules/x/SKILL.md\nx\n-- deploy/.git/config\n", `
			deploy/.DS_Store:0:0 STR008 note skillpm does not publish .DS_Store with the skill
			deploy/.env:0:0 STR008 warning an editor or a tool created .env, or the file contains settings for one machine 
			deploy/a.md~:0:0 STR008 warning an editor or a tool created a.md~, or the file contains settings for one machine 
			deploy/node_modules:0:0 STR008 note skillpm does not publish node_modules with the skill`},
		{"an unsafe name", "-- deploy/SKILL.md\n" + head + "Do.\n-- deploy/aux.md\nx\n", `deploy/aux.md:0:0 STR011 error entry "aux.md" has the name of a Windows device`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, tree(tt.tree))
			compare(t, got, tt.want)
		})
	}
}

// TestCheckScript covers row M1 of the specification: which scripts an interpreter checks, and where its findings are.
func TestCheckScript(t *testing.T) {
	fsys := tree("-- deploy/SKILL.md\n" + head + "See a.py, b.ts, c.py, d.py, e.txt, and f.js.\n" +
		"-- deploy/a.py\nx = 1\nprint(\n-- deploy/b.ts\nlet x (\n-- deploy/c.py\n#!/usr/bin/env python2\nprint (1\n" +
		"-- deploy/d.py\nx = f({{ name }}\n-- deploy/e.txt\n(\n-- deploy/f.js\nf()\n")
	var checked []string
	check := func(name string, text []byte) *lint.ScriptProblem {
		checked = append(checked, name)
		p := unclosed(name, text)
		if name == "a.py" {
			p.Line, p.Column = 2, 6
		}
		return p
	}
	r, err := lint.Run(context.Background(), fsys, []string{"."}, lint.Options{Parallel: 1, CheckScript: check})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.py", "b.ts", "d.py", "f.js"}; !slices.Equal(checked, want) {
		t.Errorf("checked %v, want %v", checked, want)
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f diag.Finding) bool { return f.Rule == "SEC201" })
	compare(t, format(r), `
		deploy/a.py:2:6 SCR011 warning a parenthesis is not closed
		deploy/b.ts:1:1 SCR012 warning a parenthesis is not closed`)
}

// sealed is a file system with unreadable directories and files.
type sealed struct {
	fstest.MapFS
	closed []string
}

func (s sealed) Open(name string) (fs.File, error) {
	if slices.Contains(s.closed, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return s.MapFS.Open(name)
}

func (s sealed) ReadDir(name string) ([]fs.DirEntry, error) {
	if slices.Contains(s.closed, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return s.MapFS.ReadDir(name)
}

// TestUnreadable checks that an unreadable file is a finding, and hides no others.
func TestUnreadable(t *testing.T) {
	fsys := sealed{
		tree("-- a/SKILL.md\nx\n-- deploy/SKILL.md\n" + head + "[x](more/x.md) [y](y.md) [z](z.md)\n-- deploy/more/x.md\nx\n-- deploy/y.md\nx\n-- shut/SKILL.md\nx\n"),
		[]string{"a/SKILL.md", "deploy/more", "deploy/y.md", "shut"},
	}
	got, _ := run(t, fsys)
	compare(t, got, `
		a/SKILL.md:0:0 STR009 error cannot read the file: permission denied
		deploy/SKILL.md:5:30 REF001 error z.md does not exist
		deploy/more:0:0 STR009 error cannot read the directory: permission denied
		deploy/y.md:0:0 STR009 error cannot read the file: permission denied
		shut:0:0 STR009 error cannot read the directory: permission denied`)

	got, _ = run(t, sealed{tree("-- shut/SKILL.md\nx\n"), []string{"shut"}}) // and no lack of skills
	compare(t, got, `shut:0:0 STR009 error cannot read the directory: permission denied`)
}

func TestPack(t *testing.T) {
	skills := "-- a/deploy/SKILL.md\n" + head + "Do.\n-- b/deploy/SKILL.md\n" + head + "Do.\n"
	got, _ := run(t, tree(skills))
	compare(t, got, `b/deploy/SKILL.md:2:7 PACK001 warning the skill in a/deploy/SKILL.md already has the name "deploy"`)
	got, _ = run(t, tree(skills+"-- skillpm.yaml\nname: a/b\n"))
	compare(t, got, `b/deploy/SKILL.md:2:7 PACK001 error the skill in a/deploy/SKILL.md already has the name "deploy"`)
	got, _ = run(t, tree(skills+"-- a/skillpm.yaml\nname: a/a\n-- b/skillpm.yaml\nname: a/b\n"))
	compare(t, got, "")
	got, _ = run(t, tree("-- deploy/SKILL.md\n"+head+"Do.\n-- other/SKILL.md\n"+strings.Replace(head, "name: deploy", "name: other", 1)+"Do.\n"))
	compare(t, got, `other/SKILL.md:3:14 PACK002 warning the description is the same as the description in deploy/SKILL.md`)
}

// TestSeveralProfiles checks S3: one run reports for which of several agents a finding applies.
func TestSeveralProfiles(t *testing.T) {
	got, r := run(t, tree("-- deploy/SKILL.md\n---\nname: deploy\ndescription: x\nallowed-tools: [Read]\nlicense: 3\nwhatever: 1\n---\n[x](no.md)\n"), "agentskills", "claude-code", "pegasus")
	compare(t, got, `
		deploy/SKILL.md:4:16 FM013 error allowed-tools must be text, not a list (pegasus)
		deploy/SKILL.md:4:16 FM019 warning allowed-tools must be text, not a list (agentskills)
		deploy/SKILL.md:5:1 FM012 note "license" has no effect in Pegasus; it is a field of agentskills, claude-code (pegasus)
		deploy/SKILL.md:5:10 FM013 error license must be text, not a number (agentskills,claude-code)
		deploy/SKILL.md:6:1 FM011 warning "whatever" is not a field of Agent Skills (agentskills.io), Claude Code, Pegasus
		deploy/SKILL.md:8:5 REF001 error no.md does not exist`)
	if !slices.Equal(r.Profiles, []string{"agentskills", "claude-code", "pegasus"}) {
		t.Errorf("got %q", r.Profiles)
	}
}

func TestTargets(t *testing.T) {
	fsys := tree("-- p/skills/deploy/SKILL.md\n" + head + "Do.\n-- p/skills/deploy/scripts/a.py\nx\n-- p/README.md\nx\n-- .skillpm/plugins/a/b/c/SKILL.md\nx\n" +
		"-- .skillpm/skills/own/SKILL.md\n---\nname: own\ndescription: y\n---\nDo.\n-- empty/x\n")
	tests := []struct {
		targets string
		want    string // the skills, or the error
	}{
		{".", ".skillpm/skills/own p/skills/deploy"},
		{"p/skills/deploy/SKILL.md", "p/skills/deploy"},
		{"p/skills/deploy p/skills p", "p/skills/deploy"},
		{"p/skills/deploy/scripts/a.py", "p/skills/deploy"},
		{"empty", "no SKILL.md found in empty"},
		{"no", "no does not exist"},
		{"p no", "no does not exist"},
	}
	for _, tt := range tests {
		r, err := lint.Run(context.Background(), fsys, strings.Fields(tt.targets), lint.Options{})
		got := strings.Join(r.Skills, " ")
		if err != nil {
			got = err.Error()
			if diag.CodeOf(err) != diag.NotFound {
				t.Errorf("%s: code %v", tt.targets, diag.CodeOf(err))
			}
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.targets, got, tt.want)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := lint.Run(ctx, tree("-- deploy/SKILL.md\n"+head), []string{"."}, lint.Options{})
	if diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("got %v", err)
	}
}

// TestParallelIsTheSame checks that the same input gives the same report with any number of workers.
func TestParallelIsTheSame(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range 50 {
		maps.Copy(fsys, fstest.MapFS{fmt.Sprintf("s%d/SKILL.md", i): {Data: []byte(head + "[x](no.md) [y](../s1/no.md)\n")}})
	}
	want, _ := run(t, fsys)
	for _, n := range []int{1, 2, 16} {
		r, err := lint.Run(context.Background(), fsys, []string{"."}, lint.Options{Parallel: n})
		if err != nil || len(r.Findings) != len(want) {
			t.Fatalf("%d workers: %d findings, want %d, %v", n, len(r.Findings), len(want), err)
		}
		for i, f := range r.Findings {
			if !strings.HasPrefix(want[i], fmt.Sprintf("%s:%d:%d %s", f.Path, f.Line, f.Column, f.Rule)) {
				t.Errorf("%d workers: finding %d is %v, want %s", n, i, f, want[i])
			}
		}
	}
}

// TestRules checks that every rule has all its texts and a unique id, and that the table is sorted by id.
func TestRules(t *testing.T) {
	last := ""
	for _, r := range rule.All() {
		if r.ID <= last || r.Title == "" || r.Why == "" || r.Fix == "" {
			t.Errorf("%+v after %s", r, last)
		}
		last = r.ID
		if found, ok := rule.Lookup(strings.ToLower(r.ID)); !ok || found != r {
			t.Errorf("Lookup(%q) = %v", r.ID, found)
		}
	}
}

// TestPipe checks that special files with a skill's file name are not opened, because a pipe would block forever.
func TestPipe(t *testing.T) {
	fsys := fstest.MapFS{
		"deploy/SKILL.md": {Mode: fs.ModeNamedPipe | 0o644},
		"deploy/a.md":     {Mode: fs.ModeNamedPipe | 0o644},
	}
	got, _ := run(t, fsys)
	compare(t, got, `
		deploy/SKILL.md:0:0 STR007 error SKILL.md is neither a file nor a directory
		deploy/SKILL.md:0:0 STR009 error SKILL.md is not a regular file
		deploy/a.md:0:0 STR007 error a.md is neither a file nor a directory`)
}

// TestBounds checks that a finding that occurs a hundred thousand times is reported only a limited number of times.
func TestBounds(t *testing.T) {
	for name, front := range map[string]string{
		"broken fields":   "name: deploy\ndescription: D.\n" + strings.Repeat("a: b: c\n", 20_000),
		"unknown fields":  "name: deploy\ndescription: D.\n" + numberedLines(20_000, "field%d: x\n"),
		"metadata":        "name: deploy\ndescription: D.\nmetadata:\n" + numberedLines(20_000, "  field%d: 1\n"),
		"a single field":  strings.Repeat("a: b\n", 50_000),
		"suppressions":    "name: deploy\ndescription: D.\n" + strings.Repeat("# skillpm-ignore X: y\n", 20_000),
		"huge and broken": "name: deploy\ndescription: D.\n" + strings.Repeat("a: [\n", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := run(t, tree("-- deploy/SKILL.md\n---\n"+front+"---\nText\n"))
			if len(got) == 0 || len(got) > 3000 {
				t.Errorf("%d findings", len(got))
			}
		})
	}
}

func numberedLines(n int, line string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()
}
