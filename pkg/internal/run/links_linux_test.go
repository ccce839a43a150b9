package run

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// secretDirs are directories in a home directory that a skill's scripts must not read.
var secretDirs = [...]string{".gnupg/private-keys-v1.d", ".aws/sso/cache", ".password-store/work", "Documents", "other", ".config/gcloud"}

// leakyNames are names of programs, and of what is beside them, that a hostile project links to the directories.
var leakyNames = [...]string{"deno", "python3", "node", "ruby", "java", "go", "lib", "libexec", "conf", "pyvenv.cfg", "versions", "php"}

// linkKinds return where a link leads, given a secret directory and the link's name. They may create files on the way.
var linkKinds = map[string]func(h *house, dir, name string) string{
	"file":          func(_ *house, dir, _ string) string { return filepath.Join(dir, "x") },
	"program":       func(_ *house, dir, name string) string { return filepath.Join(dir, "bin", name) },
	"directory":     func(_ *house, dir, _ string) string { return dir },
	"through a hop": func(h *house, dir, name string) string { return h.hop(filepath.Join(dir, "bin", name), name) },
}

// hop creates another link in the project to a path.
func (h *house) hop(target, name string) string {
	at := filepath.Join(h.project, "hops", name)
	h.link(target, at)
	return at
}

// link creates a link in place of the file at its path.
func (h *house) link(target, at string) {
	h.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		h.Fatal(err)
	}
	_ = os.Remove(at) // a link of the previous case
	if err := os.Symlink(target, at); err != nil {
		h.Fatal(err)
	}
}

// program creates an executable script.
func (h *house) program(path, text string) {
	h.Helper()
	h.file(path, "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		h.Fatal(err)
	}
}

// newLeakyHouse returns a house with secrets, and a skill whose scripts print each that they can read.
func newLeakyHouse(t *testing.T) (h *house, secrets []string) {
	t.Helper()
	h = newHouse(t)
	h.skill = filepath.Join(h.project, ".skillpm", "skills", "deploy")
	h.file(filepath.Join(h.skill, "SKILL.md"), "the skill\n")
	for _, dir := range secretDirs {
		dir = filepath.Join(h.home, filepath.FromSlash(dir))
		for _, name := range []string{".env", "bin/.env"} {
			secrets = append(secrets, filepath.Join(dir, name))
			h.file(filepath.Join(dir, name), "LEAKED "+filepath.Join(dir, name)+"\n")
		}
		h.program(filepath.Join(dir, "x"), "true")
		for _, name := range leakyNames {
			h.program(filepath.Join(dir, "bin", name), "true")
		}
	}
	scripts := filepath.Join(h.skill, "scripts")
	h.program(filepath.Join(scripts, "leak.sh"), `cat "$@"; true`)
	h.file(filepath.Join(scripts, "leak.py"), "import sys\nfor f in sys.argv[1:]:\n try: print(open(f).read())\n except OSError: pass\n")
	h.file(filepath.Join(scripts, "leak.js"), "for (const f of process.argv.slice(2)) try { console.log(require('fs').readFileSync(f)+'') } catch {}\n")
	return h, secrets
}

// leak runs a script of the skill with secrets as its arguments, with directories in front of PATH, and returns its output.
func (h *house) leak(script, path string, r enforce.Request, secrets []string) string {
	h.Helper()
	env := []string{"PATH=" + path, "HOME=" + h.home}
	argv, err := Script(env, h.skill, script, secrets)
	if err != nil {
		h.Fatal(err)
	}
	res, err := Run(h.Context(), Command{Argv: argv, Dir: h.project, Env: env, Sandbox: h.confined(r), Helper: self(h.T)})
	if err != nil {
		return err.Error()
	}
	return string(res.Stdout) + string(res.Stderr)
}

