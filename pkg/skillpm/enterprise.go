package skillpm

import (
	"context"

	"github.com/skillpm/skillpm/pkg/skillpm/internal/enterprise"
)

// EnterpriseLayer keeps the enterprise layer of this machine in step with a list that an organization publishes.
type EnterpriseLayer = enterprise.Client

// NewEnterpriseLayer returns the enterprise layer of this machine. It uses the options' environment and nothing that
// belongs to a user, and touches neither disk nor network.
func NewEnterpriseLayer(o Options) *EnterpriseLayer { return enterprise.New(o) }

type (
	// SyncOptions are the options of [EnterpriseLayer.Sync].
	SyncOptions = enterprise.SyncOptions
	// SyncReport is the result of [EnterpriseLayer.Sync].
	SyncReport = enterprise.SyncReport
	// SyncStatus tells whether the layer is in step with its list.
	SyncStatus = enterprise.Status
	// OutOfStepError is the error of a layer that differs from its list.
	OutOfStepError = enterprise.OutOfStepError
)

// What a sync did to a pack or the policy.
const (
	SyncInstalled      = enterprise.Installed
	SyncUpdated        = enterprise.Updated
	SyncRestored       = enterprise.Restored // it is as locked again
	SyncRemoved        = enterprise.Removed
	SyncPolicyReplaced = enterprise.PolicyReplaced
)

// SyncRecordName is the name of the file in the administrator's directory that records the last list.
const SyncRecordName = enterprise.RecordName

type (
	// PublishListOptions are the options of [PublishList].
	PublishListOptions = enterprise.PublishOptions
	// PublishListReport is the result of [PublishList].
	PublishListReport = enterprise.PublishReport
)

// PublishList pushes the list of an enterprise layer to an OCI registry. A version that exists with other content is a
// conflict.
func PublishList(ctx context.Context, b *Base, o PublishListOptions) (*PublishListReport, error) {
	return enterprise.Publish(ctx, b, o)
}
