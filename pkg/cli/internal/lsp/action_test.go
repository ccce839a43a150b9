package lsp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"go.lsp.dev/protocol"
)

func (e *editor) actions(name string, r protocol.Range, only ...protocol.CodeActionKind) []protocol.CodeAction {
	e.t.Helper()
	var all []protocol.CodeAction
	e.call(protocol.MethodTextDocumentCodeAction, protocol.CodeActionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(name)}, Range: r,
		Context: protocol.CodeActionContext{Diagnostics: []protocol.Diagnostic{}, Only: only},
	}, &all)
	return all
}

// apply applies the edits of an action to a text, like an editor.
func (e *editor) apply(name, text string, a protocol.CodeAction) string {
	e.t.Helper()
	edits := a.Edit.Changes[e.uri(name)]
	if len(edits) == 0 || len(a.Edit.Changes) != 1 {
		e.t.Fatalf("%s: edits %+v", a.Title, a.Edit)
	}
	units := func(p protocol.Position) int { // of the text in UTF-16
		lines := strings.SplitAfter(text, "\n")
		return len(utf16.Encode([]rune(strings.Join(lines[:min(int(p.Line), len(lines))], "")))) + int(p.Character)
	}
	slices.SortFunc(edits, func(a, b protocol.TextEdit) int { return units(b.Range.Start) - units(a.Range.Start) })
	all := utf16.Encode([]rune(text))
	for _, edit := range edits {
		all = slices.Replace(all, units(edit.Range.Start), units(edit.Range.End), utf16.Encode([]rune(edit.NewText))...)
	}
	return string(utf16.Decode(all))
}

func everything() protocol.Range { return protocol.Range{End: protocol.Position{Line: 1000}} }

const (
	demo   = "skills/demo/SKILL.md"
	broken = "---\nname: Démo\ndescription: Does 😀 a thing. Use it: daily\nallowed-tools: Read, Grep\n---\n\n# Demo\n\nSee [x](gone.md).\n"
)

// TestQuickFixes checks that every fix removes its finding.
func TestQuickFixes(t *testing.T) {
	e := newEditor(t, nil, "", "")
	e.open(demo, broken)
	fixed := map[string]bool{}
	for _, d := range e.publish(demo).Diagnostics {
		for _, a := range e.actions(demo, d.Range, protocol.QuickFix) {
			if !a.IsPreferred || len(a.Diagnostics) != 1 || a.Diagnostics[0].Code != d.Code {
				continue
			}
			code := fmt.Sprint(d.Code)
			fixed[code] = true
			if a.Kind != protocol.QuickFix || !strings.HasPrefix(a.Title, code+": ") {
				t.Errorf("got %q of kind %s", a.Title, a.Kind)
			}
			e.open(demo, e.apply(demo, broken, a))
			if left := e.codes(demo); slices.Contains(left, code) {
				t.Errorf("%s is left after %q", code, a.Title)
			}
			e.open(demo, broken)
			e.publish(demo)
		}
	}
	for _, code := range []string{"FM003", "FM019"} {
		if !fixed[code] {
			t.Errorf("no fix for %s among %v", code, fixed)
		}
	}
}

func TestFixAll(t *testing.T) {
	e := newEditor(t, nil, "", "")
	e.open(demo, broken)
	for _, only := range []protocol.CodeActionKind{"source.fixAll.skillpm", "source.fixAll", "source"} {
		all := e.actions(demo, protocol.Range{}, only)
		if len(all) != 1 || all[0].Kind != "source.fixAll.skillpm" {
			t.Fatalf("%s: got %+v", only, all)
		}
		got := e.apply(demo, broken, all[0])
		for _, want := range []string{`description: "Does 😀 a thing. Use it: daily"` + "\n", "allowed-tools: Read Grep\n", "See [x](gone.md).\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q in it", only, got, want)
			}
		}
	}
	if all := e.actions(demo, protocol.Range{}, "source.organizeImports"); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
	e.open(demo, front+"\n# Demo\n\nText.\n")
	if all := e.actions(demo, protocol.Range{}, "source.fixAll"); len(all) != 0 {
		t.Errorf("nothing is to be mended: got %+v", all)
	}
}

