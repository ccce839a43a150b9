package oci

import (
	"context"
	"errors"
	"io"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
)

// A mirror holds copies of another registry's content. The other registry is the origin. The client reads from the
// mirror first, and from the origin if the mirror does not have the content. It verifies the digests of both, uses
// separate logins, and pushes only to the origin.

// MirrorOf returns the mirror of a repository, oci://host/path, or "". The longest configured prefix wins.
func (c *Client) MirrorOf(ociURL string) string {
	name := strings.TrimPrefix(ociURL, "oci://")
	var longest, replacement string
	for prefix, mirror := range c.opts.Mirrors {
		prefix = strings.TrimSuffix(strings.TrimPrefix(prefix, "oci://"), "/")
		if len(prefix) > len(longest) && (name == prefix || strings.HasPrefix(name, prefix+"/")) {
			longest, replacement = prefix, strings.TrimSuffix(strings.TrimPrefix(mirror, "oci://"), "/")
		}
	}
	if replacement == "" {
		return ""
	}
	return "oci://" + replacement + strings.TrimPrefix(name, longest)
}

// mirrored is a repository with a mirror.
type mirrored struct {
	client         *Client
	origin, mirror string // as oci://host/repository
}

// originUnreachableError reports that a mirror lacks something and that the origin is unreachable.
type originUnreachableError struct{ error }

// isOriginUnreachable reports whether a mirror lacks something and the origin is unreachable.
func isOriginUnreachable(err error) bool {
	_, ok := errors.AsType[originUnreachableError](err)
	return ok
}

func (e originUnreachableError) Unwrap() error { return e.error }

// Code returns [diag.Remote].
func (e originUnreachableError) Code() diag.Code { return diag.Remote }

// readMirrored calls f with the mirror. It calls f with the origin if the mirror lacks something, refuses it or is
// unreachable. Wrong content in a mirror is an error.
func readMirrored[T any](ctx context.Context, m *mirrored, f func(reader) (T, error)) (T, error) {
	result, mirrorErr := readRegistry(ctx, m.client, m.mirror, f)
	if mirrorErr == nil || ctx.Err() != nil {
		return result, mirrorErr
	}
	switch diag.CodeOf(mirrorErr) {
	case diag.NotFound, diag.Remote, diag.Denied:
	default:
		return result, mirrorErr
	}
	result, err := readRegistry(ctx, m.client, m.origin, f)
	if code := diag.CodeOf(err); err == nil || code != diag.Remote && code != diag.NotFound {
		return result, err
	}
	both := diag.Errorf(diag.CodeOf(err), "%w; the mirror also failed: %s", err, mirrorErr.Error()).WithHint("%s",
		diag.HintOf(err))
	if diag.CodeOf(err) == diag.Remote && diag.CodeOf(mirrorErr) == diag.NotFound {
		return result, originUnreachableError{both}
	}
	return result, both
}

// readRegistry calls f with a repository, unless its host was unreachable before: a client waits for it once.
func readRegistry[T any](ctx context.Context, c *Client, ociURL string, f func(reader) (T, error)) (v T, err error) {
	host, _, _ := strings.Cut(strings.TrimPrefix(ociURL, "oci://"), "/")
	c.mu.Lock()
	err = c.unreachable[host]
	c.mu.Unlock()
	if err != nil {
		return v, err
	}
	p, err := c.openRemote(ctx, ociURL)
	if err == nil {
		v, err = f(p)
	}
	if _, unreachable := errors.AsType[unreachableError](err); unreachable && ctx.Err() == nil {
		c.mu.Lock()
		c.unreachable[host] = err
		c.mu.Unlock()
	}
	return v, err
}

func (m *mirrored) tags(ctx context.Context) ([]string, error) {
	return readMirrored(ctx, m, func(p reader) ([]string, error) { return p.tags(ctx) })
}

func (m *mirrored) document(ctx context.Context, ref string) (document, error) {
	return readMirrored(ctx, m, func(p reader) (document, error) { return p.document(ctx, ref) })
}

func (m *mirrored) blob(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	return readMirrored(ctx, m, func(p reader) (io.ReadCloser, error) { return p.blob(ctx, d) })
}

// referrers reads from the origin also if the mirror has no referrers, because mirrors may not copy signatures.
func (m *mirrored) referrers(ctx context.Context, subject, artifactType string) ([]ocispec.Descriptor, error) {
	list, err := readMirrored(ctx, m, func(p reader) ([]ocispec.Descriptor, error) {
		list, err := p.referrers(ctx, subject, artifactType)
		if err == nil && len(list) == 0 {
			err = diag.Errorf(diag.NotFound, "%s does not contain signatures of %s",
				strings.TrimPrefix(m.mirror, "oci://"),
				subject)
		}
		return list, err
	})
	if diag.CodeOf(err) == diag.NotFound {
		return nil, nil
	}
	return list, err
}
