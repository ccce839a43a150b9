package lsp_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// cursor returns the position of the mark that stands for the cursor in a text.
const cursor = "‸"

// place opens a file with a text that has a cursor, and returns the cursor's position.
func (e *editor) place(name, marked string) protocol.TextDocumentPositionParams {
	e.t.Helper()
	before, after, ok := strings.Cut(marked, cursor)
	if !ok {
		e.t.Fatalf("no cursor in %q", marked)
	}
	e.open(name, before+after)
	line := before[strings.LastIndex(before, "\n")+1:]
	units := 0
	for _, r := range line {
		units++
		if r > 0xFFFF {
			units++
		}
	}
	return protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(name)},
		Position:     protocol.Position{Line: uint32(strings.Count(before, "\n")), Character: uint32(units)},
	}
}

func (e *editor) hover(name, marked string) *protocol.Hover {
	e.t.Helper()
	var h *protocol.Hover
	e.call(protocol.MethodTextDocumentHover, protocol.HoverParams{TextDocumentPositionParams: e.place(name, marked)}, &h)
	return h
}

func (e *editor) complete(name, marked string) []protocol.CompletionItem {
	e.t.Helper()
	var list protocol.CompletionList
	e.call(protocol.MethodTextDocumentCompletion, protocol.CompletionParams{TextDocumentPositionParams: e.place(name, marked)}, &list)
	return list.Items
}

func labels(items []protocol.CompletionItem) []string {
	var out []string
	for _, i := range items {
		out = append(out, i.Label)
	}
	return out
}

func TestHover(t *testing.T) {
	e := newEditor(t, map[string]string{"skills/demo/scripts/a.sh": "#!/bin/sh\n"}, "", `{"profiles": ["agentskills", "omniforge"]}`)
	const skill, manifest = "skills/demo/SKILL.md", "skillpm.yaml"
	for _, tt := range []struct {
		name, file, text string
		want             []string // "" alone for no hover
		where            string
	}{
		{"a key", skill, "---\nna‸me: x\n---\n", []string{"**Name** (`name`), required", "1 to 64 characters", "`code-review`", "Profiles with this field: agentskills, claude-code"}, "1:0-1:4"},
		{"a value", skill, "---\nname: \"demo‸\" # x\n---\n", []string{"**Name**"}, "1:7-1:11"},
		{"two hosts that differ", skill, "---\nallowed-tools: x‸\n---\n", []string{"separated by spaces", "For agentskills.", "Type: list of strings", "For omniforge."}, "1:15-1:16"},
		{"values to choose from", skill, "---\ncontext: fork‸\n---\n", []string{"One of: `inherit`, `fork`", "Default: `inherit`"}, "1:9-1:13"},
		{"a nested key", skill, "---\nhooks:\n  pr‸e: x\n---\n", []string{"**Before** (`pre`)"}, "2:2-2:5"},
		{"an item", skill, "---\ntags:\n  - ‸deploy\n---\n", []string{"**Tags**", "Categories."}, ""},
		{"a key of another host", skill, "---\nwhen_to_use‸: x\n---\n", []string{"More text about when to use the skill", "Profiles with this field: claude-code."}, "1:0-1:11"},
		{"a list's entry", skill, "---\nfiles:\n  - path: x\n    desc‸ription: y\n---\n", []string{"Content of the file", "toolset"}, "3:4-3:15"},
		{"text over lines", skill, "---\ndescription: |\n  Some 😀 te‸xt\n---\n", []string{"**Description**"}, "2:0-2:14"},
		{"frontmatter that is not closed", skill, "---\nname: x\ndescri‸ption: y\n", []string{"**Description**"}, "2:0-2:11"},
		{"invalid YAML", skill, "---\nna‸me: x: y: [\n  - {\n---\n", []string{"**Name**"}, "1:0-1:4"},
		{"an unknown key", skill, "---\nnothing‸: x\n---\n", []string{""}, ""},
		{"a comment", skill, "---\n# name‸: x\n---\n", []string{""}, ""},
		{"the fence", skill, "---‸\nname: x\n---\n", []string{""}, ""},
		{"the body", skill, "---\nname: x\n---\nname‸: x\n", []string{""}, ""},
		{"a file without frontmatter", skill, "name‸: x\n", []string{""}, ""},
		{"a rule", skill, "---\nname: x\n---\n<!-- skillpm-ignore FM001, REF0‸01: because -->\n", []string{"**REF001** broken reference (error)", "Fix: "}, "3:27-3:33"},
		{"a rule in a script", "skills/demo/scripts/a.sh", "#!/bin/sh\n# skillpm-ignore-file SEC10‸1: because\n", []string{"**SEC101**"}, "1:22-1:28"},
		{"no rule", skill, "---\nname: x\n---\n<!-- skillpm-ignore REF001: like REF0‸02 -->\n", []string{""}, ""},
		{"the manifest", manifest, "dependencies‸:\n", []string{"**Dependencies**", "Required packs"}, "0:0-0:12"},
		{"a dependency", manifest, "dependencies:\n  acme/x:\n    vers‸ion: \"^1\"\n", []string{"**Range of versions**"}, "2:4-2:11"},
		{"another YAML file", "other.yaml", "name‸: x\n", []string{""}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := e.hover(tt.file, tt.text)
			if tt.want[0] == "" {
				if h != nil {
					t.Errorf("got %q", h.Contents.Value)
				}
				return
			}
			if h == nil {
				t.Fatal("no hover")
			}
			for _, want := range tt.want {
				if !strings.Contains(h.Contents.Value, want) {
					t.Errorf("got %q, want %q in it", h.Contents.Value, want)
				}
			}
			if got := at(*h.Range); tt.where != "" && got != tt.where {
				t.Errorf("got %s, want %s", got, tt.where)
			}
			if h.Contents.Kind != protocol.Markdown {
				t.Errorf("got %s", h.Contents.Kind)
			}
		})
	}
}

