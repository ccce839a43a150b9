package txn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

var (
	thisKey  = bytes.Repeat([]byte("k"), 32)
	otherKey = bytes.Repeat([]byte("x"), 32)
)

// forge writes a journal of one operation, with a key, and returns the options for its root.
func forge(t *testing.T, root string, key []byte, o op) Options {
	t.Helper()
	options := Options{Root: root, Dir: filepath.Join(root, ".skillpm", "journal"), Key: key}
	s, err := openScopeDir(options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.mkdir(""); err != nil {
		t.Fatal(err)
	}
	if err := s.writeJournal([]*op{&o}); err != nil {
		t.Fatal(err)
	}
	return options
}

// refused checks that a journal is an error and changes nothing.
func refused(t *testing.T, o Options, want diag.Code) {
	t.Helper()
	journal := filepath.Join(o.Dir, journalName)
	before, _ := os.ReadFile(journal)
	recovered, err := Recover(o)
	if recovered || diag.CodeOf(err) != want {
		t.Errorf("got %v, %v (%v), want %v", recovered, err, diag.CodeOf(err), want)
	}
	if want == diag.Denied && err != nil && diag.HintOf(err) == "" {
		t.Errorf("no hint: %v", err)
	}
	if after, _ := os.ReadFile(journal); !bytes.Equal(before, after) {
		t.Error("the journal was touched")
	}
	for _, name := range []string{".git", "evil"} {
		if _, err := os.Lstat(filepath.Join(o.Root, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// TestForgedJournal checks that a journal from a repository is never applied.
func TestForgedJournal(t *testing.T) {
	evil := op{ID: "0", Kind: kindFile, Path: "evil", Data: []byte("#!/bin/sh\n"), Mode: 0o755}
	t.Run("other key", func(t *testing.T) {
		o := forge(t, t.TempDir(), otherKey, evil)
		o.Key = thisKey
		refused(t, o, diag.Denied)
		o.Key = nil
		refused(t, o, diag.Denied)
	})
	t.Run("other root", func(t *testing.T) {
		o := forge(t, t.TempDir(), thisKey, evil)
		there := filepath.Join(t.TempDir(), "there")
		if err := os.Rename(o.Root, there); err != nil {
			t.Fatal(err)
		}
		refused(t, Options{Root: there, Dir: filepath.Join(there, ".skillpm", "journal"), Key: thisKey}, diag.Denied)
	})
	t.Run("checksum", func(t *testing.T) {
		o := forge(t, t.TempDir(), thisKey, evil)
		body, err := json.Marshal([]op{evil})
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(body)
		for _, header := range []string{"skillpm-journal-v1 ", journalHeader} {
			data := header + hex.EncodeToString(sum[:]) + "\n" + string(body)
			if err := os.WriteFile(filepath.Join(o.Dir, journalName), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, o, diag.Denied)
		}
	})
	t.Run("too large", func(t *testing.T) {
		o := forge(t, t.TempDir(), otherKey, evil)
		if err := os.Truncate(filepath.Join(o.Dir, journalName), 1<<40); err != nil {
			t.Skip(err)
		}
		o.Key = thisKey
		if recovered, err := Recover(o); recovered || diag.CodeOf(err) != diag.Denied {
			t.Errorf("got %v, %v", recovered, err)
		}
		if err := os.Truncate(filepath.Join(o.Dir, journalName), 0); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(o.Dir, journalName), filepath.Join(o.Root, "file")); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(o.Root, "file"), 1<<40); err != nil {
			t.Fatal(err)
		}
		tx, err := Begin(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.StageFile("file", []byte("x"), 0o644); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("a file to replace: %v", err)
		}
		if err := tx.Abort(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a directory", func(t *testing.T) {
		root := t.TempDir()
		o := Options{Root: root, Dir: filepath.Join(root, ".skillpm", "journal"), Key: thisKey}
		if err := os.MkdirAll(filepath.Join(o.Dir, journalName), 0o755); err != nil {
			t.Fatal(err)
		}
		refused(t, o, diag.Denied)
	})
}

// TestReplayRefusesPaths checks that even a journal with the right key writes neither to git's directory nor to the
// journal's.
func TestReplayRefusesPaths(t *testing.T) {
	tests := []struct {
		path string
		want diag.Code
	}{
		{".git/hooks/post-checkout", diag.Denied},
		{".GIT/hooks/post-checkout", diag.Denied},
		{"x/.git", diag.Denied},
		{"../evil", diag.Denied},
		{".skillpm/journal/stage/1", diag.Internal},
		{".skillpm", diag.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			o := forge(t, t.TempDir(), thisKey, op{ID: "0", Kind: kindFile, Path: tt.path, Data: []byte("x"), Mode: 0o755})
			before, _ := os.ReadFile(filepath.Join(o.Dir, journalName))
			if recovered, err := Recover(o); recovered || diag.CodeOf(err) != tt.want {
				t.Errorf("got %v, %v, want %v", recovered, err, tt.want)
			}
			if after, _ := os.ReadFile(filepath.Join(o.Dir, journalName)); !bytes.Equal(before, after) {
				t.Error("the journal was touched")
			}
			if _, err := os.Lstat(filepath.Join(o.Root, ".git")); err == nil {
				t.Error(".git was written")
			}
		})
	}
}

func TestShortKey(t *testing.T) {
	root := t.TempDir()
	if _, err := Begin(Options{Root: root, Dir: filepath.Join(root, ".skillpm", "journal"), Key: []byte("short")}); err == nil {
		t.Error("a key of 5 bytes was accepted")
	}
}
