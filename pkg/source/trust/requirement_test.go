package trust_test

import (
	"regexp"
	"testing"

	"github.com/skillpm/skillpm/pkg/source/trust"
)

// TestSameSigner checks which signers in lockfiles are the same: a CI job for every tag, and nothing else (O14).
func TestSameSigner(t *testing.T) {
	const (
		actions = "identity:https://token.actions.githubusercontent.com "
		release = actions + "https://github.com/acme/skills/.github/workflows/release.yml@refs/"
		lab     = "identity:https://gitlab.com https://gitlab.com/acme/skills//.gitlab-ci.yml@refs/"
	)
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{release + "tags/v1.0.0", release + "tags/v1.1.0", true},
		{lab + "tags/v1.0.0", lab + "tags/v1.1.0", true},
		{release + "heads/main", release + "heads/main", true},
		{release + "heads/main", release + "heads/other", false},
		{release + "heads/main", release + "tags/v1.0.0", false},
		{release + "tags/v1.0.0", release + "tags/v1.0.0 https://github.com/evil/skills", false},
		{release + "tags/v1.0.0", lab + "tags/v1.0.0", false},
		{
			release + "tags/v1.0.0",
			actions + "https://github.com/acme/skills/.github/workflows/test.yml@refs/tags/v1.0.0", false,
		},
		{
			"identity:https://a.example a@example.com@refs/tags/v1", "identity:https://a.example a@example.com@refs/tags/v2",
			false,
		},
		{"ecdsa-p256:AAAA", "ecdsa-p256:AAAA", true},
		{"ecdsa-p256:AAAA", "ecdsa-p256:AAAB", false},
		{"", release + "tags/v1.0.0", false},
	} {
		if trust.SameSigner(tt.a, tt.b) != tt.want || trust.SameSigner(tt.b, tt.a) != tt.want {
			t.Errorf("same signer: %v, want %v:\n%s\n%s", !tt.want, tt.want, tt.a, tt.b)
		}
	}
}

// TestLockedIdentity checks that a lockfile's signer requires the repository of the job: the one in the subject, or
// that of the caller of a reusable workflow.
func TestLockedIdentity(t *testing.T) {
	const subject = "https://github.com/acme/ci/.github/workflows/release.yml@refs/tags/v1.0.0"
	for _, id := range []trust.Identity{
		{Issuer: "https://a.example", Subject: subject, Repository: "https://github.com/acme/ci"},
		{Issuer: "https://a.example", Subject: subject, Repository: "https://github.com/acme/skills"},
		{Issuer: "https://a.example", Subject: "a@example.com"},
	} {
		w, err := trust.LockedSigner(id.ID())
		if err != nil || len(w.Identities) != 1 {
			t.Fatal(w, err)
		}
		got := w.Identities[0]
		pattern := got.Subject
		if pattern == id.Subject {
			pattern = "^" + regexp.QuoteMeta(pattern) + "$"
		}
		if got.Issuer != id.Issuer || got.Repository != id.Repository ||
			!regexp.MustCompile(pattern).MatchString(id.Subject) {
			t.Errorf("%s requires %+v", id.ID(), got)
		}
	}
}
