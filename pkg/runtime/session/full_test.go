package session

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestO10FullDisk checks SPEC O10: on a full disk, a skill that has ended stops restricting, and an active one still
// restricts.
func TestO10FullDisk(t *testing.T) {
	f := folder{dir: t.TempDir(), now: time.Now}
	s := State{Version: version, ID: "s", Began: time.Now().UTC(), Active: []Active{{Name: "a", Real: "/a", Digest: "x"}}}
	if err := f.write(s); err != nil {
		t.Fatal(err)
	}
	if err := f.wrapWriteError(s, syscall.ENOSPC); err == nil {
		t.Error("a state with a skill in it that was not written is no error")
	}
	s.Active = nil
	if err := f.wrapWriteError(s, syscall.ENOSPC); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.path("s")); err == nil {
		t.Error("the state is there")
	}
}
