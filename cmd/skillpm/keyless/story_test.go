package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olareg/olareg"
	"github.com/olareg/olareg/config"
)

// asProgram makes the test binary the program.
const asProgram = "KEYLESS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// user runs the program in directories of one machine.
type user struct {
	t    *testing.T
	dir  string
	vars []string
}

func newUser(t *testing.T, vars ...string) *user {
	t.Helper()
	u := &user{t: t, dir: t.TempDir(), vars: vars}
	u.write("home/.config/skillpm/README", "")
	return u
}

func (u *user) write(name, text string) {
	u.t.Helper()
	file := filepath.Join(u.dir, filepath.FromSlash(name))
	check(u.t, os.MkdirAll(filepath.Dir(file), 0o755))
	check(u.t, os.WriteFile(file, []byte(text), 0o644))
}

func (u *user) read(name string) string {
	u.t.Helper()
	data, err := os.ReadFile(filepath.Join(u.dir, filepath.FromSlash(name)))
	check(u.t, err)
	return string(data)
}

// run runs a command line, which must exit with a code and print all texts.
func (u *user) run(code int, line string, want ...string) string {
	u.t.Helper()
	self, err := os.Executable()
	check(u.t, err)
	cmd := exec.CommandContext(u.t.Context(), self, strings.Fields(line)...)
	cmd.Dir = u.dir
	cmd.Env = append([]string{
		asProgram + "=1", "HOME=" + filepath.Join(u.dir, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
	}, u.vars...)
	out, err := cmd.CombinedOutput()
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		u.t.Fatal(err)
	}
	if got != code {
		u.t.Fatalf("%s: exit code %d, want %d\n%s", line, got, code, out)
	}
	for _, w := range want {
		if !bytes.Contains(out, []byte(w)) {
			u.t.Errorf("%s does not print %q:\n%s", line, w, out)
		}
	}
	if bytes.Contains(out, []byte(requestToken)) || bytes.Contains(out, []byte("eyJ")) {
		u.t.Errorf("%s prints a token:\n%s", line, out)
	}
	return string(out)
}

// release writes the pack acme/deploy with a version.
func (u *user) release(version string) {
	u.t.Helper()
	u.write("pack/skillpm.yaml", "name: acme/deploy\nversion: \""+version+"\"\n")
	u.write("pack/deploy/SKILL.md", "---\nname: deploy\ndescription: Deploys a service. Use for releases.\n---\nDeploy "+
		version+".\n")
}

