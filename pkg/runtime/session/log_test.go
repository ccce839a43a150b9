package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// readLog returns the records of a log, one a line, and verifies their chain.
func readLog(t testing.TB, path string) (all []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	prev := ""
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		var r audit.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Prev != prev || r.User == "" || r.Time == "" || r.Profile == "" && r.Action != "child" {
			t.Errorf("record %s", line)
		}
		prev = audit.Digest(line)
		all = append(all, r.Action+" "+r.Result+" "+r.Skill+" "+r.Tool+r.Hook+r.File+" "+r.Reason)
	}
	return all
}
