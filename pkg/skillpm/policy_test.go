package skillpm_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// guardedWorld has a machine policy and two packs: acme/good, which acme signs, and the unsigned evil/bad. The policy
// allows the server's packs that acme signed.
type guardedWorld struct {
	*fixture
	key *sign.PrivateKey
}

func newGuardedWorld(t *testing.T) *guardedWorld {
	t.Helper()
	key, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w := &guardedWorld{fixture: newFixture(t), key: key}
	w.signed("acme/good", "1.0.0", "good", "Do good.")
	w.publish("evil/bad", "1.0.0", nil, "good")
	return w
}

// signed publishes a signed version and adds it to the index.
func (w *guardedWorld) signed(pk, version, skill, text string) {
	w.t.Helper()
	src := w.t.TempDir()
	writeFiles(w.t, src, map[string]string{
		"skillpm.yaml":      "name: " + pk + "\nversion: \"" + version + "\"\n",
		skill + "/SKILL.md": "---\nname: " + skill + "\ndescription: Does it as of " + version + ".\n---\n\n" + text + "\n",
	})
	owner, _, _ := strings.Cut(pk, "/")
	r, err := newAuthor(w.t, src, w.home).Publish(w.t.Context(), publish.ReleaseOptions{To: w.server.URL(owner), Signer: w.key})
	if err != nil {
		w.t.Fatal(err)
	}
	w.enter(pk, version, r.Digest, nil)
}

// tag tags an existing manifest.
func (w *guardedWorld) tag(repository, tag, digest string) {
	w.t.Helper()
	at := "http://" + w.server.Host + "/v2/" + repository + "/manifests/"
	const manifest = "application/vnd.oci.image.manifest.v1+json"
	ask := func(method, url, header string, body []byte) []byte {
		req, err := http.NewRequestWithContext(w.t.Context(), method, url, bytes.NewReader(body))
		if err != nil {
			w.t.Fatal(err)
		}
		req.Header.Set(header, manifest)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			w.t.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= 300 {
			w.t.Fatalf("%s %s: %s, %v", method, url, res.Status, err)
		}
		return data
	}
	ask(http.MethodPut, at+tag, "Content-Type", ask(http.MethodGet, at+digest, "Accept", nil))
}

// enforce writes the policy.
func (w *guardedWorld) enforce() {
	w.t.Helper()
	public := w.key.Public().Encode()
	host, _, _ := strings.Cut(w.server.Host, ":")
	writeFiles(w.t, filepath.Join(w.home, "enterprise"), map[string]string{
		"acme.pub": string(public),
		"policy.yaml": fmt.Sprintf("version: 1\nsources: {allow: ['oci://%[1]s/**']}\nrequire:\n"+
			"  - match: 'oci://%[2]s/**'\n    signatures: {any_of: [{key: {file: acme.pub, sha256: %[3]x}}]}\n", w.server.Host, host, sha256.Sum256(public)),
	})
}

// alter changes a pack's entry in the lockfile, and keeps the lockfile consistent.
func (w *guardedWorld) alter(change func(l *pack.Lock)) {
	w.t.Helper()
	l, err := pack.ParseLock("skillpm.lock", []byte(w.read("skillpm.lock")))
	if err != nil {
		w.t.Fatal(err)
	}
	change(l)
	for _, p := range l.Packs {
		p.Integrity = bundle.Integrity(p.Skills)
	}
	w.write("skillpm.lock", string(l.Encode()))
}

