package publish

import (
	"cmp"
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// attach returns what is to be said about a release before its tags are there: the signature, where it comes from and
// what it is made of. Without a key there is nothing.
//
// What was published before keeps the provenance that the key gave it: each run of a CI system has its own, and those
// of many runs would bury what else is there.
func (c *Client) attach(made *assembled, key *sign.PrivateKey, k *trust.Keeper, at pack.Ref) func(context.Context,
	oci.Pushed, []byte) ([]oci.Artifact, error) {
	if key == nil {
		return nil
	}
	return func(ctx context.Context, subject oci.Pushed, manifest []byte) ([]oci.Artifact, error) {
		provenance := c.provenance(made)
		if subject.Existed {
			at.Digest = subject.Digest
			found, err := k.Find(ctx, at, []*sign.PublicKey{key.Public()}, nil)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(found, func(f trust.Found) bool {
				return f.Kind == trust.KindProvenance &&
					f.Verified
			}) {
				provenance = nil
			}
		}
		return trust.Attachments(key, provenance, trust.SBOMOf(made.release, made.trees))(ctx, subject, manifest)
	}
}

// provenance says where a release comes from: the repository knows best what is published, the CI system what publishes
// it.
func (c *Client) provenance(made *assembled) *sign.Provenance {
	p := sign.Environment(c.Getenv)
	p.Pack, p.Version = made.release.ID.String(), made.release.Version
	o := made.origin
	if o == nil {
		return &p
	}
	if o.checkout.Commit != p.Commit {
		p.Ref = ""
		if o.checkout.Branch != "" {
			p.Ref = "refs/heads/" + o.checkout.Branch
		}
	}
	p.Commit, p.Dirty = o.checkout.Commit, len(o.dirty) > 0
	p.Repository = cmp.Or(o.checkout.Origin, p.Repository)
	if o.dir != "." {
		p.Directory = o.dir
	}
	return &p
}
