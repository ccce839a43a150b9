package lsp_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

func TestDiagnostics(t *testing.T) {
	e := newEditor(t, map[string]string{
		demo:                   front + "\n# Demo\n\nSee [the guide](guide.md).\n",
		"skills/demo/guide.md": "# Guide\n\nSee [x](gone.md).\n",
	}, `{"textDocument": {"publishDiagnostics": {"codeDescriptionSupport": true}}}`, "")
	e.open(demo, front+"\n# Demo\n\n😀 [the guide](guide.md), [y](none.md).\n")
	p := e.publish(demo)
	if len(p.Diagnostics) != 1 {
		t.Fatalf("got %+v", p.Diagnostics)
	}
	d := p.Diagnostics[0]
	if d.Code != "REF001" || at(d.Range) != "7:30-7:37" || d.Severity != protocol.DiagnosticSeverityError || d.Source != "skillpm" ||
		!strings.HasPrefix(d.Message, "none.md does not exist") || d.CodeDescription == nil ||
		d.CodeDescription.Href != "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/REF001.md" {
		t.Errorf("got %+v", d)
	}
	if p.Version != 1 {
		t.Errorf("got version %d", p.Version)
	}
	// Files of the skill that are not open are checked, too.
	e.wait("findings in the guide", func() bool { return slices.Equal(e.lockedCodes("skills/demo/guide.md"), []string{"REF007"}) })
	// Unsaved text counts, and the findings that it fixes disappear.
	e.open(demo, front+"\n# Demo\n\nSee nothing.\n")
	equal(t, "codes", e.codes(demo), []string{})
	e.wait("the guide to be an orphan", func() bool { return !slices.Contains(e.lockedCodes("skills/demo/guide.md"), "REF007") })
	// A buffer counts for links from other files before it is saved.
	e.open("skills/demo/new.md", "# New\n")
	e.open(demo, front+"\n# Demo\n\nSee [new](new.md).\n")
	equal(t, "codes", e.codes(demo), []string{})
	e.close("skills/demo/new.md")
	e.wait("the link to break", func() bool { return slices.Equal(e.lockedCodes(demo), []string{"REF001"}) })
	// Without an open file there are no diagnostics.
	e.close(demo)
	e.wait("everything to be cleared", func() bool {
		for _, p := range e.shown {
			if len(p.Diagnostics) > 0 {
				return false
			}
		}
		return true
	})
}

// TestTeamRules checks that the rule files of a project count, and that changes of them do.
func TestTeamRules(t *testing.T) {
	rules := func(id string) string {
		return "rules:\n  - id: " + id + "\n    title: internal host\n    severity: warning\n    shapes:\n" +
			"      - about: the wiki\n        any: [wiki.acme.internal]\n        match: [\"wiki.acme.internal\\n\"]\n"
	}
	const page = front + "\n# Demo\n\nSee wiki.acme.internal.\n"
	e := newEditor(t, map[string]string{
		"skillpm.yaml": "validate: {rules-dir: rules}\n", "rules/acme.yaml": rules("ACME001"),
	}, "", "")
	e.open(demo, page)
	equal(t, "codes", e.codes(demo), []string{"ACME001"})
	e.write("rules/acme.yaml", rules("ACME002"))
	e.open(demo, page+"\n")
	e.wait("the changed rule", func() bool { return slices.Equal(e.lockedCodes(demo), []string{"ACME002"}) })
}

func TestPositionEncoding(t *testing.T) {
	const text = front + "\n# Demo\n\né😀 [y](none.md).\n"
	for encoding, want := range map[string]string{"utf-8": "7:11-7:18", "utf-16": "7:8-7:15", "utf-32": "7:7-7:14"} {
		e := newEditor(t, nil, `{"general": {"positionEncodings": ["x", "`+encoding+`", "utf-16"]}}`, "")
		e.open(demo, text)
		if got := at(e.publish(demo).Diagnostics[0].Range); got != want {
			t.Errorf("%s: got %s, want %s", encoding, got, want)
		}
	}
}

// TestNames uses names with spaces, accents, and characters that have a meaning in URIs.
func TestNames(t *testing.T) {
	e := newEditor(t, nil, "", "")
	const name = "my skills #1 – é/demo/SKILL.md"
	e.open(name, front+"\n# Demo\n\n[y](none.md)\n")
	equal(t, "codes", e.codes(name), []string{"REF001"})
}

