package lsp_test

import (
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// skillOf returns the files of a skill of a usual size: a SKILL.md of 200 lines, and 20 files that it refers to.
func skillOf() (files map[string]string, text string) {
	files = map[string]string{}
	var b strings.Builder
	b.WriteString(front + "\n# Demo\n")
	for i := range 20 {
		fmt.Fprintf(&b, "\n## Part %d\n\nRead [part %d](references/part%d.md#part) before it. %s\n\n```sh\nscripts/run.sh --part %d\n```\n",
			i, i, i, strings.Repeat("Some more words follow here. ", 10), i)
		files[fmt.Sprintf("skills/demo/references/part%d.md", i)] = "# Part\n" + strings.Repeat("\nA paragraph with `code` and [a link](#part).\n", 100)
	}
	files["skills/demo/scripts/run.sh"] = "#!/bin/sh\nset -eu\necho \"$@\"\n"
	return files, b.String()
}

// BenchmarkType measures a keystroke in a SKILL.md, up to the diagnostics.
func BenchmarkType(b *testing.B) {
	files, text := skillOf()
	e := newEditor(b, files, "", "")
	e.open(demo, text)
	e.publish(demo)
	n := 0
	for b.Loop() {
		n++
		e.open(demo, text+strings.Repeat("x", n%50)+"\n")
		e.publish(demo)
	}
}

// BenchmarkComplete measures a list of keys, up to the client.
func BenchmarkComplete(b *testing.B) {
	files, text := skillOf()
	e := newEditor(b, files, "", `{"profiles": ["claude-code"]}`)
	e.open(demo, strings.Replace(text, "name: demo\n", "name: demo\n\n", 1))
	p := protocol.CompletionParams{TextDocumentPositionParams: protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(demo)}, Position: protocol.Position{Line: 2},
	}}
	for b.Loop() {
		var list protocol.CompletionList
		if e.call(protocol.MethodTextDocumentCompletion, p, &list); len(list.Items) == 0 {
			b.Fatal("no completions")
		}
	}
}
