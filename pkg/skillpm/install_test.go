package skillpm_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// newClient returns a client for dir with its own home, and with the administrator's settings in home/enterprise.
func newClient(tb testing.TB, dir, home string) *skillpm.Client {
	tb.Helper()
	c := skillpm.New(newOptions(tb, dir, home))
	tb.Cleanup(c.Close)
	return c
}

// newAuthor returns an author that publishes from a directory on the same machine.
func newAuthor(tb testing.TB, dir, home string) *publish.Client {
	tb.Helper()
	c := publish.New(newOptions(tb, dir, home))
	tb.Cleanup(c.Close)
	return c
}

func newOptions(tb testing.TB, dir, home string) skillpm.Options {
	tb.Helper()
	none := func(string) string { return "" }
	env, err := environ.Environment{
		Paths:  scope.Paths{Home: home, Enterprise: filepath.Join(home, "enterprise")},
		Getenv: none, Now: time.Now, OS: runtime.GOOS, Version: "0.1.0", Admin: os.Getuid(),
	}.At(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return skillpm.Options{Environment: env}
}

// writePack writes a pack of n skills with five files each, 28 KB together.
func writePack(tb testing.TB, dir, name, version string, n int) {
	tb.Helper()
	write := func(path, text string, mode os.FileMode) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			tb.Fatal(err)
		}
	}
	write("skillpm.yaml", fmt.Sprintf("name: %s\nversion: %q\n", name, version), 0o644)
	short := name[strings.LastIndex(name, "/")+1:]
	for i := range n {
		skill := fmt.Sprintf("%s-%d", short, i)
		base := "skills/" + skill + "/"
		write(base+"SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: Skill %d of %s %s.\n---\n\n", skill, i, name, version)+prose(i, 4000), 0o644)
		for j := range 3 {
			write(fmt.Sprintf("%sreferences/%d.md", base, j), prose(7*i+j, 8000), 0o644)
		}
		write(base+"scripts/run.sh", "#!/bin/sh\necho "+skill+"\n", 0o755)
	}
}

// prose returns n bytes of words, which compress about as well as prose.
func prose(seed, n int) string {
	words := strings.Fields("deploy the service and check that every instance is healthy before the next step of a rollout begins")
	var b strings.Builder
	for x := uint32(seed)*2654435761 + 1; b.Len() < n; x = x*1664525 + 1013904223 {
		fmt.Fprintf(&b, "%s %d ", words[(x>>16)%uint32(len(words))], x>>24)
	}
	return b.String()[:n]
}

// snapshot returns every file and link below dir.
func snapshot(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		if target, err := os.Readlink(path); err == nil {
			all[path] = "-> " + target
			return nil
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// TestDamagedPack checks that a pack whose content does not match its digest is rejected, and that the failed
// installation leaves the previous one, the manifest, and the lockfile byte for byte unchanged.
func TestDamagedPack(t *testing.T) {
	server := ocitest.New(t)
	dir, home := t.TempDir(), t.TempDir()
	for _, version := range []string{"1.0.0", "1.1.0"} {
		src := t.TempDir()
		writePack(t, src, "acme/fragile", version, 3)
		if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{To: server.URL("acme")}); err != nil {
			t.Fatal(err)
		}
	}
	place := server.URL("acme/fragile")
	if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: []string{place + ":1.0.0"}}); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)

	for name, meddle := range map[string]func([]byte) []byte{
		"one bit":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"truncated": func(b []byte) []byte { return b[:len(b)-10] },
		"longer":    func(b []byte) []byte { return append(b, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			server.Meddle(damageBlobs(server, meddle))
			defer server.Meddle(nil)
			c := newClient(t, dir, t.TempDir())
			_, err := c.Install(t.Context(), skillpm.InstallOptions{Packs: []string{place + ":1.1.0"}})
			if code := diag.CodeOf(err); code != diag.Integrity && code != diag.Invalid && code != diag.Remote {
				t.Errorf("installing the damaged pack: %v (%v), want a refusal", err, code)
			}
			if after := snapshot(t, dir); !maps.Equal(before, after) {
				t.Errorf("the failed install changed the project")
			}
		})
	}
}