func TestOutsideOfSkills(t *testing.T) {
	e := newEditor(t, map[string]string{"README.md": "# Read\n", "skills/demo/.git/x.md": "x\n"}, "", "")
	e.notify(protocol.MethodTextDocumentDidOpen, map[string]any{"textDocument": map[string]any{"uri": "untitled:x", "version": 1, "text": "[a](b)"}})
	e.open("README.md", "[a](gone.md)\n")
	e.open(demo, front+"\n# Demo\n\nText.\n")
	equal(t, "codes", e.codes(demo), []string{})
	if p, ok := e.shown[e.uri("README.md")]; ok {
		t.Errorf("got %+v", p)
	}
}

// TestNested checks a skill that contains other skills: all are checked, and every finding is shown once.
func TestNested(t *testing.T) {
	inner := "skills/demo/inner/SKILL.md"
	e := newEditor(t, map[string]string{demo: front + "\n# Demo\n\nText.\n"}, "", "")
	e.open(inner, "---\nname: inner\ndescription: Shows it.\n---\n\n# Inner\n\n[y](none.md)\n")
	if got := e.codes(inner); len(slices.DeleteFunc(got, func(c string) bool { return c != "REF001" })) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestProject(t *testing.T) {
	const tools = "---\nname: demo\ndescription: Shows it.\nallowed-tools: Read, Grep\nwhen_to_use: now\n---\n\n# Demo\n\n[y](none.md)\n"
	e := newEditor(t, map[string]string{"skillpm.yaml": "validate:\n  rules: {REF001: off}\n"}, "", "")
	e.open(demo, tools)
	equal(t, "rules of skillpm.yaml", e.codes(demo), []string{"FM019", "FM012"})
	// The unsaved text of the manifest counts.
	e.open("skillpm.yaml", "validate:\n  rules: {FM019: off, FM012: off}\n")
	e.wait("other rules", func() bool { return slices.Equal(e.lockedCodes(demo), []string{"REF001"}) })
	e.open("skillpm.yaml", "validate:\n  profiles: [claude-code]\n")
	e.wait("another profile", func() bool { return slices.Equal(e.lockedCodes(demo), []string{"REF001"}) })
	if items := labels(e.complete(demo, "---\n‸\n---\n")); !slices.Contains(items, "when_to_use") {
		t.Errorf("got %v", items)
	}
}

// TestOwnFiles checks that the files that describe packs are checked while the user types.
func TestOwnFiles(t *testing.T) {
	e := newEditor(t, nil, "", "")
	for _, tt := range []struct {
		name, text string
		want       []string // at which lines there is what
	}{
		{"skillpm.yaml", "name: x\nversoin: \"1\"\n", []string{"0:6 PACK005", "1:0 PACK005"}},
		{"skillpm.yaml", "validate:\n  rules: {REF01: off}\n  ignore:\n    - {path: a, rules: [NONE1], reason: x}\n", []string{"1:10 PACK005", "3:6 PACK005"}},
		{"skillpm.yaml", "name: acme/deploy\n", nil},
		{"skillpm.lock", "version: 99\n", []string{"0:9 PACK006"}},
		{".skillpm/policy.yaml", "version: 1\nmodus: enforce\n", []string{"1:0 PACK009"}},
	} {
		e.open(tt.name, tt.text)
		var got []string
		for _, d := range e.publish(tt.name).Diagnostics {
			got = append(got, fmt.Sprintf("%d:%d %s", d.Range.Start.Line, d.Range.Start.Character, d.Code))
		}
		equal(t, tt.name, got, tt.want)
	}
}

func TestConfiguration(t *testing.T) {
	const text = "---\nname: demo\ndescription: Shows it.\nwhen_to_use: now\n---\n\n# Demo\n\nText.\n"
	e := newEditor(t, nil, `{}`, `{"profiles": ["agentskills"]}`)
	e.open(demo, text)
	equal(t, "agentskills", e.codes(demo), []string{"FM012"})
	e.notify(protocol.MethodWorkspaceDidChangeConfiguration, map[string]any{"settings": map[string]any{"skillpm": map[string]any{"profiles": []string{"claude-code"}}}})
	e.wait("claude-code", func() bool { return len(e.lockedCodes(demo)) == 0 })
	e.notify(protocol.MethodWorkspaceDidChangeConfiguration, map[string]any{"settings": map[string]any{"profiles": []string{"claude-coed"}}})
	e.wait("a warning", func() bool {
		return slices.ContainsFunc(e.messages, func(m string) bool { return strings.Contains(m, `unknown profile "claude-coed"`) })
	})
	e.open(demo, text+"\n")
	equal(t, "still claude-code", e.codes(demo), []string{})
}

// TestConfigurationRequest checks that the server requests the configuration from clients that support it.
func TestConfigurationRequest(t *testing.T) {
	e := connectTo(t, `{"workspace": {"configuration": true, "didChangeWatchedFiles": {"dynamicRegistration": true}}}`, func(e *editor) {
		e.answer[protocol.MethodWorkspaceConfiguration] = func(params []byte) any {
			if !strings.Contains(string(params), `"section":"skillpm"`) {
				t.Errorf("asked for %s", params)
			}
			return []any{map[string]any{"profiles": []string{"claude-code"}}}
		}
	})
	e.open(demo, "---\nname: demo\ndescription: Shows it.\nwhen_to_use: now\n---\n\n# Demo\n\nText.\n")
	e.wait("claude-code", func() bool { p, ok := e.shown[e.uri(demo)]; return ok && len(p.Diagnostics) == 0 })
	e.wait("a registration", func() bool { return slices.Contains(e.calls, protocol.MethodClientRegisterCapability) })
}

// TestWatchedFiles checks that a new file on disk fixes the link to it, and that a new SKILL.md makes a skill.
func TestWatchedFiles(t *testing.T) {
	e := newEditor(t, nil, "", "")
	e.open(demo, front+"\n# Demo\n\n[new](new.md)\n")
	equal(t, "codes", e.codes(demo), []string{"REF001"})
	e.write("skills/demo/new.md", "# New\n")
	watched := func(name string, kind protocol.FileChangeType) {
		e.notify(protocol.MethodWorkspaceDidChangeWatchedFiles, protocol.DidChangeWatchedFilesParams{
			Changes: []*protocol.FileEvent{{Type: kind, URI: e.uri("elsewhere/x")}, {Type: kind, URI: e.uri(name)}},
		})
	}
	watched("skills/demo/new.md", protocol.FileChangeTypeCreated)
	e.wait("the link to be whole", func() bool { return len(e.lockedCodes(demo)) == 0 })
	e.open("skills/more/guide.md", "[y](none.md)\n")
	e.write("skills/more/SKILL.md", strings.ReplaceAll(front, "demo", "more")+"\nSee [the guide](guide.md).\n")
	watched("skills/more/SKILL.md", protocol.FileChangeTypeCreated)
	e.wait("the guide to be checked", func() bool { return slices.Contains(e.lockedCodes("skills/more/guide.md"), "REF007") })
	if err := os.Remove(e.path("skills/more/SKILL.md")); err != nil {
		t.Fatal(err)
	}
	watched("skills/more/SKILL.md", protocol.FileChangeTypeDeleted)
	e.wait("the guide to be of no skill", func() bool { return len(e.lockedCodes("skills/more/guide.md")) == 0 })
}

func TestFolders(t *testing.T) {
	e := newEditor(t, map[string]string{"b/skillpm.yaml": "validate: {rules: {REF001: off}}\n"}, "", "")
	folder := func(name string) []protocol.WorkspaceFolder {
		return []protocol.WorkspaceFolder{{URI: string(e.uri(name)), Name: name}}
	}
	e.notify(protocol.MethodWorkspaceDidChangeWorkspaceFolders, protocol.DidChangeWorkspaceFoldersParams{
		Event: protocol.WorkspaceFoldersChangeEvent{Added: append(folder("a"), folder("b")...), Removed: folder(".")},
	})
	for name, want := range map[string][]string{"a/demo/SKILL.md": {"REF001"}, "b/demo/SKILL.md": {}, "c/demo/SKILL.md": {"REF001"}} {
		e.open(name, front+"\n# Demo\n\n[y](none.md)\n")
		equal(t, name, e.codes(name), want)
	}
}

// TestIncremental checks that a client may send parts of a text instead of the whole text.
func TestIncremental(t *testing.T) {
	e := newEditor(t, nil, "", "")
	e.open(demo, front+"\n# Demo\n\n😀 [y](none.md)\n")
	equal(t, "codes", e.codes(demo), []string{"REF001"})
	e.notify(protocol.MethodTextDocumentDidChange, map[string]any{
		"textDocument": map[string]any{"uri": e.uri(demo), "version": 9},
		"contentChanges": []any{
			map[string]any{"range": protocol.Range{Start: protocol.Position{Line: 7, Character: 7}, End: protocol.Position{Line: 7, Character: 14}}, "text": "#demo"},
			map[string]any{"range": protocol.Range{Start: protocol.Position{Line: 99}, End: protocol.Position{Line: 99}}, "text": "More.\n"},
		},
	})
	e.wait("the link to be whole", func() bool { return len(e.lockedCodes(demo)) == 0 })
}