// TestIgnore checks that every offered comment suppresses its finding and causes no other.
func TestIgnore(t *testing.T) {
	for _, tt := range []struct {
		name, file, text, rule string
		want                   string // a line of the result
	}{
		{"a paragraph", demo, front + "\n# Demo\n\nSee [x](gone.md).\n", "REF001", "<!-- skillpm-ignore REF001: reason -->\nSee"},
		{"inside of a paragraph", demo, front + "\n# Demo\n\nSee\n[x](gone.md).  \nMore.\n", "REF001", "[x](gone.md). <!-- skillpm-ignore REF001: reason -->  \n"},
		{"a table", demo, front + "\n# Demo\n\n| a |\n|---|\n| [x](gone.md) |\n| b |\n", "REF001", "| [x](gone.md) <!-- skillpm-ignore REF001: reason --> |\n"},
		{"a list", demo, front + "\n# Demo\n\n- a\n  - [x](gone.md)\n", "REF001", "  - [x](gone.md) <!-- skillpm-ignore REF001: reason -->\n"},
		{"the first line", demo, front + "See [x](gone.md).\n", "REF001", "---\n<!-- skillpm-ignore REF001: reason -->\nSee"},
		{"frontmatter", demo, "---\nname: demo\ndescription: Shows it.\nallowed-tools: Read, Grep\n---\n\n# Demo\n\nText.\n", "FM019", "# skillpm-ignore FM019: reason\nallowed-tools"},
		{"what is missing", demo, "---\nname: demo\n---\n\n# Demo\n\nText.\n", "FM010", "---\n# skillpm-ignore-file FM010: reason\nname"},
		{"CRLF", demo, strings.ReplaceAll(front+"\n# Demo\n\nSee [x](gone.md).\n", "\n", "\r\n"), "REF001", "<!-- skillpm-ignore REF001: reason -->\r\nSee"},
		{"another file", "skills/demo/guide.md", "# Guide\n\nSee [x](gone.md).\n", "REF007", "<!-- skillpm-ignore REF007: reason -->\nSee"},
		{"a script", "skills/demo/scripts/run.sh", "#!/bin/sh\nif true; then\n", "SCR008", ": reason\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEditor(t, map[string]string{demo: front + "\n# Demo\n\nSee [the guide](guide.md) and scripts/run.sh.\n"}, "", "")
			e.open(tt.file, tt.text)
			before := e.codes(tt.file)
			i := slices.Index(before, tt.rule)
			if i < 0 {
				t.Fatalf("no %s among %v", tt.rule, before)
			}
			for _, a := range e.actions(tt.file, e.publish(tt.file).Diagnostics[i].Range) {
				if !strings.HasPrefix(a.Title, "Ignore "+tt.rule) {
					continue
				}
				text := e.apply(tt.file, tt.text, a)
				if !strings.Contains(text, tt.want) {
					t.Errorf("got %q, want %q in it", text, tt.want)
				}
				e.open(tt.file, text)
				if after := e.codes(tt.file); !slices.Equal(after, slices.Delete(before, i, i+1)) {
					t.Errorf("after %q there are %v", text, after)
				}
				return
			}
			t.Error("there is no such action")
		})
	}
}

// TestVersionedEdits checks that edits name versions if the client supports it.
func TestVersionedEdits(t *testing.T) {
	e := newEditor(t, nil, `{"workspace": {"workspaceEdit": {"documentChanges": true}}, "textDocument": {"codeAction": {"codeActionLiteralSupport": {}}}}`, "")
	e.open(demo, "---\n")
	e.open(demo, broken)
	for _, a := range e.actions(demo, everything()) {
		c := a.Edit.DocumentChanges
		if len(c) != 1 || c[0].TextDocument.Version == nil || *c[0].TextDocument.Version != 2 || len(c[0].Edits) == 0 || a.Edit.Changes != nil {
			t.Errorf("%s: got %+v", a.Title, a.Edit)
		}
	}
}

func TestNoActions(t *testing.T) {
	e := newEditor(t, nil, "", "")
	e.open("README.md", "# Read\n")
	if all := e.actions("README.md", everything()); all != nil {
		t.Errorf("outside of a skill: got %+v", all)
	}
	if all := e.actions("never/opened.md", everything()); all != nil {
		t.Errorf("not open: got %+v", all)
	}
	e.open("skillpm.yaml", "versoin: \"1\"\n")
	if all := e.actions("skillpm.yaml", everything()); len(all) != 0 {
		t.Errorf("where comments do not count: got %+v", all)
	}
	e.open(demo, broken)
	if all := e.actions(demo, protocol.Range{Start: protocol.Position{Line: 6}, End: protocol.Position{Line: 6}}); len(all) != 0 {
		t.Errorf("where nothing is wrong: got %+v", all)
	}
	old := newEditor(t, nil, `{}`, "")
	old.open(demo, broken)
	if all := old.actions(demo, everything()); all != nil {
		t.Errorf("a client that wants commands: got %+v", all)
	}
}
