package trust

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
)

// check returns the required signers that signed a manifest.
func (k *Verifier) check(e *evidence, p *pack.Pack, w Requirement) ([]string, error) {
	var found, reasons []string
	signers := map[string]bool{} // IDs of required signers; identities that match one pattern count once
	hint, signatures := "", 0
	for _, b := range e.Bundles {
		env, err := sign.ParseBundle(b)
		if err != nil {
			reasons = append(reasons, err.Error())
			continue
		}
		if env.Claim.PredicateType != sign.PredicateSignature {
			continue // provenance and other statements are not signatures
		}
		signatures++
		id, missing, err := k.signer(env, b, p.Ref.Digest, w)
		if err != nil {
			reasons, hint = append(reasons, err.Error()), cmp.Or(hint, diag.HintOf(err))
			continue
		}
		signers[missing] = true
		if !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	if len(signers) >= max(1, w.Threshold) {
		return w.sort(found), nil
	}
	if signatures == 0 && len(reasons) == 0 {
		return nil, &UnsignedError{Pack: nameOf(p), Digest: p.Ref.Digest, Reason: "it does not have a signature"}
	}
	if len(w.Identities) > 0 {
		if _, err := k.verifier(); err != nil { // a missing verifier matters more than who made the other signatures
			reasons, hint = append([]string{"this build cannot verify keyless signatures of the trusted identities"},
				reasons...), diag.HintOf(err)
		}
	}
	return nil, &SignerError{
		Pack: nameOf(p), Digest: p.Ref.Digest, Trusted: found, Reasons: dedupe(reasons),
		Advice: hint, Threshold: w.Threshold,
	}
}

// signer returns the required signer that made a signature, if one did, and the ID that it counts as.
func (k *Verifier) signer(env *sign.Envelope, bundle []byte, digest string, w Requirement) (id, missing string,
	err error,
) {
	if env.Keyless {
		return k.identity(bundle, digest, w.Identities)
	}
	v, err := env.Verify(w.Keys, digest)
	if _, ok := errors.AsType[*sign.KeyError](err); ok {
		print := fingerprint(env.Hint)
		known := slices.ContainsFunc(w.Keys, func(key *sign.PublicKey) bool { return key.Fingerprint() == print })
		if print != "" && !known {
			return "", "", diag.Errorf(diag.Denied, "a signature is from the key %s, which is not trusted", print)
		}
	}
	if err != nil {
		return "", "", err
	}
	return v.Key.ID(), v.Key.ID(), nil
}

// identity returns the subject of the signing certificate, and the first required identity that matches it.
func (k *Verifier) identity(bundle []byte, digest string, identities []Identity) (id, missing string, err error) {
	if len(identities) == 0 {
		return "", "", diag.Errorf(diag.Denied, "a signature has a certificate, but only keys are trusted")
	}
	verifier, err := k.verifier()
	if err != nil {
		return "", "", err
	}
	for _, want := range identities {
		var who sign.Identity
		if who, err = verifier.Verify(bundle, digest, []sign.Identity{sign.Identity(want)}); err == nil {
			return Identity(who).ID(), want.ID(), nil
		}
	}
	return "", "", err
}

// sort orders signers as in the requirement; identities, which may be patterns, come last.
func (w Requirement) sort(found []string) []string {
	var sorted []string
	take := func(id string) {
		if slices.Contains(found, id) && !slices.Contains(sorted, id) {
			sorted = append(sorted, id)
		}
	}
	for _, key := range w.Keys {
		take(key.ID())
	}
	for _, a := range w.AllowedSigners {
		for _, id := range a.IDs() {
			take(id)
		}
	}
	for _, id := range found {
		take(id)
	}
	return sorted
}

// dedupe removes duplicates, and keeps each text on one line.
func dedupe(texts []string) []string {
	var out []string
	for _, t := range texts {
		if t = strings.Join(strings.Fields(t), " "); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}