// refused runs every command that installs from a lockfile, and checks that each is refused and leaves nothing
// installed.
func (w *guardedWorld) refused(want ...diag.Code) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, ".skillpm")); err != nil {
		w.t.Fatal(err)
	}
	try := func(name string, err error) {
		w.t.Helper()
		ok := false
		for _, code := range want {
			ok = ok || diag.CodeOf(err) == code
		}
		if !ok {
			w.t.Errorf("%s: %v (%v), want a refusal of code %v", name, err, diag.CodeOf(err), want)
		}
		if _, err := os.Stat(filepath.Join(w.dir, ".skillpm", "plugins", "acme", "good", "good", "SKILL.md")); err == nil {
			w.t.Errorf("%s: it is in force", name)
		}
	}
	ctx := w.t.Context()
	_, err := w.client().Install(ctx, skillpm.InstallOptions{Frozen: true})
	try("install --frozen", err)
	_, err = w.client().Install(ctx, skillpm.InstallOptions{})
	try("install", err)
	_, err = w.client().Install(ctx, skillpm.InstallOptions{ChangeOptions: skillpm.ChangeOptions{Offline: true}})
	try("install --offline", err)
	_, err = w.client().Vendor(ctx, skillpm.VendorOptions{Force: true})
	try("vendor", err)
	_, err = w.client().Verify(ctx, skillpm.VerifyOptions{Fix: true})
	try("verify --fix", err)
}

// TestProjectsCannotLie makes the files of a project lie to bypass the machine's policy (O14).
func TestProjectsCannotLie(t *testing.T) {
	good, bad := pack.ID{Owner: "acme", Name: "good"}, pack.ID{Owner: "evil", Name: "bad"}
	// Without the policy both packs are installed and copied into the project, so that store and copy have them.
	both := func(t *testing.T) *guardedWorld {
		w := newGuardedWorld(t)
		w.manifest(`acme/good: "^1"`, `evil/bad: "^1"`)
		w.install()
		if _, err := w.client().Vendor(t.Context(), skillpm.VendorOptions{}); err != nil {
			t.Fatal(err)
		}
		return w
	}
	only := func(w *guardedWorld, change func(l *pack.Lock)) {
		w.manifest(`acme/good: "^1"`)
		w.alter(func(l *pack.Lock) {
			change(l)
			delete(l.Packs, bad)
			l.Names = nil
		})
		w.enforce()
	}
	t.Run("as it is", func(t *testing.T) {
		w := both(t)
		only(w, func(*pack.Lock) {})
		if r := w.install(); r.Packs[0].SignedBy != w.key.Public().Fingerprint() {
			t.Errorf("%+v", r.Packs[0])
		}
	})
	t.Run("trees of another pack", func(t *testing.T) {
		w := both(t)
		only(w, func(l *pack.Lock) { l.Packs[good].Skills = l.Packs[bad].Skills })
		w.refused(diag.Integrity)
	})
	t.Run("one skill more", func(t *testing.T) {
		w := both(t)
		only(w, func(l *pack.Lock) {
			l.Packs[good].Skills = map[string]string{"good": l.Packs[good].Skills["good"], "more": l.Packs[bad].Skills["good"]}
		})
		w.refused(diag.Integrity)
	})
	t.Run("the digest of another pack", func(t *testing.T) {
		w := both(t)
		only(w, func(l *pack.Lock) {
			l.Packs[good].Skills, l.Packs[good].Resolved = l.Packs[bad].Skills, l.Packs[bad].Resolved
		})
		w.refused(diag.Integrity, diag.NotFound, diag.Denied, diag.Remote)
	})
	t.Run("another place", func(t *testing.T) {
		w := both(t)
		only(w, func(l *pack.Lock) {
			l.Packs[good].Source = strings.Replace(l.Packs[good].Source, "oci://", "oci://other.", 1)
		})
		w.refused(diag.Denied)
	})
	t.Run("a signer that did not sign", func(t *testing.T) {
		w := both(t)
		only(w, func(l *pack.Lock) {
			*l.Packs[good] = *l.Packs[bad]
			l.Packs[good].Signer = w.key.Public().ID()
		})
		w.refused(diag.Denied, diag.Integrity)
	})
	t.Run("an alias of what nobody signed", func(t *testing.T) {
		w := both(t)
		w.write("skillpm.yaml", "registries: [index]\ndependencies: {evil/bad: \"^1\"}\naliases: {good: good@evil/bad}\n")
		w.alter(func(l *pack.Lock) { delete(l.Packs, good); l.Names = nil })
		w.enforce()
		w.refused(diag.Denied)
		if _, err := os.Stat(filepath.Join(w.dir, ".skillpm", "links", "good")); err == nil {
			t.Error("the alias is in force")
		}
	})
	t.Run("an older version under a newer number", func(t *testing.T) {
		w := newGuardedWorld(t)
		w.manifest(`acme/good: "^1"`)
		w.install()
		w.enforce()
		w.alter(func(l *pack.Lock) { l.Packs[good].Version = "1.9.0" })
		w.refused(diag.Integrity)
	})
}

