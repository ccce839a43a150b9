package trust

import (
	"context"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// Registry reads and writes the signatures of artifacts. [oci.Client] implements it.
type Registry interface {
	Manifest(ctx context.Context, ref pack.Ref) (raw []byte, mediaType string, err error)
	Referrers(ctx context.Context, ref pack.Ref, artifactType string) ([]*oci.Artifact, error)
	ReadBlob(ctx context.Context, ref pack.Ref, b oci.Blob, limit int64) ([]byte, error)
	PutArtifact(ctx context.Context, ref pack.Ref, a oci.Artifact, tags ...string) (digest string, err error)
}

// TagReader reads the signatures of git tags.
type TagReader interface {
	// SignedTag returns the tag object that ref names by its tag, or by a version in Constraint. The object is split
	// into payload and signature, with the commit that the tag points to. An unsigned tag has an empty signature, and a
	// lightweight tag has no payload.
	SignedTag(ctx context.Context, ref pack.Ref) (payload, signature []byte, commit string, err error)
}

// Options configure a [Verifier].
type Options struct {
	OCI         Registry
	Git         TagReader
	Dir         string                 // the signature cache; "": none
	State       string                 // the records of what this machine fetched; "": none
	Keyless     sign.OpenKeyless       // checks signatures of identities; nil: sign.KeylessMissing
	TrustedRoot func() ([]byte, error) // the trusted_root.json; nil: none
	Offline     bool                   // no network
}

// Verifier finds signatures, caches them, and checks them. It is safe for concurrent use.
type Verifier struct {
	options  Options
	verifier func() (sign.KeylessVerifier, error)
}

// New returns a verifier. It reads files and sends requests only when a method needs them.
func New(o Options) *Verifier {
	k := &Verifier{options: o}
	k.verifier = sync.OnceValues(k.openVerifier)
	return k
}

// openVerifier opens the verifier of keyless signatures.
func (k *Verifier) openVerifier() (sign.KeylessVerifier, error) {
	if k.options.Keyless == nil {
		return sign.KeylessMissing(nil)
	}
	var root []byte
	if k.options.TrustedRoot != nil {
		var err error
		if root, err = k.options.TrustedRoot(); err != nil {
			return nil, err
		}
	}
	return k.options.Keyless(root)
}

// Signers returns the required signers that signed exactly this pack: its pinned manifest or commit and, unless trees
// is empty, those trees. It returns IDs as in a lockfile, in the order of the requirement. Fewer signers than the
// threshold are an [UnsignedError] or a [SignerError]. Trees other than the signed ones have the code [diag.Integrity].
// Trees that this machine did not record are an [UnknownTreesError].
func (k *Verifier) Signers(ctx context.Context, p *pack.Pack, trees map[string]string, w Requirement) ([]string,
	error,
) {
	if len(w.Keys)+len(w.Identities)+len(w.AllowedSigners) == 0 {
		return nil, diag.Errorf(diag.Denied, "%s must be signed, but no signer is trusted", nameOf(p)).
			WithHint("add a key or an identity to any_of in the policy, or a key to trusted-keys in the settings")
	}
	switch p.Ref.Kind {
	case pack.KindGit:
		return k.gitSigners(ctx, p, trees, w)
	case pack.KindOCI, pack.KindLayout, pack.KindLocal, pack.KindEmbedded:
		return k.artifactSigners(ctx, p, trees, w)
	}
	reason := "a directory does not have signatures"
	if p.Ref.Kind != pack.KindPath {
		reason = "packs from " + p.Ref.Source() + " do not have signatures"
	}
	return nil, &UnsignedError{Pack: nameOf(p), Reason: reason}
}

// artifactSigners implements [Verifier.Signers] for packs in a registry or layout.
func (k *Verifier) artifactSigners(ctx context.Context, p *pack.Pack, trees map[string]string, w Requirement) ([]string,
	error,
) {
	known, err := k.cachedEvidence(p.Ref.Digest)
	if err == nil {
		if found, err := k.check(known, p, w); err == nil {
			return found, k.checkSubject(known.Manifest, p, trees)
		} else if k.options.Offline {
			return nil, err
		}
	} else if k.options.Offline && p.Ref.Kind == pack.KindOCI {
		return nil, &UnsignedError{
			Pack: nameOf(p), Digest: p.Ref.Digest,
			Reason: "its signatures are not cached, and skillpm is offline",
		}
	}
	fresh, err := k.fetch(ctx, p.Ref)
	if err != nil {
		return nil, err
	}
	k.recordOrigin(p)
	found, err := k.check(fresh, p, w)
	if err != nil {
		return nil, err
	}
	k.cacheEvidence(p.Ref.Digest, fresh)
	return found, k.checkSubject(fresh.Manifest, p, trees)
}

// checkSubject checks that a signed manifest names the pack and its version, and lists its trees. A manifest without a
// name proves neither: an attacker could republish it under another name.
func (k *Verifier) checkSubject(manifest []byte, p *pack.Pack, trees map[string]string) error {
	subject, err := packNameOf(manifest, p)
	if err != nil {
		return err
	}
	if subject == nil {
		return &UnnamedError{Pack: nameOf(p), Digest: p.Ref.Digest}
	}
	return k.checkTrees(manifest, p, trees)
}

// checkTrees checks that a manifest lists the trees.
func (k *Verifier) checkTrees(manifest []byte, p *pack.Pack, trees map[string]string) error {
	if err := checkName(manifest, p); err != nil || len(trees) == 0 {
		return err
	}
	signed, err := oci.TreesOf(manifest)
	if err != nil {
		return err
	}
	if signed == nil {
		return k.checkRecordedTrees(p, trees)
	}
	return sameTrees(p, trees, signed, "signed")
}

// sameTrees checks that others contains all trees.
func sameTrees(p *pack.Pack, trees, others map[string]string, what string) error {
	for name, tree := range trees {
		if other, ok := others[name]; !ok {
			return diag.Errorf(diag.Integrity, "the %s content of %s does not contain the skill %s", what, nameOf(p), name)
		} else if other != tree {
			return diag.Errorf(diag.Integrity,
				"the digest of skill %s of %s is %s, but the %s digest is %s", name, nameOf(p), tree, what, other).
				WithHint("restore skillpm.lock from version control if someone edited the file, " +
					"and check the installed skills with: skillpm verify")
		}
	}
	return nil
}

// nameOf returns the name of a pack for messages.
func nameOf(p *pack.Pack) string {
	switch {
	case p.ID.IsZero():
		return p.Ref.String()
	case p.Version == "":
		return p.ID.String()
	}
	return p.ID.String() + "@" + p.Version
}
