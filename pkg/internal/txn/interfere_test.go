package txn_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// targets are the paths that install changes, except its files.
var targets = []string{
	".skillpm/plugins/acme/deploy", ".skillpm/plugins/globex/ops", ".skillpm/plugins/gone/tools", ".skillpm/plugins/never/was",
	".skillpm/plugins/moved/pack", ".skillpm/plugins/moved/pack/new", ".claude/skills/hammer", ".claude/skills/deploy",
	".agents/skills/deploy", ".claude/skills/copied", ".claude/skills/alias",
}

// mine is the content that the user writes.
const mine = "SKILL.md.mine"

// plant writes a user's file at a target: into an existing directory, or else into a new one that replaces what is at
// the target.
func plant(t testing.TB, root, target string) {
	t.Helper()
	dir := filepath.Join(root, filepath.FromSlash(target))
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, mine)
	if err := os.WriteFile(file, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	now := time.Now() // more precise than the clock of some file systems
	if err := os.Chtimes(file, now, now); err != nil {
		t.Fatal(err)
	}
}

// elsewhere returns the files that are neither at target nor in the journal.
func elsewhere(files map[string]string, target string) map[string]string {
	files = maps.Clone(files)
	maps.DeleteFunc(files, func(name, _ string) bool {
		return name == target || strings.HasPrefix(name, target+"/") || strings.HasPrefix(name, ".skillpm/journal/")
	})
	return files
}

// interference is a user who writes to a target at one step of an install.
type interference struct {
	root, target, name string
}

// checkKept checks that the user's file is unchanged.
func (i interference) checkKept(t testing.TB, what string, err error) {
	t.Helper()
	if got := read(t, i.root)[i.target+"/"+mine]; got != "precious" {
		t.Fatalf("%s at %s: the user's file in %s is gone (%v)", what, i.name, i.target, err)
	}
	if err == nil {
		return
	}
	named := strings.TrimSuffix(i.target, "/new") // the new file changes the old pack
	if diag.CodeOf(err) != diag.Conflict || diag.HintOf(err) == "" || !strings.Contains(filepath.ToSlash(err.Error()), named) {
		t.Fatalf("%s at %s: got %v, want a conflict with a hint that names %s", what, i.name, err, i.target)
	}
}

// follow does what the hint suggests, and then completes the transaction.
func (i interference) follow(t testing.TB) {
	t.Helper()
	away := filepath.Join(filepath.Dir(options(i.root, nil).Dir), "away")
	if err := os.MkdirAll(away, 0o755); err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(i.root, filepath.FromSlash(i.target))
	if os.Rename(from, filepath.Join(away, "mine")) != nil { // on another file system
		if out, err := exec.Command("mv", from, away).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
	}
	if err := os.RemoveAll(away); err != nil {
		t.Fatal(err)
	}
	if recovered, err := txn.Recover(options(i.root, nil)); !recovered || err != nil {
		t.Fatalf("after moving %s away, planted at %s: %v, %v", i.target, i.name, recovered, err)
	}
	same(t, "completed", elsewhere(read(t, i.root), i.target), elsewhere(after, i.target))
}

// dead crashes the install at its n-th step; then the user writes, and another process recovers.
func (i interference) dead(t testing.TB, n int) {
	t.Helper()
	o := options(i.root, nil)
	survive(func() { _ = install(crashing(o, func(at int, _ string) bool { return at == n })) })
	plant(t, i.root, i.target)
	was := read(t, i.root)
	_, err := txn.Recover(o)
	i.checkKept(t, "a death", err)
	if err == nil {
		return
	}
	same(t, "refused", read(t, i.root), was)
	i.follow(t)
}

// alive makes the user write at the n-th step of the install.
func (i interference) alive(t testing.TB, n int) {
	t.Helper()
	at := 0
	err := install(options(i.root, func(string) error {
		if at++; at == n+1 {
			plant(t, i.root, i.target)
		}
		return nil
	}))
	i.checkKept(t, "a visit", err)
	got := elsewhere(read(t, i.root), i.target)
	_, stuck := os.Lstat(filepath.Join(options(i.root, nil).Dir, "journal"))
	switch {
	case err == nil:
		same(t, "visited", got, elsewhere(after, i.target))
	case stuck == nil: // the user's file blocks the rollback
		i.follow(t)
	default:
		same(t, "rolled back", got, elsewhere(before, i.target))
	}
}

// TestInterference checks that a file that the user writes after the commit point is never deleted, whether the process
// continues or has died, and that the transaction can be completed afterwards.
func TestInterference(t *testing.T) { // M2
	interfere(t, 2, memory)
}

// interfere tries every stride-th step with each target.
func interfere(t *testing.T, stride int, scope func(testing.TB) string) {
	if _, err := exec.LookPath("mv"); err != nil {
		t.Skip("mv is needed")
	}
	names := steps(t, scope(t))
	committed := slices.Index(names, "committed")
	for k, target := range targets {
		t.Run("write "+strings.ReplaceAll(target, "/", ":"), func(t *testing.T) {
			t.Parallel()
			for n := committed + k%stride; n < len(names) && !t.Failed(); n += stride {
				i := interference{root: scope(t), target: target, name: strconv.Itoa(n) + " " + names[n]}
				write(t, i.root, before)
				i.dead(t, n)
				i.root = scope(t)
				write(t, i.root, before)
				i.alive(t, n)
				if t.Failed() {
					t.Errorf("target %s, step %s", i.target, i.name)
				}
			}
		})
	}
}

// TestRollbackKeepsNewFiles makes an install fail at its last step, after a user has written into a new directory.
func TestRollbackKeepsNewFiles(t *testing.T) {
	names := steps(t, memory(t))
	for _, target := range targets {
		t.Run(strings.ReplaceAll(target, "/", ":"), func(t *testing.T) {
			t.Parallel()
			for n := slices.Index(names, "committed"); names[n] != "applied"; n++ {
				keepNewFile(t, interference{root: memory(t), target: target, name: names[n]}, n)
			}
		})
	}
}

func keepNewFile(t *testing.T, i interference, n int) {
	t.Helper()
	write(t, i.root, before)
	at := 0
	err := install(options(i.root, func(step string) error {
		if at++; at == n+1 {
			plant(t, i.root, i.target)
		}
		if step == "applied" {
			return errors.New("boom")
		}
		return nil
	}))
	if err == nil {
		t.Fatal("the install succeeded")
	}
	if got := read(t, i.root)[i.target+"/"+mine]; got != "precious" {
		t.Errorf("at %s: the user's file in %s is gone (%v)", i.name, i.target, err)
	}
}

// TestNoKey checks that without a key no other process applies a journal.
func TestNoKey(t *testing.T) {
	root := t.TempDir()
	names := steps(t, t.TempDir())
	write(t, root, before)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashRoot+"="+root, crashStep+"="+strconv.Itoa(slices.Index(names, "committed")), crashKey+"=none")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("it was not killed: %s", out)
	}
	was := read(t, root)
	o := options(root, nil)
	for _, key := range [][]byte{nil, o.Key} {
		o.Key = key
		if recovered, err := txn.Recover(o); recovered || diag.CodeOf(err) != diag.Denied {
			t.Errorf("got %v, %v, want Denied", recovered, err)
		}
	}
	same(t, "refused", read(t, root), was)
}
