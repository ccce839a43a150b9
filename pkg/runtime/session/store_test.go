package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// stateFile returns the only state file of a fixture.
func (w *fixture) stateFile() string {
	w.Helper()
	files, err := filepath.Glob(filepath.Join(w.env.Paths.State, "sessions", "*.json"))
	if err != nil || len(files) != 1 {
		w.Fatalf("%v, %v", files, err)
	}
	return files[0]
}

// TestDamagedState checks that damaged state allows nothing, with a hint, and never counts as empty.
func TestDamagedState(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "allowed-tools: Read", "x\n")
	w.mustLoad("s", "deploy")
	file := w.stateFile()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(from, to string) string { return strings.Replace(string(whole), from, to, 1) }
	for name, text := range map[string]string{
		"empty":             "",
		"cut":               string(whole[:len(whole)/2]),
		"not JSON":          "hello",
		"null":              "null",
		"no stack":          `{"version":1,"id":"s"}`,
		"null stack":        replace(string(whole[bytes.Index(whole, []byte(`"active"`)):]), `"active":null}`),
		"another session's": replace(`"id":"s"`, `"id":"t"`),
		"newer":             replace(`"version":1`, `"version":2`),
		"newer, more":       replace(`"version":1`, `"version":2,"more":true`),
		"unknown field":     replace(`"id":"s"`, `"id":"s","restrict":false`),
		"two documents":     string(whole) + string(whole),
		"no restriction":    replace(`"restricts":true,`, ``),
		"lifted":            replace(`"restricts":true`, `"restricts":false`),
		"a key twice":       replace(`"restricts":true`, `"restricts":true,"RESTRICTS":false`),
		"in another case":   replace(`"id":"s"`, `"ID":"s"`),
		"no name":           replace(`"name":"deploy"`, `"name":""`),
		"too large":         string(whole) + strings.Repeat(" ", 5<<20),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := w.open("s")
			_, err := s.Allow(t.Context(), tool.Call{Tool: "Write"})
			code(t, err, diag.Invalid, "denies all tool calls", "skillpm session end s")
			_, err = s.Activate(t.Context(), "deploy", session.Activate{})
			code(t, err, diag.Invalid)
			_, err = s.Deactivate(t.Context(), "", session.User)
			code(t, err, diag.Invalid)
			if now, _ := os.ReadFile(file); string(now) != text {
				t.Error("the file was changed")
			}
			list, err := session.List(w.env.Paths.State)
			if err != nil || len(list) != 1 || list[0].Damaged == "" && name != "another session's" {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
	t.Run("a link", func(t *testing.T) {
		if err := errors.Join(os.Remove(file), os.Symlink(w.file("elsewhere", `{"version":1,"id":"s","began":"2026-11-22T10:00:00Z","active":[]}`), file)); err != nil {
			t.Skip("no links here:", err)
		}
		_, err := w.open("s").Allow(t.Context(), tool.Call{Tool: "Write"})
		code(t, err, diag.Invalid, "not a regular file")
	})
	if _, err := w.open("s").End(t.Context()); err != nil {
		t.Errorf("a damaged session cannot be ended: %v", err)
	}
	if v := w.allow("s", "Write"); !v.Allowed {
		t.Errorf("%+v", v)
	}
}

// TestIDs checks that any id belongs to exactly one session, and that none leads out of the directory.
func TestIDs(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "", "x\n")
	ids := []string{"s", "S", "7f3a-9c", "../../x", "a/b", `a\b`, "con", "nul", "com1", ".lock", ".", "..", "ä", "a b", "-x", "_x", strings.Repeat("x", 64), strings.Repeat("x", 65), "x\x00y", "a\nb", "s.json"}
	for _, id := range ids {
		w.mustLoad(id, "deploy")
	}
	list, err := session.List(w.env.Paths.State)
	if err != nil || len(list) != len(ids) {
		t.Errorf("%d sessions of %d, %v", len(list), len(ids), err)
	}
	files, _ := filepath.Glob(filepath.Join(w.dir, "*"))
	if len(files) != 3 {
		t.Errorf("files beside the state: %v", files)
	}
	_, err = session.Open(w.env, strings.Repeat("x", 5000))
	code(t, err, diag.Usage, "5000 bytes")
}

