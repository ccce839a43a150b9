package skillpm

import (
	"context"

	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/doctor"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/enterprise"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// Options configure a [Client].
type Options = base.Options

// Event is a step of a long operation.
type Event = fetch.Event

// ReboundError reports that a project binds an owner to another registry than the user's settings.
type ReboundError = registry.ReboundError

// Base is what a [Client] shares with the clients of other packages: settings, sources, and the audit log.
type Base = base.Base

// NewBase returns a base. It touches neither disk nor network.
func NewBase(o Options) *Base { return base.New(o) }

// Client is the package manager for one directory and user.
type Client struct{ *Base }

// Open returns a client for the project that dir is in, with the directories, the environment, and the clock of the
// operating system.
func Open(dir string) (*Client, error) {
	o, err := DefaultOptions(dir)
	if err != nil {
		return nil, err
	}
	return New(o), nil
}

// DefaultOptions returns the options that [Open] uses for dir, for callers that change some of them before they call
// [New].
func DefaultOptions(dir string) (Options, error) {
	env, err := environ.Default(dir)
	return Options{Environment: env}, err
}

// New returns a client. It touches neither disk nor network.
func New(o Options) *Client { return &Client{Base: base.New(o)} }

// CheckSigners returns the problem of a rule's key files, or nil if they match it.
func CheckSigners(r policy.Rule) error { return admission.CheckSigners(r) }

type (
	// DoctorOptions are the options of [Client.Doctor].
	DoctorOptions = doctor.Options
	// DoctorReport is the result of [Client.Doctor].
	DoctorReport = doctor.Report
	// Diagnosis is one problem that [Client.Doctor] found.
	Diagnosis = doctor.Diagnosis
	// Fact is a property of the machine or a scope.
	Fact = doctor.Fact
)

// Doctor diagnoses the project, the user's installation, and the machine. It changes nothing, and uses no network
// unless the options ask for it.
func (c *Client) Doctor(ctx context.Context, o DoctorOptions) (*DoctorReport, error) {
	defer c.Progress(Event{Done: true})
	return doctor.Run(ctx, c.Base, o, CacheUnused)
}

// Homeless is the report if the home directory is unknown, so that no check can run.
func Homeless(err error) *DoctorReport { return doctor.Homeless(err) }

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
