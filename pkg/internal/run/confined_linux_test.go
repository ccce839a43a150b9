package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// house is a home directory with a project, whose skill may write to the project.
type house struct {
	*testing.T
	home, project, skill, secret, outside string
	rules                                 *sandbox.Rules
}

func newHouse(t *testing.T) *house {
	t.Helper()
	mustConfine(t)
	home := t.TempDir()
	h := &house{
		T: t, home: home, project: filepath.Join(home, "work", "project"), secret: filepath.Join(home, ".ssh", "id"),
		outside: filepath.Join(home, "other"),
	}
	h.skill = filepath.Join(h.project, "skills", "deploy")
	h.file(h.secret, "the secret\n")
	h.file(filepath.Join(h.outside, "file"), "theirs\n")
	h.file(filepath.Join(h.skill, "SKILL.md"), "the skill\n")
	h.file(filepath.Join(h.project, "README"), "ours\n")
	h.rules = &sandbox.Rules{Read: []string{h.skill, self(t)[0]}, Write: []string{h.project}, Hidden: []string{filepath.Dir(h.secret)}}
	return h
}

// mustConfine skips a test if the machine cannot confine, unless the environment requires it.
func mustConfine(t *testing.T) {
	t.Helper()
	res, err := Run(t.Context(), Command{Argv: []string{"true"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Sandbox: &sandbox.Rules{}, Helper: self(t)})
	switch {
	case err == nil && res.ExitCode == 0:
	case os.Getenv("SKILLPM_REQUIRE_SANDBOX") != "":
		t.Fatal("this machine is to confine:", err)
	default:
		t.Skip("this machine can't confine:", err)
	}
}

func self(t *testing.T) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe}
}

func (h *house) file(path, text string) {
	h.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.Fatal(err)
	}
}

// run runs a line of sh in the project, or a probe if it begins with one.
func (h *house) run(line string, rules *sandbox.Rules) *Result {
	h.Helper()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.home, "PROBE=" + self(h.T)[0], roleName + "=probe", "SECRET=" + h.secret, "OUTSIDE=" + h.outside, "SKILL=" + h.skill,
		"HOST=" + strconv.Itoa(os.Getpid()),
	}
	res, err := Run(h.Context(), Command{Argv: []string{"sh", "-c", line}, Dir: h.project, Env: env, Sandbox: rules, Helper: self(h.T)})
	if err != nil {
		h.Fatalf("%s: %v", line, err)
	}
	return res
}

// TestO13AllowedTemp checks SPEC O13: what a command writes to /tmp is there afterwards if /tmp is an allowed path, and is
// not otherwise. With /tmp, the command cannot connect to the sockets of other programs there.
func TestO13AllowedTemp(t *testing.T) {
	h := newHouse(t)
	f, err := os.CreateTemp("/tmp", "skillpm-o13-")
	if err != nil {
		t.Fatal(err)
	}
	path := f.Name()
	_ = f.Close()
	t.Cleanup(func() { _ = os.Remove(path) })
	listenUnix(t, filepath.Join(h.outside, "socket"))
	line := "echo x >> " + path + ` && test "$TMPDIR" = /tmp`
	for _, allowed := range []bool{false, true} {
		rules := &sandbox.Rules{Read: []string{h.skill, self(t)[0]}, Write: []string{h.project}}
		if allowed {
			rules.Write = append(rules.Write, "/tmp")
		}
		if res := h.run(line, rules); res.ExitCode != 0 {
			t.Fatalf("%d %s", res.ExitCode, res.Stderr)
		}
		if data, err := os.ReadFile(path); err != nil || len(data) > 0 != allowed {
			t.Errorf("allowed %t: %q, %v", allowed, data, err)
		}
		if allowed {
			if res := h.run(`"$PROBE" unix "$OUTSIDE/socket"`, rules); res.ExitCode == 0 {
				t.Errorf("a socket: %s", res.Stdout)
			}
		}
	}
}

