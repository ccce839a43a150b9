package policy_test

import (
	"regexp"
	"testing"

	"github.com/skillpm/skillpm/pkg/policy"
)

// TestPublisher checks that the short form of a CI job is an identity with an exact issuer, an anchored subject, and
// the repository of the job (O14).
func TestPublisher(t *testing.T) {
	p, err := policy.Parse("p", []byte(`version: 1
require:
  - match: "oci://registry.example/acme/**"
    signatures:
      any_of:
        - {github: acme/skills, workflow: release.yml, ref: "refs/tags/v*"}
        - {gitlab: acme/team/skills, host: git.example}
        - identity: {issuer: "https://a.example", subject: x, repository: "https://git.example/acme/skills"}
`))
	if err != nil {
		t.Fatal(err)
	}
	signers := p.Require[0].Signatures.AnyOf
	for i, want := range []policy.Identity{
		{
			Issuer: "https://token.actions.githubusercontent.com", Repository: "https://github.com/acme/skills",
			Subject: "https://github.com/acme/skills/.github/workflows/release.yml@refs/tags/v1.0.0",
		},
		{
			Issuer: "https://git.example", Repository: "https://git.example/acme/team/skills",
			Subject: "https://git.example/acme/team/skills//.gitlab-ci.yml@refs/heads/main",
		},
		{Issuer: "https://a.example", Subject: "x", Repository: "https://git.example/acme/skills"},
	} {
		got := signers[i].Identity
		if got.Issuer != want.Issuer || got.Repository != want.Repository ||
			!regexp.MustCompile(got.Subject).MatchString(want.Subject) {
			t.Errorf("signer %d is %+v", i, got)
		}
	}
	if !p.Require[0].Signatures.NeedIdentity() {
		t.Error("the short form needs an identity")
	}
}
