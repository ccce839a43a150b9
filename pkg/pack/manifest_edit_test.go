package pack_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

var update = flag.Bool("update", false, "write the results of the edits into testdata")

// TestEdit runs the cases in testdata/edit. Each file has a manifest before, the edits, and the manifest after or the
// error. Every case also runs with Windows line endings and with a byte order mark, and must give the same result.
func TestEdit(t *testing.T) {
	files, err := filepath.Glob("testdata/edit/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			before, after, failure := section(archive, "before"), section(archive, "after"), section(archive, "error")
			got, gotErr := runEdits(t, before, string(section(archive, "do")))
			if *update {
				archive.Files = append(archive.Files[:2], txtar.File{Name: "after", Data: got})
				if gotErr != "" {
					archive.Files[2] = txtar.File{Name: "error", Data: []byte(gotErr)}
				}
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if gotErr != string(failure) {
				t.Fatalf("error %q, want %q", gotErr, failure)
			}
			if failure == nil && !bytes.Equal(got, after) {
				t.Errorf("got\n%s\nwant\n%s", got, after)
			}
			crlf := bytes.ReplaceAll(before, []byte("\n"), []byte("\r\n"))
			if got, _ := runEdits(t, crlf, string(section(archive, "do"))); failure == nil && len(crlf) > 0 &&
				!bytes.Equal(got, bytes.ReplaceAll(after, []byte("\n"), []byte("\r\n"))) {
				t.Errorf("with Windows line ends\n%q", got)
			}
			if got, _ := runEdits(t, append([]byte("\ufeff"), before...), string(section(archive, "do"))); failure == nil &&
				!bytes.Equal(got, append([]byte("\ufeff"), after...)) {
				t.Errorf("with a byte order mark\n%q", got)
			}
		})
	}
}

