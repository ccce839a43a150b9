package skillpm_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// sshKey creates a key and returns its file, and its line for a file of allowed signers.
func sshKey(t *testing.T) (file, allowed string) {
	t.Helper()
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	file = filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command(program, "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return file, "release@acme.example " + string(data)
}

// gitWorld is a repository with a signed release 1.0.0, and a project.
type gitWorld struct {
	t         *testing.T
	repo      *gittest.Repo
	dir, home string
	place     string
	allowed   string // file
	key       string
}

func newGitWorld(t *testing.T) *gitWorld {
	t.Helper()
	served := t.TempDir()
	w := &gitWorld{t: t, repo: gittest.New(t, served, "acme/tools.git"), dir: t.TempDir(), home: t.TempDir()}
	w.place = "git+" + gittest.Serve(t, served) + "/acme/tools.git"
	key, line := sshKey(t)
	w.key, w.allowed = key, filepath.Join(w.home, "enterprise", "allowed_signers")
	writeFiles(t, w.home, map[string]string{"enterprise/allowed_signers": line})
	w.release("1.0.0", key)
	return w
}

// release tags a version, signed with a key or unsigned.
func (w *gitWorld) release(version, key string) {
	w.t.Helper()
	commit := w.repo.Commit(gittest.Text(map[string]string{
		"skillpm.yaml": "name: acme/tools\nversion: \"" + version + "\"\n", "lint/SKILL.md": gittest.Skill("lint", "Lints as of "+version+"."),
	}))
	if key == "" {
		w.repo.AnnotatedTag("v"+version, commit)
		return
	}
	w.repo.Run("-c", "gpg.format=ssh", "-c", "user.signingkey="+key, "tag", "-s", "-f", "-m", "release", "v"+version, commit)
}

func (w *gitWorld) install(o skillpm.InstallOptions) (*skillpm.InstallReport, error) {
	w.t.Helper()
	return newClient(w.t, w.dir, w.home).Install(w.t.Context(), o)
}

// enforce makes the machine's policy require signatures of packs from the server, with an HTTPS address.
func (w *gitWorld) enforce() {
	w.t.Helper()
	data, err := os.ReadFile(w.allowed)
	if err != nil {
		w.t.Fatal(err)
	}
	writeFiles(w.t, w.home, map[string]string{"enterprise/policy.yaml": fmt.Sprintf("version: 1\nrequire:\n"+
		"  - match: 'git+https://127.0.0.1/**'\n    signatures: {any_of: [{ssh: {allowed_signers: allowed_signers, sha256: %x}}]}\n", sha256.Sum256(data))})
}

// TestSignedTags checks the signatures of git tags (O14).
func TestSignedTags(t *testing.T) {
	w := newGitWorld(t)
	signing := skillpm.Signing{Require: true, Keys: []string{w.allowed}}
	r, err := w.install(skillpm.InstallOptions{Packs: []string{w.place}, ChangeOptions: skillpm.ChangeOptions{Signing: signing}})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Packs[0]; !strings.HasPrefix(p.Signer, "ssh-ed25519:") || !strings.HasPrefix(p.SignedBy, "SHA256:") {
		t.Errorf("%+v", p)
	}
	lock, err := os.ReadFile(filepath.Join(w.dir, "skillpm.lock"))
	if err != nil {
		t.Fatal(err)
	}

	w.release("1.1.0", "")
	stranger, _ := sshKey(t)
	for i, key := range []string{"", stranger} {
		if key != "" {
			w.release("1.2.0", key)
		}
		_, err := newClient(t, w.dir, w.home).Update(t.Context(), skillpm.UpdateOptions{})
		if diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), r.Packs[0].SignedBy+" signed ") {
			t.Errorf("update %d: %v", i, err)
		}
	}
	if now, err := os.ReadFile(filepath.Join(w.dir, "skillpm.lock")); err != nil || string(now) != string(lock) {
		t.Errorf("the lock changed: %v", err)
	}
	w.release("1.3.0", w.key)
	up, err := newClient(t, w.dir, w.home).Update(t.Context(), skillpm.UpdateOptions{})
	if err != nil || up.Packs[0].Version != "1.3.0" || up.Packs[0].Signer != r.Packs[0].Signer {
		t.Errorf("%v, %+v", err, up)
	}
}

// TestGitUnderPolicy checks that a machine that never fetched a commit does so before it trusts a lockfile about it.
func TestGitUnderPolicy(t *testing.T) {
	w := newGitWorld(t)
	if _, err := w.install(skillpm.InstallOptions{Packs: []string{w.place}}); err != nil {
		t.Fatal(err)
	}
	if _, err := newClient(t, w.dir, w.home).Vendor(t.Context(), skillpm.VendorOptions{}); err != nil {
		t.Fatal(err)
	}
	w.enforce()
	if r, err := w.install(skillpm.InstallOptions{}); err != nil || r.Packs[0].Signer == "" {
		t.Fatalf("%v, %+v", err, r)
	}
	if _, err := w.install(skillpm.InstallOptions{Frozen: true, ChangeOptions: skillpm.ChangeOptions{Offline: true}}); err != nil {
		t.Errorf("offline, by what this machine knows: %v", err)
	}

	policies := filepath.Join(w.home, "enterprise")
	w.home = t.TempDir() // another machine
	if err := os.CopyFS(filepath.Join(w.home, "enterprise"), os.DirFS(policies)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, ".skillpm")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.install(skillpm.InstallOptions{Frozen: true, ChangeOptions: skillpm.ChangeOptions{Offline: true}}); err == nil {
		t.Error("offline, a machine that knows nothing believes the lock")
	}
	if _, err := w.install(skillpm.InstallOptions{Frozen: true}); err != nil {
		t.Errorf("another machine: %v", err)
	}

	// The lockfile and the copy differ from the signed commit.
	file := filepath.Join(w.dir, "skillpm.lock")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := pack.ParseLock(file, data)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(w.dir, "vendor", "skills", "acme", "tools", "lint")
	writeFiles(t, copied, map[string]string{"SKILL.md": gittest.Skill("lint", "Does evil.")})
	sum, err := bundle.Sum(os.DirFS(copied), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.Packs {
		p.Skills = map[string]string{"lint": sum.Digest()}
		p.Integrity = bundle.Integrity(p.Skills)
	}
	if err := os.WriteFile(file, l.Encode(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, o := range []skillpm.InstallOptions{{}, {Frozen: true}, {ChangeOptions: skillpm.ChangeOptions{Offline: true}}} {
		if _, err := w.install(o); diag.CodeOf(err) != diag.Integrity {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
