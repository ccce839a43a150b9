package trust_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// sshKey creates a key with ssh-keygen and returns the private key's file and the public key's line.
func sshKey(t *testing.T, kind string) (file, public string) {
	t.Helper()
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	file = filepath.Join(t.TempDir(), "key")
	args := []string{"-q", "-t", kind, "-N", "", "-C", "somebody@example.com", "-f", file}
	if kind == "rsa" {
		args = append(args, "-b", "2048")
	}
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	data, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return file, strings.TrimSpace(string(data))
}

// signTag creates a tag that git signs with an SSH key.
func signTag(r *gittest.Repo, name, commit, key string) {
	r.Run("-c", "gpg.format=ssh", "-c", "user.signingkey="+key, "tag", "-s", "-f", "-m", "release "+name, name, commit)
}

func allowed(t *testing.T, lines ...string) *sign.AllowedSigners {
	t.Helper()
	a, err := sign.ParseAllowedSigners("allowed_signers", []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ssh(signers ...*sign.AllowedSigners) trust.Requirement {
	return trust.Requirement{AllowedSigners: signers, Threshold: 1}
}

// skillFiles are the files of a pack of one skill.
func skillFiles(text string) gittest.Files {
	return gittest.Text(map[string]string{"deploy/SKILL.md": gittest.Skill("deploy", text)})
}

// tagged is a repository with a commit, and the pack at a tag on it.
type tagged struct {
	repo   *gittest.Repo
	commit string
	place  string
	keeper *trust.Verifier
	client *git.Client
}

func newTagged(t *testing.T) *tagged {
	t.Helper()
	dir := t.TempDir()
	r := gittest.New(t, dir, "acme/deploy.git")
	c := git.New(git.Options{Cache: t.TempDir()})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return &tagged{
		repo: r, commit: r.Commit(skillFiles("Deploys.")), place: "git+" + gittest.Serve(t, dir) + "/acme/deploy.git",
		client: c, keeper: trust.New(trust.Options{Git: c, Dir: t.TempDir(), State: t.TempDir()}),
	}
}

// pack returns the pack at a tag or, if that is "", pinned like in a lockfile.
func (g *tagged) pack(t *testing.T, tag, version string) *pack.Pack {
	t.Helper()
	ref := parse(t, g.place)
	ref.Rev, ref.Digest = tag, g.commit
	return &pack.Pack{ID: pack.ID{Owner: "acme", Name: "deploy"}, Version: version, Ref: ref}
}

func TestGitSigners(t *testing.T) {
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			g := newTagged(t)
			key, public := sshKey(t, kind)
			signTag(g.repo, "v1.0.0", g.commit, key)
			id := strings.Join(strings.Fields(public)[:2], ":")
			w := ssh(allowed(t, "# who may", "", "somebody@example.com,other@example.com "+public))
			for _, tag := range []string{"v1.0.0", ""} {
				got, err := g.keeper.Signers(t.Context(), g.pack(t, tag, "1.0.0"), nil, w)
				if err != nil || !slices.Equal(got, []string{id}) {
					t.Errorf("at %q: signers are %v, %v, want %s", tag, got, err, id)
				}
			}
		})
	}
}

