package e2e

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/testkit"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	skillruntime "github.com/skillpm/skillpm/pkg/runtime"
)

// onOneThread is the environment variable that keeps the program's main goroutine on the initial thread, so that the
// test can count its system calls.
const onOneThread = "SKILLPM_TEST_ON_ONE_THREAD"

// enterpriseDir is the environment variable that moves, in these tests only, the directory of the machine's
// administrator.
const enterpriseDir = "SKILLPM_TEST_ENTERPRISE"

// adminUser is the environment variable that names, in these tests only, the owner of that directory. The default is
// the current user.
const adminUser = "SKILLPM_TEST_ADMIN"

// storyVersion is the program's version in the stories.
const storyVersion = "0.1.0"

func init() { //nolint:gochecknoinits // when main starts, its goroutine may have left the first thread, which strace follows
	if os.Getenv(onOneThread) != "" {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if code, helper := skillruntime.EnterHelper(os.Args); helper { // stories run scripts, and this is the program that confines them
		os.Exit(code)
	}
	programs := map[string]func(){
		"mcp-files": filesServer,
		"skillpm": func() {
			system := environ.Process(storyVersion)
			withEnterprise(&system)
			os.Exit(int(cli.Run(system, os.Args[1:])))
		},
	}
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		if _, ok := programs[name]; !ok {
			name = "skillpm" // a skillpm of this process starts itself, for a task
		}
	}
	if program, ok := programs[name]; ok {
		program()
		return
	}
	os.Exit(withPrograms(slices.Collect(maps.Keys(programs)), func() int {
		testkit.UseMemory() // not for the programs: Copilot refuses to start one below /dev
		return m.Run()
	}))
}

// withPrograms calls run while links to this program with these names are on PATH.
func withPrograms(names []string, run func() int) int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "skillpm-e2e-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range names {
		if err := placeProgram(self, filepath.Join(dir, name)); err != nil {
			panic(err)
		}
	}
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return run()
}

// placeProgram gives a program a second name: a link if the file system allows it, else a copy.
func placeProgram(program, name string) error {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if os.Link(program, name) == nil {
		return nil
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o755)
}

// TestScript runs the users' stories in testdata/script: one file a story, named verb_case. Each has its own home, an
// OCI registry at $REGISTRY (a host and port, shared: use the script's own namespace), one at $LOCKED that requires a
// login, one at $BEARER that requires a token of the server at $TOKENS, which has another name, one at $SECURE with
// TLS, whose certificate is in the file $SECURE_CA and is not trusted, the git repositories of gitRepositories at $GIT,
// a website with the script's own directory site at $SITE, and a server with the APIs of ClawHub and apm at $HUB.
func TestScript(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup: what is ignored here would be ignored by every program that is started
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	registry := ocitest.New(t)
	repositories := gitRepositories(t)
	server := gittest.Serve(t, repositories)
	private := gittest.Serve(t, repositories, gittest.WithAuth("robot", "s3cret"))
	locked := lockedRegistry(t)
	bearer, tokens := tokenRegistry(t)
	secure := ocitest.NewTLS(t)
	base := registrytest.Pack("acme/base", "1.0.0", "base")
	base.Release.Dependencies = nil
	hub := registrytest.NewHub(t, base,
		registrytest.Pack("acme/deploy", "1.2.0", "deploy"), registrytest.Pack("acme/deploy", "1.10.0", "deploy", "rollback"),
		registrytest.Pack("acme/shady", "1.0.0", "shady"), registrytest.Pack("acme/blocked", "1.0.0", "blocked"))
	hub.Moderate("acme/shady", true, false, "It runs downloaded code.")
	hub.Moderate("acme/blocked", true, true, "It steals tokens.")
	index, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "registry-index"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "..", "..", "testdata", "script")
	variables := variableNames(t, dir)
	testscript.Run(t, testscript.Params{
		Dir:                dir,
		RequireUniqueNames: true,
		UpdateScripts:      os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("REGISTRY", registry.Host)
			env.Setenv("GIT", server)
			env.Setenv("INDEX", index)
			site := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(env.WorkDir, "site"))))
			env.Defer(site.Close)
			env.Setenv("SITE", site.URL)
			env.Setenv("HUB", hub.URL)
			env.Setenv("PRIVATE", private)
			env.Setenv("LOCKED", locked)
			env.Setenv("BEARER", bearer)
			env.Setenv("TOKENS", tokens)
			env.Setenv("SECURE", secure.Host)
			env.Setenv("SECURE_CA", secure.CertFile)
			env.Setenv(enterpriseDir, filepath.Join(env.WorkDir, "enterprise"))
			env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Values[pendingInput{}] = new(string)
			names := slices.Clone(variables)
			for _, v := range env.Vars {
				name, _, _ := strings.Cut(v, "=")
				names = append(names, name)
			}
			slices.Sort(names)
			env.Values[environmentNames{}] = slices.Compact(names)
			env.Defer(func() { endProcesses(env.WorkDir) })
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"skillpm":    runCommand,
			"input":      input,
			"exits":      exits,
			"document":   isDocument,
			"same-tree":  sameTree,
			"executable": executable,
			"run-blocks": runBlocks,
			"keypair":    keyPair,
			"expand":     expand,
		},
	})
}

// lockedRegistry starts a registry that accepts the user robot with the password s3cret, and returns its host.
func lockedRegistry(t *testing.T) string {
	registry := ocitest.New(t)
	registry.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "robot" && password == "s3cret" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="locked"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	return registry.Host
}