// TestInstallRequests checks that a pack that is named by its source takes three requests.
func TestInstallRequests(t *testing.T) {
	server := ocitest.New(t)
	src := t.TempDir()
	writePack(t, src, "acme/one", "1.0.0", 2)
	if _, err := newAuthor(t, src, t.TempDir()).Publish(t.Context(), publish.ReleaseOptions{To: server.URL("acme")}); err != nil {
		t.Fatal(err)
	}
	server.Requests()
	source := server.URL("acme/one") + ":1.0.0"
	if _, err := newClient(t, t.TempDir(), t.TempDir()).Install(t.Context(), skillpm.InstallOptions{Packs: []string{source}}); err != nil {
		t.Fatal(err)
	}
	const base = "GET /v2/acme/one/"
	got := server.Requests()
	got = slices.DeleteFunc(got, func(request string) bool { return !strings.HasPrefix(request, base) })
	if len(got) != 3 || got[0] != base+"manifests/1.0.0" || got[1] != base+"manifests/skillpm-status" ||
		!strings.HasPrefix(got[2], base+"blobs/sha256:") {
		t.Errorf("got %q", got)
	}
}

// damageBlobs answers requests for layers with changed bytes.
func damageBlobs(server *ocitest.Server, change func([]byte) []byte) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/blobs/") || r.Header.Get("X-Inner") != "" {
			return false
		}
		inner, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+server.Host+r.URL.Path, nil)
		if err != nil {
			return false
		}
		inner.Header.Set("X-Inner", "1")
		answer, err := http.DefaultClient.Do(inner)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err != nil || len(data) < 100 {
			_, _ = w.Write(data)
			return true
		}
		_, _ = w.Write(change(bytes.Clone(data)))
		return true
	}
}

// TestEnterpriseBinding checks that a pack of a bound owner comes from no other source: not with --registry, not from a
// direct source, and not from a project's lockfile.
func TestEnterpriseBinding(t *testing.T) {
	server := ocitest.New(t)
	home, dir, src := t.TempDir(), t.TempDir(), t.TempDir()
	writePack(t, src, "acme/tool", "1.0.0", 1)
	for _, to := range []string{server.URL("acme"), server.URL("evil")} {
		if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{To: to}); err != nil {
			t.Fatal(err)
		}
	}
	install := func(dir string, o skillpm.InstallOptions) error {
		_, err := newClient(t, dir, home).Install(t.Context(), o)
		return err
	}
	elsewhere := skillpm.InstallOptions{Packs: []string{"acme/tool"}, ChangeOptions: skillpm.ChangeOptions{Registry: server.URL("evil")}}
	if err := install(dir, elsewhere); err != nil {
		t.Fatalf("without a binding: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(home, "enterprise"), 0o755); err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf("namespaces:\n  acme: %q\n", server.URL("acme"))
	if err := os.WriteFile(filepath.Join(home, "enterprise", "config.yaml"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]skillpm.InstallOptions{
		"registry":  elsewhere,
		"place":     {Packs: []string{server.URL("evil/acme/tool") + ":1.0.0"}},
		"directory": {Packs: []string{src}},
	} {
		if err := install(t.TempDir(), o); diag.CodeOf(err) != diag.Denied {
			t.Errorf("%s: %v, want it to be denied", name, err)
		}
	}
	if err := install(dir, skillpm.InstallOptions{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("a lock to elsewhere: %v, want it to be denied", err)
	}
	if err := install(t.TempDir(), skillpm.InstallOptions{Packs: []string{"acme/tool"}}); err != nil {
		t.Errorf("where it is bound to: %v", err)
	}
}

// TestConcurrentLocalSkill checks that a local skill that is created during a download is not overwritten.
func TestConcurrentLocalSkill(t *testing.T) {
	server := ocitest.New(t)
	dir, home, src := t.TempDir(), t.TempDir(), t.TempDir()
	writePack(t, src, "acme/slow", "1.0.0", 1)
	if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{To: server.URL("acme")}); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, ".agents", "skills", "slow-0", "SKILL.md")
	server.Meddle(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
				t.Error(err)
			}
		}
		return false
	})
	_, err := newClient(t, dir, t.TempDir()).Install(t.Context(), skillpm.InstallOptions{Packs: []string{server.URL("acme/slow") + ":1.0.0"}})
	if diag.CodeOf(err) != diag.Conflict {
		t.Errorf("%v, want a conflict", err)
	}
	if data, err := os.ReadFile(mine); err != nil || string(data) != "mine" {
		t.Errorf("the hand-written skill is %q (%v)", data, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "skillpm.lock")); err == nil {
		t.Error("the failed install wrote a lock")
	}
}

