package render

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

// TestDestinations checks where reports go for the values of --format and --output. "error:" starts a part of the
// expected error.
func TestDestinations(t *testing.T) {
	tests := []struct{ formats, outputs, want string }{
		{"", "", "text:-"},
		{"json", "", "json:-"},
		{"json json", "", "json:-"},
		{"", "a.sarif", "sarif:a.sarif text:-"},
		{"", "a.JSON b.xml c.txt d.sarif.json", "json:a.JSON junit:b.xml text:c.txt sarif:d.sarif.json text:-"},
		{"sarif", "out.sarif", "sarif:out.sarif"},
		{"sarif", "out", "sarif:out"},
		{"sarif", "out.json", "sarif:out.json"},
		{"sarif json", "out.json", "json:out.json sarif:-"},
		{"github", "out.json", "json:out.json github:-"},
		{"github", "dir/a json=b", "github:dir/a json:b"},
		{"json", "a.json b.json", "json:a.json json:b.json"},
		{"sarif", "sarif=-", "sarif:-"},
		{"sarif", "-", "sarif:-"},
		{"", "-", "text:-"},
		{"", "json=- a.txt", "json:- text:a.txt"},
		{"", "json=a=b", "json:a=b text:-"},
		{"", "./xml=a.json", "json:./xml=a.json text:-"},
		{"diff", "", "diff:-"},
		{"diff", "fixes", "diff:fixes"},
		{"diff", "a.patch b.json", "diff:a.patch json:b.json"},
		{"json diff", "a.json", "json:a.json diff:-"},
		{"", "diff=a", `error: unknown format "diff"`},
		{"github diff", "", "error: cannot write several reports to standard output: github and diff"},
		{"json sarif", "", "error: cannot write several reports to standard output: json and sarif"},
		{"github", "text=-", "error: cannot write several reports to standard output: text and github"},
		{"", "- json=-", "error: cannot write several reports to standard output: text and json"},
		{"xml", "", `error: unknown format "xml"`},
		{"", "jsno=a", `error: unknown format "jsno"`},
		{"", "out", "error: cannot detect the format of --output out"},
		{"json sarif", "out", "error: cannot detect the format of --output out"},
		{"json sarif", "-", "error: cannot detect the format of --output -"},
		{"", "json=", "error: --output \"json=\" does not name a file"},
		{"", "json=a text=a", "error: cannot write two reports to --output a"},
	}
	for _, tt := range tests {
		formats, err := FindFormats(strings.Fields(strings.TrimSuffix(tt.formats, "diff")))
		if strings.HasSuffix(tt.formats, "diff") {
			formats = append(formats, Patch())
		}
		var to []Destination
		if err == nil {
			to, err = Destinations(formats, strings.Fields(tt.outputs))
		}
		var got []string
		for _, d := range to {
			if d.File == "" {
				d.File = "-"
			}
			got = append(got, d.name+":"+d.File)
		}
		if text, ok := strings.CutPrefix(tt.want, "error: "); ok {
			if diag.CodeOf(err) != diag.Usage || !strings.HasPrefix(err.Error(), text) || diag.HintOf(err) == "" && !strings.Contains(text, "two reports") {
				t.Errorf("--format %q --output %q: got %v, %v (hint %q)", tt.formats, tt.outputs, got, err, diag.HintOf(err))
			}
		} else if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("--format %q --output %q: got %v, %v, want %s", tt.formats, tt.outputs, got, err, tt.want)
		}
	}
}

// TestWriteWhole checks that a written file is complete, keeps its permissions, and stays a link if it is one, and that
// no other files are left behind.
// writes returns a function that writes a text.
func writes(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	old, link := filepath.Join(dir, "old"), filepath.Join(dir, "link")
	if err := os.WriteFile(old, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"new", "old"}
	if os.Symlink("old", link) == nil {
		want = []string{"link", "new", "old"}
	} else {
		link = old
	}
	for _, file := range []string{link, filepath.Join(dir, "new")} {
		if err := writeFile(file, writes("after")); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(file); err != nil || string(data) != "after" {
			t.Errorf("%s: got %q, %v", file, data, err)
		}
	}
	if info, err := os.Lstat(old); err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWriteWholeRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := writeFile(dir, writes("")); diag.CodeOf(err) != diag.Usage {
		t.Errorf("a directory: %v", err)
	}
	if err := writeFile(filepath.Join(dir, "no", "file"), writes("")); err == nil {
		t.Error("a directory that is not there")
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("it left %v", entries)
	}
}
