package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// terminal is a program in a terminal of 80 by 24.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	done   chan struct{} // the output has ended

	mu   sync.Mutex
	text bytes.Buffer
	more *sync.Cond
}

const (
	terminalWidth  = 80
	terminalHeight = 24
)

// openTerminal returns both sides of a new terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	size := &unix.Winsize{Row: terminalHeight, Col: terminalWidth}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// inTerminal starts skillpm in a terminal.
func (w *setting) inTerminal(t *testing.T, environment []string, args ...string) *terminal {
	t.Helper()
	master, slave := openTerminal(t)
	defer slave.Close()
	p := &terminal{t: t, master: master, done: make(chan struct{})}
	p.more = sync.NewCond(&p.mu)
	p.cmd = exec.Command(w.skillpm, args...)
	p.cmd.Dir, p.cmd.Env = w.project, append(w.quietEnvironment(), environment...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		master.Close()
	})
	return p
}

// read collects the output, and answers the program's terminal queries.
func (p *terminal) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := p.master.Read(buffer)
		p.mu.Lock()
		p.text.Write(buffer[:n])
		p.more.Broadcast()
		p.mu.Unlock()
		if err != nil {
			close(p.done)
			p.more.Broadcast()
			return
		}
	}
}

// expect waits until the output contains a text.
func (p *terminal) expect(text string) {
	p.t.Helper()
	late := false
	timer := time.AfterFunc(20*time.Second, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.more.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !strings.Contains(plain(p.text.String()), text) {
		select {
		case <-p.done:
			late = true
		default:
			if !late {
				p.more.Wait()
			}
		}
		if late && !strings.Contains(plain(p.text.String()), text) {
			p.t.Fatalf("the terminal does not show %q: %s", text, plain(p.text.String()))
		}
	}
}

// send types keys.
func (p *terminal) send(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.master, keys); err != nil {
		p.t.Fatal(err)
	}
}

// end waits for the program, and returns its exit code and output.
func (p *terminal) end() (int, string) {
	p.t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok || ok && !exit.Exited() {
		p.t.Fatalf("%v: %s", err, p.text.String())
	}
	<-p.done
	return p.cmd.ProcessState.ExitCode(), strings.ReplaceAll(p.text.String(), "\r\n", "\n")
}

// plain returns a text without terminal control sequences.
func plain(text string) string {
	return regexp.MustCompile(`\x1b(\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(\x07|\x1b\\)|[=>])`).ReplaceAllString(text, "")
}

// setting is a home and a project for programs in terminals.
type setting struct {
	t                      *testing.T
	home, project, skillpm string
}

// newSetting returns an empty home and project.
func newSetting(t *testing.T) *setting {
	dir := t.TempDir()
	w := &setting{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), skillpm: self(t)}
	for _, d := range []string{w.home, w.project} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// quietEnvironment is the environment of a program in a terminal: no pager, no colors, no network.
func (w *setting) quietEnvironment() []string {
	return []string{
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "LANG=C.UTF-8", "PAGER=", "NO_COLOR=1",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		enterpriseDir + "=" + filepath.Join(w.home, "enterprise"),
	}
}

