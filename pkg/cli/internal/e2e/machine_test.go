package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
)

// requireFaults is the environment variable that, set to 1, makes it an error that a test cannot inject a fault here.
const requireFaults = "SKILLPM_REQUIRE_FAULTS"

// skipUnsupported skips a test whose fault cannot be injected here.
func skipUnsupported(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(requireFaults) == "1" {
		t.Fatalf(format+" ("+requireFaults+"=1)", args...)
	}
	t.Skipf(format, args...)
}

// servers is what is outside a machine: a registry with acme/web, acme/base, acme/core and acme/other, and a git server
// with acme/tools.// Both versions of each skill differ in their text and in one file; see before and after for how
// they go together.
type servers struct {
	registry *ocitest.Server
	git      string

	mu     sync.Mutex
	meddle meddle // see setMeddle
}

// meddle answers a request instead of next, or returns false.
type meddle func(w http.ResponseWriter, r *http.Request, next http.Handler) bool

// setMeddle lets f see every request to the registry and to the git server first. They answer those for which f returns
// false.
func (w *servers) setMeddle(f meddle) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meddle = f
}

// withMeddling returns a handler that meddles with next.
func (w *servers) withMeddling(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		meddle := w.meddle
		w.mu.Unlock()
		if meddle == nil || !meddle(rw, r, next) {
			next.ServeHTTP(rw, r)
		}
	})
}

func newServers(t testing.TB) *servers {
	t.Helper()
	w := &servers{registry: ocitest.New(t)}
	registry := w.withMeddling(w.registry.Registry)
	w.registry.Meddle(func(rw http.ResponseWriter, r *http.Request) bool {
		registry.ServeHTTP(rw, r)
		return true
	})
	w.git = gittest.Serve(t, w.repositories(t), gittest.WithHandler(w.withMeddling))
	publisher := newMachine(t, w)
	publisher.publish("acme/base", "1.0.0", "", "base", "lint")
	publisher.publish("acme/core", "1.0.0", "", "core")
	publisher.publish("acme/other", "1.0.0", "", "other")
	publisher.publish("acme/web", "1.0.0", "  acme/base: ^1.0.0\n", "deploy", "rollback")
	publisher.publish("acme/web", "2.0.0", "  acme/core: ^1.0.0\n", "deploy", "release")
	return w
}

func (w *servers) repositories(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	tools := gittest.New(t, dir, "acme/tools.git")
	for _, version := range []string{"1.0.0", "2.0.0"} {
		files := map[string]string{"skillpm.yaml": fmt.Sprintf("name: acme/tools\nversion: %q\n", version)}
		for _, skill := range []string{"lint", "fmt"} {
			for name, text := range skillFiles(skill, version) {
				files["skills/"+skill+"/"+name] = text
			}
		}
		tools.Tag("v"+version, tools.Commit(gittest.Text(files)))
	}
	return dir
}

// skillFiles returns the files of a skill in a version, in the form of [gittest.Text].
func skillFiles(skill, version string) map[string]string {
	return map[string]string{
		"SKILL.md":               gittest.Skill(skill, "Does "+skill+" as of "+version+". Use when asked to."),
		"references/details.md":  strings.Repeat("All about "+skill+" in "+version+".\n", 200),
		"references/" + version:  "only in " + version + "\n",
		"scripts/" + skill + "*": "#!/bin/sh\necho " + skill + " " + version + "\n",
	}
}

// before is the manifest of a project that has the first version of everything.
func (w *servers) before() string {
	return fmt.Sprintf(`# the project's packs
agents: [claude-code, agents]
namespaces: {acme: "oci://%s/acme"}
aliases: {ship: deploy@acme/web}
dependencies:
  acme/web: "1.0.0"
  acme/tools: {git: "%s/acme/tools.git", tag: "v1.0.0"}
`, w.registry.Host, w.git)
}

// update is the command that leads to the second version of everything: acme/core replaces acme/base; in acme/web one
// skill changes, one is removed, and one is added; acme/tools moves to another commit; and the skill with a longer
// alias gets its own name.
func (w *servers) update() []string {
	return []string{"install", "acme/web@^2.0.0", "git+" + w.git + "/acme/tools.git#v2.0.0"}
}

// machine is a user's computer: a home directory, and a project in it.
type machine struct {
	tb      testing.TB
	servers *servers
	home    string
	project string
	cache   string   // instead of the home directory's, "" for that
	below   []string // the command that the program is run by, as strace is
	env     []string
}

func newMachine(t testing.TB, w *servers) *machine {
	t.Helper()
	return newMachineIn(t, w, t.TempDir())
}