// TestNoEscape tries the attacks of a hostile script (O13, O22). Each attempt succeeds without confinement, in its own
// house, which proves that it is a real attack. With confinement it fails and leaves no trace.
func TestNoEscape(t *testing.T) {
	tcp, udp, name := listenTCP(t), listenUDP(t), nameServer(t)
	abstract := "@skillpm-test-" + strconv.Itoa(os.Getpid())
	listenUnix(t, abstract)
	for _, test := range []struct{ name, line string }{
		{"write outside", `echo x > "$OUTSIDE/new"`},
		{"write over a file outside", `echo x > "$OUTSIDE/file"`},
		{"through a symbolic link", `ln -s "$OUTSIDE" link && echo x > link/new`},
		{"through a hard link", `ln "$SECRET" hard && cat hard`},
		{"rename what is outside", `mv "$OUTSIDE/file" moved`},
		{"rename to the outside", `mv README "$OUTSIDE/README"`},
		{"remove outside", `rm "$OUTSIDE/file"`},
		{"modes outside", `chmod 777 "$OUTSIDE/file"`},
		{"times outside", `touch -d 2001-01-01 "$OUTSIDE/file" && test -n "$(find "$OUTSIDE/file" -mtime +1000)"`},
		{"read a secret", `cat "$SECRET"`},
		{"read a secret by a relative path", `cat ../../.ssh/id`},
		{"read by the root of this process", `cat "/proc/self/root$SECRET"`},
		{"read by the root of another process", `cat "/proc/$HOST/root$SECRET"`},
		{"read by the directory of another process", `cat "/proc/$HOST/cwd/confined_linux_test.go"`},
		{"the environment of another process", `tr '\0' '\n' < "/proc/$HOST/environ" | grep PATH`},
		{"the command line of another process", `test -n "$(tr '\0' ' ' < /proc/$HOST/cmdline)"`},
		{"what is in the home directory", `ls "$HOME/.ssh" | grep id`},
		{"change the skill", `echo x >> "$SKILL/SKILL.md"`},
		{"add to the skill", `echo x > "$SKILL/new"`},
		{"modes of the skill", `chmod 777 "$SKILL/SKILL.md"`},
		{"remove the skill", `rm -r "$SKILL"`},
		{"put another skill in its place", `mv skills away && mkdir -p skills/deploy && echo x > skills/deploy/SKILL.md`},
		{"TCP", `"$PROBE" tcp ` + tcp},
		{"UDP", `"$PROBE" udp ` + udp},
		{"DNS", `"$PROBE" dns ` + name},
		{"a socket without a file", `"$PROBE" unix ` + abstract},
		{"a socket outside", `"$PROBE" unix "$OUTSIDE/socket"`},
		{"a signal", `kill -0 "$HOST"`},
		{"a keyring", `"$PROBE" keyring`},
		{"a socket of another kind", `"$PROBE" packets`},
		{"a user of its own with rights", `unshare --user --mount --map-root-user sh -c 'mount -t tmpfs none /tmp'`},
	} {
		t.Run(test.name, func(t *testing.T) {
			free := newHouse(t)
			listenUnix(t, filepath.Join(free.outside, "socket"))
			if res := free.run(test.line, nil); res.ExitCode != 0 {
				skipUnsupported(t, "%d %s%s", res.ExitCode, res.Stdout, res.Stderr)
				return
			}
			h := newHouse(t)
			listenUnix(t, filepath.Join(h.outside, "socket"))
			before := h.tree()
			if res := h.run(test.line, h.rules); res.ExitCode == 0 || res.ExitCode > 125 {
				t.Errorf("it got through, or was not tried: %d %s%s", res.ExitCode, res.Stdout, res.Stderr)
			}
			if after := h.tree(); after != before {
				t.Errorf("it left\n%s\nin place of\n%s", after, before)
			}
		})
	}
}

// tree returns the files outside and in the skill, with modes and content.
func (h *house) tree() string {
	h.Helper()
	var text strings.Builder
	for _, dir := range []string{h.outside, filepath.Dir(h.secret), h.skill} {
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Lstat(path)
			if err != nil {
				return err
			}
			data := []byte{}
			if info.Mode().IsRegular() {
				data, err = os.ReadFile(path)
			}
			fmt.Fprintln(&text, path, info.Mode(), info.ModTime().Unix(), string(data))
			return err
		})
		if err != nil {
			h.Error(err)
		}
	}
	return text.String()
}

// TestConfinedWork checks what a confined script can still do.
func TestConfinedWork(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"write in the project", `echo new > new && mkdir -p a/b && mv new a/b/new && cat a/b/new`, "new\n"},
		{"read the skill", `cat "$SKILL/SKILL.md"`, "the skill\n"},
		{"temporary files", `f=$(mktemp) && echo x > "$f" && cat "$f" && test "$TMPDIR" = /tmp && ls /tmp/../tmp | grep -c tmp`, "x\n1\n"},
		{"pipes and substitutions", `echo one | cat - /dev/null && echo two > /dev/stdout`, "one\ntwo\n"},
		{"shared memory", `echo x > /dev/shm/x && cat /dev/shm/x`, "x\n"},
		{"who it is", `test "$(id -u)" = ` + strconv.Itoa(os.Getuid()) + ` && whoami | wc -l`, "1\n"},
		{"its own processes", `sleep 1000 & kill $! && wait $!; echo $?`, "143\n"},
		{"its group", `trap 'echo gone; trap - TERM; exit 3' TERM; kill 0; sleep 1000`, "gone\n"},
		{"the root", `ls / | grep -x usr`, "usr\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHouse(t)
			res := h.run(test.line, h.rules)
			if string(res.Stdout) != test.want {
				t.Errorf("%d %q %s, want %q", res.ExitCode, res.Stdout, res.Stderr, test.want)
			}
		})
	}
}

