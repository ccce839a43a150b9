package lint_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

func everyProfile(tb testing.TB) *lint.Linter {
	tb.Helper()
	all, err := profile.All()
	if err != nil {
		tb.Fatal(err)
	}
	l, err := lint.New(lint.Options{Profiles: all, Parallel: 1})
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// check lints a SKILL.md and a page with every profile, and checks the invariants of any input.
func check(t *testing.T, l *lint.Linter, text, page string) lint.Report {
	t.Helper()
	fsys := fstest.MapFS{
		"deploy/SKILL.md":           {Data: []byte(text)},
		"deploy/references/more.md": {Data: []byte(page)},
		"deploy/scripts/run.sh":     {Data: []byte(page), Mode: 0o755},
	}
	r, err := l.Run(context.Background(), fsys, []string{"deploy"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if _, known := rule.Lookup(f.Rule); !known || f.Message == "" || f.Fix == "" {
			t.Fatalf("%+v", f)
		}
		file, known := fsys[f.Path]
		if f.Line == 0 {
			continue
		}
		if !known || f.Line > strings.Count(string(file.Data), "\n")+1 {
			t.Fatalf("%+v is not in the file", f)
		}
		if line := r.Line(f); f.Column < 1 || f.Column > utf8.RuneCountInString(line)+2 {
			t.Fatalf("%+v is not on its line %q", f, line)
		}
	}
	return r
}

// FuzzLint checks that linting ends for any skill, and that every finding has a rule, a message, a fix, and a position.
func FuzzLint(f *testing.F) {
	f.Add(head+"# Deploy\n\n[x](references/more.md#a) ![y](no%20.png) `./scripts/run.sh x`\n", "# A\n\n[up](../SKILL.md)\n")
	f.Add("---\nname: 3\ndescription: a: b\nfiles: [{path: ./x}]\nhooks: {pre: x y}\ncommand: python3 x.py\nagent: y\n---\n```\n", "#!/bin/sh\r\n")
	f.Add("\ufeff---\nmetadata: {a: 1, b: 2026-01-02, c: *x}\nallowed-tools: [a, b]\n", "\ufeff#!x")
	f.Add("---\n{a: &a [1], b: [*a, *a]}\n---\n<a href=x><img src=\"\n", "<!-- ")
	l := everyProfile(f)
	f.Fuzz(func(t *testing.T, text, page string) {
		check(t, l, text, page)
	})
}

// FuzzReferences checks the same with a focus on Markdown, and that text inside a code block is never a reference.
func FuzzReferences(f *testing.F) {
	for _, s := range []string{
		"[a](b)", "[a](<b c> \"t\")", "![a](b(c).md)", "[a][b]\n\n[b]: c.md", "<img src=x><a href='y'>", "<!-- [a](b) -->", "[a](b%20c%zz)",
		"[a](..\\b)", "[a](//x)", "[a](c:/x)", "| [a](b) |\n|--|\n", "[^1]\n\n[^1]: [a](b)", "> - [a](b)\n>   [c]: d", "[a](#b)\n# b", "&#91;a](b)", "[a](\u0000)", "\r\r",
	} {
		f.Add(s)
	}
	l := everyProfile(f)
	f.Fuzz(func(t *testing.T, body string) {
		check(t, l, head+body+"\n", body)
		if strings.Contains(body, "````") || strings.ContainsAny(body, "\x00\r") {
			return
		}
		r := check(t, l, head+"````\n"+body+"\n````\n", "")
		for _, found := range r.Findings {
			if strings.HasPrefix(found.Rule, "REF") && found.Line > 0 {
				t.Fatalf("a reference in a code block: %+v", found)
			}
		}
	})
}