func TestGitRefused(t *testing.T) {
	g := newTagged(t)
	key, public := sshKey(t, "ed25519")
	_, stranger := sshKey(t, "ed25519")
	signTag(g.repo, "v1.0.0", g.commit, key)
	signTag(g.repo, "inner", g.commit, key)
	signTag(g.repo, "v1.5.0", g.repo.Run("rev-parse", "refs/tags/inner"), key)
	g.repo.AnnotatedTag("v1.1.0", g.commit)
	g.repo.Tag("v1.2.0", g.commit)
	g.repo.Tag("v1.3.0", g.repo.Run("rev-parse", "refs/tags/v1.0.0")) // the signed tag under another name
	gpg := "object " + g.commit + "\ntype commit\ntag v1.4.0\ntagger A <a@example.com> 1700000000 +0000\n\nx\n-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----\n"
	g.repo.Tag("v1.4.0", g.repo.Pipe([]byte(gpg), "hash-object", "-t", "tag", "-w", "--stdin"))
	altered := strings.Replace(g.repo.Run("cat-file", "tag", "v1.0.0"), "release v1.0.0", "release v1.6.0", 1)
	altered = strings.Replace(altered, "tag v1.0.0", "tag v1.6.0", 1) + "\n"
	g.repo.Tag("v1.6.0", g.repo.Pipe([]byte(altered), "hash-object", "-t", "tag", "-w", "--stdin"))

	line := "somebody@example.com "
	right := ssh(allowed(t, line+public))
	revoked, err := allowed(t, line+public).Revoke("revoked", []byte(public+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, tag, version string
		w                  trust.Requirement
		code               diag.Code
		want               string
	}{
		{"no signature", "v1.1.0", "1.1.0", right, diag.Denied, "its tag does not have a signature"},
		{"its tag is lightweight and does not have", "v1.2.0", "1.2.0", right, diag.Denied, "its tag is lightweight and does not have"},
		{"another tag's signature", "v1.3.0", "1.3.0", right, diag.Integrity, "has another name, v1.0.0"},
		{"another tag's signature, by version", "", "1.3.0", right, diag.Integrity, "has another name, v1.0.0"},
		{"GPG", "v1.4.0", "1.4.0", right, diag.Denied, "GPG"},
		{"a tag on a tag", "v1.5.0", "1.5.0", right, diag.Denied, "is on a tag instead of a commit"},
		{"altered", "v1.6.0", "1.6.0", right, diag.Denied, "does not match the content"},
		{"a branch", "main", "0.0.0", right, diag.Denied, "is a branch"},
		{"a commit", "", "0.0.0", right, diag.Denied, "does not have a tag for version 0.0.0"},
		{"wrong key", "v1.0.0", "1.0.0", ssh(allowed(t, line+stranger)), diag.Denied, "not allowed to sign (ssh-ed25519:"},
		{"revoked key", "v1.0.0", "1.0.0", ssh(revoked), diag.Denied, "a revoked key"},
		{"for something else", "v1.0.0", "1.0.0", ssh(allowed(t, line+`namespaces="file" `+public)), diag.Denied, `not allowed to sign in the namespace "git"`},
		{"too late", "v1.0.0", "1.0.0", ssh(allowed(t, line+`valid-before="20200101Z" `+public)), diag.Denied, "until 2020-01-01"},
		{"too early", "v1.0.0", "1.0.0", ssh(allowed(t, line+`valid-after="20300101Z" `+public)), diag.Denied, "from 2030-01-01"},
		{"only keys are trusted", "v1.0.0", "1.0.0", keys(newKey(t)), diag.Denied, "it comes from git, but no allowed signers file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := g.keeper.Signers(t.Context(), g.pack(t, tt.tag, tt.version), nil, tt.w)
			checkError(t, err, tt.code, tt.want)
		})
	}
	for name, options := range map[string]string{
		"in time": `valid-after="20230101Z",valid-before="20240101000000Z" `, "for git": `namespaces="file,git" `, "for all but": `namespaces="*,!file" `,
	} {
		if _, err := g.keeper.Signers(t.Context(), g.pack(t, "v1.0.0", "1.0.0"), nil, ssh(allowed(t, line+options+public))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	two := right
	two.Threshold = 2
	_, err = g.keeper.Signers(t.Context(), g.pack(t, "v1.0.0", "1.0.0"), nil, two)
	checkError(t, err, diag.Denied, "has 1 of 2 required signatures: a git tag can have only one signature")
}

// TestGitMoved checks that a moved tag does not match a lockfile's pin, even if it is signed again.
func TestGitMoved(t *testing.T) {
	g := newTagged(t)
	key, public := sshKey(t, "ed25519")
	signTag(g.repo, "v1.0.0", g.repo.Commit(skillFiles("Does something else.")), key)
	_, err := g.keeper.Signers(t.Context(), g.pack(t, "v1.0.0", "1.0.0"), nil, ssh(allowed(t, "a@example.com "+public)))
	checkError(t, err, diag.Integrity, " instead of "+g.commit)
}

// TestGitOffline checks that a signature that was fetched once is verified without the server, for the trees that this
// machine fetched.
func TestGitOffline(t *testing.T) {
	g := newTagged(t)
	key, public := sshKey(t, "ed25519")
	signTag(g.repo, "v1.0.0", g.commit, key)
	w, p, dir, state := ssh(allowed(t, "a@example.com "+public)), g.pack(t, "v1.0.0", "1.0.0"), t.TempDir(), t.TempDir()
	trees := map[string]string{"deploy": "t1:sha256:" + strings.Repeat("a", 64)}
	offline := trust.New(trust.Options{Dir: dir, State: state, Offline: true})
	_, err := offline.Signers(t.Context(), p, trees, w)
	checkError(t, err, diag.Denied, "its tag is not cached")

	online := trust.New(trust.Options{Git: g.client, Dir: dir, State: state})
	_, err = online.Signers(t.Context(), p, trees, w)
	if !errors.As(err, new(*trust.UnknownTreesError)) {
		t.Fatalf("without a record: %v", err)
	}
	if err := online.Record(p, trees); err != nil {
		t.Fatal(err)
	}
	for _, k := range []*trust.Verifier{online, offline} {
		if _, err := k.Signers(t.Context(), p, trees, w); err != nil {
			t.Error(err)
		}
	}
	trees["deploy"] = "t1:sha256:" + strings.Repeat("b", 64)
	_, err = offline.Signers(t.Context(), p, trees, w)
	checkError(t, err, diag.Integrity, "but the fetched digest is")
}
