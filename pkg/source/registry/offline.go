package registry

import (
	"context"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// offlineArtifacts replaces a registry's server when skillpm is offline.
type offlineArtifacts struct{}

func (offlineArtifacts) Listing(_ context.Context, ref pack.Ref) ([]string, oci.Status, error) {
	return nil, oci.Status{}, offlineError(ref.String())
}

func (offlineArtifacts) Open(_ context.Context, ref pack.Ref) (*pack.Pack, error) {
	return nil, offlineError(ref.String())
}

// offlineError reports that an operation needs the network.
func offlineError(what string) error {
	return diag.Errorf(diag.Remote, "cannot reach %s: skillpm is offline", what).
		WithHint("run the command without --offline; without a network, skillpm can install only locked packs from the store")
}
