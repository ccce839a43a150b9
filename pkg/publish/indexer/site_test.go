package indexer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/publish/internal/site"
)

// put writes files into a directory like one run of a catalog.
func put(t *testing.T, dir string, files map[string]string) *output {
	t.Helper()
	o, err := openOutput(dir, "out", site.Owns)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	for name, text := range files {
		if err := o.write(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.finish(); err != nil {
		t.Fatal(err)
	}
	return o
}

func text(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return string(data)
}

func TestOutput(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	put(t, dir, map[string]string{"index.html": "1", "packs/a/b.html": "2", "packs/a/c.html": "3"})
	if err := os.WriteFile(filepath.Join(dir, "packs", "a", "c.html"), []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "CNAME"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := put(t, dir, map[string]string{"index.html": "1", "tags.html": "4"})
	if o.written != 1 || o.unchanged != 1 || o.removed != 1 || len(o.unowned) != 1 {
		t.Errorf("%d written, %d unchanged, %d removed, %q kept", o.written, o.unchanged, o.removed, o.unowned)
	}
	if text(t, dir, "packs", "a", "c.html") != "edited" || text(t, dir, "CNAME") != "theirs" ||
		text(t, dir, "packs", "a", "b.html") != "" {
		t.Error("another file went than the one that was not written again")
	}
}

// TestOutputInTheWay writes into directories with foreign files.
func TestOutputInTheWay(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, too
		o, err := openOutput(dir, "out", site.Owns)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.write("index.html", []byte("ours")); diag.CodeOf(err) != diag.Conflict || diag.HintOf(err) == "" {
			t.Errorf("got %v", err)
		}
		o.close()
		if text(t, dir, "index.html") != "theirs" {
			t.Error("a file of somebody else was replaced")
		}
	}
}

// TestOutputKilled continues after a run that wrote files but not their list.
func TestOutputKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o, err := openOutput(dir, "out", site.Owns)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.write("index.html", []byte("half")); err != nil {
		t.Fatal(err)
	}
	o.close()
	put(t, dir, map[string]string{"index.html": "whole"})
	if text(t, dir, "index.html") != "whole" {
		t.Error("what a killed run wrote is in the way")
	}
	if _, err := os.Stat(filepath.Join(dir, journalName)); err == nil {
		t.Error("the journal of a run that ended is there")
	}
}

// TestOutputHostile uses file lists and links that lead out of the directory.
func TestOutputHostile(t *testing.T) {
	top := t.TempDir()
	dir, victim := filepath.Join(top, "out"), filepath.Join(top, "victim")
	if err := os.MkdirAll(filepath.Join(top, "elsewhere"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{victim, filepath.Join(top, "elsewhere", "a.html")} {
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" // the SHA-256 of "x"
	data, err := json.Marshal(record{Version: 1, Files: map[string]string{
		"../victim": x, victim: x,
		"packs/link/a.html": x,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, recordName), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "packs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "elsewhere"), filepath.Join(dir, "packs", "link")); err != nil {
		t.Skip(err)
	}
	put(t, dir, map[string]string{"index.html": "1"})
	if text(t, victim) != "x" || text(t, top, "elsewhere", "a.html") != "x" {
		t.Error("a file outside of the directory was removed")
	}
	o, err := openOutput(dir, "out", site.Owns)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if err := o.write("packs/link/b.html", []byte("y")); err == nil || text(t, top, "elsewhere", "b.html") != "" {
		t.Errorf("a link led out of the directory: %v", err)
	}
	if err := o.write("../b.html", []byte("y")); err == nil {
		t.Error("a path led out of the directory")
	}
	for _, bad := range []string{"{", `{"version":2}`, strings.Repeat("[", 10_000)} {
		if err := os.WriteFile(filepath.Join(dir, recordName), []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := openOutput(dir, "out", site.Owns); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("the record %.10s: %v", bad, err)
		}
	}
}

// TestOutputRecord uses file lists and journals that name files that skillpm does not write.
func TestOutputRecord(t *testing.T) {
	dir := t.TempDir()
	const x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" // the SHA-256 of "x"
	theirs := []string{
		".git/config", ".git/hooks/pre-commit", ".env", ".github/workflows/ci.yml", "CNAME",
		"packs/.git/HEAD", "packs/a/../../README.md", "Packs/a/b.html",
	}
	listed := map[string]string{"packs/a/old.html": x}
	for _, name := range append(theirs, "packs/a/old.html") {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		listed[name] = x
	}
	data, err := json.Marshal(record{Version: 1, Files: listed})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{recordName: string(data), journalName: strings.Join(theirs, "\n") +
		"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := put(t, dir, map[string]string{"index.html": "1"})
	for _, name := range theirs {
		if text(t, dir, filepath.FromSlash(name)) != "x" {
			t.Errorf("%s was removed", name)
		}
	}
	if text(t, dir, "packs", "a", "old.html") != "" || o.removed != 1 || len(o.unowned) != 0 {
		t.Errorf("%d removed, %q kept", o.removed, o.unowned)
	}
}

// TestApart uses nested directories, in every spelling.
func TestApart(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"idx/packs", "out", "market"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	links := os.Symlink(filepath.Join(top, "out"), filepath.Join(top, "to-out")) == nil &&
		os.Symlink("idx", filepath.Join(top, "to-idx")) == nil
	c := New(Options{Environment: environ.Environment{Dir: top}})
	at := &indexDir{dir: filepath.Join(top, "idx"), display: "idx"}
	for _, o := range []SiteOptions{
		{Out: "idx"},
		{Out: "./idx/../idx/"},
		{Out: filepath.Join(top, "idx")},
		{Out: "idx/public"},
		{Out: "idx/packs/new/deep"},
		{Out: "."},
		{Out: "to-idx"},
		{Out: "to-idx/public"},
		{Out: "out", Marketplace: "./out"},
		{Out: "out", Marketplace: filepath.Join(top, "out")},
		{Out: "out", Marketplace: "out/market"},
		{Out: "market/out", Marketplace: "market"},
		{Out: "out", Marketplace: "to-out"},
		{Out: "to-out/new", Marketplace: "out"},
	} {
		if !links && strings.HasPrefix(o.Out+o.Marketplace, "to-") {
			continue
		}
		if err := c.checkSeparate(at, o); diag.CodeOf(err) != diag.Usage || diag.HintOf(err) == "" {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []SiteOptions{
		{Out: "out", Marketplace: "market"},
		{Out: "new/out", Marketplace: "new/market"},
		{Out: "idx2"},
	} {
		if err := c.checkSeparate(at, o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestCheckSite(t *testing.T) {
	for _, bad := range []SiteOptions{
		{},
		{Out: "x", BaseURL: "ftp://x"},
		{Out: "x", BaseURL: "https://u:p@x"},
		{Out: "x", BaseURL: "https://x/?q"},
		{Out: "x", BaseURL: "x"},
	} {
		if err := checkSite(&bad); diag.CodeOf(err) != diag.Usage {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := checkSite(&SiteOptions{Out: "x", BaseURL: "https://skills.example/cat", Marketplace: "y"}); err != nil {
		t.Error(err)
	}
}