// tokenRegistry starts a registry and a token server that gives tokens to the user robot with the password s3cret, and
// returns their hosts: an address, and a name.
func tokenRegistry(t *testing.T) (host, tokens string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "robot" || password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"token":"of-robot"}`))
	}))
	t.Cleanup(server.Close)
	tokens = strings.Replace(strings.TrimPrefix(server.URL, "http://"), "127.0.0.1", "localhost", 1)
	registry := ocitest.New(t)
	registry.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer of-robot" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+tokens+`/token",service="registry"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	return registry.Host, tokens
}

// sameTree requires two directories to have the same files with the same bytes and executable bits.
func sameTree(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same-tree DIR DIR")
	}
	a, b := treeText(ts, args[0]), treeText(ts, args[1])
	if (a == b) == neg {
		ts.Fatalf("%s:\n%s\n%s:\n%s", args[0], a, args[1], b)
	}
}

func treeText(ts *testscript.TestScript, dir string) string {
	var text strings.Builder
	root := ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text.WriteString(path[len(root):] + " " + strconv.FormatBool(info.Mode()&0o100 != 0) + " " + strconv.Quote(string(data)) + "\n")
		return nil
	}))
	return text.String()
}

// executable requires files to have, or not to have, the executable bit.
func executable(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		info, err := os.Stat(ts.MkAbs(file))
		ts.Check(err)
		if (info.Mode()&0o100 != 0) == neg {
			ts.Fatalf("%s has mode %v", file, info.Mode())
		}
	}
}

// runBlocks runs, in order, every command of the bash blocks of a Markdown file, and requires each to succeed.
func runBlocks(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 && len(args) != 3 {
		ts.Fatalf("usage: run-blocks FILE [FINISHED TEMPLATE]")
	}
	inside, ran, finished := false, 0, len(args) == 1
	for line := range strings.SplitSeq(ts.ReadFile(args[0]), "\n") {
		switch {
		case strings.HasPrefix(line, "```bash"):
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && strings.TrimSpace(line) != "":
			ts.Logf("$ %s", line)
			ts.Check(ts.Exec("sh", "-euc", line))
			ran++
			if finished {
				continue
			}
			if _, err := os.Stat(ts.MkAbs(args[2])); err == nil {
				ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[1])), 0o644))
				finished = true
			}
		}
	}
	if ran == 0 {
		ts.Fatalf("%s has no commands", args[0])
	}
}

// gitRepositories creates the repositories that the stories use: acme/tools has a manifest, tags, and a subdirectory
// with another pack; wild/skills does not have a manifest.
func gitRepositories(t *testing.T) string {
	dir := t.TempDir()
	tools := gittest.New(t, dir, "acme/tools.git")
	manifest := "name: acme/tools\nversion: \"1.2.0\"\ndescription: Tools\n"
	first := tools.Commit(gittest.Text(map[string]string{
		"skillpm.yaml":                 manifest,
		"skills/lint/SKILL.md":         gittest.Skill("lint", "Lints. Use before a commit."),
		"skills/lint/scripts/lint.sh*": "#!/bin/sh\necho lint\n",
		"skills/fmt/SKILL.md":          gittest.Skill("fmt", "Formats. Use before a commit."),
		"packs/extra/skillpm.yaml":     "name: acme/extra\nversion: \"0.3.0\"\n",
		"packs/extra/extra/SKILL.md":   gittest.Skill("extra", "Does something extra."),
	}))
	tools.Tag("v1.2.0", first)
	second := tools.Commit(gittest.Text(map[string]string{
		"skillpm.yaml":                 strings.Replace(manifest, "1.2.0", "1.3.0", 1),
		"skills/lint/SKILL.md":         gittest.Skill("lint", "Lints better. Use before a commit."),
		"skills/lint/scripts/lint.sh*": "#!/bin/sh\necho lint 1.3\n",
		"skills/fmt/SKILL.md":          gittest.Skill("fmt", "Formats. Use before a commit."),
	}))
	tools.AnnotatedTag("v1.3.0", second)
	wild := gittest.New(t, dir, "wild/skills.git")
	commit := wild.Commit(gittest.Text(map[string]string{
		"README.md":                    "# Skills\n",
		"skills/one/SKILL.md":          gittest.Skill("one", "The first of three."),
		"skills/two/SKILL.md":          gittest.Skill("two", "The second of three."),
		"document-skills/pdf/SKILL.md": gittest.Skill("pdf", "Reads PDF files."),
	}))
	wild.Tag("latest", commit)
	flawedRepository(t, dir)
	return dir
}

// flawedRepository makes flawed/skills, in which the skill good is the only good one, the tag v1.0.1 contains version
// 1.0.0, and the manifest of v1.0.2 cannot be read.
func flawedRepository(t *testing.T, dir string) {
	r := gittest.New(t, dir, "flawed/skills.git")
	files := map[string]string{
		"skillpm.yaml":             "name: flawed/skills\nversion: \"1.0.0\"\nskills: [\"skills/*\"]\n",
		"skills/good/SKILL.md":     gittest.Skill("good", "A good skill."),
		"skills/plain/SKILL.md":    "# Plain\n\nText without frontmatter.\n",
		"skills/pointer/SKILL.md":  gittest.Skill("pointer", "Has a file in Git LFS."),
		"skills/pointer/model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
		"skills/link/SKILL.md":     gittest.Skill("link", "Has a link."),
	}
	content := gittest.Text(files)
	content["skills/link/secret"] = gittest.File{Link: "../../../../etc/passwd"}
	r.Tag("v1.0.0", r.Commit(content))
	content["skills/good/SKILL.md"] = gittest.File{Data: gittest.Skill("good", "A better skill.")}
	r.Tag("v1.0.1", r.Commit(content))
	content["skillpm.yaml"] = gittest.File{Data: "name: [\n"}
	r.Tag("v1.0.2", r.Commit(content))
}
