package txn_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// The scope of the tests has everything that an install changes: packs, links for agents next to local skills, the
// manifest, and the lockfile.
var before = map[string]string{
	"skillpm.yaml":                                "old manifest",
	"skillpm.lock":                                "old lock",
	"README.md":                                   "hand-written",
	".skillpm/.gitignore":                         "*",
	".skillpm/skills/mine/SKILL.md":               "hand-written",
	".skillpm/plugins/acme/deploy/SKILL.md":       "old deploy",
	".skillpm/plugins/acme/deploy/only-old.md":    "x",
	".skillpm/plugins/gone/tools/hammer/SKILL.md": "old hammer",
	".skillpm/plugins/moved/pack/old/SKILL.md":    "old moved",
	".claude/skills/mine/SKILL.md":                "hand-written",
	".claude/skills/deploy":                       "-> ../../.skillpm/plugins/old/deploy",
	".claude/skills/hammer":                       "-> ../../.skillpm/plugins/gone/tools/hammer",
	".claude/skills/copied/SKILL.md":              "a copy that becomes a link",
	".claude/skills/alias":                        "-> ../../nowhere",
}

var after = map[string]string{
	"skillpm.yaml":                             "new manifest",
	"skillpm.lock":                             "new lock",
	"README.md":                                "hand-written",
	".skillpm/.gitignore":                      "*",
	".skillpm/state.json":                      "{}",
	".skillpm/skills/mine/SKILL.md":            "hand-written",
	".skillpm/plugins/acme/deploy/SKILL.md":    "new deploy",
	".skillpm/plugins/acme/deploy/bin/run":     "new script",
	".skillpm/plugins/globex/ops/SKILL.md":     "new ops",
	".skillpm/plugins/moved/pack/new/SKILL.md": "new moved",
	".claude/skills/mine/SKILL.md":             "hand-written",
	".claude/skills/deploy":                    "-> ../../.skillpm/plugins/acme/deploy",
	".claude/skills/copied":                    "-> ../../.skillpm/plugins/acme/copied",
	".claude/skills/alias/SKILL.md":            "a link that becomes a copy",
	".agents/skills/deploy":                    "-> ../../.skillpm/plugins/acme/deploy",
}

// write creates files and links, and keeps existing ones.
func write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); err == nil && files[name] == before[name] {
			continue
		}
		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Skipf("symbolic links are needed: %v", err)
		}
	}
}

