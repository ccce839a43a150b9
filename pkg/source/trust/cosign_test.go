package trust_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// cosign is the program, its keys, and its working directory.
type cosign struct {
	program, dir, docker string
}

// newCosign finds cosign: the program that SKILLPM_COSIGN names, or the one on the PATH. SKILLPM_REQUIRE_INTEROP=1
// makes a missing one an error.
func newCosign(t *testing.T, s *ocitest.Server) *cosign {
	t.Helper()
	program := os.Getenv("SKILLPM_COSIGN")
	if program == "" {
		var err error
		if program, err = exec.LookPath("cosign"); err != nil {
			if os.Getenv("SKILLPM_REQUIRE_INTEROP") == "1" {
				t.Fatal("cosign is not there, and SKILLPM_REQUIRE_INTEROP=1")
			}
			t.Skip("cosign is not there; SKILLPM_COSIGN names it, SKILLPM_REQUIRE_INTEROP=1 makes this an error")
		}
	}
	return &cosign{program: program, dir: t.TempDir(), docker: s.DockerConfig(t)}
}

// run runs cosign without a terminal and returns what it printed.
func (c *cosign) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(c.program, args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"HOME=" + c.dir, "DOCKER_CONFIG=" + c.docker, "COSIGN_PASSWORD=secret", "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	t.Logf("cosign %s\n%s", strings.Join(args, " "), out)
	return string(out), err
}

func (c *cosign) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.run(t, args...)
	if err != nil {
		t.Errorf("cosign %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (c *cosign) write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// servers are registries with and without a referrers API.
func servers(t *testing.T, each func(t *testing.T, s *ocitest.Server)) {
	t.Run("referrers API", func(t *testing.T) { each(t, ocitest.New(t)) })
	t.Run("fallback tag", func(t *testing.T) { each(t, ocitest.DockerRegistry(t, ocitest.Options{})) })
}

// TestCosignVerifiesOurs checks that cosign verifies what skillpm publishes: the signature, the provenance, and the
// list of contents.
func TestCosignVerifiesOurs(t *testing.T) {
	servers(t, func(t *testing.T, s *ocitest.Server) {
		co := newCosign(t, s)
		key, other := newKey(t), newKey(t)
		co.write(t, "key.pub", key.Public().Encode())
		co.write(t, "other.pub", other.Public().Encode())
		rel, list := release("1.0.0", "deploy", "rollback")
		provenance := &sign.Provenance{
			Pack: "acme/deploy", Version: "1.0.0", Repository: "https://git.example/acme/skills", Ref: "refs/tags/v1.0.0", Commit: strings.Repeat("c", 40),
		}
		p, _ := publishPack(t, s.Client(t, co.dir), parse(t, s.URL("acme/deploy")), "1.0.0", trust.Attachments(key, provenance, trust.SBOMOf(rel, list)))
		at := strings.TrimPrefix(s.URL("acme/deploy"), "oci://")

		for _, ref := range []string{at + ":1.0.0", at + "@" + p.Ref.Digest} {
			out := co.must(t, "verify", "--key", "key.pub", "--insecure-ignore-tlog", "--allow-http-registry", ref)
			if !strings.Contains(out, "signatures were verified against the specified public key") || !strings.Contains(out, p.Ref.Digest) {
				t.Errorf("cosign verify says\n%s", out)
			}
		}
		for _, kind := range []string{"slsaprovenance1", "cyclonedx"} {
			co.must(t, "verify-attestation", "--key", "key.pub", "--type", kind, "--insecure-ignore-tlog", "--allow-http-registry", at+":1.0.0")
		}
		if out, err := co.run(t, "verify", "--key", "other.pub", "--insecure-ignore-tlog", "--allow-http-registry", at+":1.0.0"); err == nil {
			t.Errorf("cosign takes another key\n%s", out)
		}
	})
}

// TestCosignSigns checks that skillpm verifies what cosign signs, with a key that cosign created.
func TestCosignSigns(t *testing.T) {
	servers(t, func(t *testing.T, s *ocitest.Server) {
		co := newCosign(t, s)
		co.must(t, "generate-key-pair")
		text, err := os.ReadFile(filepath.Join(co.dir, "cosign.pub"))
		if err != nil {
			t.Fatal(err)
		}
		public, err := sign.ParsePublic(text)
		if err != nil {
			t.Fatal(err)
		}
		c := s.Client(t, co.dir)
		p, trees := publishPack(t, c, parse(t, s.URL("acme/deploy")), "1.0.0", nil)
		at := strings.TrimPrefix(s.URL("acme/deploy"), "oci://") + "@" + p.Ref.Digest
		co.must(t, "sign", "--key", "cosign.key", "--use-signing-config=false", "--tlog-upload=false", "--allow-http-registry", "--yes", at)
		k := trust.New(trust.Options{OCI: c})
		got, err := k.Signers(t.Context(), p, trees, trust.Requirement{Keys: []*sign.PublicKey{newKey(t).Public(), public}})
		if err != nil || !slices.Equal(got, []string{public.ID()}) {
			t.Fatalf("signers are %v, %v", got, err)
		}

		// skillpm signs with cosign's key, finds the existing signature, and adds nothing.
		sealed, err := os.ReadFile(filepath.Join(co.dir, "cosign.key"))
		if err != nil {
			t.Fatal(err)
		}
		key, err := sign.ParsePrivate(sealed, func() ([]byte, error) { return []byte("secret"), nil })
		if err != nil || !key.Public().Equal(public) {
			t.Fatalf("cosign's key: %v", err)
		}
		if done, err := k.Sign(t.Context(), p.Ref, key, nil); err != nil || !done.Existed {
			t.Errorf("signing again with cosign's key: %+v, %v", done, err)
		}
		second, _ := publishPack(t, c, parse(t, s.URL("acme/deploy")), "1.1.0", trust.Attachments(key, nil, nil))
		co.must(t, "verify", "--key", "cosign.pub", "--insecure-ignore-tlog", "--allow-http-registry",
			strings.TrimPrefix(s.URL("acme/deploy"), "oci://")+"@"+second.Ref.Digest)
	})
}

// TestCosignUsesOurKey checks that cosign signs with a key that skillpm created.
func TestCosignUsesOurKey(t *testing.T) {
	s := ocitest.New(t)
	co := newCosign(t, s)
	key := newKey(t)
	sealed, err := key.Encode([]byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	co.write(t, "our.key", sealed)
	if out := co.must(t, "public-key", "--key", "our.key"); !bytes.Contains([]byte(out), bytes.TrimSpace(key.Public().Encode())) {
		t.Errorf("cosign sees the public key\n%s", out)
	}
	c := s.Client(t, co.dir)
	p, trees := publishPack(t, c, parse(t, s.URL("acme/deploy")), "1.0.0", nil)
	at := strings.TrimPrefix(s.URL("acme/deploy"), "oci://") + "@" + p.Ref.Digest
	co.must(t, "sign", "--key", "our.key", "--use-signing-config=false", "--tlog-upload=false", "--allow-http-registry", "--yes", at)
	if got, err := trust.New(trust.Options{OCI: c}).Signers(t.Context(), p, trees, keys(key)); err != nil {
		t.Errorf("signers are %v, %v", got, err)
	}
}
