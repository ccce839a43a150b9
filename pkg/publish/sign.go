package publish

import (
	"context"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// SignReport is the result of [Client.Sign].
type SignReport struct {
	Reference string `json:"reference"` // pinned to the digest
	Digest    string `json:"digest"`    // of the manifest
	Signer    string `json:"signer"`    // fingerprint of the public key, or the identity
	Signature string `json:"signature"` // digest of the artifact with the signature
	Existed   bool   `json:"existed"`   // the signer had signed it before; nothing was written
	// the manifest does not name its pack and version, so no requirement accepts the signature
	Unnamed  bool     `json:"unnamed"`
	Warnings []string `json:"warnings,omitempty"`
}

// Sign signs a published pack, named by its source or as owner/name@version.
func (c *Client) Sign(ctx context.Context, reference string, signer sign.Signer) (*SignReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	p, err := c.findPublished(ctx, reference)
	if err != nil {
		return nil, err
	}
	switch p.Ref.Kind {
	case pack.KindGit:
		return nil, diag.Errorf(diag.Usage, "cannot sign %s: a pack in git requires a signed tag", reference).
			WithHint("sign the tag with: git -c gpg.format=ssh tag -s v%s", p.Version)
	case pack.KindEmbedded:
		return nil, diag.Errorf(diag.Denied, "cannot sign %s: the pack is part of skillpm", reference)
	}
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	notes, err := c.MayPublish(p.Ref, p.ID.String(), true)
	if err != nil {
		return nil, err
	}
	name, err := signerName(ctx, signer)
	if err != nil {
		return nil, err
	}
	record := audit.Record{Pack: p.ID.String(), Version: p.Version, Signer: name, Reason: "a signature"}
	var signed trust.Signed
	err = c.RecordPublish(p.Ref, record, func() (err error) {
		signed, err = sources.Verifier(false).Sign(ctx, p.Ref, signer, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.Ref.Digest = signed.Digest
	return &SignReport{
		Reference: p.Ref.String(), Digest: signed.Digest, Signer: name, Signature: signed.Signature,
		Existed: signed.Existed, Unnamed: signed.Unnamed, Warnings: notes,
	}, nil
}

// signerName returns the fingerprint of a signer's key, or its identity.
func signerName(ctx context.Context, signer sign.Signer) (string, error) {
	id, err := signer.ID(ctx)
	return trust.Fingerprint(id), err
}

// findPublished returns the artifact that a reference names: a source with a tag or digest, or owner/name@version,
// which the registries resolve. It sets only the fields that fetching needs.
func (c *Client) findPublished(ctx context.Context, reference string) (*pack.Pack, error) {
	ref, err := pack.Parse(reference)
	if err != nil {
		return nil, err
	}
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	switch ref.Kind {
	case pack.KindName:
		return c.registryPack(ctx, ref)
	case pack.KindGit:
		c.Progress(skillpm.Event{Text: "reading " + ref.Source()})
		return sources.Git().Open(ctx, ref)
	case pack.KindPath:
		return nil, diag.Errorf(diag.Usage, "cannot sign %s: it is a directory, not a published pack", reference).
			WithHint("publish and sign the pack with: skillpm publish --sign")
	case pack.KindLayout:
		ref.URL = filepath.ToSlash(c.Machine.Abs(ref.URL))
	}
	c.Progress(skillpm.Event{Text: "reading " + ref.Source()})
	if ref.Digest == "" && ref.Rev == "" {
		return sources.OCI().Open(ctx, ref)
	}
	return &pack.Pack{ID: ref.ID, Ref: ref}, nil
}

// registryPack finds a version of a pack in the registries.
func (c *Client) registryPack(ctx context.Context, ref pack.Ref) (*pack.Pack, error) {
	if ref.Constraint == "" {
		return nil, diag.Errorf(diag.Usage, "%s does not have a version",
			ref).WithHint("add the version, such as %s@1.2.3", ref.ID)
	}
	return c.RegistryPack(ctx, ref.ID, ref.Constraint)
}