// TestConcurrentProcess checks that files that another process installs at the same time do not count as local edits.
func TestConcurrentProcess(t *testing.T) {
	server := ocitest.New(t)
	dir, home := t.TempDir(), t.TempDir()
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		src := t.TempDir()
		writePack(t, src, "acme/tool", version, 1)
		if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{To: server.URL("acme")}); err != nil {
			t.Fatal(err)
		}
	}
	install := func(version string) error {
		packs := []string{server.URL("acme/tool") + ":" + version}
		_, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: packs})
		return err
	}
	if err := install("1.0.0"); err != nil {
		t.Fatal(err)
	}
	var other sync.Once
	server.Meddle(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/manifests/1.2.0") { // the install has read the lockfile
			other.Do(func() {
				if err := install("1.1.0"); err != nil {
					t.Error(err)
				}
			})
		}
		return false
	})
	if err := install("1.2.0"); err != nil {
		t.Fatal(err)
	}
	if lock, err := os.ReadFile(filepath.Join(dir, "skillpm.lock")); err != nil || !strings.Contains(string(lock), "1.2.0") {
		t.Errorf("%v: the lockfile is\n%s", err, lock)
	}
}

// TestLostState checks that a project with lost state, for example in another checkout or on another machine, is still
// updated and cleaned up.
func TestLostState(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, version := range []string{"1.0.0", "1.1.0"} {
		src := t.TempDir()
		writePack(t, src, "acme/tool", version, 2)
		if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	install := func(pack string) {
		t.Helper()
		if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: []string{pack}}); err != nil {
			t.Fatal(err)
		}
	}
	lose := func() {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, ".skillpm", "state")); err != nil {
			t.Fatal(err)
		}
	}
	install("acme/tool@1.0.0")
	lose()
	install("acme/tool@1.1.0")
	checkWhole(t, dir, home, []string{"acme/tool"})
	lose()
	if _, err := newClient(t, dir, home).Remove(t.Context(), skillpm.RemoveOptions{Packs: []string{"acme/tool"}}); err != nil {
		t.Fatal(err)
	}
	for name := range snapshot(t, dir) {
		if strings.Contains(name, "tool-") {
			t.Errorf("%s is left", name)
		}
	}
}

// TestForgedState checks that a state file that this machine did not write is ignored: files that it claims for skillpm
// are not removed.
func TestForgedState(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	secret := filepath.Join(dir, ".env")
	if err := os.WriteFile(secret, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".skillpm"), 0o755); err != nil {
		t.Fatal(err)
	}
	forged := "skillpm-state 2\t" + strings.Repeat("00", 32) + "\ntree\t.env\tx\tx\t\n"
	if err := os.WriteFile(filepath.Join(dir, ".skillpm", "state"), []byte(forged), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: []string{"acme/kubectl-basics"}}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "precious" {
		t.Errorf(".env is %q (%v)", data, err)
	}
}

// TestForgedJournal checks that a journal that another machine wrote, for example one from a repository, is not
// replayed.
func TestForgedJournal(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	leaveJournal(t, dir)
	before := snapshot(t, dir)
	_, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: []string{"acme/kubectl-basics"}})
	if diag.CodeOf(err) != diag.Denied {
		t.Errorf("%v, want it to be denied", err)
	}
	if after := snapshot(t, dir); !maps.Equal(before, after) {
		t.Error("the forged journal changed the project")
	}
}

