package oci

import (
	"context"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// StatusTag is the tag under which a repository says what there is to know about its versions besides them.
const StatusTag = "skillpm-status"

// Status is what a repository says about its versions.
type Status struct {
	Yanked     map[string]string `json:"yanked"`     // version -> why it was withdrawn
	Deprecated string            `json:"deprecated"` // what to know or use instead, "" for a pack in use
}

// Status returns what the repository at a place says about its versions, nothing where it says nothing.
func (c *Client) Status(ctx context.Context, at source.Ref) (Status, error) {
	return Status{}, diag.Errorf(diag.Internal, "not yet")
}

// SetStatus reads what a repository says about its versions, changes it, writes it, and looks whether it is there.
func (c *Client) SetStatus(ctx context.Context, at source.Ref, change func(*Status) error) error {
	return diag.Errorf(diag.Internal, "not yet")
}