// TestStory publishes packs from CI jobs without a key, and installs them where a policy or the settings require the
// job (O14, M3).
func TestStory(t *testing.T) {
	s := newInstance(t)
	registry := httptest.NewServer(olareg.New(config.Config{
		Storage: config.ConfigStorage{StoreType: config.StoreMem}, Log: slog.New(slog.DiscardHandler),
	}))
	t.Cleanup(registry.Close)
	at := "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/acme"

	ci := newUser(t, "GITHUB_ACTIONS=true", "CI=true", "GITHUB_REPOSITORY=acme/skills",
		"ACTIONS_ID_TOKEN_REQUEST_URL="+s.server.URL+"/token?api-version=2",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN="+requestToken)
	ci.write("home/.config/skillpm/signing_config.json", string(s.config(true, true)))
	publish := "publish pack --sign --to " + at
	ci.release("1.0.0")
	s.set(func() { s.claims = github("acme/skills", workflow+"v1.0.0") })
	ci.run(0, publish, "Signed with the identity "+subject+" (issuer "+actionsIssuer+").")

	// The job runs again: the same content is not signed again.
	entries := s.count("/rekor")
	ci.run(0, publish, "Already published")
	if n := s.count("/rekor"); n != entries || n != 3 { // signature, provenance, SBOM
		t.Errorf("%d entries in the log, then %d", entries, n)
	}
	ci.run(0, "sign "+at+"/deploy:1.0.0", "Already signed with the identity "+subject)

	// A project whose policy requires the workflow.
	dev := newUser(t)
	dev.write("home/.config/skillpm/trusted_root.json", string(s.trustedRoot(true, true)))
	dev.write("project/skillpm.yaml", "")
	dev.write("project/skillpm-policy.yaml", `version: 1
require:
  - match: "oci://127.0.0.1/**"
    signatures: {any_of: [{github: acme/skills, workflow: release.yml, ref: "refs/tags/v*"}]}
`)
	dev.run(0, "-C project install acme/deploy --registry "+at, "signed by "+actionsIssuer+" "+subject)
	if lock := dev.read("project/skillpm.lock"); !strings.Contains(lock, "identity:"+actionsIssuer+" "+subject) {
		t.Errorf("the lockfile does not have the identity:\n%s", lock)
	}
	dev.run(0, "-C project verify")
	dev.run(0, "-C project install --frozen --offline")
	dev.run(0, "info "+at+"/deploy:1.0.0 --signatures", actionsIssuer+" "+subject)

	// The next version comes from the same workflow, for another tag.
	s.set(func() { s.claims = github("acme/skills", workflow+"v1.1.0") })
	ci.release("1.1.0")
	ci.run(0, publish)
	dev.run(0, "-C project update", "1.1.0")

	// Other jobs: another repository, another workflow, another kind of ref, and a caller of the workflow.
	for i, claims := range []map[string]any{
		github("evil/skills", "evil/skills/.github/workflows/release.yml@refs/tags/v1.2.0"),
		github("acme/skills", "acme/skills/.github/workflows/test.yml@refs/tags/v1.2.0"),
		github("acme/skills", "acme/skills/.github/workflows/release.yml@refs/heads/v1.2.0"),
		github("evil/skills", workflow+"v1.2.0"),
	} {
		s.set(func() { s.claims = claims })
		ci.release("1.2." + string(rune('0'+i)))
		ci.run(0, publish)
		dev.run(7, "-C project update", "policy.yaml:3", "is signed, but not by a trusted signer",
			"the signature is from https://github.com/"+claims["job_workflow_ref"].(string),
			"repository https://github.com/"+claims["repository"].(string),
			`not from ^https://github\.com/acme/skills/\.github/workflows/release\.yml@refs/tags/v`)
	}

	// A certificate that was not valid when the signature was recorded.
	s.set(func() { s.claims, s.age = github("acme/skills", workflow+"v1.3.0"), time.Hour })
	ci.release("1.3.0")
	ci.run(0, publish)
	dev.run(7, "-C project update", "cannot verify the keyless signature")
	s.set(func() { s.age = 0 })

	// A user who trusts only the publisher.
	bound := newUser(t)
	bound.write("home/.config/skillpm/trusted_root.json", string(s.trustedRoot(true, true)))
	bound.write("project/skillpm.yaml", "")
	bound.run(0, "registry add acme "+at+" --no-check --namespace acme --publisher github:acme/skills/.github/workflows/release.yml",
		"Added registry acme")
	bound.run(0, "registry list", "acme (github:acme/skills/.github/workflows/release.yml)")
	bound.run(0, "-C project install acme/deploy@1.1.0", "signed by "+actionsIssuer)
	bound.run(0, "info "+at+"/deploy:1.1.0 --signatures", "signature   verified", "provenance  verified")
	bound.run(7, "-C project install acme/deploy@1.2.0",
		"config.yaml requires that github:acme/skills/.github/workflows/release.yml published the packs of acme",
		"the signature is from https://github.com/evil/skills/.github/workflows/release.yml@refs/tags/v1.2.0")
	bound.run(0, "registry bind acme --undo")
	if text := bound.read("home/.config/skillpm/config.yaml"); strings.Contains(text, "publishers") {
		t.Errorf("the publisher is still there:\n%s", text)
	}

	// A job without the permission, with a token for another server, and with an expired one.
	ci.release("1.4.0")
	none := &user{t: t, dir: ci.dir, vars: []string{"GITHUB_ACTIONS=true"}}
	none.run(7, publish, `the job does not have the permission "id-token: write"`,
		"permissions: {contents: read, id-token: write}")
	s.set(func() { s.claims = github("acme/skills", workflow+"v1.4.0"); s.claims["aud"] = "other" })
	ci.run(7, publish, "the identity token of the job does not have the audience sigstore")
	s.set(func() { s.claims["aud"], s.claims["exp"] = "sigstore", time.Now().Add(-time.Minute).Unix() })
	ci.run(7, publish, "the identity token of the job expired at ")
	s.set(func() { s.redirect = registry.URL + "/v2/" })
	ci.run(7, publish, "skillpm sends identity tokens to no other host")
	s.set(func() { s.redirect = "" })
	dev.run(4, "info "+at+"/deploy:1.4.0 --signatures") // nothing was published without a signature

	// GitLab.
	lab := newUser(t, "GITLAB_CI=true", "CI=true")
	lab.write("home/.config/skillpm/signing_config.json", string(s.config(false, true)))
	lab.release("2.0.0")
	lab.run(7, publish, "SIGSTORE_ID_TOKEN is not set", "id_tokens: {SIGSTORE_ID_TOKEN: {aud: sigstore}}")
	lab.vars = append(lab.vars, "SIGSTORE_ID_TOKEN="+s.sign(gitlab("acme/team/skills",
		"gitlab.com/acme/team/skills//.gitlab-ci.yml@refs/tags/v2.0.0")))
	lab.run(0, publish, "Signed with the identity https://gitlab.com/acme/team/skills//.gitlab-ci.yml@refs/tags/v2.0.0")
	// this instance has no log
	bound.write("home/.config/skillpm/trusted_root.json", string(s.trustedRoot(false, true)))
	bound.write("lab/skillpm.yaml", "")
	bound.run(0, "registry bind acme acme --publisher gitlab:acme/team/skills@refs/tags/v*")
	bound.run(0, "-C lab install acme/deploy@2.0.0", "signed by https://gitlab.com")
}
