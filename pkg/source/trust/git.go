package trust

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
)

// tagEvidence proves who signed a tag.
type tagEvidence struct {
	Payload   []byte `json:"payload"`
	Signature []byte `json:"signature"`
}

// gitSigners implements [Verifier.Signers] for a git repository: an SSH key must have signed the tag of the pack's
// version, on the pinned commit.
func (k *Verifier) gitSigners(ctx context.Context, p *pack.Pack, trees map[string]string, w Requirement) ([]string,
	error,
) {
	if len(w.AllowedSigners) == 0 {
		return nil, &UnsignedError{
			Pack: nameOf(p), Digest: p.Ref.Digest,
			Reason: "it comes from git, but no allowed signers file is configured for the SSH signature of its tag",
		}
	}
	e, err := k.tag(ctx, p, w)
	if err != nil {
		return nil, err
	}
	signer, err := checkTag(e, p, w)
	if err != nil {
		return nil, err
	}
	if w.Threshold > 1 {
		return nil, &SignerError{
			Pack: nameOf(p), Digest: p.Ref.Digest, Trusted: []string{signer},
			Threshold: w.Threshold, Reasons: []string{"a git tag can have only one signature"},
		}
	}
	if len(trees) > 0 {
		err = k.checkRecordedTrees(p, trees)
	}
	return []string{signer}, err
}

// tag returns the tag of a pack, from the cache if the cached tag is sufficient.
func (k *Verifier) tag(ctx context.Context, p *pack.Pack, w Requirement) (*tagEvidence, error) {
	name := textx.SHA256("tag " + sourceKey(p) + " " + p.Ref.Rev + " " + p.Version)
	var known tagEvidence
	if k.load(name, &known) == nil {
		if _, err := checkTag(&known, p, w); err == nil || k.options.Offline {
			return &known, nil
		}
	} else if k.options.Offline && !strings.HasPrefix(p.Ref.URL, "file:") {
		return nil, &UnsignedError{
			Pack: nameOf(p), Digest: p.Ref.Digest,
			Reason: "its tag is not cached, and skillpm is offline",
		}
	}
	ref := p.Ref
	if ref.Rev == "" {
		ref.Constraint = p.Version
	}
	payload, signature, commit, err := k.options.Git.SignedTag(ctx, ref)
	unsigned := func(reason string) (*tagEvidence, error) {
		return nil, &UnsignedError{Pack: nameOf(p), Digest: p.Ref.Digest, Reason: reason}
	}
	switch {
	case diag.CodeOf(err) == diag.NotFound:
		return unsigned(err.Error())
	case err != nil:
		return nil, err
	case commit != p.Ref.Digest:
		return nil, diag.Errorf(diag.Integrity, "the tag of %s is now on commit %s instead of %s", nameOf(p),
			commit, p.Ref.Digest).
			WithHint("ask the owner of %s why the published tag moved", p.Ref.Source())
	case len(payload) == 0:
		return unsigned("its tag is lightweight and does not have a signature")
	case len(signature) == 0:
		return unsigned("its tag does not have a signature")
	}
	fresh := &tagEvidence{payload, signature}
	if _, err := checkTag(fresh, p, w); err == nil {
		k.save(name, fresh)
	}
	return fresh, nil
}

// checkTag returns the required signers that signed a tag.
func checkTag(e *tagEvidence, p *pack.Pack, w Requirement) (string, error) {
	t, err := parseTag(e.Payload)
	if err == nil {
		err = t.check(p)
	}
	if err != nil {
		return "", err
	}
	if !bytes.HasPrefix(e.Signature, []byte("-----BEGIN SSH SIGNATURE-----")) {
		return "", &UnsignedError{
			Pack: nameOf(p), Digest: p.Ref.Digest,
			Reason: "its tag is signed with GPG or X.509; skillpm verifies only SSH signatures",
		}
	}
	var reasons []string
	for _, allowed := range w.AllowedSigners {
		signer, err := allowed.Verify(e.Payload, e.Signature, sign.NamespaceGit, t.when)
		if err == nil {
			return signer.ID, nil
		}
		reason := err.Error()
		if e, ok := errors.AsType[*sign.SSHError](err); ok && e.Key != "" {
			reason += " (" + e.Key + ")"
		}
		reasons = append(reasons, reason)
	}
	return "", &SignerError{Pack: nameOf(p), Digest: p.Ref.Digest, Reasons: dedupe(reasons), Threshold: w.Threshold}
}

// tag is a parsed tag object.
type tag struct {
	object, kind, name string
	when               time.Time
}

// check compares a tag with its pack. A signature of another tag proves nothing, even on the same commit.
func (t tag) check(p *pack.Pack) error {
	want := strings.TrimPrefix(p.Ref.Rev, "refs/tags/")
	switch {
	case t.kind != "commit":
		return diag.Errorf(diag.Denied, "the tag %s of %s is on a %s instead of a commit", t.name, nameOf(p), t.kind).
			WithHint("ask the publisher to tag the commit")
	case t.object != p.Ref.Digest:
		return diag.Errorf(diag.Integrity, "the tag %s is on commit %s, but %s is from commit %s", t.name, t.object,
			nameOf(p), p.Ref.Digest)
	case want != "" && t.name != want:
		return diag.Errorf(diag.Integrity, "the signed tag object of the tag %s of %s has another name, %s", want,
			nameOf(p), t.name)
	case want == "" && !isVersion(t.name, p):
		return diag.Errorf(diag.Integrity, "the signed tag object of %s has another name, %s", nameOf(p),
			t.name)
	}
	return nil
}

// isVersion reports whether a tag names the pack's version.
func isVersion(name string, p *pack.Pack) bool {
	names := []string{"", p.ID.Name, p.Ref.Subdir}
	return slices.ContainsFunc(names, func(n string) bool {
		v, ok := pack.VersionFromTag(name, n)
		return ok && v == p.Version
	})
}

// parseTag reads the headers of a tag object, strictly.
func parseTag(payload []byte) (t tag, err error) {
	head, _, ok := strings.Cut(string(payload), "\n\n")
	if !ok {
		return t, diag.Errorf(diag.Invalid, "the tag object is malformed")
	}
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(head, "\n") {
		key, value, ok := strings.Cut(line, " ")
		if !ok || seen[key] {
			return t, diag.Errorf(diag.Invalid, "the tag object is malformed at %q", line)
		}
		seen[key] = true
		switch key {
		case "object":
			t.object = value
		case "type":
			t.kind = value
		case "tag":
			t.name = value
		case "tagger":
			t.when = tagTime(value)
		default:
			return t, diag.Errorf(diag.Invalid, "the tag object has the unknown header %q", key)
		}
	}
	if t.object == "" || t.kind == "" || t.name == "" {
		return t, diag.Errorf(diag.Invalid, "the tag object does not have an object, type, or name")
	}
	return t, nil
}

// tagTime reads the time after a tagger's address; zero if it is missing.
func tagTime(tagger string) time.Time {
	fields := strings.Fields(tagger[strings.LastIndexByte(tagger, '>')+1:])
	if len(fields) != 2 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