// TestStoredTreesOfOthers checks that the signer in the lockfile is verified even if the store already has the trees,
// because they may come from another pack.
func TestStoredTreesOfOthers(t *testing.T) { // O14
	good, bad := pack.ID{Owner: "acme", Name: "good"}, pack.ID{Owner: "evil", Name: "bad"}
	w := newGuardedWorld(t)
	w.manifest(`acme/good: "^1"`, `evil/bad: "^1"`)
	w.install()
	w.manifest(`acme/good: "^1"`)
	w.alter(func(l *pack.Lock) {
		l.Packs[good].Skills, l.Packs[good].Signer = l.Packs[bad].Skills, w.key.Public().ID()
		delete(l.Packs, bad)
		l.Names = nil
	})
	if err := os.RemoveAll(filepath.Join(w.dir, ".skillpm")); err != nil {
		t.Fatal(err)
	}
	_, err := w.client().Install(t.Context(), skillpm.InstallOptions{Frozen: true})
	if code := diag.CodeOf(err); code != diag.Integrity && code != diag.Denied {
		t.Errorf("%v (%v)", err, code)
	}
}

// TestRemovalBringsNothing checks that removing a pack does not activate what a policy refuses.
func TestRemovalBringsNothing(t *testing.T) {
	w := newGuardedWorld(t)
	w.manifest(`acme/good: "^1"`, `evil/bad: "^1"`)
	w.install()
	if err := os.RemoveAll(filepath.Join(w.dir, ".skillpm")); err != nil {
		t.Fatal(err)
	}
	w.enforce()
	_, err := w.client().Remove(t.Context(), skillpm.RemoveOptions{Packs: []string{"acme/good"}})
	if diag.CodeOf(err) != diag.Denied {
		t.Errorf("removing the other pack: %v", err)
	}
	if _, err := w.client().Remove(t.Context(), skillpm.RemoveOptions{Packs: []string{"evil/bad"}}); err != nil {
		t.Errorf("removing what is refused: %v", err)
	}
}

// TestReplay checks that an older version does not pass for a newer one, even if it is signed.
func TestReplay(t *testing.T) {
	w := newGuardedWorld(t)
	w.enforce()
	w.write("skillpm.yaml", "namespaces: {acme: '"+w.server.URL("acme")+"'}\ndependencies: {acme/good: \"^1\"}\n")
	old := w.install().Packs[0].Resolved
	w.signed("acme/good", "1.1.0", "good", "Do better.")
	w.tag("acme/good", "1.2.0", old)
	_, err := w.client().Update(t.Context(), skillpm.UpdateOptions{})
	if code := diag.CodeOf(err); code != diag.Integrity && code != diag.Invalid {
		t.Errorf("%v (%v)", err, code)
	}
	if !strings.Contains(w.read("skillpm.lock"), old) || !strings.Contains(w.read("skillpm.lock"), `version: "1.0.0"`) {
		t.Error("the lock changed")
	}
}

// TestChosenOthers checks that versions from a denied source are withheld, so that others are chosen, and that the
// error explains it if there are none.
func TestChosenOthers(t *testing.T) {
	w := newGuardedWorld(t)
	w.manifest(`evil/bad: "*"`)
	host, _, _ := strings.Cut(w.server.Host, ":")
	writeFiles(t, filepath.Join(w.home, "enterprise"), map[string]string{
		"policy.yaml": "version: 1\nsources: {deny: ['oci://" + host + "/evil/**']}\n",
	})
	_, err := w.client().Install(t.Context(), skillpm.InstallOptions{})
	if diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "evil/bad 1.0.0") || !strings.Contains(err.Error(), "policy.yaml:2: ") {
		t.Errorf("%v (%v)", err, diag.CodeOf(err))
	}
}