func newMachineIn(t testing.TB, w *servers, dir string) *machine {
	t.Helper()
	m := &machine{tb: t, servers: w, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "home", "project")}
	if err := os.MkdirAll(m.project, 0o755); err != nil {
		t.Fatal(err)
	}
	return m
}

// publish creates and publishes a pack. The skills of a version come from skillFiles.
func (m *machine) publish(pack, version, dependencies string, skills ...string) {
	m.tb.Helper()
	dir := m.tb.TempDir()
	manifest := fmt.Sprintf("name: %s\nversion: %q\n", pack, version)
	if dependencies != "" {
		manifest += "dependencies:\n" + dependencies
	}
	m.write(filepath.Join(dir, "skillpm.yaml"), manifest)
	for _, skill := range skills {
		for name, text := range skillFiles(skill, version) {
			m.write(filepath.Join(dir, "skills", skill, name), text)
		}
	}
	m.prepare("-C", dir, "publish", "--quiet", "--to", m.servers.registry.URL(strings.Split(pack, "/")[0]))
}

// write writes a file. A name that ends in an asterisk makes the file executable; the asterisk is not part of the name.
func (m *machine) write(path, text string) {
	m.tb.Helper()
	path, executable := strings.CutSuffix(path, "*")
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
		m.tb.Fatal(err)
	}
}

// ended is how a run of the program ended. Its code is -1 if it was killed.
type ended struct {
	args []string
	code int
	out  string
	err  string
}

func (e ended) String() string {
	return fmt.Sprintf("skillpm %s ended with %d\n%s%s", strings.Join(e.args, " "), e.code, e.out, e.err)
}

// patience is the time limit of a run that must not hang.
const patience = 90 * time.Second

// command is a run of the program in the project.
func (m *machine) command(ctx context.Context, args ...string) *exec.Cmd {
	m.tb.Helper()
	self, err := exec.LookPath("skillpm") // the test's own, see TestMain
	if err != nil {
		m.tb.Fatal(err)
	}
	line := append(slices.Clone(m.below), self)
	cmd := exec.CommandContext(ctx, line[0], append(line[1:], args...)...)
	cmd.Dir = m.project
	cmd.WaitDelay = time.Second
	cmd.Env = append([]string{
		"HOME=" + m.home, "USERPROFILE=" + m.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR"),
		"NO_COLOR=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "XDG_CACHE_HOME=" + m.cache,
	}, m.env...)
	return cmd
}

