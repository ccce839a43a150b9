package website

import (
	"bytes"
	"context"
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// maxSite is the size of all artifacts that are read from one website, in bytes.
const maxSite = 512 << 20

// parallelFiles is how many files of a skill are downloaded at once.
const parallelFiles = 4

// artifact is the downloaded content of one skill.
type artifact struct {
	data   []byte // typeSkill, typeArchive
	zip    bool
	files  [][]byte // typeFiles: in the order of the entry
	digest string
}

// artifact downloads the content of a skill, or returns it if it was downloaded.
func (c *Client) artifact(ctx context.Context, s *site, e entry) (*artifact, error) {
	return s.artifacts.Get(ctx, e.name, func(ctx context.Context) (*artifact, error) {
		if e.kind == typeFiles {
			return c.downloadFiles(ctx, s, e)
		}
		return c.download(ctx, s, e)
	})
}

// getWithin is get for a file of a website, whose files together are limited. Several goroutines may use it for a site.
func (c *Client) getWithin(ctx context.Context, s *site, at *url.URL) (data []byte, mediaType string, err error) {
	most := min(maxSite, c.options.Limits.TotalBytes)
	rest := most - s.bytes.Load()
	ctx = httpx.WithReferral(ctx, &httpx.Referral{Origin: s.index})
	data, mediaType, err = c.get(ctx, at, max(0, min(c.options.Limits.FileBytes, rest)))
	if err == nil && s.bytes.Add(int64(len(data))) > most {
		err = diag.Errorf(diag.Invalid, "the skills at %s are larger than %d bytes", s.index.Host, most)
	}
	return data, mediaType, err
}

// download reads the artifact of an entry of version 0.2 and verifies its digest.
func (c *Client) download(ctx context.Context, s *site, e entry) (*artifact, error) {
	if err := checkArtifact(ctx, s.index, e.url); err != nil {
		return nil, err
	}
	data, mediaType, err := c.getWithin(ctx, s, e.url)
	if err != nil {
		return nil, err
	}
	if got := "sha256:" + textx.SHA256(string(data)); got != e.digest {
		return nil, &bundle.MismatchError{What: e.url.Redacted(), Want: e.digest, Got: got}
	}
	return &artifact{data: data, zip: isZip(mediaType, e.url.Path), digest: e.digest}, nil
}

// isZip decides the format of an archive by its media type, or by its name if the type is generic.
func isZip(mediaType, name string) bool {
	mediaType, _, _ = mime.ParseMediaType(mediaType) // "" if it is malformed
	switch mediaType {
	case "application/zip", "application/x-zip-compressed":
		return true
	case "application/gzip", "application/x-gzip", "application/x-tar", "application/x-gtar":
		return false
	}
	return strings.EqualFold(path.Ext(name), ".zip")
}

// downloadFiles reads the files of an entry of version 0.1. Their digest is that of their listing.
func (c *Client) downloadFiles(ctx context.Context, s *site, e entry) (*artifact, error) {
	a := &artifact{files: make([][]byte, len(e.files))}
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(parallelFiles)
	for i, name := range e.files {
		group.Go(func() (err error) {
			a.files[i], _, err = c.getWithin(ctx, s, e.url.JoinPath(name))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	lines := make([]string, len(e.files))
	for i, name := range e.files {
		lines[i] = textx.SHA256(string(a.files[i])) + " " + name + "\n"
	}
	slices.Sort(lines)
	a.digest = "sha256:" + textx.SHA256(strings.Join(lines, ""))
	return a, nil
}

// unpack streams the files of a skill.
func (a *artifact) unpack(e entry, limits bundle.Limits, sink bundle.Sink) error {
	options := bundle.UnpackOptions{Layout: bundle.Single, Skill: e.name, Limits: limits}
	switch {
	case e.kind == typeSkill:
		return sink.WriteFile(e.name, skill.File, false, int64(len(a.data)), bytes.NewReader(a.data))
	case e.kind == typeArchive && a.zip:
		return bundle.UnpackZip(bytes.NewReader(a.data), int64(len(a.data)), options, sink)
	case e.kind == typeArchive:
		return bundle.Unpack(bytes.NewReader(a.data), options, sink)
	}
	for i, name := range e.files {
		if bundle.Ignored(name, false) {
			continue
		}
		err := sink.WriteFile(e.name, name, false, int64(len(a.files[i])), bytes.NewReader(a.files[i]))
		if err != nil {
			return err
		}
	}
	return nil
}