// TestPolicyOfOthers checks that a policy in the machine's directory that other users can write denies everything.
func TestPolicyOfOthers(t *testing.T) {
	w := newGuardedWorld(t)
	w.enforce()
	w.manifest(`acme/good: "^1"`)
	w.install()
	file := filepath.Join(w.home, "enterprise", "policy.yaml")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o022 != 0 {
		t.Skip("there are no modes here")
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := w.client().Install(t.Context(), skillpm.InstallOptions{})
	if _, denied := errors.AsType[*policy.DeniedError](err); !denied || diag.CodeOf(err) != diag.Denied || !strings.Contains(diag.HintOf(err), "chmod go-w") {
		t.Errorf("%v (%s)", err, diag.HintOf(err))
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	options := newOptions(t, w.dir, w.home)
	options.Admin++
	stranger := skillpm.New(options)
	t.Cleanup(stranger.Close)
	if _, err := stranger.Install(t.Context(), skillpm.InstallOptions{}); diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("%v", err)
	}
}

// policy writes the machine's policy.
func (w *fixture) policy(text string) {
	w.t.Helper()
	writeFiles(w.t, filepath.Join(w.home, "enterprise"), map[string]string{"policy.yaml": "version: 1\n" + text})
}

// TestRedirectsUnderPolicy checks that a registry may redirect to other hosts, but not to a denied one.
func TestRedirectsUnderPolicy(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/tool", "1.0.0", nil, "tool")
	w.manifest(`acme/tool: "^1"`)
	_, port, _ := strings.Cut(w.server.Host, ":")
	away := func(part string) func(http.ResponseWriter, *http.Request) bool {
		return func(rw http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, part) || strings.HasPrefix(r.Host, "localhost") {
				return false
			}
			http.Redirect(rw, r, "http://localhost:"+port+r.URL.Path, http.StatusTemporaryRedirect)
			return true
		}
	}
	for _, tt := range []struct {
		deny, part string
		want       diag.Code
	}{
		{"oci://localhost/**", "/blobs/", diag.Denied},
		{"oci://localhost/acme/tool", "/blobs/", diag.Denied},
		{"oci://localhost/other/**", "/blobs/", diag.OK},
		{"oci://elsewhere.example/**", "/blobs/", diag.OK},
	} {
		w.home = t.TempDir()
		if err := os.RemoveAll(filepath.Join(w.dir, ".skillpm")); err != nil {
			t.Fatal(err)
		}
		w.policy("sources: {deny: ['" + tt.deny + "']}\n")
		w.server.Meddle(away(tt.part))
		_, err := w.client().Install(t.Context(), skillpm.InstallOptions{})
		w.server.Meddle(nil)
		if diag.CodeOf(err) != tt.want || err != nil && !strings.Contains(err.Error(), `denied by "`+tt.deny) {
			t.Errorf("%s: %v", tt.deny, err)
		}
	}
}

// TestGitRedirectsUnderPolicy checks that a git server can redirect only to allowed addresses.
func TestGitRedirectsUnderPolicy(t *testing.T) {
	served, dir, home := t.TempDir(), t.TempDir(), t.TempDir()
	repo := gittest.New(t, served, "evil/tools.git")
	repo.Tag("v1.0.0", repo.Commit(gittest.Text(map[string]string{"lint/SKILL.md": gittest.Skill("lint", "Lints.")})))
	server := gittest.Serve(t, served, gittest.WithHandler(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/acme/") {
				http.Redirect(rw, r, strings.Replace(r.URL.Path, "/acme/", "/evil/", 1)+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
				return
			}
			next.ServeHTTP(rw, r)
		})
	}))
	place := skillpm.InstallOptions{Packs: []string{"git+" + server + "/acme/tools.git"}, ChangeOptions: skillpm.ChangeOptions{DryRun: true}}
	writeFiles(t, home, map[string]string{"enterprise/policy.yaml": "version: 1\nsources: {deny: ['git+https://127.0.0.1/evil/**']}\n"})
	_, err := newClient(t, dir, home).Install(t.Context(), place)
	if diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "/evil/tools.git is denied by") {
		t.Errorf("%v (%v)", err, diag.CodeOf(err))
	}
	if _, err := newClient(t, dir, t.TempDir()).Install(t.Context(), place); err != nil {
		t.Errorf("without a policy: %v", err)
	}
}

