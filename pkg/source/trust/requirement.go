package trust

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/sign"
)

// Requirement lists the signers that a pack needs.
type Requirement struct {
	Keys           []*sign.PublicKey
	Identities     []Identity
	AllowedSigners []*sign.AllowedSigners // for git: the SSH keys that may sign tags
	Threshold      int                    // how many signers are needed; values below 1 mean 1
}

// Identity is what a certificate contains about its owner.
type Identity struct {
	Issuer     string // the https address of the OpenID Connect issuer, exact
	Subject    string // the certificate's subject, exact, or a regular expression between ^ and $
	Repository string // the https address of the repository of a CI job, exact; "" for any
}

// ID returns the identity as a lockfile records a signer. It contains the repository only if the subject names another
// one, as for a job that calls a reusable workflow.
func (i Identity) ID() string {
	id := "identity:" + i.Issuer + " " + i.Subject
	if i.Repository != "" && i.Repository != repositoryOf(i.Subject) {
		id += " " + i.Repository
	}
	return id
}

// parseIdentity parses an [Identity.ID] without its prefix.
func parseIdentity(text string) (i Identity) {
	var rest string
	i.Issuer, rest, _ = strings.Cut(text, " ")
	i.Subject, i.Repository, _ = strings.Cut(rest, " ")
	i.Repository = cmp.Or(i.Repository, repositoryOf(i.Subject))
	return i
}

// repositoryOf returns the repository in the subject of a CI job, or "".
func repositoryOf(subject string) string {
	rest, ok := strings.CutPrefix(subject, "https://")
	if !ok {
		return ""
	}
	for _, end := range []string{"/.github/workflows/", "//"} { // GitHub, GitLab
		if repository, _, ok := strings.Cut(rest, end); ok {
			return "https://" + repository
		}
	}
	return ""
}

// anyRelease returns the identity with a pattern for every tag if the subject is a CI job for a tag. Otherwise, each
// release would have another signer.
func (i Identity) anyRelease() Identity {
	const tags = "@refs/tags/"
	if job, _, ok := strings.Cut(i.Subject, tags); ok && repositoryOf(i.Subject) != "" {
		i.Subject = "^" + regexp.QuoteMeta(job+tags) + "[!-~]+$"
	}
	return i
}

// SameSigner reports whether two signers in lockfiles are the same. A CI job is the same for every tag.
func SameSigner(a, b string) bool {
	kindA, restA, _ := strings.Cut(a, ":")
	kindB, restB, _ := strings.Cut(b, ":")
	if kindA != "identity" || kindB != "identity" {
		return a == b
	}
	return parseIdentity(restA).anyRelease() == parseIdentity(restB).anyRelease()
}

// Empty reports whether no signer is required.
func (w Requirement) Empty() bool {
	return len(w.Keys) == 0 && len(w.Identities) == 0 && len(w.AllowedSigners) == 0
}

// Or returns a requirement that accepts the signers of either.
func (w Requirement) Or(other Requirement) Requirement {
	return Requirement{
		Keys: slices.Concat(w.Keys, other.Keys), Identities: slices.Concat(w.Identities, other.Identities),
		AllowedSigners: slices.Concat(w.AllowedSigners, other.AllowedSigners), Threshold: 1,
	}
}