// leaveJournal makes a transaction die at its commit point, which leaves a journal like that of a killed process on a
// machine with another key.
func leaveJournal(t *testing.T, dir string) {
	t.Helper()
	defer func() { _ = recover() }()
	if err := os.MkdirAll(filepath.Join(dir, ".skillpm"), 0o755); err != nil {
		t.Fatal(err)
	}
	tx, err := txn.Begin(txn.Options{
		Root: dir, Dir: filepath.Join(dir, ".skillpm", "journal"), Key: bytes.Repeat([]byte{7}, 32),
		Fail: func(step string) error {
			if step == "committed" {
				panic(step)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.StageFile("planted.sh", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Fatal("the transaction did not die: ", tx.Commit())
}

// TestPublishedConfig checks that the artifact of one skill has the metadata of its frontmatter (M3).
func TestPublishedConfig(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	writePack(t, dir, "acme/one", "1.0.0", 1)
	text := "---\nname: one-0\ndescription: D.\nlicense: MIT\ncompatibility: Needs git\nallowed-tools: Read Bash\nmetadata:\n  team: core\n---\n\nText.\n"
	if err := os.WriteFile(filepath.Join(dir, "skills", "one-0", "SKILL.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	layout := t.TempDir()
	if _, err := newAuthor(t, dir, home).Publish(t.Context(), publish.ReleaseOptions{To: "oci-layout:" + layout}); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for name, data := range snapshot(t, layout) {
		if strings.Contains(name, "blobs") {
			all.WriteString(data)
		}
	}
	for _, want := range []string{`"license":"MIT"`, `"compatibility":"Needs git"`, `"allowedTools":["Read","Bash"]`, `"metadata":{"team":"core"}`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the artifact does not say %s", want)
		}
	}
}

// TestConcurrentInstalls checks that concurrent installations into one project all succeed, one after the other, and
// that none loses anything.
func TestConcurrentInstalls(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	const n = 6
	var packs []string
	for i := range n {
		src, name := t.TempDir(), fmt.Sprintf("acme/pack%d", i)
		writePack(t, src, name, "1.0.0", 2)
		if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{}); err != nil {
			t.Fatal(err)
		}
		packs = append(packs, name)
	}
	var wg sync.WaitGroup
	for _, name := range packs {
		c := newClient(t, dir, home)
		wg.Go(func() {
			for range n { // a loser of every race tries again, as its message says
				_, err := c.Install(t.Context(), skillpm.InstallOptions{Packs: []string{name}})
				if err == nil {
					return
				}
				if diag.CodeOf(err) != diag.Conflict {
					t.Errorf("%s: %v", name, err)
					return
				}
			}
			t.Errorf("%s: lost every race", name)
		})
	}
	wg.Wait()
	checkWhole(t, dir, home, packs)
}

// checkWhole requires that exactly the packs are installed and everything matches the lockfile.
func checkWhole(t *testing.T, dir, home string, packs []string) {
	t.Helper()
	c := newClient(t, dir, home)
	list, err := c.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Packs) != len(packs) {
		t.Errorf("%d packs are installed, want %d", len(list.Packs), len(packs))
	}
	report, err := c.Verify(t.Context(), skillpm.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("%s: %s", p.Path, p.Message)
	}
}

const childDir = "SKILLPM_TEST_INSTALL_IN"

// TestKilledInstall kills installations at many moments and checks that the next one can finish: it finds the old or
// the new state, and verify reports no problems.
func TestKilledInstall(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		c := newClient(t, dir, os.Getenv(childDir+"_HOME"))
		_, _ = c.Install(t.Context(), skillpm.InstallOptions{Packs: []string{"acme/big"}})
		return
	}
	home := t.TempDir()
	src := t.TempDir()
	writePack(t, src, "acme/big", "1.0.0", 60)
	if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{}); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		dir := t.TempDir()
		if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: []string{"acme/kubectl-basics"}}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(10+6*i)*time.Millisecond)
		child := exec.CommandContext(ctx, self, "-test.run", "^TestKilledInstall$")
		child.Env = append(os.Environ(), childDir+"="+dir, childDir+"_HOME="+home)
		_ = child.Run() // killed, or done before
		cancel()
		for name := range snapshot(t, dir) {
			if strings.HasSuffix(name, "skillpm.lock") || strings.HasSuffix(name, "skillpm.yaml") {
				if data, err := os.ReadFile(name); err != nil || len(data) == 0 {
					t.Errorf("%s is empty after the kill (%v)", name, err)
				}
			}
		}
		if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: []string{"acme/big"}}); err != nil {
			t.Fatalf("killed after %d ms, then: %v", 10+6*i, err)
		}
		checkWhole(t, dir, home, []string{"acme/kubectl-basics", "acme/big"})
	}
}

// BenchmarkInstallNothing measures an install with nothing to do.
func BenchmarkInstallNothing(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("skills=%d", n), func(b *testing.B) {
			dir, home, src := b.TempDir(), b.TempDir(), b.TempDir()
			writePack(b, src, "acme/many", "1.0.0", n)
			if _, err := newAuthor(b, src, home).Publish(b.Context(), publish.ReleaseOptions{}); err != nil {
				b.Fatal(err)
			}
			if _, err := newClient(b, dir, home).Install(b.Context(), skillpm.InstallOptions{Packs: []string{"acme/many"}}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r, err := newClient(b, dir, home).Install(b.Context(), skillpm.InstallOptions{Packs: []string{"acme/many"}})
				if err != nil || r.Changed {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// BenchmarkInstallOCI measures installing from a registry in this process, with an empty store and an empty project.
func BenchmarkInstallOCI(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("skills=%d", n), func(b *testing.B) {
			server, src := ocitest.New(b), b.TempDir()
			writePack(b, src, "acme/many", "1.0.0", n)
			if _, err := newAuthor(b, src, b.TempDir()).Publish(b.Context(), publish.ReleaseOptions{To: server.URL("acme")}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				c := newClient(b, b.TempDir(), b.TempDir())
				if _, err := c.Install(b.Context(), skillpm.InstallOptions{Packs: []string{server.URL("acme/many") + ":1.0.0"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
