package skillpm_test

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestRulesOnOneLine checks that each of two requirements has its own signers, in any layout of the file.
func TestRulesOnOneLine(t *testing.T) {
	w := newGuardedWorld(t)
	other, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w.signed("other/bad", "1.0.0", "bad", "Do what acme does.") // by the key of acme
	files := map[string]string{"acme.pub": string(w.key.Public().Encode()), "other.pub": string(other.Public().Encode())}
	rule := func(owner string) string {
		return fmt.Sprintf("{match: 'oci://127.0.0.1/%[1]s/**', signatures: {any_of: [{key: {file: %[1]s.pub, sha256: %[2]x}}]}}",
			owner, sha256.Sum256([]byte(files[owner+".pub"])))
	}
	files["policy.yaml"] = "version: 1\nrequire: [" + rule("acme") + ", " + rule("other") + "]\n"
	writeFiles(t, filepath.Join(w.home, "enterprise"), files)
	w.manifest(`acme/good: "^1"`)
	w.install()
	w.manifest(`acme/good: "^1"`, `other/bad: "^1"`)
	if _, err := w.client().Install(t.Context(), skillpm.InstallOptions{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("a pack that the wrong key signed: %v", err)
	}
}

// TestMovedTag checks that a tag that this machine has known for long does not determine the age of its current target.
func TestMovedTag(t *testing.T) {
	w := newFixture(t)
	push := func(to, text string) {
		src := t.TempDir()
		writeFiles(t, src, map[string]string{
			"skillpm.yaml":  "name: acme/tool\nversion: \"1.0.0\"\n",
			"tool/SKILL.md": "---\nname: tool\ndescription: Does it. Use for that.\n---\n\n" + text + "\n",
		})
		if _, err := newAuthor(t, src, w.home).Publish(t.Context(), publish.ReleaseOptions{To: w.server.URL(to)}); err != nil {
			t.Fatal(err)
		}
	}
	push("acme", "Good.")
	push("evil/acme", "Evil.")
	moved := func(_ http.ResponseWriter, r *http.Request) bool {
		r.URL.Path = strings.Replace(r.URL.Path, "/v2/acme/", "/v2/evil/acme/", 1)
		return false
	}
	for name, manifest := range map[string]string{
		"place": "dependencies: {acme/tool: {oci: '" + w.server.URL("acme/tool") + "', version: '^1'}}\n",
		"name":  "namespaces: {acme: '" + w.server.URL("acme") + "'}\ndependencies: {acme/tool: '^1'}\n",
	} {
		for _, by := range []string{"policy", "settings"} {
			t.Run(name+" "+by, func(t *testing.T) {
				now := time.Now()
				w := &fixture{t: t, dir: t.TempDir(), home: t.TempDir(), server: w.server}
				if by == "policy" {
					w.policy("require: [{match: 'oci://127.0.0.1/**', min_release_age: 24h}]\n")
					w.write("skillpm.yaml", manifest)
				} else {
					w.write("skillpm.yaml", "min-release-age: 24h\n"+manifest)
				}
				install := func(after time.Duration) error {
					options := newOptions(t, w.dir, w.home)
					options.Now = func() time.Time { return now.Add(after) }
					c := skillpm.New(options)
					defer c.Close()
					_, err := c.Install(t.Context(), skillpm.InstallOptions{ChangeOptions: skillpm.ChangeOptions{DryRun: true}})
					return err
				}
				if err := install(0); err == nil || !strings.Contains(err.Error(), "minimum release age of 24h") {
					t.Errorf("at first sight: %v", err)
				}
				if err := install(25 * time.Hour); err != nil {
					t.Errorf("a day later: %v", err)
				}
				w.server.Meddle(moved)
				defer w.server.Meddle(nil)
				if err := install(26 * time.Hour); err == nil || !strings.Contains(err.Error(), "minimum release age of 24h") {
					t.Errorf("the tag was moved: %v", err)
				}
				if err := install(51 * time.Hour); err != nil {
					t.Errorf("a day after it was moved: %v", err)
				}
			})
		}
	}
}

// TestOriginOfAnother checks that a lockfile cannot attribute content with a verified signature from another source to
// an allowed source.
func TestOriginOfAnother(t *testing.T) {
	w := newGuardedWorld(t)
	src := t.TempDir()
	writeFiles(t, src, map[string]string{
		"skillpm.yaml":  "name: acme/good\nversion: \"1.0.0\"\n",
		"good/SKILL.md": "---\nname: good\ndescription: Does it. Use for that.\n---\n\nEvil.\n",
	})
	if _, err := newAuthor(t, src, w.home).Publish(t.Context(), publish.ReleaseOptions{To: w.server.URL("mal/acme"), Signer: w.key}); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, w.home, map[string]string{"acme.pub": string(w.key.Public().Encode())})
	signing := skillpm.Signing{Require: true, Keys: []string{filepath.Join(w.home, "acme.pub")}}
	w.write("skillpm.yaml", "dependencies: {acme/good: {oci: '"+w.server.URL("mal/acme/good")+"', version: '^1'}}\n")
	if _, err := w.client().Install(t.Context(), skillpm.InstallOptions{ChangeOptions: skillpm.ChangeOptions{Signing: signing}}); err != nil {
		t.Fatal(err)
	}
	w.policy("sources: {allow: ['oci://" + w.server.Host + "/acme/**']}\n")
	w.write("skillpm.yaml", strings.Replace(w.read("skillpm.yaml"), "/mal/acme/", "/acme/", 1))
	w.write("skillpm.lock", strings.Replace(w.read("skillpm.lock"), "/mal/acme/", "/acme/", 1))
	for _, o := range []skillpm.InstallOptions{{Frozen: true}, {Frozen: true, ChangeOptions: skillpm.ChangeOptions{Offline: true}}, {}} {
		if _, err := w.client().Install(t.Context(), o); err == nil {
			t.Errorf("%+v: what another place has is in force", o)
		}
	}
}
