package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/lint/rule"
)

func report(t *testing.T, text string) lint.Report {
	t.Helper()
	fsys := fstest.MapFS{"deploy/SKILL.md": {Data: []byte(text)}, "deploy/x.sh~": {}}
	r, err := lint.Run(context.Background(), fsys, []string{"."}, lint.Options{Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The window of a long line, wide characters, tabs, and characters that could steer a terminal.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 150) + "bcd" + strings.Repeat("e", 150)
	tests := []struct {
		name, line    string
		column, count int
		text, marks   string
	}{
		{"plain", "name: Bad", 7, 3, "name: Bad", "      ^^^"},
		{"wide", "日本: 1", 5, 1, "日本: 1", "      ^"},
		{"combining", "e\u0301: 1", 5, 1, "e\u0301: 1", "   ^"},
		{"tab", "\ta", 2, 1, " a", " ^"},
		{"escape", "a\x1b[31mb", 2, 1, "a\ufffd[31mb", " ^"},
		{"right to left", "a\u202eb", 3, 1, "a\ufffdb", "  ^"},
		{"after the end", "abc", 9, 1, "abc", "   ^"},
		{"before the start", "abc", 0, 0, "abc", "^"},
		{"empty", "", 1, 1, "", "^"},
		{"long", long, 151, 3, "…" + strings.Repeat("a", 39) + "…", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, marks := excerpt(tt.line, tt.column, tt.count)
			if tt.name == "long" {
				if !strings.HasPrefix(text, "…") || !strings.HasSuffix(text, "…") || len([]rune(text)) > excerptWidth+3 {
					t.Errorf("got %q", text)
				}
				if at := strings.Index(marks, "^^^"); at < 0 || string([]rune(text)[at:at+3]) != "bcd" {
					t.Errorf("%s\n%s", text, marks)
				}
				return
			}
			if text != tt.text || marks != tt.marks {
				t.Errorf("got  %q %q\nwant %q %q", text, marks, tt.text, tt.marks)
			}
		})
	}
}

// Colour is used only when it is asked for.
func TestTextColour(t *testing.T) {
	r := report(t, "# No frontmatter\n")
	for _, colour := range []bool{false, true} {
		var b bytes.Buffer
		if err := (textReport{palette: palette(colour)}).render(&b, r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "\x1b["); got != colour {
			t.Errorf("colour %v: %q", colour, b.String())
		}
	}
}

// Every result of a SARIF log names a rule of the log by id and index, and has a place inside a file.
func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := renderSARIF(&b, report(t, "---\nname: Bad\nname: x\n---\n[a](no.md) [a](no.md)\n"), "1.2.3"); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if log.Version != "2.1.0" || run.Tool.Driver.Version != "1.2.3" || len(run.Tool.Driver.Rules) != len(rule.All()) {
		t.Errorf("got %+v", run.Tool.Driver)
	}
	prints := map[string]bool{}
	for _, res := range run.Results {
		if run.Tool.Driver.Rules[res.RuleIndex].ID != res.RuleID {
			t.Errorf("%s has the index of %s", res.RuleID, run.Tool.Driver.Rules[res.RuleIndex].ID)
		}
		at := res.Locations[0].Physical
		if at.Artifact.URI == "" || at.Region != nil && (at.Region.StartLine < 1 || at.Region.StartColumn < 1) {
			t.Errorf("%s is at %+v", res.RuleID, at)
		}
		if id := res.Fingerprints["skillpm/v1"]; prints[id] {
			t.Errorf("two results with the fingerprint %s", id)
		} else {
			prints[id] = true
		}
	}
	if len(prints) < 5 {
		t.Errorf("only %d results", len(prints))
	}
}

func TestFileURI(t *testing.T) {
	tests := []struct{ path, want string }{
		{"skills/a b/SKILL.md", "skills/a%20b/SKILL.md"},
		{"../é/SKILL.md", "../%C3%A9/SKILL.md"},
		{"/x/y", "file:///x/y"},
		{"C:/x/y", "file:///C:/x/y"},
		{"a:b/c", "./a:b/c"},
	}
	for _, tt := range tests {
		if got := fileURI(tt.path); got != tt.want {
			t.Errorf("fileURI(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
}

// A hostile file name cannot end an annotation and start another.
func TestGitHubEscapes(t *testing.T) {
	if got := githubProperty("a\n::error::x,y%"); got != "a%0A%3A%3Aerror%3A%3Ax%2Cy%25" {
		t.Errorf("got %q", got)
	}
	if got := githubText("a\r\n::error::x"); strings.ContainsAny(got, "\r\n") {
		t.Errorf("got %q", got)
	}
}
