package registry

import (
	"context"
	"errors"
	"io/fs"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/sign"
)

// Feed is a feed of advisories as a registry has it. Nothing in it is verified.
type Feed struct {
	Data      []byte
	Signature []byte
	Key       []byte // the public key beside it
}

// Advisor is a registry that may have a feed of advisories: an index.
type Advisor interface {
	Registry
	// Feed returns the feed, nil if the registry does not have one.
	Feed(ctx context.Context) (*Feed, error)
}

// Feed reads the files of a feed.
func (r *indexRegistry) Feed(ctx context.Context) (*Feed, error) {
	var data [3][]byte
	for i, name := range advisory.FeedFiles() {
		var err error
		data[i], err = r.files.read(ctx, name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && i == 0:
			return nil, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, diag.Errorf(diag.Invalid, "the index does not have %s", name)
		case err != nil:
			return nil, err
		}
	}
	return &Feed{Data: data[0], Signature: data[1], Key: data[2]}, nil
}

// VerifyFeed verifies the signature of a feed. It returns what the signer states about the feed, and the signer's key.
func VerifyFeed(feed, signature []byte, keys []*sign.PublicKey) (advisory.Edition, *sign.PublicKey, error) {
	v, err := sign.Verify(signature, keys, advisory.Digest(feed))
	if err != nil {
		return advisory.Edition{}, nil, err
	}
	claim, err := sign.ParseStatement(v.Statement)
	if err != nil {
		return advisory.Edition{}, nil, err
	}
	edition, err := advisory.ParseEdition(v.PredicateType, claim.Predicate)
	return edition, v.Key, err
}