// TestHoverPlain checks that a client that shows plain text receives plain text.
func TestHoverPlain(t *testing.T) {
	e := newEditor(t, nil, `{}`, "")
	h := e.hover("demo/SKILL.md", "---\nna‸me: x\n---\n")
	if h == nil || h.Contents.Kind != protocol.PlainText || strings.ContainsAny(h.Contents.Value, "*`") {
		t.Errorf("got %+v", h)
	}
}

func TestComplete(t *testing.T) {
	e := newEditor(t, map[string]string{
		"skills/demo/references/a guide.md": "# Guide\n", "skills/demo/scripts/run.sh": "#!/bin/sh\n", "skills/demo/LICENSE.txt": "x\n",
		"skills/demo/node_modules/x.md": "x\n", "skills/demo/.hidden": "x\n", "other.md": "x\n",
	}, "", `{"profiles": ["claude-code", "toolset", "omniforge"]}`)
	const skill, guide, manifest = "skills/demo/SKILL.md", "skills/demo/references/a guide.md", "skillpm.yaml"
	for _, tt := range []struct {
		name, file, text string
		first            []string // the first labels, all of them if the last is "."
		without          string   // a label that must not be there
		insert           string   // what the first inserts
		where            string
	}{
		{"keys", skill, "---\n‸\n---\n", []string{"name", "description", "when_to_use"}, "---", "name: ", "1:0-1:0"},
		{"keys that are missing", skill, "---\nname: x\n‸\ndescription: y\n---\n", []string{"when_to_use"}, "name", "when_to_use: ", "2:0-2:0"},
		{"a key being typed", skill, "---\nname: x\ndesc‸\n", []string{"description"}, "name", "description: ", "2:0-2:4"},
		{"a key that is there", skill, "---\nna‸: x\n---\n", []string{"name"}, "", "name", "1:0-1:2"},
		{"a list's key", skill, "---\ntag‸\n---\n", []string{"name"}, "", "name: ", "1:0-1:3"},
		{"nested keys", skill, "---\nexecution:\n  ‸\n---\n", []string{"sandbox", "allowed-paths", "network", "."}, "", "sandbox: ", "2:2-2:2"},
		{"nested keys in text", skill, "---\ndescription: |\n  ‸x\n---\n", nil, "", "", ""},
		{"none in metadata", skill, "---\nmetadata:\n  ‸\n---\n", nil, "", "", ""},
		{"keys of an item", skill, "---\nfiles:\n  - p‸\n---\n", []string{"path", "description", "."}, "", "path: ", "2:4-2:5"},
		{"more keys of an item", skill, "---\nfiles:\n  - path: x\n    ‸\n---\n", []string{"description", "."}, "", "description: ", "3:4-3:4"},
		{"values to choose from", skill, "---\neffort: ‸\n---\n", []string{"low", "medium", "high", "xhigh", "max", "."}, "", "low", "1:8-1:8"},
		{"values of two hosts", skill, "---\ncontext: fo‸\n---\n", []string{"inline", "fork", "inherit", "."}, "", "inline", "1:9-1:11"},
		{"true and false", skill, "---\nuser-invocable:‸\n---\n", []string{"true", "false", "."}, "", " true", "1:15-1:15"},
		{"the directory's name", skill, "---\nname: ‸\n---\n", []string{"demo"}, "", "demo", "1:6-1:6"},
		{"the licence's file", skill, "---\nlicense: ‸\n---\n", []string{"LICENSE.txt"}, "", "LICENSE.txt", "1:9-1:9"},
		{"tools", skill, "---\nallowed-tools: Read Gr‸\n---\n", []string{"Bash"}, "Read", "Bash", "1:20-1:22"},
		{"tools in a list", skill, "---\nallowed-tools:\n  - ‸\n---\n", []string{"Bash"}, "", "Bash", "2:4-2:4"},
		{"tools in a list on one line", skill, "---\nallowed-tools: [Read, B‸]\n---\n", []string{"Bash"}, "", "Bash", "1:22-1:23"},
		{"listed files", skill, "---\nfiles:\n  - path: re‸\n---\n", []string{"LICENSE.txt", "references/a guide.md", "scripts/run.sh", "templates/function.py", "."}, "", "LICENSE.txt", "2:10-2:12"},
		{"files that are listed already", skill, "---\nfiles:\n  - path: LICENSE.txt\n  - path: ‸\n---\n", []string{"references/a guide.md"}, "LICENSE.txt", "references/a guide.md", "3:10-3:10"},
		{"a hook's script", skill, "---\nhooks:\n  pre: ‸\n---\n", []string{"scripts/run.sh"}, "LICENSE.txt", "scripts/run.sh", "2:7-2:7"},
		{"in quotes", skill, "---\nmodel: \"op‸\"\n---\n", []string{"inherit"}, "", "inherit", "1:8-1:10"},
		{"nothing in a comment", skill, "---\n# ‸\n---\n", nil, "", "", ""},
		{"an empty file", skill, "‸", []string{"---", "."}, "", "---\nname: demo\ndescription: \n---\n", "0:0-0:0"},
		{"links", skill, "---\nname: demo\n---\nSee [x](‸\n", []string{"LICENSE.txt", "references/a guide.md", "scripts/run.sh", "."}, "", "LICENSE.txt", "3:8-3:8"},
		{"links, after an emoji", skill, "---\nname: demo\n---\n😀 [x](ref‸) and more\n", []string{"LICENSE.txt"}, "", "LICENSE.txt", "3:7-3:10"},
		{"links in brackets", skill, "---\nname: demo\n---\n[x](<‸>)\n", []string{"LICENSE.txt", "references/a guide.md"}, "", "LICENSE.txt", "3:5-3:5"},
		{"definitions", skill, "---\nname: demo\n---\n[x]: ‸\n", []string{"LICENSE.txt"}, "", "LICENSE.txt", "3:5-3:5"},
		{"links of another file", guide, "[x](‸)\n", []string{"../LICENSE.txt", "../SKILL.md", "../scripts/run.sh", "."}, "", "../LICENSE.txt", "0:4-0:4"},
		{"no links after a link", skill, "---\nname: demo\n---\n[x](a.md) ‸\n", nil, "", "", ""},
		{"no links in code", skill, "---\nname: demo\n---\n```\n[x](‸\n```\n", nil, "", "", ""},
		{"no links outside of skills", "other.md", "[x](‸)\n", nil, "", "", ""},
		{"rules", skill, "---\nname: demo\n---\n<!-- skillpm-ignore RE‸ -->\n", []string{"FM001"}, "", "FM001", "3:20-3:22"},
		{"no rules in the reason", skill, "---\nname: demo\n---\n<!-- skillpm-ignore REF001: RE‸ -->\n", nil, "", "", ""},
		{"the manifest's keys", manifest, "name: a/b\n‸\n", []string{"version", "description"}, "name", "version: ", "1:0-1:0"},
		{"a dependency's keys", manifest, "dependencies:\n  acme/x:\n    ‸\n", []string{"version", "oci"}, "", "version: ", "2:4-2:4"},
		{"agents", manifest, "agents:\n  - cl‸\n", agent.IDs(), "", agent.IDs()[0], "1:4-1:6"},
		{"the manifest's values", manifest, "link-mode: ‸\n", []string{"symlink", "copy", "hardlink", "."}, "null", "symlink", "0:11-0:11"},
		{"a range of versions", manifest, "dependencies:\n  acme/x: ‸\n", []string{"^1.2"}, "", "^1.2", "1:10-1:10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			items := e.complete(tt.file, tt.text)
			got := labels(items)
			want := tt.first
			if len(want) > 0 && want[len(want)-1] == "." {
				want = want[:len(want)-1]
			} else if len(want) > 0 {
				got = got[:min(len(got), len(want))]
			}
			equal(t, "labels", got, want)
			if slices.Contains(labels(items), tt.without) {
				t.Errorf("%s is among %v", tt.without, labels(items))
			}
			if len(items) == 0 || t.Failed() {
				return
			}
			if items[0].TextEdit.NewText != tt.insert || at(items[0].TextEdit.Range) != tt.where {
				t.Errorf("got %q at %s, want %q at %s", items[0].TextEdit.NewText, at(items[0].TextEdit.Range), tt.insert, tt.where)
			}
		})
	}
}

