package run

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// confined returns the permissions of a sandboxed skill in the project, in the form that a session requests.
func (h *house) confined(w enforce.Request) *sandbox.Rules {
	h.Helper()
	rules, err := h.asks(w)
	if err != nil {
		h.Fatal(err)
	}
	return rules
}

func (h *house) asks(w enforce.Request) (*sandbox.Rules, error) {
	w.Sandbox = "true"
	g := enforce.Open(enforce.Options{Files: enforce.Files{Paths: scope.Paths{Home: h.home}, OS: "linux", Admin: os.Getuid()}, Projects: []string{h.project}})
	rules, _, err := g.Confine(enforce.Skill{Name: "deploy", Dir: h.skill}, w, enforce.Directories{
		Dir: h.skill, Work: h.project, Project: h.project, Skills: []string{filepath.Join(h.project, "team", "skills")},
	})
	if rules != nil {
		rules.Read = append(rules.Read, self(h.T)[0])
	}
	return rules, err
}

// TestObeyed checks that project files that other programs obey stay unchanged, whatever a confined script tries (O13).
// An unconfined script changes them.
func TestObeyed(t *testing.T) {
	names := []string{
		"skillpm.yaml", "skillpm.lock", "skillpm-policy.yaml", "skillpm-approvals.yaml", ".skillpm/x", ".git/commondir", ".git/HEAD", ".git/modules/m/config", ".gitmodules",
		".gitattributes", "sub/.git", ".husky/x", "lefthook.yml", ".pre-commit-config.yaml", ".github/x", ".envrc", "mise.toml", ".vscode/x", ".idea/x", ".zed/x", ".devcontainer/x",
		".mcp.json", "opencode.json", "opencode.jsonc", "AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "CRUSH.md", ".cursorrules", ".windsurfrules", ".clinerules",
		".goosehints", ".aider.conf.yml", ".kilocode/x", ".amazonq/x",
	}
	for _, a := range agent.All() {
		names = append(names, a.Project+"/x")
		if first, _, _ := strings.Cut(a.Mark, "/"); strings.HasPrefix(a.Mark, ".") && first != ".config" {
			names = append(names, first+"/y")
		}
	}
	names = append(names, attached(t)...)
	slices.Sort(names)
	names = slices.Compact(names)
	line := `for f in "$@"; do if echo x >> "$f"; then echo "$f"; fi; done 2>/dev/null`
	for _, confined := range []bool{false, true} {
		h := newHouse(t)
		var words []string
		for _, name := range names {
			h.file(filepath.Join(h.project, name), map[string]string{enforce.ProjectPolicyName: "version: 1\n"}[name])
			words = append(words, "'"+name+"'")
		}
		h.file(filepath.Join(h.project, ".gitmodules"), "[submodule \"sub\"]\n\tpath = sub\n")
		var rules *sandbox.Rules
		if confined {
			rules = h.confined(enforce.Request{})
		}
		got := strings.Count(string(h.run("set -- "+strings.Join(words, " ")+"; "+line, rules).Stdout), "\n")
		if want := map[bool]int{false: len(names)}[confined]; got != want {
			t.Errorf("confined %t: %d of %d were written to", confined, got, len(names))
		}
	}
	// None exists: a script can create them, and they are moved away when it ends.
	fresh := newHouse(t)
	before := slices.DeleteFunc(fresh.confined(enforce.Request{}).Guarded, func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
	made := fresh.run("set -- '"+strings.Join(names, "' '")+`'; for f; do mkdir -p "${f%/*}"; `+
		`rmdir "$f"; echo x > "$f"; done 2>/dev/null; chmod 555 .`, fresh.confined(enforce.Request{}))
	for _, path := range before {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("a script left %s", path)
		}
	}
	if len(before) < 50 || len(made.Removed) < 50 {
		t.Errorf("%d paths are guarded, %d were created", len(before), len(made.Removed))
	}
	// Nor can they be reached through a new link, also one that os.Root does not follow.
	for _, line := range []string{`ln -s c2 .config`, `ln -s "$PWD/c2" .config`, `mkdir .config; chmod 755 . ; ln -s "$PWD/c2/mise" .config/; chmod 555 .config`} {
		h := newHouse(t)
		h.run(`mkdir -p c2/mise && echo x > c2/mise/config.toml && `+line, h.confined(enforce.Request{}))
		if _, err := os.Stat(filepath.Join(h.project, ".config", "mise", "config.toml")); err == nil {
			t.Errorf("%s: a script left .config/mise", line)
		}
	}
	// Nor by a second script, if the first has put a file or a closed directory above.
	h := newHouse(t)
	h.file(filepath.Join(h.project, ".gitmodules"), "[submodule \"sub\"]\n\tpath = a/b/c\n")
	for _, line := range []string{
		`touch .config vendor; mkdir -p a/b/c/.git; chmod 0 a/b; chmod 0 a`,
		`chmod 755 a; chmod 755 a/b; rm .config vendor; mkdir -p .config/mise vendor/skills`,
	} {
		h.run(line, h.confined(enforce.Request{}))
	}
	for _, name := range []string{".config/mise", "vendor/skills", "a/b/c/.git"} {
		if _, err := os.Lstat(filepath.Join(h.project, name)); err == nil {
			t.Errorf("two scripts left %s", name)
		}
	}
	// Links that the sandbox cannot protect are restored.
	linked := newHouse(t)
	for name, target := range map[string]string{"CLAUDE.md": "AGENTS.md", ".envrc": "nowhere", ".vscode": "/nowhere"} {
		if err := os.Symlink(target, filepath.Join(linked.project, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		`rm CLAUDE.md .envrc .vscode`, `rm CLAUDE.md .envrc .vscode; mkdir .vscode; echo x > CLAUDE.md; ln -s evil .envrc`,
	} {
		linked.run(line, linked.confined(enforce.Request{}))
		for name, target := range map[string]string{"CLAUDE.md": "AGENTS.md", ".envrc": "nowhere", ".vscode": "/nowhere"} {
			if got, err := os.Readlink(filepath.Join(linked.project, name)); got != target {
				t.Errorf("%s: %s is a link to %q (%v)", line, name, got, err)
			}
		}
	}
	h = newHouse(t)
	h.file(filepath.Join(h.project, ".claude", "x"), "")
	h.file(filepath.Join(h.project, ".git", "config"), "")
	named := h.confined(enforce.Request{AllowedPaths: []string{".", ".claude"}})
	if res := h.run(`echo x > .claude/x && echo y > new && ! echo z > .git/config`, named); res.ExitCode != 0 {
		t.Errorf("what a skill names: %d %s", res.ExitCode, res.Stderr)
	}
	h.file(filepath.Join(h.project, "out.txt"), "")
	if res := h.run(`echo x > out.txt`, h.confined(enforce.Request{AllowedPaths: []string{"out.txt"}})); res.ExitCode != 0 {
		t.Errorf("a file that a skill names: %d %s", res.ExitCode, res.Stderr)
	}
}

// TestObeyedLinks checks that a script cannot change where a path leads that other programs obey, neither a link on the
// way nor what a link leads to, and that a second script cannot use what a first one left.
func TestObeyedLinks(t *testing.T) {
	long := strings.Repeat("l", 250)
	for _, test := range []struct {
		name  string
		files string            // of the user
		links map[string]string // of the user
		path  string
		lines []string // one script each
	}{
		{"a link on the way", "store/real", map[string]string{"CLAUDE.md": "hop/h", "hop/h": "../store/real"}, "CLAUDE.md", []string{`rm hop/h; echo EVIL > hop/h`}},
		{"its directory", "store/real", map[string]string{"CLAUDE.md": "hop/h", "hop/h": "../store/real"}, "CLAUDE.md", []string{`mv hop old; mkdir hop; echo EVIL > hop/h`}},
		{"its directory, removed", "store/real", map[string]string{"CLAUDE.md": "d/hop/h", "d/hop/h": "../../store/real"}, "CLAUDE.md", []string{`rm -r d`}},
		{"a link to a directory on the way", "store/real", map[string]string{"CLAUDE.md": "hop/real", "hop": "store"}, "CLAUDE.md", []string{`rm hop; mkdir hop; echo EVIL > hop/real`}},
		{"what a link leads to", "", map[string]string{".envrc": "x/y"}, ".envrc", []string{`mkdir x; echo EVIL > x/y`}},
		{"a link above an existing file", "store/mise/config.toml", map[string]string{".config": "store"}, ".config/mise/config.toml", []string{`rm .config; mkdir -p .config/mise; echo EVIL > .config/mise/config.toml`}},
		{"a link above a missing file", "store/x", map[string]string{".config": "store"}, ".config/mise", []string{`mv store s; ln -s "$PWD/s" store; echo EVIL > s/mise`}},
		{"a new link high above", "", nil, "a/b/c/.git", []string{`mkdir -p evil/b/c; echo EVIL > evil/b/c/.git; ln -s "$PWD/evil" a`}},
		{"a new loop", "", nil, "a/b/c/.git", []string{`ln -s a a`, `rm a; mkdir -p a/b/c; echo EVIL > a/b/c/.git`}},
		{"a closed directory behind a new link", "", nil, "a/b/c/.git", []string{`mkdir -p d/e; ln -s d/e a; chmod 0 d`, `chmod 755 d; mkdir -p d/e/b/c; echo EVIL > d/e/b/c/.git`}},
		{"a closed directory above an existing file", "data/skills/x", nil, "data/skills/x", []string{`chmod 0 data`, `chmod 755 data; echo EVIL > data/skills/x`}},
		{"a closed directory of the user", ".config/x", nil, ".config/mise", []string{`chmod 755 .config; echo EVIL > .config/mise`}},
		{"a long name", "", nil, long + "/.git", []string{`mkdir evil; echo EVIL > evil/.git; ln -s "$PWD/evil" ` + long}},
		{"a bare repository", "", nil, "HEAD", []string{`mkdir objects refs; echo EVIL > HEAD`}},
		{"a directory of skills", "", nil, "team/skills/x/SKILL.md", []string{`mkdir -p team/skills/x; echo EVIL > team/skills/x/SKILL.md`}},
	} {
		h := newHouse(t)
		h.file(filepath.Join(h.project, ".gitmodules"), "[submodule \"sub\"]\n\tpath = a/b/c\n\tpath = "+long+"\n")
		if test.files != "" {
			h.file(filepath.Join(h.project, filepath.FromSlash(test.files)), "theirs\n")
		}
		for name, target := range test.links {
			h.link(target, filepath.Join(h.project, filepath.FromSlash(name)))
		}
		if strings.HasSuffix(test.name, "of the user") {
			if err := os.Chmod(filepath.Join(h.project, ".config"), 0); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range test.lines {
			h.run(line, h.confined(enforce.Request{}))
		}
		_ = os.Chmod(filepath.Join(h.project, ".config"), 0o755)
		if data, err := os.ReadFile(filepath.Join(h.project, filepath.FromSlash(test.path))); strings.Contains(string(data), "EVIL") {
			t.Errorf("%s: a script left %s (%v)", test.name, test.path, err)
		}
		for name, target := range test.links {
			if got, err := os.Readlink(filepath.Join(h.project, name)); got != target {
				t.Errorf("%s: %s is a link to %q (%v)", test.name, name, got, err)
			}
		}
	}
}

// TestObeyedInput checks that a file that is the standard input of a script cannot be changed through it, nor what a
// directory contains.
func TestObeyedInput(t *testing.T) {
	for _, name := range []string{"CLAUDE.md", "."} {
		h := newHouse(t)
		h.file(filepath.Join(h.project, "CLAUDE.md"), "theirs\n")
		f, err := os.Open(filepath.Join(h.project, name))
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(t.Context(), Command{
			Argv: []string{"sh", "-c", `cat; for f in /proc/self/fd/0 /proc/self/fd/0/CLAUDE.md; do echo EVIL > $f; done`},
			Dir:  h.project, Env: []string{"PATH=" + os.Getenv("PATH")}, Sandbox: h.confined(enforce.Request{}), Helper: self(t), Stdin: f,
		})
		if err != nil || name != "." && string(res.Stdout) != "theirs\n" {
			t.Errorf("%s: %v %+v", name, err, res)
		}
		if data, err := os.ReadFile(filepath.Join(h.project, "CLAUDE.md")); string(data) != "theirs\n" {
			t.Errorf("%s: %q %v", name, data, err)
		}
		_ = f.Close()
	}
	// What a script does not read stays for the next one.
	h := newHouse(t)
	text := strings.Repeat("0123456789", 50_000)
	h.file(filepath.Join(h.project, "list"), text)
	f, err := os.Open(filepath.Join(h.project, "list"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	script := func(line string) {
		mustRun(t, Command{
			Argv: []string{"sh", "-c", line}, Dir: h.project, Env: []string{"PATH=" + os.Getenv("PATH")}, Sandbox: h.confined(enforce.Request{}), Helper: self(t), Stdin: f,
		})
	}
	for _, line := range []string{"true", "dd bs=1 count=3 2>&1", "true"} {
		script(line)
	}
	if rest, err := io.ReadAll(f); string(rest) != text[3:] {
		t.Errorf("%d of %d bytes are left: %v", len(rest), len(text), err)
	}
	// It cannot give back what was read before.
	end := int64(len(text) - 5)
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	script("echo EVIL-EVIL > /proc/self/fd/0")
	if now, err := f.Seek(0, io.SeekCurrent); now != end {
		t.Errorf("the next script reads from %d, not from %d: %v", now, end, err)
	}
}

// TestObeyedReplaced checks what happens if a path that the sandbox protects is replaced while a script runs: by another
// program, which is reported, or because it was that of another script, whose guard moved it away.
func TestObeyedReplaced(t *testing.T) {
	for _, test := range []struct {
		name, to string
		moved    bool
	}{{"CLAUDE.md", "old", false}, {"CLAUDE.md", "CLAUDE.md.refused-abcdefgh", true}, {".envrc", ".envrc.refused-abcdefgh", true}} {
		h := newHouse(t)
		path := filepath.Join(h.project, test.name)
		h.file(filepath.Join(h.project, "CLAUDE.md"), "old\n")
		h.link("evil", filepath.Join(h.project, ".envrc"))
		replaced := make(chan error)
		go func() {
			for {
				if _, err := os.Lstat(filepath.Join(h.project, "started")); err == nil {
					break
				}
			}
			err := os.Rename(path, filepath.Join(h.project, test.to))
			replaced <- errors.Join(err, os.WriteFile(path, []byte("new\n"), 0o644), os.Mkdir(filepath.Join(h.project, "done"), 0o755))
		}()
		res := h.run(`touch started; until [ -e done ]; do :; done; echo EVIL >> `+test.name, h.confined(enforce.Request{}))
		if err := <-replaced; err != nil {
			t.Fatal(err)
		}
		_, err := os.Lstat(path)
		if test.moved && (err == nil || !slices.Equal(res.Removed, []string{path})) || !test.moved && (err != nil || !slices.Equal(res.Replaced, []string{path})) {
			t.Errorf("%s moved to %s: %v, removed %q, replaced %q", test.name, test.to, err, res.Removed, res.Replaced)
		}
	}
}

// TestObeyedKilled checks that files are moved away, and temporary ones removed, also if skillpm is killed.
func TestObeyedKilled(t *testing.T) {
	const project = "SKILLPM_TEST_OBEYED"
	if dir := os.Getenv(project); dir != "" { // it is the process to kill
		mustRun(t, Command{
			Argv: []string{"sh", "-c", "mkdir .vscode; echo ready; sleep 1000"}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR")},
			Sandbox: &sandbox.Rules{Write: []string{dir}, Guarded: []string{filepath.Join(dir, ".vscode")}}, Helper: self(t), Stdout: os.Stdout,
		})
	}
	h := newHouse(t)
	temp := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestObeyedKilled$", "-test.v")
	cmd.Env = append(os.Environ(), project+"="+h.project, "TMPDIR="+temp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
	}
	limit := time.Now().Add(far)
	for !hasWatcher(t, cmd.Process.Pid) && time.Now().Before(limit) {
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for {
		_, err := os.Lstat(filepath.Join(h.project, ".vscode"))
		left, _ := os.ReadDir(temp)
		if err != nil && len(left) == 0 {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("left: .vscode (%v), %v", err, left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// attached returns the project files that connect skillpm to agents.
func attached(t *testing.T) (names []string) {
	t.Helper()
	e := connect.Env{Home: t.TempDir(), Project: t.TempDir(), OS: "linux", State: t.TempDir(), Getenv: func(string) string { return "" }}
	for _, host := range connect.Agents() {
		for _, kind := range []connect.Kind{connect.Hook, connect.MCP} {
			for _, scope := range host.Scopes(kind) {
				r, err := connect.Status(e, connect.Options{Kind: kind, Agent: host, Scope: scope})
				if err != nil {
					t.Fatal(err)
				}
				if name, err := filepath.Rel(e.Project, r.File); err == nil && filepath.IsLocal(name) {
					names = append(names, name)
				}
			}
		}
	}
	if len(names) < 8 {
		t.Fatalf("only %q are files of a project", names)
	}
	return names
}

// TestGitObeys checks that a confined script cannot make git run commands later.
func TestGitObeys(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	settings := `printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch %s; false"\n\tworktree = ..\n' "$HOME/pwned" > evil/config; echo 'ref: refs/heads/main' > evil/HEAD; `
	for _, test := range []struct{ name, line string }{
		{"other settings", `mkdir -p evil/objects evil/refs; ` + settings + `sed -i /worktree/d evil/config; echo ../evil > .git/commondir`},
		{"another repository", `mkdir -p evil/objects evil/refs; ` + settings + `rm -rf .git; printf 'gitdir: evil\n' > .git`},
		{"another repository, moved", `mkdir -p evil/objects evil/refs; ` + settings + `mv .git old; printf 'gitdir: evil\n' > .git`},
	} {
		for _, how := range []string{"free", "confined", "worktree"} {
			h := newHouse(t)
			git := func(args ...string) {
				cmd := exec.Command("git", args...)
				cmd.Dir = h.project
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.home, "GIT_CONFIG_NOSYSTEM=1"}
				_ = cmd.Run() // of a repository that is no more
			}
			git("init", "-q")
			var rules *sandbox.Rules
			if how == "worktree" {
				if err := os.Rename(filepath.Join(h.project, ".git"), filepath.Join(h.home, "repository")); err != nil {
					t.Fatal(err)
				}
				h.file(filepath.Join(h.project, ".git"), "gitdir: "+filepath.Join(h.home, "repository")+"\n")
			}
			if how != "free" {
				rules = h.confined(enforce.Request{})
			}
			h.run(test.line, rules)
			git("status")
			if _, err := os.Stat(filepath.Join(h.home, "pwned")); (err == nil) != (how == "free") {
				t.Errorf("%s, %s: git ran it: %t", test.name, how, err == nil)
			}
		}
	}
}

// TestNoApprovals checks that a sandboxed script cannot approve anything, neither in an existing file nor in a new one.
func TestNoApprovals(t *testing.T) {
	h := newHouse(t)
	file := filepath.Join(h.project, enforce.ProjectApprovalsName)
	line := `echo x > skillpm-approvals.yaml && echo made`
	if res := h.run(line, nil); string(res.Stdout) != "made\n" {
		t.Fatalf("not even unconfined: %s", res.Stderr)
	}
	if res := h.run(line, h.confined(enforce.Request{})); len(res.Stdout) > 0 {
		t.Error("it wrote to what there is")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		line, `mkdir skillpm-approvals.yaml && echo made`, `mkdir -p skillpm-approvals.yaml/x`,
		`ln -s sub skillpm-approvals.yaml`, line + `; chmod 555 .`, `chmod 755 .; ` + line + `; chmod 0 .`,
	} {
		res := h.run(line, h.confined(enforce.Request{}))
		if _, err := os.Lstat(file); err == nil || len(res.Removed) != 1 || res.Removed[0] != file {
			t.Errorf("%s: it is there (%v), said: %q", line, err, res.Removed)
		}
	}
}

// TestLinksOfScripts checks that a link that a script creates gives no access to the next script, not even a link that
// is created while the next one starts.
func TestLinksOfScripts(t *testing.T) {
	h := newHouse(t)
	h.file(filepath.Join(h.outside, "skills", "private"), "theirs\n")
	for _, name := range []string{".claude", ".git", "CLAUDE.md", ".vscode"} {
		if err := os.Symlink(h.outside, filepath.Join(h.project, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("loop", filepath.Join(h.project, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("AGENTS.md", filepath.Join(h.project, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	line := `cat .claude/skills/private || cat CLAUDE.md/file || cat "$OUTSIDE/file"`
	if res := h.run(line, nil); res.ExitCode != 0 {
		t.Fatalf("not even unconfined: %s", res.Stderr)
	}
	if res := h.run(line, h.confined(enforce.Request{})); res.ExitCode == 0 {
		t.Errorf("it read %s", res.Stdout)
	}

	// As if the link was created after the guard's check.
	swapped := func(name string, rules *sandbox.Rules) {
		t.Helper()
		at := filepath.Join(h.project, name)
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(h.outside, at); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), Command{
			Argv: []string{"sh", "-c", `cat ` + name + `/file; echo x > ` + name + `/new`}, Dir: h.project, Env: []string{"PATH=" + os.Getenv("PATH")},
			Sandbox: rules, Helper: self(t),
		})
		if err == nil || !strings.Contains(err.Error(), "the sandbox cannot open") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(h.outside, "new")); err == nil {
			t.Errorf("%s: it wrote outside", name)
		}
	}
	h.file(filepath.Join(h.project, "build", "file"), "")
	rules := h.confined(enforce.Request{AllowedPaths: []string{"./build"}})
	swapped("build", rules)
	if _, err := h.asks(enforce.Request{AllowedPaths: []string{"./build"}}); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
		t.Errorf("an allowed path that is a link: %v", err)
	}
	h.file(filepath.Join(h.project, ".idea", "file"), "")
	swapped(".idea", h.confined(enforce.Request{}))
}

// TestLinksInPath checks that a project directory in PATH gives no access outside, even if a script has replaced its
// programs and libraries with links. The interpreter of a virtual environment is visible if PATH has it elsewhere, too.
func TestLinksInPath(t *testing.T) {
	h := newHouse(t)
	h.file(filepath.Join(h.outside, "python3"), "theirs\n")
	h.file(filepath.Join(h.home, "py", "bin", "ruby3.4"), "#!/bin/sh\necho it runs\n")
	if err := os.Chmod(filepath.Join(h.home, "py", "bin", "ruby3.4"), 0o755); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(h.project, "env", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		filepath.Join(bin, "python3"): filepath.Join(h.outside, "python3"), filepath.Join(h.project, "env", "lib"): h.outside,
		filepath.Join(bin, "ruby"): filepath.Join(h.home, "py", "bin", "ruby3.4"),
	} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, rules := range []*sandbox.Rules{nil, h.confined(enforce.Request{})} {
		for line, free := range map[string]bool{`cat env/lib/file`: true, `cat "$OUTSIDE/python3"`: true, `ruby`: false} {
			res, err := Run(t.Context(), Command{
				Argv: []string{"sh", "-c", line}, Dir: h.project, Sandbox: rules, Helper: self(t),
				Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH") + ":" + filepath.Join(h.home, "py", "bin"), "OUTSIDE=" + h.outside},
			})
			if err != nil || (res.ExitCode == 0) != (rules == nil || !free) {
				t.Errorf("%s, confined %t: %v %+v %s", line, rules != nil, err, res, res.Stderr)
			}
		}
	}
}

// TestNothingLasts checks that files that a script creates have no lasting rights, and that its own rights do not grow.
func TestNothingLasts(t *testing.T) {
	for _, line := range []string{
		`touch a && chmod 4755 a`, `touch a && chmod 2755 a`, `"$PROBE" mode fchmod`, `"$PROBE" mode fchmodat2`, `"$PROBE" mode open`, `"$PROBE" mode creat`, `"$PROBE" mode mknod`,
		`"$PROBE" mode openat2`, `unshare --user true`, `"$PROBE" clone`,
	} {
		free := newHouse(t)
		if res := free.run(line, nil); res.ExitCode != 0 {
			skipUnsupported(t, "%s: %d %s%s", line, res.ExitCode, res.Stdout, res.Stderr)
			continue
		}
		h := newHouse(t)
		if res := h.run(line, h.rules); res.ExitCode == 0 || res.ExitCode > 125 {
			t.Errorf("%s: it could: %d %s%s", line, res.ExitCode, res.Stdout, res.Stderr)
		}
		if info, err := os.Stat(filepath.Join(h.project, "a")); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			t.Errorf("%s: it left %s", line, info.Mode())
		}
	}
}

// skipUnsupported skips an attempt that this machine does not support, or fails if the support is required.
func skipUnsupported(t *testing.T, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf("not even unconfined: "+format, args...)
	if os.Getenv("SKILLPM_REQUIRE_SANDBOX") != "" {
		t.Error(text)
		return
	}
	t.Log(text)
}
