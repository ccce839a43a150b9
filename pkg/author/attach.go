package author

import (
	"cmp"
	"context"

	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/trust"
)

// attach returns what is to be said about a release before its tags are there: the signature, where it comes from and what
// it is made of. Without a key there is nothing.
func (c *Client) attach(made *assembled, key *sign.PrivateKey) func(context.Context, oci.Pushed, []byte) ([]oci.Artifact, error) {
	if key == nil {
		return nil
	}
	return trust.Attachments(key, c.provenance(made), trust.SBOMOf(made.release, made.trees))
}

// provenance says where a release comes from: the repository knows best what is published, the CI system what publishes it.
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