// TestCompleteSnippets checks that keys with few values offer them at once, if the client supports it.
func TestCompleteSnippets(t *testing.T) {
	e := newEditor(t, nil, `{"textDocument": {"completion": {"completionItem": {"snippetSupport": true, "documentationFormat": ["markdown"]}}}}`, `{"profiles": ["claude-code"]}`)
	for _, i := range e.complete("demo/SKILL.md", "---\n‸\n---\n") {
		switch i.Label {
		case "effort":
			if want := "effort: ${1|low,medium,high,xhigh,max|}"; i.TextEdit.NewText != want || i.InsertTextFormat != protocol.InsertTextFormatSnippet {
				t.Errorf("got %q, want %q", i.TextEdit.NewText, want)
			}
		case "paths":
			if i.InsertTextFormat != protocol.InsertTextFormatPlainText {
				t.Errorf("got %+v", i)
			}
		}
	}
}

func TestDocumentLinks(t *testing.T) {
	e := newEditor(t, map[string]string{
		"skills/demo/references/a guide.md": "# Guide\n\n## Über uns, and more\n", "skills/demo/scripts/run.sh": "#!/bin/sh\n",
		"skills/other/SKILL.md": front, "packs/x/skillpm.yaml": "name: a/x\n",
	}, "", "")
	const skill, guide = "skills/demo/SKILL.md", "skills/demo/references/a guide.md"
	const run, other = "skills/demo/scripts/run.sh", "skills/other/SKILL.md"
	for _, tt := range []struct{ name, file, text, want string }{
		{"a link", skill, "[a](scripts/run.sh)\n", "0:4-0:18 " + run},
		{"two links, after an emoji", skill, "😀 [a](scripts/run.sh) [b](../other/SKILL.md \"title\")\n", "0:7-0:21 " + run + ", 0:27-0:44 " + other},
		{"a directory", skill, "[a](../other)\n", "0:4-0:12 " + other},
		{"escapes", skill, "[a](references/a%20guide.md)\n", "0:4-0:27 " + guide},
		{"brackets", skill, "[a](<references/a guide.md>)\n", "0:5-0:26 " + guide},
		{"a heading", skill, "[a](references/a%20guide.md#%C3%BCber-uns-and-more)\n", "0:4-0:50 " + guide + "#L3"},
		{"a heading of the file", skill, "# One\n\n## Two\n\n[a](#two)\n", "4:4-4:8 " + skill + "#L3"},
		{"a definition", skill, "[a]\n\n[a]: scripts/run.sh\n", "2:5-2:19 " + run},
		{"an image", skill, "![a](scripts/run.sh)\n", "0:5-0:19 " + run},
		{"a path in code", skill, "Run `scripts/run.sh --all`.\n", "0:5-0:19 " + run},
		{"from the skill's directory", guide, "Run `scripts/run.sh`.\n", "0:5-0:19 " + run},
		{"a listed file", skill, "---\nfiles:\n  - path: \"references/a guide.md\"\n---\n", "2:11-2:32 " + guide},
		{"a hook with arguments", skill, "---\nhooks:\n  pre: scripts/run.sh --check\n---\n", "2:7-2:21 " + run},
		{"text over lines", skill, "---\ndescription: |\n  See scripts/run.sh now\n---\n", "2:6-2:20 " + run},
		{"a dependency", "skillpm.yaml", "dependencies:\n  a/x: {path: ./packs/x}\n", "1:14-1:23 packs/x/skillpm.yaml"},
		{"a file that is not there", skill, "[a](scripts/none.sh)\n", ""},
		{"a URL", skill, "[a](https://example.com/scripts/run.sh)\n", ""},
		{"an absolute path", skill, "[a](/etc/passwd)\n", ""},
		{"a fenced block", skill, "```\n[a](scripts/run.sh)\n```\n", ""},
		{"nothing", skill, "\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e.open(tt.file, tt.text)
			var links []protocol.DocumentLink
			e.call(protocol.MethodTextDocumentDocumentLink, protocol.DocumentLinkParams{
				TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(tt.file)},
			}, &links)
			var got []string
			for _, l := range links {
				file, _ := url.PathUnescape(strings.TrimPrefix(string(l.Target), string(e.uri("."))+"/"))
				got = append(got, at(l.Range)+" "+file)
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
