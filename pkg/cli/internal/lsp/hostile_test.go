package lsp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// hostileTexts are documents that are made to exhaust or confuse a reader, by name.
func hostileTexts() map[string]string {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 30 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	merge := "m0: &m0 {k: v}\n"
	for i := range 200 {
		merge += fmt.Sprintf("m%d: &m%d {<<: [*m%d, *m%d], k%d: v}\n", i+1, i+1, i, i, i)
	}
	const n = 4_000
	yaml := map[string]string{
		"alias bomb": bomb, "merge bomb": merge, "alias of itself": "a: &a [*a]\nb: &b {<<: *b}\n",
		"unknown alias": "a: *none\n", "many anchors": strings.Repeat("- &a x\n", n),
		"tags":        "a: !!binary AAAA\nb: !!python/object:os.system x\nc: !<tag:yaml.org,2002:map> [x]\nd: !!int x\ne: !!set {a, b}\n",
		"deep list":   strings.Repeat("[", n),
		"deep map":    strings.Repeat("{a: ", n),
		"deep quotes": strings.Repeat(`"'`, n),
		"deep dashes": strings.Repeat("- ", n), "deep question": strings.Repeat("? ", n),
		"deep indent": func() string {
			var b strings.Builder
			for i := range 1500 {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}(),
		"one long value": "description: " + strings.Repeat("x ", 10*n), "one long key": strings.Repeat("k", 5*n) + ": v",
		"duplicate keys": strings.Repeat("name: x\n", n), "documents": strings.Repeat("a: b\n---\n", n),
		"directives": "%YAML 9.9\n%TAG ! tag:evil,2000:\n---\na: !x y\n", "block": "a: |999999999\n  x\nb: >-99\n y\n",
		"tabs": "\ta:\n\t\tb: c\n", "controls": "a: \x00\x01\x1b[31m\u0085\u2028\u2029\uFEFF\u202e\n", "numbers": "version: 1e999999\na: 0x" + strings.Repeat("f", n) + "\nb: " + strings.Repeat("9", n) + "\n",
		"outside": "validate: {rulesDir: ../../../../../../etc, baseline: ../../../../../../etc/passwd}\nallowed-paths: [/, ../.., ~]\nfiles: /etc/passwd\n",
	}
	all := map[string]string{
		"nothing": "", "fences": strings.Repeat("---\n", n), "carriage returns": strings.Repeat("\r", n), "mixed": strings.Repeat("\r\n\n\r", n/2),
		"links outside": front + strings.Repeat("[x](../../../../../../../../../../etc/passwd#root) `/proc/self/environ` [y](file:///etc/shadow) <../../../../../../proc/kmsg#x>\n", 200),
		"brackets":      front + strings.Repeat("[", n) + strings.Repeat("](", n), "emphasis": front + strings.Repeat("*_", n), "quotes": front + strings.Repeat("> ", n),
		"backticks": front + strings.Repeat("`", n) + "\n" + strings.Repeat("``` \n", n/4), "html": front + strings.Repeat("<a ", n) + strings.Repeat("<!--", n),
		"definitions": front + strings.Repeat("[a]: b\n", n), "tables": front + strings.Repeat("|a", n) + "\n" + strings.Repeat("|-", n) + "\n",
		"surrogates": front + "\U0001F600\U00010000\uFFFD" + strings.Repeat("\U0001F600", n), "combining": front + "e" + strings.Repeat("\u0301", n),
	}
	for name, text := range yaml {
		all["frontmatter: "+name] = "---\nname: demo\ndescription: x\n" + text + "\n---\nbody\n"
		all["file: "+name] = text
	}
	return all
}

// positions are positions inside and outside of a text.
var positions = []protocol.Position{{Line: 1, Character: 3}, {Line: 4, Character: 1 << 31}, {Line: 1<<32 - 1, Character: 1<<32 - 1}}

// everyRequest sends every kind of request about a document, which must answer, with a result or an error that is not
// internal.
func everyRequest(t *testing.T, e *editor, what string, uri protocol.DocumentURI, positions ...protocol.Position) {
	t.Helper()
	for _, p := range positions {
		for _, method := range []string{protocol.MethodTextDocumentHover, protocol.MethodTextDocumentCompletion, protocol.MethodTextDocumentDocumentLink, protocol.MethodTextDocumentCodeAction} {
			var result json.RawMessage
			err := e.try(method, map[string]any{
				"textDocument": map[string]any{"uri": uri}, "position": p, "range": protocol.Range{Start: p, End: protocol.Position{}},
				"context": map[string]any{"diagnostics": []any{}},
			}, &result)
			if err != nil && strings.Contains(err.Error(), "internal error") {
				t.Errorf("%s: %s: %v", what, method, err)
			}
			for _, outside := range []string{"/etc/", "/proc/", "root:"} {
				if strings.HasPrefix(string(uri), "file://"+e.dir) && method == protocol.MethodTextDocumentDocumentLink && strings.Contains(string(result), outside) {
					t.Errorf("%s: a link leads outside of the workspace: %.300s", what, result)
				}
			}
		}
	}
}

// TestHostileDocuments opens every hostile text as every kind of file.
func TestHostileDocuments(t *testing.T) {
	e := newEditor(t, nil, "", "")
	texts := hostileTexts()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, file := range []string{demo, "skillpm.yaml", "skillpm-policy.yaml", "skillpm.lock"} {
			if strings.HasPrefix(name, "frontmatter: ") != (file == demo) && strings.Contains(name, ": ") {
				continue
			}
			e.open(file, texts[name])
			everyRequest(t, e, name+" in "+file, e.uri(file), positions[len(name)%3])
			e.open(file, "")
		}
	}
	var m runtime.MemStats
	runtime.GC()
	if runtime.ReadMemStats(&m); m.HeapAlloc > 300<<20 {
		t.Errorf("%d MiB are in use afterwards", m.HeapAlloc>>20)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, message := range e.messages {
		if strings.Contains(message, "internal error") {
			t.Errorf("%.1000s", message)
		}
	}
}

// TestHostileChanges sends thousands of changes with ranges that are reversed, outside, or inside of characters, and
// cancels requests meanwhile.
func TestHostileChanges(t *testing.T) {
	e := newEditor(t, nil, "", "")
	e.open(demo, front+strings.Repeat("\U0001F600\r\n\u0301x\n", 200))
	for i := range uint32(3000) {
		a := protocol.Position{Line: i * 7919 % 500, Character: i * 104729 % 9}
		b := protocol.Position{Line: i * 31 % 500, Character: i % 5}
		e.notify(protocol.MethodTextDocumentDidChange, map[string]any{
			"textDocument":   map[string]any{"uri": e.uri(demo), "version": i},
			"contentChanges": []any{map[string]any{"range": protocol.Range{Start: a, End: b}, "text": []string{"", "x", "\r", "\U0001F600", "---\n"}[i%5]}},
		})
		if i%100 == 0 {
			e.notify(protocol.MethodCancelRequest, map[string]any{"id": i})
		}
	}
	everyRequest(t, e, "changes", e.uri(demo), positions...)
}

// TestHostileURIs opens documents under URIs that lead elsewhere.
func TestHostileURIs(t *testing.T) {
	e := newEditor(t, map[string]string{"link/real/x.md": "x"}, "", "")
	if err := os.Symlink(e.dir, e.path("loop")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("/etc/passwd", e.path("out.md")); err != nil {
		t.Skip(err)
	}
	base := "file://" + e.dir
	for _, uri := range []string{
		"file:///", "file:///SKILL.md", "file:///etc/passwd", "file:///dev/zero", "file:///proc/self/mem",
		"file://localhost" + e.dir + "/SKILL.md", "file://evil.example/share/SKILL.md", "file:" + e.dir + "/SKILL.md", "FILE://" + e.dir + "/SKILL.md",
		base + "/%2e%2e/SKILL.md", base + "/x/..%2f..%2fSKILL.md", base + "/a%00b/SKILL.md", base + "/a%0ab/SKILL.md", base + "/%ff%fe/SKILL.md", base + "/%zz",
		base + "/SKILL.md?query#fragment", base + "//x///SKILL.md", base + "/loop/loop/loop/SKILL.md", base + strings.Repeat("/loop", 60) + "/SKILL.md",
		base + "/" + strings.Repeat("x", 5000) + "/SKILL.md", base + strings.Repeat("/d", 3000) + "/SKILL.md", base + "/out.md", base + "/out.md/SKILL.md", base + "/link/real/x.md/SKILL.md",
		"untitled:SKILL.md", "vscode-remote://ssh/etc/passwd", "http://evil.example/SKILL.md", "data:text/markdown,x", "", "SKILL.md", "\x00", "file://user:password@host/SKILL.md", `file:///C:\x\SKILL.md`, "file:///c%3a/SKILL.md",
	} {
		document := map[string]any{"uri": uri, "languageId": "markdown", "version": 1, "text": front + "[x](out.md#root) [y](../../etc/passwd)\n"}
		e.notify(protocol.MethodTextDocumentDidOpen, map[string]any{"textDocument": document})
		everyRequest(t, e, uri, protocol.DocumentURI(uri), positions[0])
		e.notify(protocol.MethodTextDocumentDidClose, map[string]any{"textDocument": document})
		e.notify(protocol.MethodWorkspaceDidChangeWatchedFiles, map[string]any{"changes": []any{map[string]any{"uri": uri, "type": 1}}})
	}
	e.open(demo, broken)
	e.publish(demo)
}
