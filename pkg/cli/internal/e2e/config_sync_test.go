package e2e

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
)

// follower is a user with two machines, and a repository for the skills.
type follower struct {
	servers *servers
	repo    *gittest.Repo
	url     string
	one     *machine
	two     *machine
}

func newFollower(t *testing.T) *follower {
	t.Helper()
	f := &follower{servers: newServers(t)}
	dir := t.TempDir()
	f.repo = gittest.New(t, dir, "ada/skills.git")
	f.url = "git+" + gittest.Serve(t, dir, gittest.WithPush()) + "/ada/skills.git"
	f.one, f.two = newMachine(t, f.servers), newMachine(t, f.servers)
	for _, m := range []*machine{f.one, f.two} {
		m.write(filepath.Join(m.home, ".config", "skillpm", "config.yaml"), "agents: [agents]\nnamespaces: {acme: \"oci://"+f.servers.registry.Host+"/acme\"}\n")
	}
	return f
}

// files returns the manifest and the lockfile of a machine's user.
func userFiles(t *testing.T, m *machine) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"skillpm.yaml", "skillpm.lock"} {
		data, err := os.ReadFile(filepath.Join(m.home, ".skillpm", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// has reports whether a pack's skill is installed for the user of a machine.
func has(m *machine, skill string) bool {
	_, err := os.Stat(filepath.Join(m.home, ".skillpm", "plugins", filepath.FromSlash(skill), "SKILL.md"))
	return err == nil
}

// TestConfigSync follows a user's skills between two machines: the first push, the first pull, changes on both sides,
// and a removal. A pull needs consent.
func TestConfigSync(t *testing.T) {
	t.Parallel()
	f := newFollower(t)
	one, two := f.one, f.two
	one.fails(2, []string{"the repository is missing", "git+https://"}, "config", "sync")
	one.fails(4, []string{"does not have a branch main", "--push"}, "config", "sync", f.url)
	one.prepare("install", "--quiet", "--scope", "user", "acme/web@^1.0.0")
	one.ok("config", "sync", f.url, "--push")
	if got := strings.Fields(f.repo.Run("ls-tree", "--name-only", "main")); strings.Join(got, " ") != "skillpm.lock skillpm.yaml" {
		t.Errorf("the repository has %q", got)
	}

	e := two.fails(7, []string{"+ skillpm.yaml: dependencies acme/web: ^1.0.0", "+ acme/web 1.0.0  from oci://", "+ acme/base 1.0.0", "need your consent", "skillpm config sync " + f.url + " --accept"}, "config", "sync", f.url)
	if has(two, "acme/web/deploy") || e.out != "" {
		t.Errorf("it installs without consent: %v", e)
	}
	if e := two.ok("config", "sync", f.url, "--dry-run"); !strings.Contains(e.out, "+ acme/web 1.0.0") || has(two, "acme/web/deploy") {
		t.Error(e)
	}
	two.ok("config", "sync", f.url, "--accept")
	if !has(two, "acme/web/deploy") || !has(two, "acme/base/base") {
		t.Error("the skills did not follow")
	}
	if !maps.Equal(userFiles(t, one), userFiles(t, two)) {
		t.Errorf("the files differ: %q and %q", userFiles(t, one), userFiles(t, two))
	}
	if e := two.ok("config", "sync"); !strings.Contains(e.out, "Already up to date") {
		t.Error(e)
	}

	// Both add a pack. The second push contains both, and the first machine gets it.
	one.prepare("install", "--quiet", "--scope", "user", "acme/other")
	two.prepare("install", "--quiet", "--scope", "user", "acme/core")
	one.ok("config", "sync", "--push")
	if e := two.ok("config", "sync", "--accept"); !strings.Contains(e.err, "This machine has 2 changes for the repository") {
		t.Error(e)
	}
	two.ok("config", "sync", "--push")
	one.ok("config", "sync", "--accept")
	if !has(one, "acme/core/core") || !has(two, "acme/other/other") || !maps.Equal(userFiles(t, one), userFiles(t, two)) {
		t.Errorf("the files differ: %q and %q", userFiles(t, one), userFiles(t, two))
	}

	// A removal follows, too.
	two.prepare("remove", "--quiet", "--scope", "user", "acme/other")
	two.ok("config", "sync", "--push")
	if e := one.ok("config", "sync", "--accept"); has(one, "acme/other/other") || !strings.Contains(e.err, "- acme/other 1.0.0") {
		t.Error(e)
	}
	one.ok("verify", "--scope", "user")
}

// TestConfigSyncConflict checks that an entry that both sides changed changes neither side, and that --prefer decides.
func TestConfigSyncConflict(t *testing.T) {
	t.Parallel()
	f := newFollower(t)
	one, two := f.one, f.two
	one.prepare("install", "--quiet", "--scope", "user", "acme/web@^1.0.0", "acme/other")
	one.ok("config", "sync", f.url, "--push")
	two.ok("config", "sync", f.url, "--accept")
	one.prepare("install", "--quiet", "--scope", "user", "acme/web@^2.0.0")
	two.prepare("install", "--quiet", "--scope", "user", "acme/web@~1.0.0")
	one.ok("config", "sync", "--push")
	before, commit := userFiles(t, two), f.repo.Run("rev-parse", "main")
	two.fails(5, []string{"cannot merge dependencies acme/web of skillpm.yaml", "--prefer local or --prefer remote"}, "config", "sync", "--push", "--accept")
	if !maps.Equal(userFiles(t, two), before) || f.repo.Run("rev-parse", "main") != commit {
		t.Error("a conflict changed something")
	}
	two.fails(2, []string{`unknown --prefer "ours"`, "use local or remote"}, "config", "sync", "--prefer", "ours")
	two.ok("config", "sync", "--push", "--prefer", "local", "--accept")
	if e := one.ok("config", "sync", "--accept"); !has(one, "acme/web/rollback") || has(one, "acme/web/release") {
		t.Error(e)
	}
	one.prepare("install", "--quiet", "--scope", "user", "acme/web@^2.0.0")
	two.prepare("install", "--quiet", "--scope", "user", "acme/web@1.0.0")
	one.ok("config", "sync", "--push")
	if e := two.ok("config", "sync", "--prefer", "remote", "--accept", "--json"); !has(two, "acme/web/release") || !strings.Contains(e.out, `"entry": "dependencies acme/web"`) {
		t.Error(e)
	}
}

// TestConfigSyncRefused checks what a repository cannot do: contain links or invalid files, install what a policy denies
// or what the lockfile does not have, and receive packs that exist on one machine only.
func TestConfigSyncRefused(t *testing.T) {
	t.Parallel()
	f := newFollower(t)
	one, two := f.one, f.two
	two.prepare("install", "--quiet", "--scope", "user", "acme/other")
	one.prepare("install", "--quiet", "--scope", "user", "acme/web@^1.0.0")
	good := userFiles(t, one)
	before := userFiles(t, two)
	for _, tt := range []struct {
		name  string
		files gittest.Files
		code  int
		words []string
	}{
		{"a link", gittest.Files{"skillpm.yaml": {Link: "/etc/passwd"}}, 3, []string{"skillpm.yaml", "symbolic link"}},
		{"a directory", gittest.Text(map[string]string{"skillpm.lock/a": ""}), 3, []string{"skillpm.lock"}},
		{"not YAML", gittest.Text(map[string]string{"skillpm.yaml": "dependencies: ["}), 3, []string{"skillpm.yaml"}},
		{"credentials", gittest.Text(map[string]string{"skillpm.yaml": "registries: [\"https://me:secret@index.example\"]\n"}), 3, []string{"skillpm.yaml"}},
		{"no lockfile", gittest.Text(map[string]string{"skillpm.yaml": good["skillpm.yaml"]}), 5, []string{"skillpm.lock does not match skillpm.yaml"}},
		{"wrong digest", gittest.Text(map[string]string{
			"skillpm.yaml": good["skillpm.yaml"], "skillpm.lock": strings.ReplaceAll(good["skillpm.lock"], "deploy: \"t1:sha256:", "deploy: \"t1:sha256:0000"),
		}), 3, []string{"skillpm.lock"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.repo.Commit(tt.files)
			two.fails(tt.code, tt.words, "config", "sync", f.url, "--accept")
			if !maps.Equal(userFiles(t, two), before) {
				t.Errorf("the files changed to %q", userFiles(t, two))
			}
		})
	}
	f.repo.Commit(gittest.Text(good))
	policy := filepath.Join(two.home, ".config", "skillpm", "policy.yaml")
	two.write(policy, "version: 1\nsources: {deny: [\"oci://"+f.servers.registry.Host+"/acme/**\"]}\n")
	two.fails(7, []string{"acme/web"}, "config", "sync", f.url, "--accept")
	if !maps.Equal(userFiles(t, two), before) {
		t.Errorf("the files changed to %q", userFiles(t, two))
	}
	if err := os.Remove(policy); err != nil {
		t.Fatal(err)
	}
	two.fails(2, []string{"credentials"}, "config", "sync", "git+https://me:secret@git.example/a.git")
	two.fails(2, []string{"not the address of a git repository"}, "config", "sync", "oci://registry.example/a")

	local := filepath.Join(two.home, "own")
	two.write(filepath.Join(local, "mine", "SKILL.md"), gittest.Skill("mine", "Does mine. Use when asked to."))
	two.prepare("install", "--quiet", "--scope", "user", local)
	before = userFiles(t, two)
	two.fails(3, []string{"cannot push local/own", "exists only on this machine", "skillpm publish"}, "config", "sync", f.url, "--accept", "--push")
	if !maps.Equal(userFiles(t, two), before) {
		t.Errorf("the files changed to %q", userFiles(t, two))
	}
	two.prepare("remove", "--quiet", "--scope", "user", "local/own")
	f.repo.Commit(gittest.Text(map[string]string{"mine/SKILL.md": gittest.Skill("mine", "Does mine. Use when asked to.")}))
	two.prepare("install", "--quiet", "--scope", "user", "git+file://"+filepath.ToSlash(f.repo.Dir))
	f.repo.Commit(gittest.Text(good))
	two.fails(3, []string{"cannot push ", "its source git+file", "exists only on this machine"}, "config", "sync", f.url, "--accept", "--push")
}

// TestConfigSyncRace checks that a push on top of another machine's push is rejected, and works afterwards.
func TestConfigSyncRace(t *testing.T) {
	t.Parallel()
	f := newFollower(t)
	one, two := f.one, f.two
	dir := filepath.Dir(filepath.Dir(f.repo.Dir))
	raced := false
	url := "git+" + gittest.Serve(t, dir, gittest.WithPush(), gittest.WithHandler(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/git-receive-pack") && !raced {
				raced = true
				two.prepare("config", "sync", f.url, "--push")
			}
			next.ServeHTTP(w, r)
		})
	})) + "/ada/skills.git"
	one.prepare("install", "--quiet", "--scope", "user", "acme/other")
	two.prepare("install", "--quiet", "--scope", "user", "acme/core")
	one.fails(5, []string{"cannot push: the branch changed in the meantime", "run the command again"}, "config", "sync", url, "--push")
	one.ok("config", "sync", url, "--push", "--accept")
	two.ok("config", "sync", "--accept")
	if !has(two, "acme/other/other") || !has(one, "acme/core/core") {
		t.Error("a pack did not follow")
	}
}
