package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/skill"
)

// TestCorpus opens every SKILL.md below SKILLPM_CORPUS: every finding has a position in the text, and every offered
// comment suppresses its finding.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("SKILLPM_CORPUS")
	if dir == "" {
		t.Skip("SKILLPM_CORPUS is not set")
	}
	homes, err := skill.Find(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	l := newShared(Options{Now: func() time.Time { return time.Time{} }})
	for _, home := range homes {
		p := filepath.ToSlash(filepath.Join(dir, home, skill.File))
		data, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		v, d := testView(l, p, string(data), "claude-code")
		r, err := v.check(t.Context(), v.skillRoot(p))
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		c := r.files[p]
		if c == nil {
			continue
		}
		for _, f := range c.findings {
			span := d.text.findingRange(f, utf16Units)
			if start, end := d.text.offset(span.Start, utf16Units), d.text.offset(span.End, utf16Units); start > end {
				t.Errorf("%s: %+v from %d to %d", p, f, start, end)
			}
		}
		sameIgnored(t, v, d, c.findings)
	}
}

// sameIgnored applies the comment of the first finding of each rule.
func sameIgnored(t *testing.T, v *view, d *document, findings []diag.Finding) {
	t.Helper()
	count := func(all []diag.Finding, rule string) (n int) {
		for _, f := range all {
			if f.Rule == rule {
				n++
			}
		}
		return n
	}
	var done []string
	for _, f := range findings {
		if slices.Contains(done, f.Rule) {
			continue
		}
		done = append(done, f.Rule)
		e, where := d.ignoreEdit(f)
		if where == "" {
			t.Logf("%s:%d: %s cannot be ignored", d.path, f.Line, f.Rule)
			continue
		}
		after, _ := lint.Apply([]byte(d.text.string), []diag.Edit{e})
		r, err := v.with(func(v *view) { v.docs[d.path] = newDocument(d.uri, d.path, 2, string(after)) }).
			check(t.Context(), v.skillRoot(d.path))
		if err != nil {
			t.Fatal(err)
		}
		var left []diag.Finding
		if c := r.files[d.path]; c != nil {
			left = c.findings
		}
		if count(left, f.Rule) >= count(findings, f.Rule) || count(left, "SUP002") > count(findings, "SUP002") {
			t.Errorf("%s:%d: %s (%s) is left after %q at %d", d.path, f.Line, f.Rule, f.Message, e.Text, e.Start)
		}
	}
}