// memory returns a directory in memory if the system has one. Files of a killed process survive there as on a disk, and
// fsync is fast.
func memory(t testing.TB) string {
	t.Helper()
	base, err := os.MkdirTemp("/dev/shm", "skillpm-txn-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(base, "root") // the tests may change its parent
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// read returns the files below root, and its empty directories with the content "empty".
func read(t testing.TB, root string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir():
			if entries, _ := os.ReadDir(path); len(entries) == 0 {
				files[rel] = "empty"
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			files[rel] = "-> " + filepath.ToSlash(target)
			return err
		}
		data, err := os.ReadFile(path)
		files[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func same(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] != got[name] {
			t.Errorf("%s: %s is %q, want %q", what, name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing", what, name)
		}
	}
}

// testKey is the secret of the machine in all tests.
const testKey = "0123456789abcdef0123456789abcdef"

func options(root string, fail func(string) error) txn.Options {
	return txn.Options{Root: root, Dir: filepath.Join(root, ".skillpm", "journal"), Key: []byte(testKey), Fail: fail}
}

// install changes the scope to the state after.
func install(o txn.Options) error {
	tx, err := txn.Begin(o)
	if err != nil {
		return err
	}
	stage := func(rel string, files map[string]string) error {
		dir, err := tx.StageDir(rel)
		if err != nil {
			return err
		}
		for name, content := range files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	steps := []func() error{
		func() error { return tx.StageFile("skillpm.yaml", []byte("new manifest"), 0o644) },
		func() error { return tx.StageFile("skillpm.lock", []byte("new lock"), 0o644) },
		func() error { return tx.StageFile(".skillpm/state.json", []byte("{}"), 0o644) },
		func() error {
			return stage(".skillpm/plugins/acme/deploy", map[string]string{"SKILL.md": "new deploy", "bin/run": "new script"})
		},
		func() error { return stage(".skillpm/plugins/globex/ops", map[string]string{"SKILL.md": "new ops"}) },
		func() error { return tx.Remove(".skillpm/plugins/gone/tools") },
		func() error { return tx.Remove(".skillpm/plugins/never/was") },
		func() error { return tx.Remove(".skillpm/plugins/moved/pack") },
		func() error {
			return stage(".skillpm/plugins/moved/pack/new", map[string]string{"SKILL.md": "new moved"})
		},
		func() error { return tx.Remove(".claude/skills/hammer") },
		func() error { return tx.StageLink(".claude/skills/deploy", "../../.skillpm/plugins/acme/deploy") },
		func() error { return tx.StageLink(".agents/skills/deploy", "../../.skillpm/plugins/acme/deploy") },
		func() error { return tx.StageLink(".claude/skills/copied", "../../.skillpm/plugins/acme/copied") },
		func() error {
			return stage(".claude/skills/alias", map[string]string{"SKILL.md": "a link that becomes a copy"})
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return errors.Join(err, tx.Abort())
		}
	}
	return tx.Commit()
}

// steps returns the names of the failpoints of install, in order.
func steps(t testing.TB, root string) []string {
	t.Helper()
	write(t, root, before)
	var names []string
	if err := install(options(root, func(step string) error { names = append(names, step); return nil })); err != nil {
		t.Fatal(err)
	}
	same(t, "installed", read(t, root), after)
	return names
}

func TestCommit(t *testing.T) { // M2
	names := steps(t, t.TempDir())
	if len(names) < 20 {
		t.Errorf("only %d failpoints: %q", len(names), names)
	}
}

// TestRollback makes every step fail in turn: the old state stays, and a second attempt works. It works on the disk;
// other tests of the steps use [memory].
func TestRollback(t *testing.T) { // M2
	rollback(t, func(t testing.TB) string { return t.TempDir() })
}

func rollback(t *testing.T, scope func(testing.TB) string) {
	names := steps(t, scope(t))
	for i, name := range names {
		if name == "journal removed" { // everything else is done by then
			continue
		}
		t.Run(fmt.Sprintf("%02d %s", i, strings.ReplaceAll(name, "/", ":")), func(t *testing.T) {
			t.Parallel()
			root := scope(t)
			write(t, root, before)
			boom := errors.New("boom")
			n := 0
			err := install(options(root, func(string) error {
				if n++; n == i+1 {
					return boom
				}
				return nil
			}))
			if !errors.Is(err, boom) {
				t.Fatalf("got error %v, want boom", err)
			}
			same(t, "rolled back", read(t, root), before)
			if err := install(options(root, nil)); err != nil {
				t.Fatal(err)
			}
			same(t, "second attempt", read(t, root), after)
		})
	}
}

func TestAbort(t *testing.T) {
	root := t.TempDir()
	write(t, root, before)
	tx, err := txn.Begin(options(root, nil))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := tx.StageDir(".skillpm/plugins/acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := tx.Abort(); err != nil {
		t.Fatal(err)
	}
	same(t, "aborted", read(t, root), before)
	if err := tx.Commit(); err == nil {
		t.Error("a commit after the end succeeded")
	}
}

// TestBadPaths checks that a transaction writes nothing outside its scope, despite hostile paths and planted links.
func TestBadPaths(t *testing.T) {
	outside := t.TempDir()
	root := t.TempDir()
	write(t, root, map[string]string{
		".skillpm/plugins":  "-> ../src",
		"src/main.go":       "hand-written",
		".claude":           "-> " + outside,
		".inside":           "-> src",
		"skillpm.lock":      "-> src/main.go",
		"file":              "x",
		".git/config":       "x",
		".hooks":            "-> src/../.git/hooks",
		".back":             "-> .skillpm",
		".skillpm/x/y/z.md": "x",
	})
	stage := map[string]func(*txn.Tx, string) error{
		"dir":    func(tx *txn.Tx, p string) error { _, err := tx.StageDir(p); return err },
		"file":   func(tx *txn.Tx, p string) error { return tx.StageFile(p, nil, 0o644) },
		"link":   func(tx *txn.Tx, p string) error { return tx.StageLink(p, "x") },
		"remove": func(tx *txn.Tx, p string) error { return tx.Remove(p) },
	}
	tests := []struct {
		kind, path string
		want       diag.Code
	}{
		{"dir", "../x", diag.Denied},
		{"file", "a/../../x", diag.Denied},
		{"link", filepath.Join(root, "x"), diag.Denied},
		{"remove", "", diag.Denied},
		{"remove", ".", diag.Denied},
		{"remove", ".skillpm", diag.Internal},
		{"dir", ".skillpm/journal/stage/0", diag.Internal},
		{"link", ".skillpm/Journal/journal", diag.Internal},
		{"link", ".back/journal/x", diag.Internal}, // an indirect path
		{"file", ".git/hooks/post-checkout", diag.Denied},
		{"link", ".Git", diag.Denied},
		{"dir", ".skillpm/plugins/.GIT/x", diag.Denied},
		{"remove", "src/git~1", diag.Denied},
		{"file", ".git::$INDEX_ALLOCATION/config", diag.Denied},
		{"link", ".hooks/post-checkout", diag.Denied}, // a dangling link
		{"file", ".github/x", diag.OK},
		{"dir", ".skillpm/plugins/acme/deploy", diag.Denied}, // plugins is a link
		{"link", ".claude/skills/deploy", diag.Denied},       // .claude links outside
		{"remove", "file/x", diag.Denied},
		{"file", "skillpm.lock", diag.Denied}, // a link
		{"file", "src", diag.Denied},          // a directory
		{"link", ".inside/skills/deploy", diag.OK},
		{"remove", ".claude", diag.OK}, // the link itself
	}
	for _, tt := range tests {
		t.Run(tt.kind+" "+tt.path, func(t *testing.T) {
			tx, err := txn.Begin(options(root, nil))
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Abort()
			if err := stage[tt.kind](tx, tt.path); diag.CodeOf(err) != tt.want {
				t.Errorf("got %v (%v), want %v", err, diag.CodeOf(err), tt.want)
			}
		})
	}
}

func TestOverlap(t *testing.T) {
	root := t.TempDir()
	tx, err := txn.Begin(options(root, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Abort()
	if _, err := tx.StageDir("a/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.StageDir("a/b/c"); err == nil {
		t.Error("a directory inside a staged one was accepted")
	}
	if err := tx.StageLink("a", "x"); err == nil {
		t.Error("a link over a staged directory was accepted")
	}
	if err := tx.StageLink("a/b", "x"); err != nil {
		t.Errorf("a second thought about one path: %v", err)
	}
}

// TestRecoverKeepsEdits checks that recovery overwrites no edited file.
func TestRecoverKeepsEdits(t *testing.T) {
	root := t.TempDir()
	write(t, root, before)
	crash(t, options(root, nil), "committed")
	write(t, root, map[string]string{"skillpm.yaml": "edited meanwhile"})
	_, err := txn.Recover(options(root, nil))
	if diag.CodeOf(err) != diag.Conflict || diag.HintOf(err) == "" {
		t.Fatalf("got %v, want a conflict with a hint", err)
	}
	want := maps.Clone(before)
	want["skillpm.yaml"] = "edited meanwhile"
	got := read(t, root)
	maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, ".skillpm/journal/") })
	same(t, "refused", got, want)
	if err := os.Rename(filepath.Join(root, "skillpm.yaml"), filepath.Join(t.TempDir(), "mine")); err != nil {
		t.Fatal(err)
	}
	if recovered, err := txn.Recover(options(root, nil)); !recovered || err != nil {
		t.Fatalf("after following the hint: %v, %v", recovered, err)
	}
	same(t, "after following the hint", read(t, root), after)
}

func TestDamagedJournal(t *testing.T) {
	root := t.TempDir()
	write(t, root, before)
	crash(t, options(root, nil), "committed")
	journal := filepath.Join(options(root, nil).Dir, "journal")
	data, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"empty": {}, "cut": data[:len(data)-1], "edited": []byte(strings.Replace(string(data), "acme", "evil", 1)),
	} {
		if err := os.WriteFile(journal, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := txn.Recover(options(root, nil)); diag.CodeOf(err) != diag.Denied {
			t.Errorf("%s: got %v, want Denied", name, err)
		}
	}
	if _, err := txn.Begin(options(root, nil)); err == nil {
		t.Error("a transaction began over an interrupted one")
	}
}
