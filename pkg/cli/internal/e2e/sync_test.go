package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
)

// fleet is an organization that manages the enterprise layers of its machines: packs in a registry, and a list in a
// repository with signed tags.
type fleet struct {
	tb       testing.TB
	servers  *servers
	list     *gittest.Repo
	key      string // with which tags are signed
	requests []string
	mu       sync.Mutex
}

// newFleet creates the releases 1.0.0 of the list, with acme/web 1 and acme/other, and 1.1.0, with acme/web 2 and a
// policy.
func newFleet(t testing.TB) *fleet {
	t.Helper()
	for _, program := range []string{"git", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil || runtime.GOOS == "windows" {
			t.Skipf("%s is needed", program)
		}
	}
	f := &fleet{tb: t, servers: &servers{registry: ocitest.New(t)}, key: filepath.Join(t.TempDir(), "key")}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f.key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	served := t.TempDir()
	f.list = gittest.New(t, served, "acme/fleet.git")
	f.servers.git = gittest.Serve(t, served, gittest.WithHandler(f.countRequests))
	publisher := newMachine(t, f.servers)
	publisher.publish("acme/base", "1.0.0", "", "base", "lint")
	publisher.publish("acme/core", "1.0.0", "", "core")
	publisher.publish("acme/other", "1.0.0", "", "other")
	publisher.publish("acme/web", "1.0.0", "  acme/base: ^1.0.0\n", "deploy", "rollback")
	publisher.publish("acme/web", "2.0.0", "  acme/core: ^1.0.0\n", "deploy", "release")
	f.release("1.0.0", "", "acme/web: \"1.0.0\"", "acme/other: ^1.0.0")
	f.release("1.1.0", "version: 1\nskills: {deny: [release]}\n", "acme/web: \"2.0.0\"")
	f.untag("1.1.0")
	return f
}

// countRequests records the requests to the git server.
func (f *fleet) countRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r.Method+" "+r.URL.Path)
		f.mu.Unlock()
		next.ServeHTTP(rw, r)
	})
}

// takeRequests returns the requests to the git server since the last call.
func (f *fleet) takeRequests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { f.requests = nil }()
	return f.requests
}

// release creates a list of packs and a signed tag.
func (f *fleet) release(version, policy string, packs ...string) {
	f.tb.Helper()
	m := newMachine(f.tb, f.servers)
	m.write(filepath.Join(m.project, "skillpm.yaml"), fmt.Sprintf("name: acme/fleet\nnamespaces: {acme: \"oci://%s/acme\"}\ndependencies:\n  %s\n", f.servers.registry.Host, strings.Join(packs, "\n  ")))
	m.prepare("install", "--quiet")
	files := map[string]string{}
	for _, name := range []string{"skillpm.yaml", "skillpm.lock"} {
		data, err := os.ReadFile(filepath.Join(m.project, name))
		if err != nil {
			f.tb.Fatal(err)
		}
		files[name] = string(data)
	}
	if policy != "" {
		files["policy.yaml"] = policy
	}
	f.tag(version, f.list.Commit(gittest.Text(files)))
}

func (f *fleet) tag(version, commit string) {
	f.list.Run("-c", "gpg.format=ssh", "-c", "user.signingkey="+f.key, "tag", "-s", "-f", "-m", "list", "v"+version, commit)
	f.list.Run("branch", "-f", "keep-"+version, "v"+version+"^{commit}")
}

// untag removes a tag, and publish restores it.
func (f *fleet) untag(version string) {
	f.list.Run("update-ref", "refs/kept/"+version, "refs/tags/v"+version)
	f.list.Run("tag", "-d", "v"+version)
}

func (f *fleet) publish(version string) {
	f.list.Run("update-ref", "refs/tags/v"+version, "refs/kept/"+version)
}

