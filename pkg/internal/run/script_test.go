//go:build unix

package run

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/diag"
)

// TestO4Script checks SPEC O4, O12: a script is a file of the skill, and is executed.
func TestO4Script(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "scripts/run.sh", "echo $1", 0o644)
	put(t, dir, "scripts/own.sh", "#!/bin/sh\necho $1", 0o755)
	put(t, dir, "scripts/tool", "#!/usr/bin/env -S sh -e\necho $1", 0o755)
	put(t, dir, "scripts/noline.sh", "echo $1", 0o755)
	put(t, dir, "other/x.sh", "", 0o644)
	put(t, dir, "top.sh", "", 0o644)
	put(t, dir, "-rf.sh", "echo $1", 0o644)
	if err := os.Symlink("run.sh", filepath.Join(dir, "scripts", "inner.sh")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want []string // with the directory as .
	}{
		{"scripts/run.sh", []string{"bash", "./scripts/run.sh", "a"}},
		{"./scripts/../scripts/run.sh", []string{"bash", "./scripts/run.sh", "a"}},
		{"run.sh", []string{"bash", "./scripts/run.sh", "a"}},
		{"scripts/own.sh", []string{"./scripts/own.sh", "a"}},
		{"tool", []string{"./scripts/tool", "a"}},
		{"noline.sh", []string{"bash", "./scripts/noline.sh", "a"}},
		{"other/x.sh", []string{"bash", "./other/x.sh", "a"}},
		{"top.sh", []string{"bash", "./top.sh", "a"}},
		{"scripts/inner.sh", []string{"bash", "./scripts/inner.sh", "a"}},
		{"-rf.sh", []string{"bash", "./-rf.sh", "a"}},
	} {
		got, err := Script(testPath(), dir, c.path, []string{"a"})
		for i := range got {
			got[i] = strings.Replace(got[i], dir, ".", 1)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.path, got, err, c.want)
		}
	}
	for _, path := range []string{"scripts/own.sh", "tool", "noline.sh", "inner.sh", "-rf.sh"} {
		argv, err := Script(testPath(), dir, path, []string{"$(id)"})
		if err != nil {
			t.Fatal(err)
		}
		if r := mustRun(t, Command{Argv: argv, Env: Environment(os.Getenv, nil), Limit: far}); !strings.Contains(string(r.Stdout)+"$(id)\n", "$(id)\n") || r.ExitCode != 0 {
			t.Errorf("%s: %q, %q, exit %d", path, r.Stdout, r.Stderr, r.ExitCode)
		}
	}
}

// TestO4ScriptRefused checks SPEC O4: no other files are executed.
func TestO4ScriptRefused(t *testing.T) {
	dir := t.TempDir()
	secret := put(t, t.TempDir(), "secret.sh", "", 0o755)
	put(t, dir, "scripts/run.sh", "", 0o644)
	put(t, dir, "scripts/data.txt", "", 0o644)
	put(t, dir, "scripts/plain", "#!/bin/sh\n", 0o644)
	put(t, dir, "scripts/windows.sh", "#!/bin/sh\r\necho\r\n", 0o755)
	put(t, dir, "scripts/lost", "#!/no/such/program\n", 0o755)
	put(t, dir, "scripts/lost2", "#!/usr/bin/env no-such-program\n", 0o755)
	put(t, dir, "scripts/empty", "#!\n", 0o755)
	put(t, dir, "scripts/a.dir/x", "", 0o644)
	for _, link := range [][2]string{{secret, "scripts/out.sh"}, {"../../secret.sh", "scripts/up.sh"}, {filepath.Dir(secret), "outside"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "scripts", "pipe.sh"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		code diag.Code
		want string
	}{
		{"", diag.Denied, "not a path inside"},
		{".", diag.Denied, "not a path inside"},
		{"..", diag.Denied, "not a path inside"},
		{"../x.sh", diag.Denied, "not a path inside"},
		{"scripts/../../x.sh", diag.Denied, "not a path inside"},
		{`..\x.sh`, diag.Denied, "not a path inside"},
		{secret, diag.Denied, "not a path inside"},
		{"scripts/out.sh", diag.Denied, "leads out"},
		{"scripts/up.sh", diag.Denied, "leads out"},
		{"outside/secret.sh", diag.Denied, "leads out"},
		{"scripts/pipe.sh", diag.Invalid, "not a regular file"},
		{"scripts", diag.NotFound, "does not contain the file scripts"},
		{"scripts/a.dir", diag.Invalid, "not a regular file"},
		{"scripts/data.txt", diag.Invalid, "not a script"},
		{"scripts/plain", diag.Invalid, "not executable"},
		{"scripts/windows.sh", diag.Invalid, "has Windows line endings, which break its #!"},
		{"scripts/lost", diag.NotFound, "needs /no/such/program"},
		{"scripts/lost2", diag.NotFound, "needs no-such-program"},
		{"scripts/empty", diag.Invalid, "does not name a program"},
		{"scripts/rum.sh", diag.NotFound, "does not contain the file scripts/rum.sh"},
	} {
		_, err := Script(testPath(), dir, c.path, nil)
		if err == nil || diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) || diag.HintOf(err) == "" && c.code != diag.Invalid {
			t.Errorf("%q: %v (%v, hint %q), want %q (%v)", c.path, err, diag.CodeOf(err), diag.HintOf(err), c.want, c.code)
		}
	}
	_, err := Script(testPath(), dir, "scripts/rum.sh", nil)
	if diag.HintOf(err) != "did you mean scripts/run.sh?" {
		t.Errorf("hint %q", diag.HintOf(err))
	}
	if _, err := Script(testPath(), filepath.Join(dir, "gone"), "x.sh", nil); diag.CodeOf(err) != diag.NotFound {
		t.Error(err)
	}
}