// TestConfinedEnd checks that a confined command ends like an unconfined one.
func TestConfinedEnd(t *testing.T) {
	for _, test := range []struct {
		line, signal string
		code         int
	}{
		{"exit 7", "", 7},
		{"kill -KILL $$", "SIGKILL", 137},
		{"kill -USR1 $$", "SIGUSR1", 138},
		{"(sleep 0.1; echo late) & exit 4", "", 4},
	} {
		h := newHouse(t)
		res := h.run(test.line, h.rules)
		if res.ExitCode != test.code || res.Signal != test.signal {
			t.Errorf("%s: %d %s %s", test.line, res.ExitCode, res.Signal, res.Stderr)
		}
		if strings.Contains(test.line, "late") && string(res.Stdout) != "late\n" {
			t.Errorf("%s: %q: what it left had a moment", test.line, res.Stdout)
		}
	}
}

// TestConfinedNotStarted checks the error if a program cannot be executed, or is not visible in the sandbox.
func TestConfinedNotStarted(t *testing.T) {
	h := newHouse(t)
	for _, test := range []struct {
		argv []string
		text string
	}{
		{[]string{filepath.Join(h.project, "README")}, "permission denied"},
		{[]string{filepath.Join(h.project, "missing")}, "does not exist"},
	} {
		_, err := Run(t.Context(), Command{Argv: test.argv, Dir: h.project, Sandbox: h.rules, Helper: self(t)})
		if err == nil || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%v: %v, want %s", test.argv, err, test.text)
		}
	}
	for _, test := range []struct {
		rules sandbox.Rules
		text  string
	}{
		{sandbox.Rules{Write: []string{h.home}, Hidden: h.rules.Hidden}, "skillpm hides "},
		{sandbox.Rules{Write: []string{"/"}}, "skillpm hides "},
		{sandbox.Rules{Write: []string{filepath.Join(h.home, ".ssh")}, Hidden: h.rules.Hidden}, "skillpm hides "},
		{sandbox.Rules{Read: []string{h.home}, Hidden: h.rules.Hidden}, "skillpm hides "},
		{sandbox.Rules{Write: []string{"build"}}, "the path is not absolute"},
	} {
		_, err := Run(t.Context(), Command{Argv: []string{"true"}, Env: []string{"PATH=/usr/bin:/bin"}, Sandbox: &test.rules, Helper: self(t)})
		if err == nil || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v, want %s", &test.rules, err, test.text)
		}
	}
	if _, err := Run(t.Context(), Command{Argv: []string{"true"}, Env: []string{"PATH=/usr/bin:/bin"}, Sandbox: h.rules}); err == nil {
		t.Error("a command ran that nobody could confine")
	}
}

// TestConfinedLimit checks O13: no process outlives the limit, even one that leaves its session, its parents, and its
// environment, and even without a call of Adopt. Unconfined it would.
func TestConfinedLimit(t *testing.T) {
	h := newHouse(t)
	for _, confined := range []bool{false, true} {
		token := "86400." + strconv.Itoa(os.Getpid()) + map[bool]string{true: "1", false: "2"}[confined]
		line := `env -i "$(command -v setsid)" sh -c 'sleep ` + token + ` & sleep ` + token + ` &' & wait; touch begun; exec sleep ` + token
		rules := h.rules
		if !confined {
			rules = nil
		}
		res, err := Run(t.Context(), Command{
			Argv: []string{"sh", "-c", line}, Dir: h.project, Env: []string{"PATH=" + os.Getenv("PATH")}, Sandbox: rules, Helper: self(t),
			Limit: 2 * time.Second, Grace: 100 * time.Millisecond,
		})
		if err != nil || !res.TimedOut {
			t.Fatalf("confined %t: %v %+v", confined, err, res)
		}
		left := living(t, token)
		if confined != (len(left) == 0) {
			t.Errorf("confined %t: %v live", confined, left)
		}
		for _, pid := range left {
			_ = exec.Command("kill", "-KILL", pid).Run()
		}
	}
}

