package syntax_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/internal/syntax"
)

func render(p *syntax.Problem) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message)
}

// inside fails unless a problem is in the text or after its last character, and has a message on one line.
func inside(t *testing.T, text []byte, p *syntax.Problem) {
	t.Helper()
	if p == nil {
		return
	}
	lines := bytes.Split(bytes.TrimPrefix(text, []byte("\ufeff")), []byte{'\n'})
	if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > utf8.RuneCount(lines[p.Line-1])+1 {
		t.Errorf("%q: not in the text: %s", text, render(p))
	}
	if p.Message == "" || strings.Contains(p.Message, "\n") {
		t.Errorf("%q: message %q", text, p.Message)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, 2.5e-3, true, "\u00e9"]}`, "{}\n[]\n", "// x\n{,}", "{{ x }}", "\ufeff[\"\xff\"]", `{"a": <b>}`, `[01, .5, 1.]`, "[}", `{"a`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := syntax.JSON("a.json", text)
		inside(t, text, p)
		// The result agrees with the standard library, except for the tolerated cases, and for text that is not UTF-8.
		content := bytes.TrimPrefix(text, []byte("\ufeff"))
		if valid := json.Valid(content); utf8.Valid(content) && valid != (p == nil) && !syntax.IsTemplate(content) {
			t.Errorf("%q: valid %v, but found %q", text, valid, render(p))
		}
		for _, name := range []string{"a.jsonc", "a.jsonl"} {
			p := syntax.JSON(name, text)
			inside(t, text, p)
			if json.Valid(content) && utf8.Valid(content) && p != nil && (name == "a.jsonc" || !bytes.ContainsAny(bytes.TrimSpace(content), "\n")) {
				t.Errorf("%s: %q is valid, but found %q", name, text, render(p))
			}
		}
	})
}

func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"a: b\nc: [d, {e: f}]\n", "a: b: c", "a: \"b\nc: 'd", "- [a, [b", "x: *y", "{{ a }}", "a:\n\tb", "? a\n: b", "%TAG ! a\n---\n!b c", "\ufeffa: ]",
		"a: [b,, c]", "'a", "\"\\x", "a: |2\n b", "---\n...\na", "a\nb: c", "- a\nb: c", "&a *a", "!<", "a: b\x00", "<<<<<<< \n>>>>>>>\n@", "!\ue180",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { inside(t, text, syntax.YAML("a.yaml", text)) })
}

func FuzzShell(f *testing.F) {
	for _, s := range []string{
		"#!/bin/sh\na=(1)\n", "#!/bin/bash\necho $((1+2)) ${a[0]} <<E\nE\n", "if", "case a in b) ;; esac", "#!/bin/mksh\n(( 1", "@test 'a' {", "a)\xff",
		"exit\n)", "\ufeff(", "echo `a \\`b\\``", "#!/bin/bash\r\nif\r\n", "a=\\\n(", "cat <<-'A'\n\tA\n)", "0Ƽ&0\x84",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range []string{"a.sh", "a.mksh", "a.bats"} {
			inside(t, text, syntax.Shell(name, text))
		}
	})
}

// corpus calls each with every file of the corpus, if there is one, that has one of the extensions.
func corpus(tb testing.TB, each func(name string, text []byte), exts ...string) {
	tb.Helper()
	dir := os.Getenv("SKILLPM_CORPUS")
	if dir == "" {
		tb.Skip("SKILLPM_CORPUS is not set")
	}
	fsys := os.DirFS(dir)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		ext := strings.ToLower(path.Ext(name))
		if err != nil || !d.Type().IsRegular() || !strings.Contains(" "+strings.Join(exts, " ")+" ", " "+ext+" ") {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		if err == nil {
			each(name, text)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// TestCorpus checks that valid real files are not reported.
func TestCorpus(t *testing.T) {
	for _, kind := range []struct {
		check func(string, []byte) *syntax.Problem
		exts  []string
	}{
		{syntax.JSON, []string{".json", ".jsonc", ".jsonl"}},
		{syntax.YAML, []string{".yaml", ".yml"}},
		{syntax.Shell, []string{".sh", ".bash", ""}},
	} {
		n := 0
		corpus(t, func(name string, text []byte) {
			n++
			if p := kind.check(name, text); p != nil {
				t.Errorf("%s:%s", name, render(p))
			}
		}, kind.exts...)
		t.Logf("%d files of %q", n, kind.exts)
	}
}

func benchmark(b *testing.B, name, text string, check func(string, []byte) *syntax.Problem) {
	data := []byte(text)
	if p := check(name, data); p != nil {
		b.Fatal(render(p))
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		check(name, data)
	}
}

func BenchmarkJSON(b *testing.B) {
	item := `  {"id": 12345, "name": "a name of some words", "tags": ["one", "two"], "ratio": 0.25, "on": true, "more": {"text": "` +
		strings.Repeat("a sentence that goes on. ", 6) + "\"}},\n"
	benchmark(b, "a.json", "[\n"+strings.Repeat(item, 200)+"null]\n", syntax.JSON)
}

func BenchmarkYAML(b *testing.B) {
	item := "- id: 12345\n  name: a name of some words\n  tags: [one, two]\n  ratio: 0.25\n  more:\n    text: >-\n      " +
		strings.Repeat("a sentence that goes on. ", 6) + "\n"
	benchmark(b, "a.yaml", "# items\nitems:\n"+strings.Repeat(item, 50), syntax.YAML)
}

func BenchmarkShell(b *testing.B) {
	part := "# what it does, in a line of words\nif [[ -f \"$1\" && ${2:-} != no ]]; then\n  for x in a b c; do\n" +
		"    echo \"copying $x to ${target}/$x\" >&2\n    cp -r -- \"$x\" \"$target/\" || exit 1\n  done\nfi\n"
	benchmark(b, "a.sh", "#!/usr/bin/env bash\nset -euo pipefail\n"+strings.Repeat(part, 20), syntax.Shell)
}
