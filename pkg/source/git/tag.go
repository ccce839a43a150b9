package git

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

// maxTag bounds a tag object, in bytes.
const maxTag = 1 << 20

// SignedTag reads the tag object of a reference: of the tag Rev, or of the tag for the version Constraint. It returns
// the signed payload, the signature, and the commit that the tag points to now. The signature is empty if the tag is
// not signed, and the payload too if the tag is lightweight. SignedTag verifies nothing.
func (c *Client) SignedTag(ctx context.Context, ref pack.Ref) (payload, signature []byte, commit string, err error) {
	if ref.Kind != pack.KindGit || ref.URL == "" {
		return nil, nil, "", diag.Errorf(diag.Internal, "invalid git repository %q", ref)
	}
	refs, err := c.refs(ctx, ref)
	if err != nil {
		return nil, nil, "", err
	}
	name, err := c.tagName(ctx, ref, refs)
	if err != nil {
		return nil, nil, "", err
	}
	commit = refs.all[name]
	id, annotated := refs.objects[name]
	if !annotated {
		return nil, nil, commit, nil
	}
	data, err := c.tagObject(ctx, ref, commit, id)
	if err != nil {
		return nil, nil, "", err
	}
	payload, signature = splitSignature(data)
	return payload, signature, commit, nil
}

// tagName returns the full name of the tag of a reference.
func (c *Client) tagName(ctx context.Context, ref pack.Ref, refs *refs) (string, error) {
	if ref.Rev == "" && ref.Constraint != "" {
		version := ref.Constraint
		releases, err := c.releases(ctx, ref)
		if err != nil {
			return "", err
		}
		for _, r := range releases {
			if r.version == version {
				return tagsPrefix + r.tag, nil
			}
		}
		return "", diag.Errorf(diag.NotFound, "%s does not have a tag for version %s", ref.URL, version)
	}
	name := tagsPrefix + strings.TrimPrefix(ref.Rev, tagsPrefix)
	if _, ok := refs.all[name]; ok && ref.Rev != "" {
		return name, nil
	}
	if commit, branch, err := refs.find(ref); err == nil && branch {
		return "", diag.Errorf(diag.NotFound, "%s of %s is a branch (at commit %s), but only tags have signatures",
			ref.Rev,
			ref.URL, commit)
	}
	if ref.Rev == "" || isCommit(ref.Rev) {
		return "", diag.Errorf(diag.NotFound, "%s is pinned to a commit without a tag, but only tags have signatures",
			ref.URL)
	}
	return "", diag.Errorf(diag.NotFound, "%s does not have a tag %q", ref.URL, ref.Rev).WithHint("%s",
		refs.hint(ref.Rev))
}

// tagObject returns the content of a tag object after it has verified its id.
func (c *Client) tagObject(ctx context.Context, ref pack.Ref, commitID string, id plumbing.Hash) (data []byte,
	err error,
) {
	if isLocal(ref) {
		r, err := openLocal(ref)
		if err != nil {
			return nil, err
		}
		o := &repository{storage: r}
		defer func() { _ = o.Close() }() // read-only
		return readTag(o, id)
	}
	ref.Digest = commitID
	k := &commit{client: c, ref: ref, id: plumbing.NewHash(commitID)}
	if k.dir, err = c.cacheDir(ref); err != nil {
		return nil, err
	}
	p, err := c.remote(ref)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	data, err = k.receiveTag(ctx, p, want{ids: []plumbing.Hash{id}, have: k.id})
	if err == nil || ctx.Err() != nil || diag.CodeOf(err) == diag.Denied {
		return data, err
	}
	trees, err := p.supportsFilter(ctx)
	if err != nil {
		return nil, err
	}
	return k.receiveTag(ctx, p, want{ids: []plumbing.Hash{id}, shallow: true, trees: trees})
}

// receiveTag requests a tag object. If w.have is its commit, the server sends only the tag object.
func (k *commit) receiveTag(ctx context.Context, p *remote, w want) (data []byte, err error) {
	err = k.withScratchDir(func(temp string) error {
		received, err := k.receive(ctx, p, w, temp)
		if err != nil {
			return err
		}
		o := packfile.Set{received}
		data, err = readTag(o, w.ids[0])
		return errors.Join(err, o.Close())
	})
	return data, err
}

func readTag(o objects, id plumbing.Hash) ([]byte, error) {
	data, err := readVerified(o, plumbing.TagObject, id)
	switch {
	case err != nil && diag.CodeOf(err) == diag.Internal:
		return nil, diag.Errorf(diag.Integrity, "the tag object %s is missing or damaged: %s", id,
			textx.OneLine(err.Error()))
	case err != nil:
		return nil, err
	case len(data) > maxTag:
		return nil, packfile.TooLarge("a tag object has %d bytes; the limit is %d", len(data), maxTag)
	}
	return data, nil
}

// splitSignature splits a tag object as git does: the signature starts at the last line that begins one.
func splitSignature(data []byte) (payload, signature []byte) {
	signatureStart := len(data)
	for start := 0; start < len(data); {
		line := data[start:]
		for _, begin := range [...]string{
			"-----BEGIN PGP SIGNATURE-----", "-----BEGIN PGP MESSAGE-----", "-----BEGIN SIGNED MESSAGE-----",
			"-----BEGIN SSH SIGNATURE-----",
		} {
			if bytes.HasPrefix(line, []byte(begin)) {
				signatureStart = start
			}
		}
		end := bytes.IndexByte(line, '\n')
		if end < 0 {
			break
		}
		start += end + 1
	}
	return data[:signatureStart], data[signatureStart:]
}
