package oci

import (
	"bytes"
	"context"
	"net/url"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Annotations returns the annotations that Push would give a release.
func Annotations(t testing.TB, rel Release, trees []bundle.Tree) map[string]string {
	t.Helper()
	info, err := rel.info(trees)
	if err != nil {
		t.Fatal(err)
	}
	return (&publisher{rel: rel, info: info}).annotations(info)
}

// CopyVersion copies a version's manifest and blobs unchanged to another location.
func CopyVersion(ctx context.Context, from *Client, src pack.Ref, to *Client, dst pack.Ref, tag string) error {
	a, err := from.open(ctx, src)
	if err != nil {
		return err
	}
	b, err := to.openWritable(ctx, dst)
	if err != nil {
		return err
	}
	end, err := b.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	doc, err := a.document(ctx, tag)
	if err != nil {
		return err
	}
	art, err := parseArtifact(doc)
	if err != nil {
		return err
	}
	for _, d := range append(art.manifest.Layers, art.manifest.Config) {
		r, err := a.blob(ctx, d)
		if err != nil {
			return err
		}
		var buf bytes.Buffer
		_, err = buf.ReadFrom(r)
		_ = r.Close()
		if err != nil {
			return err
		}
		if err := b.pushBlob(ctx, d, bytes.NewReader(buf.Bytes())); err != nil {
			return err
		}
	}
	return b.pushDocument(ctx, doc, tag)
}

// ParseArtifact is parseArtifact of bytes alone, for fuzzing.
func ParseArtifact(raw []byte) error {
	doc := document{raw: raw}
	doc.desc.Digest, doc.desc.Size = digestOf(raw), int64(len(raw))
	a, err := parseArtifact(doc)
	if err != nil {
		return err
	}
	_, err = a.layer()
	return err
}

// PackInfoRoundTrip parses the value of AnnotationPack and returns it encoded.
func PackInfoRoundTrip(text string) (string, error) {
	p, err := parsePackInfo(text)
	if err != nil {
		return "", err
	}
	return p.encode(), nil
}

// MayReceiveCredentials is mayReceiveCredentials.
func (c *Client) MayReceiveCredentials(registry, server *url.URL) bool {
	return c.mayReceiveCredentials(registry, server)
}

// DamageKept changes a byte of each layer that the client keeps.
func (c *Client) DamageKept(t testing.TB) {
	t.Helper()
	c.spool.mu.Lock()
	defer c.spool.mu.Unlock()
	for _, k := range c.spool.layers {
		if _, err := k.file.WriteAt([]byte{0xff}, k.desc.Size/2); err != nil {
			t.Fatal(err)
		}
	}
}

// Kept returns the number of layers that the client keeps.
func (c *Client) Kept() int {
	c.spool.mu.Lock()
	defer c.spool.mu.Unlock()
	return len(c.spool.layers)
}

// StatusRoundTrip parses a repository's status of its versions and returns it encoded.
func StatusRoundTrip(data []byte) ([]byte, error) {
	s, err := parseStatus(data)
	return []byte(canonical(s)), err
}

// TagsOf is tagsOf.
func TagsOf(text string) []string { return tagsOf(text) }

// NextPage is nextPage.
func NextPage(link string, at *url.URL) (*url.URL, error) { return nextPage(link, at) }