// TestNoLinkOpens checks that no link in a project or a skill gives a confined script a directory outside of them (O13):
// all kinds of links, under all names that the sandbox looks for, in all directories that the script's PATH can have.
func TestNoLinkOpens(t *testing.T) {
	h, secrets := newLeakyHouse(t)
	system := os.Getenv("PATH")
	h.link(filepath.Join(h.project, "bin"), filepath.Join(h.home, "tools")) // the user's, into the project
	runs := 0
	for _, at := range []string{
		".skillpm/skills/deploy", ".skillpm/skills/deploy/scripts", ".skillpm/skills/deploy/bin", "bin", "env/shims", "node_modules/.bin", ".venv/bin", ".",
	} {
		dir := filepath.Join(h.project, filepath.FromSlash(at))
		for _, kind := range slices.Sorted(maps.Keys(linkKinds)) {
			target := linkKinds[kind]
			var made []string
			for i, name := range leakyNames {
				for _, in := range []string{dir, filepath.Dir(dir)} { // the programs, and what is beside them
					if path := filepath.Join(in, name); in != h.home && filepath.Dir(h.project) != in {
						secret := filepath.Join(h.home, filepath.FromSlash(secretDirs[(i+runs)%len(secretDirs)]))
						h.link(target(h, secret, name), path)
						made = append(made, path)
					}
				}
			}
			// PATH has the directory before the system's, in its place, and by a link of the user.
			path := []string{dir + ":" + system, system + ":" + dir, filepath.Join(h.home, "tools") + ":" + system}[runs%3]
			request := []enforce.Request{{}, {AllowedPaths: []string{}}, {Network: []string{"true"}}}[runs/2%3]
			script := []string{"leak.sh", "leak.sh", "leak.py", "leak.js"}[runs%4]
			if _, err := lookPath("node", system); err != nil || strings.Contains(path, dir+":") {
				script = "leak.sh" // the project's interpreter does not run
			}
			if out := h.leak(script, path, request, secrets); strings.Contains(out, "LEAKED") {
				t.Errorf("%s in %s, PATH %s, %+v: %s", kind, at, path, request, out)
			}
			for _, path := range made {
				_ = os.Remove(path)
			}
			runs++
		}
		// The directory itself is a link.
		if moved := dir + ".moved"; at != "." && !strings.HasPrefix(at, ".skillpm") {
			_ = os.Rename(dir, moved) // it may not exist
			h.link(filepath.Join(h.home, filepath.FromSlash(secretDirs[runs%len(secretDirs)]), "bin"), dir)
			if out := h.leak("leak.sh", dir+":"+system, enforce.Request{}, secrets); strings.Contains(out, "LEAKED") {
				t.Errorf("%s is a link: %s", at, out)
			}
			_ = os.Remove(dir)
		}
	}
	if runs < 32 {
		t.Errorf("only %d runs", runs)
	}
	for _, secret := range secrets { // a link as an argument leads nowhere, either
		h.link(secret, filepath.Join(h.project, "arg"))
		if out := h.leak("leak.sh", system, enforce.Request{}, []string{filepath.Join(h.project, "arg")}); strings.Contains(out, "LEAKED") {
			t.Errorf("a link as an argument: %s", out)
		}
	}
}

// TestAllowedPathLinks checks that no entry of allowed-paths leads out of the project through a link in it, or in the
// skill, and that one that names hidden directories is refused however it is written.
func TestAllowedPathLinks(t *testing.T) {
	h, secrets := newLeakyHouse(t)
	h.link(h.project, filepath.Join(h.home, "p")) // the user's
	h.link(filepath.Join(h.project, "here"), filepath.Join(h.home, "q"))
	for _, secret := range secrets {
		dir := filepath.Dir(secret)
		rel, err := filepath.Rel(h.project, dir)
		if err != nil {
			t.Fatal(err)
		}
		h.link(dir, filepath.Join(h.project, "data"))
		h.link(rel, filepath.Join(h.project, "relative"))
		h.link("data", filepath.Join(h.project, "chain"))
		h.link("data", filepath.Join(h.project, "here"))
		h.link(filepath.Dir(dir), filepath.Join(h.project, "above"))
		h.link(dir, filepath.Join(h.skill, "assets"))
		entries := []string{
			"data", "./data", "data/", "data/bin", "data/new/file", "relative", "chain", "sub/../data", "above/" + filepath.Base(dir),
			h.project + "/data", "~/p/data", "~/q", "~/work/../work/project/data", ".skillpm/skills/deploy/assets", h.skill + "/assets",
		}
		if filepath.Base(dir) == "bin" {
			continue
		}
		hidden := !slices.Contains([]string{"Documents", "other"}, filepath.Base(dir))
		if hidden {
			entries = append(entries, dir, rel, "~/"+strings.TrimPrefix(dir, h.home+"/"), "~/./"+strings.TrimPrefix(dir, h.home+"/")+"/..", dir+"/../")
		}
		for _, entry := range entries {
			rules, err := h.asks(enforce.Request{AllowedPaths: []string{entry}})
			if err == nil {
				_, err = Run(t.Context(), Command{Argv: []string{"cat", secret}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: h.project, Sandbox: rules, Helper: self(t)})
			}
			if err == nil {
				t.Errorf("%q gives %s", entry, dir)
			}
		}
	}
	for _, entry := range []string{"~", "~/", "/", "..", "../..", h.home, "~/work/project/../..", "/proc", "/dev", "/etc", "/proc/self/cwd/../.."} {
		rules, err := h.asks(enforce.Request{AllowedPaths: []string{entry}})
		if err == nil {
			_, err = Run(t.Context(), Command{Argv: []string{"cat", secrets[0]}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: h.project, Sandbox: rules, Helper: self(t)})
		}
		if err == nil && entry != ".." {
			t.Errorf("%q is opened", entry)
		}
	}
	// The working directory is a link in the project.
	g := enforce.Directories{Dir: h.skill, Work: filepath.Join(h.project, "data"), Project: h.project}
	if _, _, err := enforce.Open(enforce.Options{}).Confine(enforce.Skill{}, enforce.Request{Sandbox: "true"}, g); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
		t.Errorf("a working directory: %v", err)
	}
}