func TestScriptWithoutInterpreter(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.py", "", 0o644)
	t.Setenv("PATH", dir)
	_, err := Script(testPath(), dir, "a.py", nil)
	if diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "needs python3, which is not installed") {
		t.Error(err)
	}
	// A file in the working directory does not count as an interpreter.
	put(t, dir, "python3", "#!/bin/sh\n", 0o755)
	t.Chdir(dir)
	t.Setenv("PATH", ".")
	if argv, err := Script(testPath(), dir, "a.py", nil); err == nil {
		t.Errorf("%q was taken", argv)
	}
}

func TestScripts(t *testing.T) {
	dir := t.TempDir()
	if got, err := Scripts(dir); err != nil || got != nil {
		t.Errorf("without scripts: %q, %v", got, err)
	}
	for name, mode := range map[string]os.FileMode{
		"scripts/b.py": 0o644, "scripts/a": 0o755, "scripts/data.txt": 0o644, "scripts/lib/c.sh": 0o644, "scripts/.hidden.sh": 0o644,
		"scripts/node_modules/x.js": 0o644, "scripts/.git/x.sh": 0o644, "other.sh": 0o644, "scripts/1/2/3/4/5/6/7/8/deep.sh": 0o644,
	} {
		put(t, dir, name, "", mode)
	}
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "scripts", "link.sh")); err != nil {
		t.Fatal(err)
	}
	got, err := Scripts(dir)
	if want := []string{"scripts/a", "scripts/b.py", "scripts/lib/c.sh"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestD5Shell checks SPEC D5: the command of a skill, and its arguments.
func TestD5Shell(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "scripts/show.sh", `printf '<%s>' "$@"`, 0o644)
	put(t, dir, "my scripts/show.sh", `printf '[%s]' "$@"`, 0o644)
	for _, c := range []struct {
		command string
		names   []string
		args    []string
		want    string
	}{
		{"printf '<%s>'", nil, []string{"a b", "$(id)", "`id`", "; id", "*"}, "<a b><$(id)><`id`><; id><*>"},
		{"sh scripts/show.sh -v", nil, []string{"a b"}, "<-v><a b>"},
		{"sh ./scripts/show.sh # comment", nil, []string{"a"}, "<a>"},
		{"sh 'my scripts/show.sh' x", nil, []string{"a"}, "[x][a]"},
		{`sh "scripts/show.sh"`, nil, []string{"a"}, "<a>"},
		{`sh "$SKILL_DIR/scripts/show.sh"`, nil, []string{"a"}, "<a>"},
		{`printf '%s|%s' "$2" "$1"`, nil, []string{"a", "b"}, "b|a"},
		{`printf '<%s>' "$@" end`, nil, []string{"a", "b c"}, "<a><b c><end>"},
		{`echo "$ARGUMENTS"`, nil, []string{"a", "$(id)"}, "a $(id)\n"},
		{`printf '<%s>' "$input_file" "$format"`, []string{"input-file", "format"}, []string{"a b"}, "<a b><>"},
		{`printf '<%s>' "$#"`, nil, []string{"a", "b"}, "<2>"},
		{"true && printf '<%s>'", nil, []string{"a"}, "<a>"},
		{"printf a | cat -", nil, nil, "a"},
		{"printf '<%s>' x >&2\nprintf '<%s>' y\n", nil, []string{"a"}, "<y><a>"},
		{"if true; then echo yes; fi", nil, []string{"a"}, "yes\n"},
		{"awk 'BEGIN { print $1 \"x\" }'", nil, nil, "x\n"},
		{"echo $(printf in) $(echo x)", nil, []string{"a"}, "in x a\n"},
		{"echo scripts/none.sh scripts", nil, nil, "scripts/none.sh scripts\n"},
		{`echo "$PATH" >/dev/null; echo "$HOME"`, []string{"HOME", "PATH"}, []string{"/stolen"}, os.Getenv("HOME") + " /stolen\n"},
	} {
		line, err := Shell(dir, "test", c.command, c.names, c.args)
		if err != nil {
			t.Errorf("%s: %v", c.command, err)
			continue
		}
		extra := Variables("test", dir)
		maps.Copy(extra, line.Env)
		r := mustRun(t, Command{Argv: line.Argv, Dir: t.TempDir(), Env: Environment(os.Getenv, extra), Limit: far})
		if string(r.Stdout) != c.want {
			t.Errorf("%s: got %q, want %q (%s)", c.command, r.Stdout, c.want, r.Stderr)
		}
	}
	for _, command := range []string{"echo 'x", "if", "a | | b", "$("} {
		if _, err := Shell(dir, "test", command, nil, nil); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// FuzzShell checks that arguments are never parsed as part of the command, for any command.
func FuzzShell(f *testing.F) {
	f.Add("printf '%s'", "a b")
	f.Add("sh scripts/x.sh 'y' && z # c", "$(id)")
	f.Add("cat <<EOF\n$1\nEOF", "`id`")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, command, arg string) {
		plain, err := Shell(dir, "test", command, nil, []string{"x"})
		if err != nil {
			return
		}
		line, err := Shell(dir, "test", command, nil, []string{arg})
		if err != nil || line.Argv[2] != plain.Argv[2] || line.Argv[4] != arg {
			t.Fatalf("%q: %q and %q, %v", command, plain.Argv, line.Argv, err)
		}
		if _, err := Shell(dir, "test", line.Argv[2], nil, nil); err != nil {
			t.Fatalf("%q became %q: %v", command, line.Argv[2], err)
		}
	})
}

