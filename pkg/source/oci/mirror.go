package oci

import (
	"context"
	"errors"
	"io"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
)

// A mirror holds copies of what another registry has. It is asked first, and what it lacks is asked of the registry
// itself, the origin. Digests are checked wherever bytes come from, a mirror has logins of its own, and nothing is
// pushed to it.

// MirrorOf returns where a repository, oci://host/path, is asked for first, or "". The longest prefix that is
// configured decides.
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

// missedError says that a mirror lacks something and that the origin, which may have it, could not be asked.
type missedError struct{ error }

// missed reports whether a mirror lacks something and nobody knows whether the origin has it.
func missed(err error) bool {
	_, ok := errors.AsType[missedError](err)
	return ok
}

func (e missedError) Unwrap() error { return e.error }

// Code returns [diag.Remote].
func (e missedError) Code() diag.Code { return diag.Remote }

// ask has f read from the mirror, and from the origin where the mirror lacks something, refuses it or can't be reached.
// What a mirror has and is wrong is an error.
func ask[T any](ctx context.Context, m *mirrored, f func(place) (T, error)) (T, error) {
	result, mirrorErr := askOnce(ctx, m.client, m.mirror, f)
	if mirrorErr == nil || ctx.Err() != nil {
		return result, mirrorErr
	}
	switch diag.CodeOf(mirrorErr) {
	case diag.NotFound, diag.Remote, diag.Denied:
	default:
		return result, mirrorErr
	}
	result, err := askOnce(ctx, m.client, m.origin, f)
	if code := diag.CodeOf(err); err == nil || code != diag.Remote && code != diag.NotFound {
		return result, err
	}
	both := diag.Errorf(diag.CodeOf(err), "%w; its mirror: %s", err, mirrorErr.Error()).WithHint("%s", diag.HintOf(err))
	if diag.CodeOf(err) == diag.Remote && diag.CodeOf(mirrorErr) == diag.NotFound {
		return result, missedError{both}
	}
	return result, both
}

// askOnce asks a registry, unless its host failed before: of two that may have something, one that does not answer is
// not waited for again and again.
func askOnce[T any](ctx context.Context, c *Client, replacement string, f func(place) (T, error)) (result T, err error) {
	host, _, _ := strings.Cut(strings.TrimPrefix(replacement, "oci://"), "/")
	c.mu.Lock()
	err = c.away[host]
	c.mu.Unlock()
	if err != nil {
		return result, err
	}
	p, err := c.openRemote(ctx, replacement)
	if err == nil {
		result, err = f(p)
	}
	if _, away := errors.AsType[unreachableError](err); away && ctx.Err() == nil {
		c.mu.Lock()
		c.away[host] = err
		c.mu.Unlock()
	}
	return result, err
}

func (m *mirrored) tags(ctx context.Context) ([]string, error) {
	return ask(ctx, m, func(p place) ([]string, error) { return p.tags(ctx) })
}

func (m *mirrored) document(ctx context.Context, ref string) (document, error) {
	return ask(ctx, m, func(p place) (document, error) { return p.document(ctx, ref) })
}

func (m *mirrored) blob(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	return ask(ctx, m, func(p place) (io.ReadCloser, error) { return p.blob(ctx, d) })
}

// referrers asks the origin also where the mirror knows of none: signatures may not have been copied with what they are
// about.
func (m *mirrored) referrers(ctx context.Context, subject, artifactType string) ([]ocispec.Descriptor, error) {
	list, err := ask(ctx, m, func(p place) ([]ocispec.Descriptor, error) {
		list, err := p.referrers(ctx, subject, artifactType)
		if err == nil && len(list) == 0 {
			err = diag.Errorf(diag.NotFound, "%s knows of nothing about %s", strings.TrimPrefix(m.mirror, "oci://"),
				subject)
		}
		return list, err
	})
	if diag.CodeOf(err) == diag.NotFound {
		return nil, nil
	}
	return list, err
}