// living returns the processes whose command line contains a word.
func living(t *testing.T, word string) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && bytes.Contains(data, []byte("\x00"+word+"\x00")) && !bytes.Contains(data, []byte("-c\x00")) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

// TestHelperEnvironment checks that a script's environment does not affect the helper. Go's runtime would print with
// this variable.
func TestHelperEnvironment(t *testing.T) {
	h := newHouse(t)
	env := []string{"PATH=" + os.Getenv("PATH"), "GODEBUG=inittrace=1", "LD_PRELOAD=/nowhere.so", roleName + "=probe"}
	control := exec.Command(self(t)[0], "kill", "0x")
	control.Env = env
	if out, _ := control.CombinedOutput(); !strings.Contains(string(out), "init ") {
		t.Fatalf("it would not be noticed: %s", out) // it fails, and prints
	}
	res, err := Run(t.Context(), Command{Argv: []string{"true"}, Env: env, Dir: h.project, Sandbox: h.rules, Helper: self(t)})
	if err != nil || res.ExitCode != 0 || bytes.Contains(res.Stderr, []byte("init ")) || bytes.Count(res.Stderr, []byte("nowhere.so")) > 1 {
		t.Errorf("%v %+v %s", err, res, res.Stderr)
	}
}

// TestInheritedFiles checks that the command does not inherit files that the parent of this process left open.
func TestInheritedFiles(t *testing.T) {
	h := newHouse(t)
	f, err := os.Open(h.secret)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, 20)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	line := fmt.Sprintf("cat /dev/fd/%d", fd)
	if res := h.run(line, nil); res.ExitCode != 0 {
		skipUnsupported(t, "%s", res.Stderr)
		return
	}
	if res := h.run(line, h.rules); res.ExitCode == 0 {
		t.Errorf("it read %s", res.Stdout)
	}
}

// TestSocketInside documents a limitation: a script can use a socket in a directory that it may access.
func TestSocketInside(t *testing.T) {
	h := newHouse(t)
	listenUnix(t, filepath.Join(h.project, "s"))
	if res := h.run(`"$PROBE" unix ./s`, h.rules); string(res.Stdout) != "hello\n" {
		t.Errorf("%d %s%s: docs/concepts/security.md says that it is reached", res.ExitCode, res.Stdout, res.Stderr)
	}
}

// TestConfinedNetwork checks a network of listed hosts (O13): they are reachable through the proxy, and no other hosts
// are reachable.
func TestConfinedNetwork(t *testing.T) {
	h := newHouse(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "other") }))
	defer other.Close()
	var target string
	listed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, target, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "listed")
	}))
	defer listed.Close()
	target = other.URL
	rules := *h.rules
	rules.Network.Hosts = []string{strings.TrimPrefix(listed.URL, "http://")}
	for _, test := range []struct {
		line, want string
		ok         bool
	}{
		{`"$PROBE" get ` + listed.URL, "200 listed\n", true},
		{`"$PROBE" get-socks ` + listed.URL, "200 listed\n", true},
		{`"$PROBE" get ` + other.URL, "403 ", false},
		{`"$PROBE" get-socks ` + other.URL, "", false},
		{`"$PROBE" get ` + listed.URL + `/away`, "403 ", false},
		{`"$PROBE" get ` + strings.Replace(listed.URL, "127.0.0.1", "localhost", 1), "403 ", false},
		{`"$PROBE" tcp ` + strings.TrimPrefix(listed.URL, "http://"), "", false},
		{`HTTP_PROXY= "$PROBE" get ` + listed.URL, "", false},
	} {
		res := h.run(test.line, &rules)
		if (res.ExitCode == 0) != test.ok || !strings.HasPrefix(string(res.Stdout), test.want) {
			t.Errorf("%s: %d %q %s", test.line, res.ExitCode, res.Stdout, res.Stderr)
		}
	}
	open := *h.rules
	open.Network.Any = true
	if res := h.run(`"$PROBE" tcp `+listenTCP(t), &open); string(res.Stdout) != "hello\n" {
		t.Errorf("any network: %d %q %s", res.ExitCode, res.Stdout, res.Stderr)
	}
	abstract := "@skillpm-test-open-" + strconv.Itoa(os.Getpid())
	listenUnix(t, abstract)
	listenUnix(t, filepath.Join(h.outside, "s"))
	for _, at := range []string{abstract, filepath.Join(h.outside, "s")} {
		if free, res := h.run(`"$PROBE" unix `+at, nil), h.run(`"$PROBE" unix `+at, &open); free.ExitCode != 0 || res.ExitCode != 1 {
			t.Errorf("any network: a socket at %s: %d, unconfined %d %s", at, res.ExitCode, free.ExitCode, free.Stderr)
		}
	}
}