// machine returns a machine that syncs with the list.
func (f *fleet) machine(t testing.TB) (m *machine, layer string) {
	t.Helper()
	dir := t.TempDir()
	m, layer = newMachineIn(t, f.servers, dir), filepath.Join(dir, "enterprise")
	key, err := os.ReadFile(f.key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	m.write(filepath.Join(layer, "keys", "fleet.signers"), "* "+string(key))
	m.write(filepath.Join(layer, "config.yaml"), fmt.Sprintf("sync: {source: \"git+%s/acme/fleet.git\", keys: [keys/fleet.signers]}\n", f.servers.git))
	m.env = append(m.env, enterpriseDir+"="+layer)
	return m, layer
}

// layerOf returns the layer without files that differ between machines.
func layerOf(t testing.TB, layer string) map[string]string {
	t.Helper()
	tree := treeOf(t, layer, "state", "lock", "sync.lock", "sync.json")
	for at := range tree {
		if top, _, _ := strings.Cut(at, "/"); top == "cache" || top == "lib" {
			delete(tree, at)
		}
	}
	return tree
}

// TestSync covers the life of a layer: the first list, a sync without changes that sends one request, the next list, no
// network, and a server that hides the newest list (O15).
func TestSync(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	m, layer := f.machine(t)
	m.ok("enterprise", "sync")
	first := layerOf(t, layer)
	if first["plugins/acme/web/deploy/SKILL.md"] == "" || first["plugins/acme/other/other/SKILL.md"] == "" || first["skillpm.lock"] == "" {
		t.Fatalf("%v", first)
	}
	if e := m.ok("which", "deploy"); !strings.Contains(e.out, layer) {
		t.Error(e)
	}

	f.takeRequests()
	f.servers.registry.Requests()
	e := m.ok("enterprise", "sync", "--quiet")
	if requests := f.takeRequests(); len(requests) != 1 || e.out+e.err != "" {
		t.Errorf("%v\n%s%s", requests, e.out, e.err)
	}
	if requests := f.servers.registry.Requests(); len(requests) > 0 {
		t.Errorf("nothing is new, and the registry is asked: %v", requests)
	}

	f.publish("1.1.0")
	var report struct {
		Version, Previous, Policy string
		Packs                     []struct{ Pack, Action string }
	}
	if err := json.Unmarshal([]byte(m.ok("enterprise", "sync", "--json").out), &report); err != nil || report.Version != "1.1.0" || report.Previous != "1.0.0" || report.Policy != "replaced" {
		t.Errorf("%+v %v", report, err)
	}
	second := layerOf(t, layer)
	if second["plugins/acme/other"] != "" || second["plugins/acme/core/core/SKILL.md"] == "" || second["policy.yaml"] == "" {
		t.Errorf("%v", second)
	}
	m.fails(7, []string{"is denied by"}, "load", "release")

	f.untag("1.1.0")
	m.fails(7, []string{"older than the current 1.1.0"}, "enterprise", "sync")
	m.write(filepath.Join(layer, "config.yaml"), "sync: {source: \"git+http://127.0.0.1:1/acme/fleet.git\", keys: [keys/fleet.signers]}\n")
	m.fails(8, nil, "enterprise", "sync")
	m.fails(3, []string{"configured source"}, "enterprise", "sync", "--check")
	same(t, "after what failed", without(layerOf(t, layer), "config.yaml"), without(second, "config.yaml"))
}

func without(tree map[string]string, name string) map[string]string {
	delete(tree, name)
	return tree
}

// TestSyncAtOnce runs several concurrent syncs: all succeed, and the layer is complete (O15).
func TestSyncAtOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	m, layer := f.machine(t)
	m.ok("enterprise", "sync")
	f.publish("1.1.0")
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			if e := m.run("enterprise", "sync"); e.code != 0 {
				t.Error(e)
			}
		})
	}
	group.Wait()
	m.ok("enterprise", "sync", "--check")
	if got := layerOf(t, layer); got["plugins/acme/core/core/SKILL.md"] == "" || got["journal"] != "" || got[".sync"] != "" {
		t.Errorf("%v", got)
	}
}

// TestSyncMask checks that everyone can read the layer and only its owner can write it, with any umask (O15).
func TestSyncMask(t *testing.T) {
	f := newFleet(t)
	for _, mask := range []string{"000", "077"} {
		m, layer := f.machine(t)
		masked := *m
		masked.below = []string{"sh", "-c", "umask " + mask + `; exec "$0" "$@"`}
		masked.ok("enterprise", "sync")
		for at := range layerOf(t, layer) {
			info, err := os.Stat(filepath.Join(layer, filepath.FromSlash(at)))
			if err != nil {
				t.Fatal(err)
			}
			want := os.FileMode(0o644)
			if info.IsDir() || info.Mode()&0o100 != 0 {
				want = 0o755
			}
			if info.Mode().Perm() != want && at != "" {
				t.Errorf("mask %s: %s is %v", mask, at, info.Mode())
			}
		}
	}
}

// TestSyncReplay puts an older list under a newer tag, which the signature does not cover (O15).
func TestSyncReplay(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	m, layer := f.machine(t)
	registry := f.servers.registry
	m.prepare("-C", m.home, "key", "generate", "--output", filepath.Join(layer, "keys", "oci"), "--no-password")
	key := filepath.Join(layer, "keys", "oci.key")
	m.write(filepath.Join(m.project, "skillpm.yaml"), fmt.Sprintf("namespaces: {acme: \"oci://%s/acme\"}\ndependencies: {acme/other: ^1.0.0}\n", registry.Host))
	m.prepare("install", "--quiet")
	m.ok("enterprise", "publish", ".", "--to", registry.URL("acme/fleet"), "--pack-version", "1.0.0", "--signing-key", key)
	m.write(filepath.Join(layer, "config.yaml"), fmt.Sprintf("sync: {source: %q, keys: [keys/oci.pub]}\n", registry.URL("acme/fleet")))
	m.ok("enterprise", "sync")
	registry.Requests()
	m.ok("enterprise", "sync")
	if requests := registry.Requests(); len(requests) != 2 {
		t.Errorf("nothing is new, and these are asked: %v", requests)
	}
	client := registry.Client(t, m.home)
	at, err := pack.Parse(registry.URL("acme/fleet") + ":1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.Artifact(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Blobs {
		if a.Blobs[i].Data, err = client.ReadBlob(t.Context(), at, a.Blobs[i], 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	if digest, err := client.PutArtifact(t.Context(), at, *a, "1.9.0"); err != nil || digest != a.Digest {
		t.Fatal(digest, err)
	}
	m.fails(6, []string{"1.9.0"}, "enterprise", "sync")
	m.ok("enterprise", "sync", "--check")
}