// TestEnd checks that a session ends with its hooks, and is deleted.
func TestEnd(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "hooks: {post: post.sh}", "x\n")
	w.file("project/skills/deploy/post.sh", "#!/bin/sh\ntouch "+w.dir+"/after\n")
	w.mustLoad("s", "deploy")
	ended, err := w.open("s").End(t.Context())
	if err != nil || len(ended) != 1 {
		t.Errorf("%v, %v", ended, err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "after")); err != nil {
		t.Error("the post hook did not run")
	}
	_, err = w.open("s").End(t.Context())
	code(t, err, diag.NotFound, "session list")
	if list, err := session.List(w.env.Paths.State); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if r := w.records(); !strings.HasPrefix(r[len(r)-1], "session-end ok") {
		t.Errorf("%q", r)
	}
}

// TestOldSessions checks that sessions are deleted after 30 days without use, and that a query counts as use.
func TestOldSessions(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "allowed-tools: Read", "x\n")
	w.mustLoad("old", "deploy")
	w.mustLoad("asked", "deploy")
	for range 20 {
		w.now = w.now.Add(2 * 24 * time.Hour)
		if v := w.allow("asked", "Write"); v.Allowed {
			t.Fatal("a session in use was forgotten")
		}
		w.mustLoad(fmt.Sprint("new-", w.now.Unix()), "deploy")
	}
	if v := w.allow("old", "Write"); !v.Allowed {
		t.Error("a session that nobody used for 40 days is still there")
	}
	if v := w.allow("asked", "Write"); v.Allowed {
		t.Error("a session in use was forgotten")
	}
}

// TestWrongClock checks that a session is not deleted because of a wrong clock or because it is unreadable.
func TestWrongClock(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "allowed-tools: Read", "x\n")
	right := w.now
	w.now = time.Unix(86400, 0)
	w.mustLoad("wrong", "deploy")
	w.now = right
	w.mustLoad("touched", "deploy")
	file := filepath.Join(w.env.Paths.State, "sessions", "touched.json")
	damaged := filepath.Join(w.env.Paths.State, "sessions", "damaged.json")
	long := time.Unix(86400, 0)
	if err := errors.Join(os.WriteFile(damaged, []byte("{"), 0o600), os.Chtimes(file, long, long), os.Chtimes(damaged, long, long),
		os.Remove(filepath.Join(w.env.Paths.State, "sessions", ".swept"))); err != nil {
		t.Fatal(err)
	}
	w.mustLoad("new", "deploy")
	for _, id := range []string{"wrong", "touched"} {
		if v := w.allow(id, "Write"); v.Allowed {
			t.Errorf("session %s was forgotten", id)
		}
	}
	_, err := w.open("damaged").Allow(t.Context(), tool.Call{Tool: "Write"})
	code(t, err, diag.Invalid, "denies all tool calls")
}

// TestTwentyProcesses checks that twenty concurrent processes agree: each skill is active once, no restriction is lost,
// and every activation is recorded.
func TestTwentyProcesses(t *testing.T) {
	const processes = 20
	w := newFixture(t, "omniforge")
	w.skill("first", "allowed-tools: Read", "x\n")
	for i := range processes {
		w.skill(fmt.Sprint("skill-", i), "allowed-tools: [Read, Write]", "x\n")
	}
	if _, err := w.open("s").Observe(t.Context(), "first", session.Observed{Trigger: session.User, Turn: "t"}); err != nil {
		t.Fatal(err)
	}
	var all []*exec.Cmd
	var said []*bytes.Buffer
	for i := range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SESSION_TEST_WORLD="+w.dir, "SESSION_TEST_NUMBER="+strconv.Itoa(i))
		out := &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all, said = append(all, cmd), append(said, out)
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, said[i])
		}
	}
	state, err := w.open("s").State()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, name := range state.Names() {
		seen[name]++
	}
	for i := range processes {
		if name := fmt.Sprint("skill-", i); seen[name] != 1 {
			t.Errorf("%s is active %d times", name, seen[name])
		}
	}
	activated := 0
	for _, r := range w.records() {
		if strings.HasPrefix(r, "activate ok skill-") {
			activated++
		}
	}
	if activated != processes {
		t.Errorf("%d activations are recorded, want %d", activated, processes)
	}
}

// child is one of twenty processes: it activates its skill, tries another process's skill, and queries continuously.
func child(dir string, n int) error {
	w := &fixture{dir: dir, now: time.Now()}
	w.TB = &failing{}
	w.env = newEnv(w)
	w.env.MaxDepth = 64
	if err := w.env.Audit.Write(audit.Record{Action: "child", Result: audit.OK}); err != nil {
		return err
	}
	for range 5 {
		v, err := w.open("s").Allow(w.Context(), tool.Call{Tool: "Write"})
		if err != nil || v.Allowed {
			return fmt.Errorf("write is allowed: %t, %w", v.Allowed, err)
		}
	}
	o := session.Observed{Trigger: session.User, Turn: "t"} // the user names all of them in one prompt
	for i := range 2 {
		seen, err := w.open("s").Observe(w.Context(), fmt.Sprint("skill-", n), o)
		if err != nil || seen.Entered != (i == 0) {
			return fmt.Errorf("observation %d: %+v, %w", i, seen, err)
		}
	}
	for range 5 {
		v, err := w.open("s").Allow(w.Context(), tool.Call{Tool: "Read"})
		if err != nil || !v.Allowed || len(v.Stack) < 2 {
			return fmt.Errorf("read is refused: %+v, %w", v, err)
		}
	}
	return nil
}

