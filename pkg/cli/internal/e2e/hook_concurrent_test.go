package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// TestO10FiftyHooks checks SPEC O10: fifty concurrent hooks of one agent, each in its own process, agree on the active
// skills. None allows a forbidden tool, none loses another hook's state, and each refusal is in the audit log.
func TestO10FiftyHooks(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "skillpm")
	if err := os.Symlink(self, program); err != nil {
		t.Skip("no links here") // the test binary is skillpm where it is called so
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("project/.git/HEAD", "ref: refs/heads/main\n")
	for _, name := range []string{"reader", "other", "third"} {
		write("project/.claude/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: x\nallowed-tools: Read\n---\nx\n")
	}
	send := func(event string) (string, error) {
		cmd := exec.Command(program, "hook", "--agent", "claude-code")
		cmd.Dir = filepath.Join(dir, "project")
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "USERPROFILE=" + dir, "LOCALAPPDATA=" + dir, "APPDATA=" + dir}
		cmd.Stdin = strings.NewReader(event)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%w: %s", err, stderr.String())
		}
		return stdout.String(), nil
	}
	call := func(id, tool, input string) string {
		return fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s,"tool_use_id":%q}`, tool, input, id)
	}
	if got, err := send(call("s0", "Skill", `{"skill":"reader"}`)); err != nil || got != "" {
		t.Fatalf("answered %q, %v", got, err)
	}
	const processes = 50
	answers := make([]string, processes)
	var group sync.WaitGroup
	limit := make(chan struct{}, 10) // that many at a time: a small machine has to start them
	for i := range processes {
		group.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			event := call(fmt.Sprint("b", i), "Bash", `{"command":"ls"}`)
			switch i % 10 {
			case 0:
				event = call(fmt.Sprint("o", i), "Skill", `{"skill":"other"}`)
			case 1:
				event = fmt.Sprintf(`{"session_id":"s","hook_event_name":"SubagentStart","agent_id":"a%d","agent_type":"x"}`, i)
			}
			got, err := send(event)
			if err != nil {
				t.Error(err)
			}
			answers[i] = got
		})
	}
	group.Wait()
	refused := 0
	for i, answer := range answers {
		switch i % 10 {
		case 0, 1:
			if answer != "" {
				t.Errorf("process %d answered %q", i, answer)
			}
		default:
			refused++
			if !strings.Contains(answer, `"deny"`) {
				t.Errorf("process %d answered %q, want a denial", i, answer)
			}
		}
	}
	var data []byte
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error { // where systems keep state differs
		if err == nil && filepath.Base(path) == audit.Name {
			data, err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), `"action":"refuse"`); got != refused {
		t.Errorf("%d refusals on record, want %d", got, refused)
	}
	if got := strings.Count(string(data), `"action":"activate"`); got != 2 {
		t.Errorf("%d activations on record, want reader's and other's", got)
	}
}