// TestUnavailable checks that a command that cannot be confined does not run, or runs with a warning if that is
// allowed.
func TestUnavailable(t *testing.T) {
	h := newHouse(t)
	rules := *h.rules
	c := Command{Argv: []string{"true"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: h.project, Sandbox: &rules, Helper: []string{"/bin/sh", "-c", `head -c 1 <&3 >&2; echo '{"unavailable":"it is a test"}' >&3`}}
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "this machine cannot confine commands") {
		t.Errorf("%v", err)
	}
	rules.Optional = true
	if res, err := Run(t.Context(), c); err != nil || res.Unconfined == "" || res.Sandbox != "" {
		t.Errorf("%v %+v", err, res)
	}
	// A helper that fails or times out does not prove that the machine cannot confine.
	for name, how := range map[string]struct {
		helper string
		limit  time.Duration
	}{"did not start": {"exit 1", far}, "the time limit expired": {"sleep 1000", 50 * time.Millisecond}} {
		c.Helper[2], c.Limit = how.helper, how.limit
		if res, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v %+v", how.helper, err, res)
		}
	}
	// Nor does a path that cannot be opened: its author could have chosen it. A name need not be UTF-8.
	long := filepath.Join(h.project, strings.Repeat(strings.Repeat("d", 200)+"/", 30))[:4090] + "d"
	raw := filepath.Join(h.project, "x\xff")
	for dir, runs := range map[string]bool{long: false, raw: true} {
		res, err := Run(t.Context(), Command{
			Argv: []string{"sh", "-c", "touch new"}, Env: c.Env, Dir: dir, Sandbox: &sandbox.Rules{Write: []string{dir}, Optional: true}, Helper: self(t),
		})
		if (err == nil && res.ExitCode == 0 && res.Unconfined == "") != runs || !runs && err == nil {
			t.Errorf("%q: %v %+v", dir[len(h.project):], err, res)
		}
	}
}

// TestTemporaryFilesGo checks that the directory for temporary files is removed completely, however deep it is and
// whatever its permissions are.
func TestTemporaryFilesGo(t *testing.T) {
	h := newHouse(t)
	for _, line := range []string{
		`mkdir -p /tmp/a/b && echo x > /tmp/a/b/c && ln -s /tmp/a /tmp/a/link && chmod 0 /tmp/a/b`, `"$PROBE" deep`,
	} {
		temp := t.TempDir()
		res, err := Run(t.Context(), Command{
			Argv: []string{"sh", "-c", line}, Dir: h.project, Sandbox: h.rules, Helper: self(t),
			Env: []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + temp, "PROBE=" + self(t)[0], roleName + "=probe"},
		})
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("%s: %v %+v %s", line, err, res, res.Stderr)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%s: %v %v", line, err, left)
		}
	}
}

// BenchmarkTrue measures a start, with and without a sandbox.
func BenchmarkTrue(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for name, rules := range map[string]*sandbox.Rules{"plain": nil, "confined": {Write: []string{dir}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c := Command{Argv: []string{"true"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir, Sandbox: rules, Helper: []string{exe}}
				if res, err := Run(context.Background(), c); err != nil || res.ExitCode != 0 {
					b.Fatal(err, res)
				}
			}
		})
	}
}

func listenTCP(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	echo(t, l)
	return l.Addr().String()
}

func listenUnix(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	echo(t, l)
}

func echo(t *testing.T, l net.Listener) {
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
}

func listenUDP(t *testing.T) string {
	t.Helper()
	return answerUDP(t, func(ask []byte) []byte { return ask })
}

// nameServer answers every address query with 192.0.2.1.
func nameServer(t *testing.T) string {
	t.Helper()
	return answerUDP(t, func(ask []byte) []byte {
		end := bytes.IndexByte(ask[12:], 0) + 12 + 5
		answer := append([]byte(nil), ask[:end]...)
		answer[2], answer[3], answer[6], answer[7], answer[10], answer[11] = 0x81, 0x80, 0, 0, 0, 0
		if ask[end-3] != 1 { // no address of IPv4
			return answer
		}
		answer[7] = 1
		return append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1)
	})
}

func answerUDP(t *testing.T, answer func([]byte) []byte) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(answer(buffer[:n]), from)
		}
	}()
	return conn.LocalAddr().String()
}
