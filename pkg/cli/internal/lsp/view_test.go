package lsp

import (
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag"
)

// testView returns a view with one open document.
func testView(l *shared, p, content string, profiles ...string) (*view, *document) {
	d := newDocument(uriOf(p), p, 1, content)
	return &view{
		shared: l, docs: map[string]*document{p: d}, profiles: profiles, client: client{encoding: utf16Units, actions: true},
	}, d
}

// FuzzView sends every request at any position of any document.
func FuzzView(f *testing.F) {
	for _, s := range []string{
		"---\nname: x\nfiles:\n  - path: a\nallowed-tools: [Read, \n---\n[x](a.md#b) `c`\n", "---\nhooks:\n  pre: \"", "<!-- skillpm-ignore REF001",
		"[x]: <a", "```\n[x](\n```\n", "---\r\nname:\r\n---\r\n", "---\n- - a: [", "[](((", "---\n\"a\":\n", "",
	} {
		f.Add(s, len(s), true)
		f.Add(s, len(s)/2, false)
	}
	l := newShared(Options{Now: func() time.Time { return time.Time{} }})
	f.Fuzz(func(t *testing.T, content string, at int, isSkill bool) {
		p := "/nowhere/demo/SKILL.md"
		if !isSkill {
			p = "/nowhere/skillpm.yaml"
		}
		v, d := testView(l, p, content, "claude-code", "omniforge")
		at = max(0, min(at, len(content)))
		position := protocol.TextDocumentPositionParams{
			TextDocument: protocol.TextDocumentIdentifier{URI: d.uri}, Position: d.text.position(at, utf16Units),
		}
		h, err := v.hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: position})
		if err != nil {
			t.Error(err)
		}
		if h, ok := h.(*protocol.Hover); ok && h.Contents.Value == "" {
			t.Error("an empty hover")
		}
		if _, err := v.documentLinks(t.Context(), &protocol.DocumentLinkParams{TextDocument: position.TextDocument}); err != nil {
			t.Error(err)
		}
		at = d.text.offset(position.Position, utf16Units)
		if s := v.suggest(d, at); s != nil && len(s.items) > 0 {
			if s.start > at || s.end < at || s.end > len(content) || d.text.lineAt(s.start) != d.text.lineAt(s.end) {
				t.Errorf("at %d: completions from %d to %d", at, s.start, s.end)
			}
			for _, one := range s.items {
				if one.label == "" {
					t.Errorf("a completion without a label: %+v", one)
				}
			}
		}
		for _, line := range []int{0, 1, int(position.Position.Line) + 1} {
			if e, where := d.ignoreEdit(diag.Finding{Rule: "REF001", Line: line}); where != "" && (e.Start < 0 || e.Start > len(content) || e.Start != e.End) {
				t.Errorf("line %d: %+v", line, e)
			}
		}
	})
}
