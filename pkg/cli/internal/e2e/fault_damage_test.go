//go:build slow

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// filesIn returns the regular files below a directory.
func filesIn(t testing.TB, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// flip changes a byte in the middle of a file without changing its size or times.
func flip(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return err
	}
	data[len(data)/2] ^= 1
	return errors.Join(os.WriteFile(path, data, info.Mode()), os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// TestFaultDamagedStore damages every tree of a store: skillpm detects the damage and fetches the tree again, or fails
// if it has no source. The project never receives a damaged tree.
func TestFaultDamagedStore(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	for _, tt := range []struct {
		name   string
		damage func(entry string) error // of one tree in the store
		found  bool                     // cache verify finds it; else it counts as not there
	}{
		{"a file too many", func(e string) error { return os.WriteFile(filepath.Join(e, "tree", "more"), []byte("x"), 0o644) }, true},
		{"a flipped bit", func(e string) error { return flip(filepath.Join(e, "tree", "SKILL.md")) }, true},
		{"a flipped bit in a large file", func(e string) error { return flip(filepath.Join(e, "tree", "references", "details.md")) }, true},
		{"a missing file", func(e string) error { return os.Remove(filepath.Join(e, "tree", "SKILL.md")) }, true},
		{"a cut file", func(e string) error { return os.Truncate(filepath.Join(e, "tree", "SKILL.md"), 10) }, true},
		{"an empty file", func(e string) error { return os.Truncate(filepath.Join(e, "tree", "SKILL.md"), 0) }, true},
		{"a link", func(e string) error {
			file := filepath.Join(e, "tree", "SKILL.md")
			return errors.Join(os.Remove(file), os.Symlink("/etc/passwd", file))
		}, true},
		{"no files", func(e string) error { return os.RemoveAll(filepath.Join(e, "tree")) }, true},
		{"a file for a directory", func(e string) error {
			dir := filepath.Join(e, "tree", "references")
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, []byte("x"), 0o644))
		}, true},
		{"an inventory cut off", func(e string) error { return os.Truncate(filepath.Join(e, "inventory"), 40) }, true},
		{"an inventory of others", func(e string) error { return flip(filepath.Join(e, "inventory")) }, true},
		{"no inventory", func(e string) error { return os.Remove(filepath.Join(e, "inventory")) }, false},
		{"a file that is no entry", func(e string) error { return errors.Join(os.RemoveAll(e), os.WriteFile(e, nil, 0o644)) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			damaged := func() (m *machine, before map[string]string) {
				m = newMachine(t, w)
				before = m.firstVersions()
				entries, err := filepath.Glob(filepath.Join(m.home, ".cache", "skillpm", "store", "t1", "*", "*"))
				if err != nil || len(entries) < 5 {
					t.Fatalf("%q, %v", entries, err)
				}
				for _, entry := range entries {
					if err := tt.damage(entry); err != nil {
						t.Fatal(err)
					}
				}
				return m, before
			}
			m, _ := damaged()
			if e := m.run("cache", "verify"); (e.code == 6) != tt.found {
				t.Errorf("found: %v", e)
			}
			m, before := damaged()
			next := func(name string) *machine {
				n := newMachineIn(t, w, filepath.Dir(m.home))
				n.project = filepath.Join(m.home, name)
				for _, file := range []string{"skillpm.yaml", "skillpm.lock"} {
					_, text, _ := strings.Cut(before[file], " ")
					n.write(filepath.Join(n.project, file), text)
				}
				return n
			}
			offline := next("offline")
			want := offline.tree()
			if tt.name == "a file too many" { // which nobody takes from there
				offline.ok("install", "--frozen", "--offline")
				want = before
				m.fails(6, nil, "cache", "verify")
			} else {
				words := []string{"is not in the store, and skillpm is offline"}
				offline.fails(8, words, "install", "--frozen", "--offline")
			}
			same(t, "offline", offline.tree(), want)
			online := next("online")
			online.ok("install", "--frozen")
			same(t, "healed", online.tree(), before)
			online.ok("verify")
			m.ok("cache", "verify")
			m.ok("verify")
		})
	}
}

// TestFaultDamagedCaches damages all other cached files on the machine: skillpm trusts none of them.
func TestFaultDamagedCaches(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	done := newMachine(t, w).fresh()
	for name, damage := range map[string]func(path string) error{
		"flipped": flip,
		"cut off": func(path string) error { return os.Truncate(path, 3) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"directories": func(path string) error {
			return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o755))
		},
	} {
		for _, where := range []string{".cache/skillpm/git", ".local/state/skillpm", "project/.skillpm/state"} {
			t.Run(name+" "+strings.ReplaceAll(where, "/", ":"), func(t *testing.T) {
				m := newMachine(t, w)
				before := m.firstVersions()
				files := []string{filepath.Join(m.home, where)}
				if info, err := os.Stat(files[0]); err != nil {
					t.Fatal(err)
				} else if info.IsDir() {
					files = filesIn(t, files[0])
				}
				if len(files) == 0 {
					t.Fatalf("nothing in %s", where)
				}
				for _, file := range files {
					if err := damage(file); err != nil {
						t.Fatal(err)
					}
				}
				if where == "project/.skillpm/state" && name == "directories" { // what is no file is not overwritten
					m.fails(3, []string{".skillpm/state", "hint: "}, w.update()...)
					return
				}
				m.checkHealed("damaged", before, done)
				m.updated("damaged", done)
			})
		}
	}
}

// TestFaultDamagedJournal puts a file that this machine did not write in the journal's location: skillpm applies none
// of it, and the hint shows how to continue.
func TestFaultDamagedJournal(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	done := newMachine(t, w).fresh()
	for name, place := range map[string]func(journal string) error{
		"nonsense":  func(j string) error { return os.WriteFile(j, []byte("nonsense\n"), 0o600) },
		"empty":     func(j string) error { return os.WriteFile(j, nil, 0o600) },
		"header":    func(j string) error { return os.WriteFile(j, []byte("skillpm-journal-v2 00\n[]"), 0o600) },
		"link":      func(j string) error { return os.Symlink("/etc/passwd", j) },
		"directory": func(j string) error { return os.Mkdir(j, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, w)
			m.firstVersions()
			dir := filepath.Join(m.project, ".skillpm", "journal")
			if err := errors.Join(os.Mkdir(dir, 0o755), place(filepath.Join(dir, "journal"))); err != nil {
				t.Fatal(err)
			}
			before := m.tree()
			for _, args := range [][]string{{"install"}, w.update(), {"remove", "acme/web"}} {
				m.fails(7, []string{"journal", "hint: inspect the journal, delete"}, args...)
			}
			m.fails(6, []string{"difference"}, "verify")
			same(t, "refused", m.tree(), before)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			m.updated("deleted", done)
		})
	}
}