// TestUserTools checks that interpreters in a home directory run, found by PATH as version managers set it, and that only
// their installation is readable.
func TestUserTools(t *testing.T) {
	h, secrets := newLeakyHouse(t)
	system := os.Getenv("PATH")
	home := func(name string) string { return filepath.Join(h.home, filepath.FromSlash(name)) }
	for _, dir := range []string{".local/share/uv/python/cpython-3.13", ".nvm/versions/node/v24", ".pyenv/versions/3.13", "tools/deno-2"} {
		h.program(home(dir+"/bin/tool"), `cat "$(dirname "$(readlink -f "$0")")/../lib/part"`)
		h.file(home(dir+"/lib/part"), "it runs\n")
	}
	h.link(home(".local/share/uv/python/cpython-3.13/bin/tool"), home(".local/bin/python3"))
	h.link(home(".local/share/uv/python/cpython-3.13/bin/tool"), filepath.Join(h.project, ".venv", "bin", "python"))
	h.link(home(".nvm/versions/node/v24/bin/tool"), home(".nvm/versions/node/v24/bin/node"))
	h.link(home("tools/deno-2/bin/tool"), home(".local/bin/deno"))
	h.program(home(".pyenv/shims/python3"), home(".pyenv/versions/3.13/bin/tool"))
	h.file(home(".pyenv/secret"), "")
	h.program(home("Downloads/bun"), "echo it runs")
	h.file(home("Downloads/letter"), "LEAKED\n")
	h.link(home("Downloads/bun"), home(".local/bin/bun"))
	h.file(home("lib/letter"), "LEAKED\n")
	h.program(home("bin/mine"), "echo it runs")
	leaks := append(secrets, home("Downloads/letter"), home("lib/letter"), home(".local/share/keyrings"))
	for _, test := range []struct{ name, path, program string }{
		{"uv", home(".local/bin"), "python3"},
		{"an environment of uv", filepath.Join(h.project, ".venv", "bin"), "python"},
		{"nvm", home(".nvm/versions/node/v24/bin"), "node"},
		{"pyenv", home(".pyenv/shims"), "python3"},
		{"a directory of tools", home(".local/bin"), "deno"},
		{"a single file", home(".local/bin"), "bun"},
		{"~/bin", home("bin"), "mine"},
	} {
		line := test.program + `; cat "$@"; true`
		res, err := Run(t.Context(), Command{
			Argv: append([]string{"sh", "-c", line, "sh"}, leaks...), Dir: h.project, Sandbox: h.confined(enforce.Request{}), Helper: self(t),
			Env: []string{"PATH=" + test.path + ":" + system, "HOME=" + h.home},
		})
		if err != nil || !strings.HasPrefix(string(res.Stdout), "it runs") || strings.Contains(string(res.Stdout), "LEAKED") {
			t.Errorf("%s: %v %s", test.name, err, fmt.Sprint(res))
		}
	}
}