// TestScript checks that an interpreter is searched in the PATH of the command's environment, in absolute directories
// only.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "scripts/a.py", "print(1)", 0o644)
	put(t, dir, "scripts/b", "#!/usr/bin/env no-such-language\n", 0o755)
	put(t, dir, "bin/python3", "#!/bin/sh\necho mocked\n", 0o755)
	put(t, dir, "bin/no-such-language", "#!/bin/sh\necho mocked\n", 0o755)
	t.Chdir(dir)
	for _, path := range []string{"scripts/a.py", "scripts/b"} {
		for _, search := range []string{"", "bin", "./bin"} {
			if got, err := Script([]string{"PATH=" + search}, dir, path, nil); diag.CodeOf(err) != diag.NotFound {
				t.Errorf("%s in %q: %q, %v", path, search, got, err)
			}
		}
		env := []string{"PATH=" + filepath.Join(dir, "bin") + ":/bin:/usr/bin"}
		argv, err := Script(env, dir, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := mustRun(t, Command{Argv: argv, Env: env, Limit: far}); string(r.Stdout) != "mocked\n" {
			t.Errorf("%s: %q, %q", path, r.Stdout, r.Stderr)
		}
	}
}

// testPath is the PATH in which the tests find interpreters.
func testPath() []string { return []string{"PATH=" + os.Getenv("PATH")} }
