package registry

import (
	"context"
	"errors"
	"io/fs"

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
		if errors.Is(err, fs.ErrNotExist) && i == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return &Feed{Data: data[0], Signature: data[1], Key: data[2]}, nil
}

// VerifyFeed verifies the signature of a feed, and returns what the signer states about it.
func VerifyFeed(feed, signature []byte, keys []*sign.PublicKey) (advisory.Edition, error) {
	v, err := sign.Verify(signature, keys, advisory.Digest(feed))
	if err != nil {
		return advisory.Edition{}, err
	}
	claim, err := sign.ParseStatement(v.Statement)
	if err != nil {
		return advisory.Edition{}, err
	}
	return advisory.ParseEdition(v.PredicateType, claim.Predicate)
}
