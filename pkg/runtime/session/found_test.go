package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// lastRecord returns the last record of the log.
func (w *fixture) lastRecord() (r audit.Record) {
	w.Helper()
	data, err := os.ReadFile(w.env.Audit.Path())
	if err != nil {
		w.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		w.Fatal(err)
	}
	return r
}

// TestFound checks that a search records a limited number of names. If the log cannot be written, that is a warning, or
// an error if a policy requires the log.
func TestFound(t *testing.T) {
	w := newFixture(t, "omniforge")
	if warnings, err := w.open("s").RecordFound(nil); err != nil || len(warnings) > 0 || len(w.records()) > 0 {
		t.Errorf("%v, %v, %v", warnings, err, w.records())
	}
	var names []string
	for n := range 100 {
		names = append(names, fmt.Sprint("skill-", n, "@acme/pack"))
	}
	if warnings, err := w.open("s").RecordFound(names); err != nil || len(warnings) > 0 {
		t.Errorf("%v, %v", warnings, err)
	}
	r := w.lastRecord()
	if r.Action != audit.Find || r.Session != "s" || len(r.Found) != 16 || r.Found[0] != names[0] {
		t.Errorf("%+v", r)
	}

	directory := filepath.Join(w.dir, "directory.jsonl")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	w.env.Audit = audit.Open(directory, audit.Options{})
	if warnings, err := w.open("s").RecordFound(names); err != nil || len(warnings) != 1 {
		t.Errorf("%v, %v", warnings, err)
	}
	w.env.Audit = audit.Open(directory, audit.Options{Required: true})
	if _, err := w.open("s").RecordFound(names); err == nil {
		t.Error("skills are found without the record that a policy requires")
	}
}

// TestTokens checks that the record of an activation has an estimate of the tokens of the instructions, also if the
// agent itself gives them to its model, and that skills which the model has already do not count again.
func TestTokens(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "", "Roll the service out to the cluster.\n")
	w.skill("review", "", "Read the changes, and list the mistakes.\n")
	w.mustLoad("a", "deploy")
	if r := w.lastRecord(); r.Action != audit.Activate || r.Tokens < 7 || r.Tokens > 12 {
		t.Errorf("%+v", r)
	}
	for already, want := range map[bool]bool{false: true, true: false} {
		_, err := w.open(fmt.Sprint("b", already)).Observe(t.Context(), "review", session.Observed{AlreadyLoaded: already})
		if r := w.lastRecord(); err != nil || r.Skill != "review" || r.Tokens > 0 != want {
			t.Errorf("already loaded %v: %+v, %v", already, r, err)
		}
	}
}