// run runs the program in the project. It fails if the program hangs.
func (m *machine) run(args ...string) ended {
	m.tb.Helper()
	ctx, cancel := context.WithTimeout(m.tb.Context(), patience)
	defer cancel()
	cmd := m.command(ctx, args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		m.tb.Fatalf("skillpm %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	if ctx.Err() != nil {
		m.tb.Fatalf("skillpm %s did not end in %v\n%s%s", strings.Join(args, " "), patience, out.Bytes(), stderr.Bytes())
	}
	return ended{args, cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// ok runs the program and requires success.
func (m *machine) ok(args ...string) ended {
	m.tb.Helper()
	e := m.run(args...)
	if e.code != 0 {
		m.tb.Fatal(e)
	}
	return e
}

// prepare is [machine.ok] in the process of the test, for what is not tested.
func (m *machine) prepare(args ...string) {
	m.tb.Helper()
	var out bytes.Buffer
	env := m.command(m.tb.Context()).Env
	if code := executeInProcess(m.tb.Context(), m.project, env, strings.NewReader(""), &out, &out, args); code != 0 {
		m.tb.Fatalf("skillpm %s ended with %d\n%s", strings.Join(args, " "), code, out.Bytes())
	}
}

// fails runs the program and requires an exit code and an error that contains all words.
func (m *machine) fails(code int, words []string, args ...string) ended {
	m.tb.Helper()
	e := m.run(args...)
	m.check(e, code, words)
	return e
}

// check requires one error line that contains all words from a failed run.
func (m *machine) check(e ended, code int, words []string) {
	m.tb.Helper()
	if e.code != code || strings.Count(e.err, "error: ") != 1 {
		m.tb.Errorf("want %d and one error: %v", code, e)
	}
	for _, word := range words {
		if !strings.Contains(e.err, word) {
			m.tb.Errorf("want %q: %v", word, e)
		}
	}
	if strings.Contains(e.err, "goroutine ") || strings.Contains(e.err, "panic: ") {
		m.tb.Errorf("it crashed: %v", e)
	}
}

// firstVersions installs the first version of everything in the project.
func (m *machine) firstVersions() map[string]string {
	m.tb.Helper()
	m.write(filepath.Join(m.project, "skillpm.yaml"), m.servers.before())
	m.prepare("install", "--quiet")
	return m.tree()
}

// fresh returns the project's tree after an undisturbed update.
func (m *machine) fresh() map[string]string {
	m.tb.Helper()
	m.firstVersions()
	m.prepare(m.servers.update()...)
	return m.tree()
}

// tree describes everything in the project: type, mode and bytes, or link target. It leaves out files that only this
// machine's skillpm reads and can recreate.
func (m *machine) tree() map[string]string {
	m.tb.Helper()
	return treeOf(m.tb, m.project, ".skillpm", ".skillpm/state", ".skillpm/lock")
}

func treeOf(t testing.TB, root string, leaveOut ...string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, root), string(filepath.Separator)))
		if slices.Contains(leaveOut, rel) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			tree[rel] = "directory"
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			tree[rel] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(path)
			tree[rel] = info.Mode().String() + " " + string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// same proves that two trees are equal, and reports differences.
func same(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if text, ok := want[name]; !ok {
			t.Errorf("%s: %s should not be there", what, name)
		} else if text != got[name] {
			t.Errorf("%s: %s differs: got %.200q, want %.200q", what, name, got[name], text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing", what, name)
		}
	}
}

// checkHealed proves that a plain installation after a fault leaves the complete old or new state, and reports which.
func (m *machine) checkHealed(what string, before, after map[string]string) (isNew bool) {
	m.tb.Helper()
	if e := m.run("install"); e.code != 0 {
		m.tb.Fatalf("%s: it does not heal: %v", what, e)
	}
	got := m.tree()
	isNew = got["skillpm.lock"] == after["skillpm.lock"]
	want := before
	if isNew {
		want = after
	}
	same(m.tb, what+": healed", got, want)
	if e := m.run("verify"); e.code != 0 {
		m.tb.Errorf("%s: %v", what, e)
	}
	return isNew
}

// updated proves that the update works as if no fault had happened.
func (m *machine) updated(what string, done map[string]string) {
	m.tb.Helper()
	if e := m.run(m.servers.update()...); e.code != 0 {
		m.tb.Fatalf("%s: it does not update: %v", what, e)
	}
	same(m.tb, what+": updated", m.tree(), done)
}

// leftNothing proves that an interrupted operation left no files in the project or the caches.
func (m *machine) leftNothing() {
	m.tb.Helper()
	for path := range treeOf(m.tb, filepath.Join(m.home, ".cache", "skillpm")) {
		base := filepath.Base(path)
		if strings.HasPrefix(base, "tmp-") || strings.HasPrefix(base, "w-") || strings.HasPrefix(base, ".") && base != "." {
			m.tb.Errorf("%s is left in the caches", path)
		}
	}
	if _, err := os.Lstat(filepath.Join(m.project, ".skillpm", "journal")); err == nil {
		m.tb.Error("a journal is left")
	}
}

// TestFaultServers proves that the update that the other tests disturb changes everything that they need: packs, links,
// aliases, manifest, and lockfile.
func TestFaultServers(t *testing.T) {
	t.Parallel()
	w := newServers(t)
	m := newMachine(t, w)
	before := m.firstVersions()
	m.ok(w.update()...)
	after := m.tree()
	count := func(from, to map[string]string, is func(path, text string) bool) (n int) {
		for path, text := range from {
			if text != to[path] && is(path, text) {
				n++
			}
		}
		return n
	}
	for _, tt := range []struct {
		what string
		is   func(path, text string) bool
	}{
		{"manifest", func(path, _ string) bool { return path == "skillpm.yaml" }},
		{"lock", func(path, _ string) bool { return path == "skillpm.lock" }},
		{"files", func(path, text string) bool {
			return strings.HasPrefix(path, ".skillpm/plugins/") && !strings.HasPrefix(text, "d")
		}},
		{"links", func(_, text string) bool { return strings.HasPrefix(text, "-> ") }},
		{"aliases", func(path, _ string) bool { return strings.HasPrefix(path, ".skillpm/links/ship/") }},
	} {
		if gone, come := count(before, after, tt.is), count(after, before, tt.is); gone == 0 || come == 0 {
			t.Errorf("%s: %d go and %d come", tt.what, gone, come)
		}
	}
	if t.Failed() {
		t.Logf("before %q", slices.Sorted(maps.Keys(before)))
		t.Logf("after %q", slices.Sorted(maps.Keys(after)))
	}
}

// recorded is the answer that the server would send.
func recorded(r *http.Request, next http.Handler) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	return answer
}

// head sends the headers of an answer.
func head(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	if answer.Header().Get("Content-Length") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()))
	}
	w.WriteHeader(answer.Code)
}
