package oci

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/pack"
)

// Pin returns the digest that at's tag names now. A registry is asked for the head of the manifest only, if it says the
// digest there.
func (c *Client) Pin(ctx context.Context, at pack.Ref) (string, error) {
	name, err := nameOf(at)
	if err != nil || at.Digest != "" {
		return name, err
	}
	p, err := c.open(ctx, at)
	if err != nil {
		return "", c.secrets.Discreet(err)
	}
	if r, ok := p.(*repository); ok {
		if digest := r.head(ctx, name); digest != "" {
			return digest, nil
		}
	}
	a, err := c.read(ctx, p, at, name)
	if err != nil {
		return "", c.secrets.Discreet(err)
	}
	return string(a.desc.Digest), nil
}

// head returns the digest of a tag, or "" where the registry does not say it.
func (r *repository) head(ctx context.Context, tag string) string {
	ctx = auth.AppendRepositoryScope(ctx, r.repo.Reference, auth.ActionPull)
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, r.url("manifests/"+tag).String(), nil)
	if err != nil {
		return ""
	}
	req.Header.Set("Accept", manifestTypes)
	resp, err := r.repo.Client.Do(req)
	if err != nil {
		return ""
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 512)) // a head has no body
	_ = resp.Body.Close()
	if digest := resp.Header.Get("Docker-Content-Digest"); resp.StatusCode == http.StatusOK && isDigest(digest) {
		return digest
	}
	return ""
}

// Listing returns what [Client.Versions] and [Client.Status] do. The tags are listed once, and what a repository says
// about its versions is asked for only where it has that tag, or has a mirror.
func (c *Client) Listing(ctx context.Context, at pack.Ref) ([]string, Status, error) {
	at.Rev, at.Digest = StatusTag, ""
	p, err := c.open(ctx, at)
	if err != nil {
		return nil, Status{}, c.secrets.Discreet(err)
	}
	tags, err := p.tags(ctx)
	if err != nil {
		return nil, Status{}, c.secrets.Discreet(err)
	}
	var status Status
	_, copies := p.(*mirrored) // a mirror may have been given the versions alone
	if copies || slices.Contains(tags, StatusTag) {
		status, _, err = c.status(ctx, p, at)
	}
	return versionsOf(tags), status, c.secrets.Discreet(err)
}

// Packs lists the packs of a layout, sorted.
func (c *Client) Packs(ctx context.Context, at pack.Ref) ([]pack.ID, error) {
	p, err := c.open(ctx, at)
	if err != nil {
		return nil, err
	}
	l, ok := p.(*layout)
	if !ok {
		return nil, nil
	}
	idx, err := l.index()
	if err != nil {
		return nil, err
	}
	found := map[pack.ID]bool{}
	for _, d := range idx.Manifests {
		name, tag, _ := strings.Cut(d.Annotations[ocispec.AnnotationRefName], ":")
		_, version := pack.VersionFromTag(tag, "")
		if id, err := pack.ParseID(name); err == nil && version {
			found[id] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), pack.ID.Compare), nil
}