// TestMirrorsUnderPolicy checks that a mirror cannot bypass a policy.
func TestMirrorsUnderPolicy(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/tool", "1.0.0", nil, "tool")
	paths := newOptions(t, w.dir, w.home).Paths
	writeFiles(t, paths.Config, map[string]string{"config.yaml": "mirrors: {registry.example/mirrored: '" + w.server.Host + "/acme'}\n"})
	for deny, want := range map[string]diag.Code{"oci://127.0.0.1/**": diag.Denied, "oci://registry.example/mirrored/**": diag.Denied, "oci://other.example/**": diag.OK} {
		w.policy("sources: {deny: ['" + deny + "']}\n")
		dir := t.TempDir()
		_, err := newClient(t, dir, w.home).Install(t.Context(), skillpm.InstallOptions{Packs: []string{"oci://registry.example/mirrored/tool:1.0.0"}})
		if diag.CodeOf(err) != want || err != nil && !strings.Contains(err.Error(), deny) {
			t.Errorf("%s: %v", deny, err)
		}
	}
}

// TestAgeUnderPolicy checks whose claim about the age of a release counts, and that an older release is chosen.
func TestAgeUnderPolicy(t *testing.T) {
	w := newFixture(t)
	now := time.Now()
	published := func(version string, ago time.Duration) {
		w.publish("acme/tool", version, nil, "tool")
		file := filepath.Join("index", index.Path(pack.ID{Owner: "acme", Name: "tool"}))
		text := w.read(file)
		last := strings.LastIndex(strings.TrimSpace(text), "\n") + 1
		w.write(file, text[:last]+strings.Replace(text[last:], `"version":"`+version+`"`, `"version":"`+version+`","published":"`+now.Add(-ago).UTC().Format(time.RFC3339)+`"`, 1))
	}
	published("1.0.0", 100*time.Hour)
	published("1.1.0", time.Hour)
	w.policy("require: [{match: 'oci://127.0.0.1/**', min_release_age: 3d}]\n")
	w.manifest(`acme/tool: "^1"`)
	if _, err := w.client().Install(t.Context(), skillpm.InstallOptions{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("dates of an index that the project brings along: %v", err)
	}
	paths := newOptions(t, w.dir, w.home).Paths
	writeFiles(t, paths.Config, map[string]string{"config.yaml": "registries: ['" + filepath.ToSlash(filepath.Join(w.dir, "index")) + "']\n"})
	w.write("skillpm.yaml", "dependencies: {acme/tool: \"^1\"}\n")
	if r := w.install(); r.Packs[0].Version != "1.0.0" {
		t.Errorf("chosen: %s", r.Packs[0].Version)
	}
	if _, err := w.client().Install(t.Context(), skillpm.InstallOptions{Frozen: true, ChangeOptions: skillpm.ChangeOptions{Offline: true}}); err != nil {
		t.Errorf("what was old enough once is so offline: %v", err)
	}
	w.write("skillpm.yaml", "dependencies: {acme/tool: \"1.1.0\"}\n")
	_, err := w.client().Install(t.Context(), skillpm.InstallOptions{})
	if diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "minimum release age of 72h in ") {
		t.Errorf("%v (%v)", err, diag.CodeOf(err))
	}
	options := newOptions(t, w.dir, w.home)
	options.Now = func() time.Time { return now.Add(80 * time.Hour) }
	later := skillpm.New(options)
	t.Cleanup(later.Close)
	if r, err := later.Install(t.Context(), skillpm.InstallOptions{}); err != nil || r.Packs[0].Version != "1.1.0" {
		t.Errorf("three days later: %v", err)
	}
}
