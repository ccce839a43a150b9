package project_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/source"
)

var update = flag.Bool("update", false, "write the results of the edits into testdata")

// Each file in testdata/edit holds a manifest before, the edits, and the manifest after or the error. Every case is also
// run with Windows line ends and behind a byte order mark, and must come out the same.
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

// runEdits returns the manifest after the edits, or the message and hint of the first that was refused, which must
// have changed nothing.
func runEdits(t *testing.T, before []byte, edits string) (after []byte, failure string) {
	t.Helper()
	m, err := project.ParseManifest("skillpm.yaml", before)
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

func runEdit(t *testing.T, m *project.Manifest, line string) error {
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

func parseDependency(t testing.TB, id, text string) source.Dependency {
	t.Helper()
	m, err := project.ParseManifest("m", []byte("dependencies: {"+id+": "+text+"}"))
	if err != nil {
		t.Fatal(err)
	}
	return m.Dependencies[0]
}
