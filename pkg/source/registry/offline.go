package registry

import (
	"context"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// nobody stands for a registry's server while skillpm is offline.
type nobody struct{}

func (nobody) Listing(_ context.Context, ref pack.Ref) ([]string, oci.Status, error) {
	return nil, oci.Status{}, offline(ref.String())
}

func (nobody) Open(_ context.Context, ref pack.Ref) (*pack.Pack, error) {
	return nil, offline(ref.String())
}

// offline says that something would have to be asked for.
func offline(what string) error {
	return diag.Errorf(diag.Remote, "%s cannot be asked: skillpm is offline", what).
		WithHint("leave --offline out; what is locked and in the store needs nobody")
}