// mustRun runs skillpm without a terminal.
func (w *setting) mustRun(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.Command(w.skillpm, args...)
	cmd.Dir, cmd.Env = dir, w.quietEnvironment()
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("skillpm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

const (
	longPack  = "a-rather-long-owner-name/with-a-pack-name-that-is-long-too"
	longSkill = "migrate-databases-between-providers"
)

// installLong publishes and installs a pack with long names.
func (w *setting) installLong() {
	w.t.Helper()
	source := filepath.Join(filepath.Dir(w.project), "source")
	for _, name := range []string{longSkill, longSkill + "-again"} {
		dir := filepath.Join(source, "skills", name)
		text := "---\nname: " + name + "\ndescription: Moves databases from one provider to another, checks every row, " +
			"and reports what differs. Use it when a database has to move.\n---\n# Move\n\nMove it.\n"
		if err := os.MkdirAll(dir, 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	w.mustRun(source, "init", longPack, "--description", "Databases that move.", "--license", "MIT")
	w.mustRun(source, "publish", "-q")
	w.mustRun(w.project, "install", "-q", longPack, "acme/deploy")
}

// TestTerminalWidth proves that nothing is wider than a terminal of 80 columns: lists with long names, details, help,
// and errors with their hints.
func TestTerminalWidth(t *testing.T) {
	w := newSetting(t)
	w.installLong()
	w.mustRun(w.project, "load", longSkill, "--session", "a-session-with-a-long-name-that-says-what-it-is-for")
	for _, line := range []string{
		"help --all", "help install", "install -h", "validate --help", "list", "skills", "skills --all", "agents", "agents --all",
		"search databases", "find move a database", "log", "log stats", "info " + longPack, "info " + longSkill, "why " + longSkill,
		"which " + longSkill, "outdated --offline", "tree", "explain", "explain REF001", "registry list", "config list", "cache list",
		"policy explain " + longSkill, "policy check", "approve --list", "session list", "task list", "profile list", "doctor",
		"verify", "connect claude-code codex --dry-run --command skillpm --no-hooks --no-mcp", "trust --list",
		"remove nobody/has-a-pack-with-this-rather-long-name-in-this-project", "load " + longSkill + "-that-does-not-exist",
		"install " + longPack + "@^99.1 --offline", "explain NOSUCH", "nosuch", "config set nosuch-setting 1",
		"config get min-release-age", "run " + longSkill + " --script scripts/there-is-no-such-script-in-this-skill.sh",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			code, out := w.inTerminal(t, nil, strings.Fields(line)...).end()
			if strings.TrimSpace(out) == "" && code == 0 && line != "config list" {
				t.Error("no output")
			}
			for text := range strings.SplitSeq(plain(out), "\n") {
				text = text[strings.LastIndex(text, "\r")+1:] // after the progress display
				if n := utf8.RuneCountInString(text); n > terminalWidth && len(strings.Fields(text)) > 1 {
					t.Errorf("%d columns: %s", n, text)
				}
			}
		})
	}
}

// TestColumns proves that COLUMNS sets the width, and that output to a file or pipe is not wrapped.
func TestColumns(t *testing.T) {
	w := newSetting(t)
	w.installLong()
	_, out := w.inTerminal(t, []string{"COLUMNS=60"}, "list").end()
	for text := range strings.SplitSeq(out, "\n") {
		if n := utf8.RuneCountInString(text); n > 60 {
			t.Errorf("%d columns: %s", n, text)
		}
	}
	cmd := exec.Command(w.skillpm, "list")
	cmd.Dir, cmd.Env = w.project, append(w.quietEnvironment(), "COLUMNS=60")
	piped, err := cmd.Output()
	if err != nil || !strings.Contains(string(piped), longPack+"  0.1.0    "+longSkill+", "+longSkill+"-again  ") {
		t.Errorf("%v: %s", err, piped)
	}
}

// TestPager proves that a list that is longer than the terminal goes through the pager with its colors, and that a
// short list, JSON, and the output in CI do not.
func TestPager(t *testing.T) {
	w := newSetting(t)
	w.installLong()
	paged := filepath.Join(w.home, "paged")
	pager := filepath.Join(w.home, "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\ntee "+paged+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line  string
		env   string
		paged bool
		text  string
	}{
		{"agents --all", "A=b", true, "claude-code"},
		{"help --all", "A=b", true, "Commands for agents"},
		{"explain", "A=b", true, "\x1b["},
		{"explain", "NO_COLOR=1", true, "REF001"},
		{"list", "A=b", false, ""},
		{"agents --all --json", "A=b", false, ""},
		{"agents --all", "CI=1", false, ""},
		{"agents --all", "TERM=dumb", false, ""},
		{"agents --all", "PAGER=", false, ""},
		{"agents --all", "PAGER=/nonexistent", false, ""},
	} {
		_ = os.Remove(paged)
		environment := []string{"NO_COLOR=", "PAGER=" + pager, test.env}
		code, out := w.inTerminal(t, environment, strings.Fields(test.line)...).end()
		if code != 0 || len(out) < 100 {
			t.Errorf("%s: exit %d: %s", test.line, code, out)
		}
		text, err := os.ReadFile(paged)
		if (err == nil) != test.paged || !strings.Contains(string(text), test.text) {
			t.Errorf("%s, %s: %v: %s", test.line, test.env, err, text)
		}
		if strings.Contains(test.env, "NO_COLOR") && strings.Contains(string(text), "\x1b") {
			t.Errorf("%s: colors with %s", test.line, test.env)
		}
	}
}

// TestPagerEnvironment proves that less gets the options for colors and UTF-8, unless the user has set them.
func TestPagerEnvironment(t *testing.T) {
	w := newSetting(t)
	pager := filepath.Join(w.home, "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\necho \"LESS=$LESS LESSCHARSET=$LESSCHARSET\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ env, want string }{
		{"A=b", "LESS=FRX LESSCHARSET=utf-8"},
		{"LESS=-i", "LESS=-i LESSCHARSET=utf-8"},
		{"LESSCHARSET=latin1", "LESS=FRX LESSCHARSET=latin1"},
		{"LANG=C", "LESS=FRX LESSCHARSET=\n"},
	} {
		code, out := w.inTerminal(t, []string{"PAGER=" + pager, test.env}, "agents", "--all").end()
		if code != 0 || !strings.Contains(out, test.want) {
			t.Errorf("%s: exit %d: %s", test.env, code, out)
		}
	}
}

// TestColorVariables proves which variables and flags switch the colors of a terminal on and off, and which one wins.
func TestColorVariables(t *testing.T) {
	for _, test := range []struct {
		env, color string
		want       bool
	}{
		{"NO_COLOR=", "auto", true},
		{"NO_COLOR= FORCE_COLOR=0", "auto", false},
		{"NO_COLOR= FORCE_COLOR=false", "auto", false},
		{"NO_COLOR= FORCE_COLOR=1 TERM=dumb", "auto", true},
		{"NO_COLOR=1 FORCE_COLOR=1", "auto", false},
		{"NO_COLOR=1 FORCE_COLOR=0", "always", true},
		{"NO_COLOR= FORCE_COLOR=1", "never", false},
	} {
		_, out := newSetting(t).inTerminal(t, strings.Fields(test.env), "profile", "list", "--color", test.color).end()
		if got := strings.Contains(out, "\x1b["); got != test.want {
			t.Errorf("%s --color %s: colors are %v: %q", test.env, test.color, got, out)
		}
	}
}

// TestSummaryIsLast proves that the summary of a list comes after the list, in a terminal too.
func TestSummaryIsLast(t *testing.T) {
	w := newSetting(t)
	w.installLong()
	for line, want := range map[string]string{
		"log": `\d+ records\.$`, "list": `\d+ packs? with \d+ skills?\.$`, "skills": `\d+ skills?\.$`, "search deploy": `Show details with: .*$`,
	} {
		for _, pager := range []string{"PAGER=cat", "PAGER="} {
			code, out := w.inTerminal(t, []string{pager}, strings.Fields(line)...).end()
			if code != 0 || !regexp.MustCompile(want).MatchString(strings.TrimSpace(plain(out))) {
				t.Errorf("%s, %s: exit %d: %s", line, pager, code, plain(out))
			}
		}
	}
}

// TestPickers proves that commands without arguments let the user choose on a terminal, and only there.
func TestPickers(t *testing.T) {
	t.Run("install", func(t *testing.T) {
		w := newSetting(t)
		p := w.inTerminal(t, nil, "install")
		p.expect("Which packs?")
		p.send("/")
		p.send("acme/deploy")
		p.expect("acme/deploy")
		p.send("\r")
		p.send(" ")
		p.expect("•")
		p.send("\r")
		code, out := p.end()
		manifest, err := os.ReadFile(filepath.Join(w.project, "skillpm.yaml"))
		if code != 0 || err != nil || !strings.Contains(string(manifest), "acme/deploy") {
			t.Errorf("exit %d, %v: %s\n%s", code, err, manifest, plain(out))
		}
	})
	t.Run("connect", func(t *testing.T) {
		w := newSetting(t)
		if err := os.MkdirAll(filepath.Join(w.project, ".claude"), 0o755); err != nil {
			t.Fatal(err)
		}
		p := w.inTerminal(t, nil, "connect", "--dry-run")
		p.expect("Which agents?")
		p.send(" ")
		p.expect("•")
		p.send("\r")
		if code, out := p.end(); code != 0 || !strings.Contains(plain(out), "Claude Code (claude-code)") {
			t.Errorf("exit %d: %s", code, plain(out))
		}
	})
	t.Run("connect after install", func(t *testing.T) { // all agents are offered, not the directory that they share
		w := newSetting(t)
		for _, dir := range []string{".agents", ".kiro"} {
			if err := os.MkdirAll(filepath.Join(w.project, dir, "skills"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		p := w.inTerminal(t, nil, "connect", "--dry-run")
		p.expect("Kiro CLI (detected)")
		p.expect("Claude Code")
		p.send("\x03")
		if _, out := p.end(); strings.Contains(plain(out), "shared directory") {
			t.Errorf("offered: %s", plain(out))
		}
	})
	t.Run("disconnect", func(t *testing.T) { // only connected agents are offered
		w := newSetting(t)
		p := w.inTerminal(t, nil, "disconnect")
		if code, out := p.end(); code != 0 || !strings.Contains(plain(out), "Nothing to disconnect.") {
			t.Errorf("exit %d: %s", code, plain(out))
		}
		p = w.inTerminal(t, nil, "connect", "claude-code", "--no-hooks")
		if code, out := p.end(); code != 0 {
			t.Fatalf("exit %d: %s", code, plain(out))
		}
		p = w.inTerminal(t, nil, "disconnect")
		p.expect("Claude Code: mcp (project)")
		p.send(" ")
		p.expect("•")
		p.send("\r")
		if code, out := p.end(); code != 0 || !strings.Contains(plain(out), "Disconnected 1 agent.") ||
			strings.Contains(plain(out), "Codex") {
			t.Errorf("exit %d: %s", code, plain(out))
		}
	})
	t.Run("import", func(t *testing.T) {
		w := newSetting(t)
		for name, text := range map[string]string{
			"skills-lock.json": `{"version":1,"skills":{}}`, "agents.toml": "version = 1\n",
		} {
			if err := os.WriteFile(filepath.Join(w.project, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p := w.inTerminal(t, nil, "import", "--dry-run")
		p.expect("Which file?")
		p.send("\r") // one choice: nothing to select before
		if code, out := p.end(); code != 0 {
			t.Errorf("exit %d: %s", code, plain(out))
		}
	})
	t.Run("lockfile with conflicts", func(t *testing.T) {
		w := newSetting(t)
		w.mustRun(w.project, "install", "-q", "acme/deploy")
		file := filepath.Join(w.project, "skillpm.lock")
		merged, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, packs, _ := strings.Cut(string(merged), "packs:\n")
		conflict := head + "packs:\n<<<<<<< ours\n" + packs + "=======\n>>>>>>> theirs\n"
		for keys, want := range map[string]struct {
			code int
			text string
		}{
			"\r":       {0, string(merged)},
			"\x1b[B\r": {3, conflict},
			"\x03":     {130, conflict},
		} {
			if err := os.WriteFile(file, []byte(conflict), 0o644); err != nil {
				t.Fatal(err)
			}
			p := w.inTerminal(t, nil, "install")
			p.expect("Resolve the merge conflicts")
			p.send(keys)
			code, out := p.end()
			text, err := os.ReadFile(file)
			if code != want.code || err != nil || string(text) != want.text {
				t.Errorf("%q: exit %d, %v: %s\n%s", keys, code, err, text, plain(out))
			}
		}
	})
	t.Run("leave", func(t *testing.T) {
		for key, want := range map[string]string{
			"\x03": "error: interrupted; no changes were made",
			"\x1b": "error: nothing selected; no changes were made",
		} {
			w := newSetting(t)
			p := w.inTerminal(t, nil, "install")
			p.expect("Which packs?")
			p.send(key)
			if code, out := p.end(); code != 130 || !strings.Contains(plain(out), want) {
				t.Errorf("%q: exit %d: %s", key, code, plain(out))
			}
			if _, err := os.Stat(filepath.Join(w.project, "skillpm.yaml")); err == nil {
				t.Error("a manifest was written")
			}
		}
	})
	for _, test := range []struct {
		line, env string
		code      int
	}{
		{"install --json", "A=b", 4},
		{"install", "CI=true", 4},
		{"search --json", "A=b", 0},
		{"search", "A=b", 0},
		{"connect --json", "A=b", 2},
		{"connect", "CI=true", 2},
		{"import --json", "A=b", 4},
		{"import", "CI=true", 4},
	} {
		t.Run(test.line+" "+test.env, func(t *testing.T) {
			code, out := newSetting(t).inTerminal(t, []string{test.env}, strings.Fields(test.line)...).end()
			if code != test.code || strings.Contains(out, "Which") {
				t.Errorf("exit %d: %s", code, plain(out))
			}
		})
	}
}
