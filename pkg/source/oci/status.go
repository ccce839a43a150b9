package oci

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// StatusTag is the tag under which a repository says what there is to know about its versions besides them.
const StatusTag = "skillpm-status"

// maxStatus bounds what a repository says.
const maxStatus = 1 << 20

// Status is what a repository says about its versions.
type Status struct {
	Yanked     map[string]string `json:"yanked,omitempty"`     // version -> why it was withdrawn
	Deprecated string            `json:"deprecated,omitempty"` // what to know or use instead, "" for a pack in use
}

// Status returns what the repository at a place says about its versions, nothing where it says nothing.
func (c *Client) Status(ctx context.Context, at pack.Ref) (Status, error) {
	at.Rev, at.Digest = StatusTag, ""
	p, err := c.open(ctx, at)
	if err != nil {
		return Status{}, c.secrets.Discreet(err)
	}
	s, _, err := c.status(ctx, p, at)
	return s, c.secrets.Discreet(err)
}

// status returns what is there, and its digest.
func (c *Client) status(ctx context.Context, p place, at pack.Ref) (s Status, digest string, err error) {
	a, err := c.artifact(ctx, p, at)
	if diag.CodeOf(err) == diag.NotFound || missed(err) {
		return Status{}, "", nil
	}
	if err != nil {
		return Status{}, "", err
	}
	if a.Type != MediaTypeStatus || len(a.Blobs) != 1 {
		return Status{}, "", diag.Errorf(diag.Invalid, "%s: the tag %s is a %q and not what it should be", trimVersion(at), StatusTag, a.Type)
	}
	data := a.Blobs[0].Data // checked with the manifest
	if data == nil {
		if data, err = readSmall(ctx, p, a.Blobs[0], maxStatus); err != nil {
			return Status{}, "", inPack(at, err)
		}
	}
	if s, err = parseStatus(data); err != nil {
		return Status{}, "", diag.Errorf(diag.Invalid, "%s: %s: %w", trimVersion(at), StatusTag, err)
	}
	return s, a.Digest, nil
}

// parseStatus reads what a repository says. Whoever may push there can say anything: what is no version is left out,
// and texts are made fit to be shown.
func parseStatus(data []byte) (s Status, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return Status{}, diag.Errorf(diag.Invalid, "%w", err)
	}
	for version, reason := range s.Yanked {
		if s.Yanked[version] = oneLine(reason); index.CheckVersion(version) != nil {
			delete(s.Yanked, version)
		}
	}
	s.Deprecated = oneLine(s.Deprecated)
	return s, nil
}

// SetStatus reads what a repository says about its versions, changes it, writes it, and looks whether it is there. A
// registry has no lock: where somebody else changes it at the same time, it starts over.
func (c *Client) SetStatus(ctx context.Context, at pack.Ref, change func(*Status) error) error {
	return c.secrets.Discreet(c.setStatus(ctx, at, change))
}

func (c *Client) setStatus(ctx context.Context, at pack.Ref, change func(*Status) error) error {
	at.Rev, at.Digest = StatusTag, ""
	to, err := c.openWritable(ctx, at)
	if err != nil {
		return err
	}
	end, err := to.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	const tries = 5
	for range tries {
		before, _, err := c.status(ctx, to, at)
		if err != nil {
			return err
		}
		after := before.clone()
		if err := change(&after); err != nil {
			return err
		}
		if reflect.DeepEqual(before.clone(), after.clone()) {
			return nil
		}
		doc, err := putArtifact(ctx, to, Artifact{
			Type: MediaTypeStatus, Blobs: []Blob{{MediaType: mediaTypeStatusBlob, Data: []byte(canonical(after))}},
		}, StatusTag)
		if err != nil {
			return err
		}
		if _, digest, err := c.status(ctx, to, at); err != nil || digest == string(doc.desc.Digest) {
			return err
		}
	}
	return diag.Errorf(diag.Conflict, "%s: others keep changing what it says about its versions", trimVersion(at)).WithHint("try again")
}

// clone returns a status that shares nothing with s, and whose map can be written to.
func (s Status) clone() Status {
	yanked := make(map[string]string, len(s.Yanked))
	maps.Copy(yanked, s.Yanked)
	return Status{Yanked: yanked, Deprecated: s.Deprecated}
}