// TestKilled checks that after a process is killed at any time, the skill is active or not, and the session is usable.
func TestKilled(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "allowed-tools: Read", "x\n")
	for i := range 25 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SESSION_TEST_WORLD="+w.dir, "SESSION_TEST_NUMBER=-1")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 1)) // it is at work
		for range i * 2000 {
			_ = os.Getpid()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		state, err := w.open("s").State()
		if err != nil || len(state.Active) > 1 {
			t.Fatalf("%+v, %v", state, err)
		}
		if v := w.allow("s", "Write"); v.Allowed != (len(state.Active) == 0) {
			t.Errorf("%+v with %v active", v, state.Names())
		}
	}
	if _, err := w.open("s").Deactivate(t.Context(), "", session.User); err != nil && diag.CodeOf(err) != diag.NotFound {
		t.Error(err)
	}
	w.mustLoad("s", "deploy")
}

// toggle activates and ends a skill in an endless loop.
func toggle(dir string) {
	w := &fixture{dir: dir, now: time.Now(), TB: &failing{}}
	w.env = newEnv(w)
	var once sync.Once
	for {
		_, _ = w.open("s").Activate(w.Context(), "deploy", session.Activate{})
		once.Do(func() { fmt.Println("x") })
		_, _ = w.open("s").Deactivate(w.Context(), "", session.User)
	}
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("SESSION_TEST_WORLD"); dir != "" {
		n, _ := strconv.Atoi(os.Getenv("SESSION_TEST_NUMBER"))
		if n < 0 {
			toggle(dir)
		}
		if err := child(dir, n); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testkit.UseMemory()
	m.Run()
}

// FuzzState checks that an invalid state is an error, and that a stored tool list restricts.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"version":1,"id":"s","began":"2026-11-22T10:00:00Z","active":[]}`))
	f.Add([]byte(`{"version":1,"id":"s","active":[{"name":"a","dir":"/x","real":"/x","digest":"sha256:0","trigger":"model","at":"2026-11-22T10:00:00Z","restricts":true,"allowed-tools":["Read"]}]}`))
	f.Add([]byte(`{}`))
	w := newFixture(f, "omniforge")
	w.skill("deploy", "", "x\n")
	w.mustLoad("s", "deploy")
	file := w.stateFile()
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		one := *w
		one.TB = t
		v, err := one.open("s").Allow(t.Context(), tool.Call{Tool: "Write"})
		if err != nil {
			return
		}
		var state session.State
		if err := json.Unmarshal(data, &state); err != nil || state.Version != 1 || state.ID != "s" {
			t.Errorf("%q is taken for a state: %v", data, err)
		}
		for _, a := range state.Active {
			if a.Restricts && len(a.Allowed) == 0 && v.Allowed {
				t.Errorf("%q allows Write", data)
			}
		}
	})
}

// BenchmarkActivate measures an activation with its state on disk, and its end.
func BenchmarkActivate(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(strconv.Itoa(n)+"-skills", func(b *testing.B) {
			w := newFixture(b, "omniforge")
			for i := range n {
				w.skill(fmt.Sprintf("skill-%04d", i), "allowed-tools: [Read, 'Bash(git:*)']", "Do $ARGUMENTS.\n"+strings.Repeat("Text of the body. ", 200))
			}
			c, err := w.env.Catalog(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			w.keep(c)
			for b.Loop() {
				if _, err := w.load("s", "skill-0000", session.Activate{Arguments: "it"}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if _, err := w.open("s").Deactivate(b.Context(), "", session.User); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkAllow measures one decision, with three active skills.
func BenchmarkAllow(b *testing.B) {
	w := newFixture(b, "omniforge")
	for i := range 3 {
		w.skill(fmt.Sprint("skill-", i), "allowed-tools: [Read, 'Bash(git:*)']", "x\n")
		w.mustLoad("s", fmt.Sprint("skill-", i))
	}
	for b.Loop() {
		if v := w.allow("s", "Bash", "command", "git push origin main"); !v.Allowed {
			b.Fatal(v.Reason)
		}
	}
}