func section(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// runEdits returns the manifest after the edits, or the message and hint of the first rejected edit, which must change
// nothing.
func runEdits(t *testing.T, before []byte, edits string) (after []byte, failure string) {
	t.Helper()
	m, err := pack.ParseManifest("skillpm.yaml", before)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(edits) {
		was := m.Bytes()
		if err := runEdit(t, m, strings.TrimSpace(line)); err != nil {
			if !bytes.Equal(m.Bytes(), was) {
				t.Errorf("the refused edit %q left\n%s", line, m.Bytes())
			}
			return m.Bytes(), err.Error() + "\n" + diag.HintOf(err) + "\n"
		}
	}
	return m.Bytes(), ""
}

func runEdit(t *testing.T, m *pack.Manifest, line string) error {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	word, text, _ := strings.Cut(rest, " ")
	switch verb {
	case "set":
		return m.SetDependency(parseDependency(t, word, text))
	case "remove":
		_, err := m.RemoveDependency(mustID(t, word))
		return err
	case "alias":
		return m.SetAlias(parseAliases(t, word+": "+text)[0])
	case "unalias":
		_, err := m.RemoveAliasesOf(mustID(t, word))
		return err
	case "agents":
		return m.SetAgents(strings.Fields(rest))
	case "text":
		return m.Set(word, text)
	}
	t.Fatalf("unknown edit %q", line)
	return nil
}

func parseDependency(t testing.TB, id, text string) pack.Dependency {
	t.Helper()
	m, err := pack.ParseManifest("m", []byte("dependencies: {"+id+": "+text+"}"))
	if err != nil {
		t.Fatal(err)
	}
	return m.Dependencies[0]
}

// TestEditRefuses checks that the error about an edit that a manifest cannot express names the edit, not the file's
// layout.
func TestEditRefuses(t *testing.T) {
	acme := pack.ID{Owner: "acme", Name: "a"}
	for _, tt := range []struct {
		name, want string
		edit       func(m *pack.Manifest) error
	}{
		{"range", `invalid version range "newest"`, func(m *pack.Manifest) error {
			return m.SetDependency(pack.Dependency{ID: acme, Constraint: "newest"})
		}},
		{"place", "cannot write the source local:acme/a to a manifest", func(m *pack.Manifest) error {
			return m.SetDependency(pack.Dependency{ID: acme, Ref: &pack.Ref{Kind: pack.KindLocal, ID: acme}})
		}},
		{"version", `invalid version "1.4"`, func(m *pack.Manifest) error { return m.Set("version", "1.4") }},
		{"name", `invalid pack name "x"`, func(m *pack.Manifest) error { return m.Set("name", "x") }},
		{"skillpm", `invalid version range "new"`, func(m *pack.Manifest) error { return m.Set("skillpm", "new") }},
		{"key", "agents is not a text field", func(m *pack.Manifest) error { return m.Set("agents", "x") }},
		{"alias", `alias "X": the name "X" contains the capital letter X`, func(m *pack.Manifest) error {
			return m.SetAlias(pack.Alias{Alias: "X", Skill: "x", Pack: acme})
		}},
		{"skill", `alias x refers to the invalid skill name "X"`, func(m *pack.Manifest) error {
			return m.SetAlias(pack.Alias{Alias: "x", Skill: "X", Pack: acme})
		}},
		{"itself", "cannot edit skillpm.yaml automatically", func(m *pack.Manifest) error { return m.Set("name", "acme/own") }},
	} {
		m, err := pack.ParseManifest("skillpm.yaml", []byte("dependencies: {acme/own: '*'} # x\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.edit(m); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if string(m.Bytes()) != "dependencies: {acme/own: '*'} # x\n" {
			t.Errorf("%s: changed to %s", tt.name, m.Bytes())
		}
	}
}

// TestEditTouchesOneLine checks that an edit touches one line: the changed or the new one (and that of a new mapping).
func TestEditTouchesOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := manifests.Draw(t, "manifest")
		m, err := pack.ParseManifest("skillpm.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		id := pack.ID{Owner: "acme", Name: rapid.SampledFrom([]string{"a", "b", "c", "new"}).Draw(t, "pack")}
		was, had := m.Dependency(id)
		hadAny := len(m.Dependencies) > 0
		if err := m.SetDependency(pack.Dependency{ID: id, Constraint: "^9"}); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		before, after := strings.SplitAfter(text, "\n"), strings.SplitAfter(string(m.Bytes()), "\n")
		changed := 0
		for i, j := 0, 0; j < len(after); j++ {
			switch {
			case i < len(before) && before[i] == after[j]:
				i++
			case had:
				i++
				changed++
			default:
				changed++
			}
		}
		if limit := 2; changed > limit || (had || hadAny) && changed > 1 {
			t.Fatalf("%d lines changed in\n%s\n%s", changed, text, m.Bytes())
		}
		if had {
			err = m.SetDependency(was)
		} else if _, err = m.RemoveDependency(id); err == nil && string(m.Bytes()) != text {
			t.Fatalf("taken back\n%q\nbecame\n%q", text, m.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// manifests generates manifests in the style of users.
var manifests = rapid.Custom(func(t *rapid.T) string {
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
	var b strings.Builder
	noise := func() {
		for range rapid.IntRange(0, 2).Draw(t, "noise") {
			b.WriteString(rapid.SampledFrom([]string{"", "# a comment", "  # deeper: \"x\"", "   ", "# {[ ' \""}).Draw(t, "line") + eol)
		}
	}
	indent := strings.Repeat(" ", rapid.IntRange(1, 5).Draw(t, "indentation"))
	noise()
	for _, key := range rapid.Permutation([]string{"name", "dependencies", "agents", "description"}).Draw(t, "keys") {
		switch key {
		case "dependencies":
			names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID[string]).Draw(t, "packs")
			if len(names) == 0 {
				break
			}
			b.WriteString("dependencies:" + rapid.SampledFrom([]string{"", " # all", "  "}).Draw(t, "after") + eol)
			for _, name := range names {
				b.WriteString(indent + rapid.SampledFrom([]string{"acme/" + name, `"acme/` + name + `"`, `'acme/` + name + `'`}).Draw(t, "key"))
				b.WriteString(rapid.SampledFrom([]string{
					`: "^1"`, ": ^1", ":   '^1'  # why", `: {version: "^1"} # }`, `: {git: "https://h/r.git", tag: v1} # '`,
				}).Draw(t, "value") + eol)
				if rapid.Bool().Draw(t, "comment") {
					b.WriteString(indent + "# between" + eol)
				}
			}
		case "name":
			b.WriteString("name: acme/own # ours" + eol)
		case "agents":
			b.WriteString("agents:" + eol + "- codex" + eol + "# x" + eol + "- 'cursor'" + eol)
		case "description":
			b.WriteString("description: |" + eol + "  text" + eol + eol + "  # and: more" + eol)
		}
		noise()
	}
	return b.String()
})

// TestSetDependencyOfAnotherName checks that a manifest cannot express a layout's pack with another name.
func TestSetDependencyOfAnotherName(t *testing.T) {
	d := pack.Dependency{
		ID:  pack.ID{Owner: "good", Name: "pack"},
		Ref: &pack.Ref{Kind: pack.KindLayout, URL: "packs", ID: pack.ID{Owner: "evil", Name: "pack"}},
	}
	m, err := pack.ParseManifest("skillpm.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = m.SetDependency(d)
	if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "evil/pack contains a different pack than good/pack") {
		t.Errorf("got %v", err)
	}
}
