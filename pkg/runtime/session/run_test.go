package session_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// TestRun checks SPEC O4, O12: a script of a skill runs, and the audit log has its exit code and the digest of its
// output, not the text.
func TestRun(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "command: scripts/go.sh from-command", "x\n")
	w.skill("text", "", "x\n")
	w.file("project/skills/deploy/scripts/go.sh", "#!/bin/sh\necho \"printed-secret $* $SKILL_NAME $SKILLPM_SESSION\"\necho trouble >&2\nexit 5\n")
	w.file("project/skills/text/scripts/slow.sh", "#!/bin/sh\nsleep 60\n")
	var live bytes.Buffer
	res, err := w.open("s").Run(t.Context(), "deploy", session.RunOptions{Script: "scripts/go.sh", Args: []string{"a b", "--token", "t0ps3cret"}, Stdout: &live})
	want := "printed-secret a b --token t0ps3cret deploy s\n"
	if err != nil || res.ExitCode != 5 || string(res.Stdout) != want || live.String() != want || string(res.Stderr) != "trouble\n" {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err = w.open("").Run(t.Context(), "deploy", session.RunOptions{Args: []string{"x"}})
	if err != nil || string(res.Stdout) != "printed-secret from-command x deploy \n" {
		t.Errorf("%s, %v", res.Stdout, err)
	}
	res, err = w.open("").Run(t.Context(), "text", session.RunOptions{Script: "slow.sh", Limit: 200 * time.Millisecond})
	if err != nil || !res.TimedOut {
		t.Errorf("%+v, %v", res, err)
	}
	_, err = w.open("").Run(t.Context(), "text", session.RunOptions{})
	code(t, err, diag.Invalid, "does not have a command", "skillpm run text --script scripts/slow.sh")
	_, err = w.open("").Run(t.Context(), "text", session.RunOptions{Script: "../deploy/scripts/go.sh"})
	code(t, err, diag.Denied, "not a path inside")

	log, err := os.ReadFile(filepath.Join(w.env.Paths.State, "audit", audit.Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"printed-secret", "trouble", "t0ps3cret"} {
		if strings.Contains(string(log), secret) {
			t.Errorf("%q is on record", secret)
		}
	}
	for i, want := range []string{
		`"result":"failed","skill":"deploy"`, `"result":"failed","skill":"deploy"`, `"result":"timeout","skill":"text"`, `"result":"failed","skill":"text"`,
		`"result":"denied","skill":"text"`,
	} {
		line := strings.Split(string(log), "\n")[i]
		if !strings.Contains(line, want) || !strings.Contains(line, `"action":"run"`) || i < 2 && !strings.Contains(line, `"exit_code":5`) {
			t.Errorf("record %d is %s, want %s", i, line, want)
		}
	}
}

// TestUnrecorded checks that a script run that cannot be recorded is an error.
func TestUnrecorded(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "", "x\n")
	w.file("project/skills/deploy/scripts/go.sh", "#!/bin/sh\nexit 0\n")
	w.file("state/audit/audit.jsonl/x", "") // a directory in its place
	res, err := w.open("").Run(t.Context(), "deploy", session.RunOptions{Script: "go.sh"})
	if res == nil || res.ExitCode != 0 {
		t.Errorf("%+v", res)
	}
	code(t, err, diag.Internal, "cannot record")
	a, err := w.load("", "deploy", session.Activate{})
	if err != nil || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "audit log") {
		t.Errorf("%+v, %v", a, err)
	}
}
