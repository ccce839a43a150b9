package indexer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// ReleaseOptions configure [Client.Publish].
type ReleaseOptions struct {
	Dir    string // of the index; "" means the client's directory
	To     string // oci://host/repository[:tag]
	DryRun bool   // build the artifact, but push nothing
}

// ReleaseReport is the result of [Client.Publish].
type ReleaseReport struct {
	Index    string `json:"index"`
	Registry string `json:"registry"` // the address for registry configurations
	Digest   string `json:"digest"`   // "" in a dry run
	Packs    int    `json:"packs"`
	Shards   int    `json:"shards"`
	Size     int64  `json:"size"` // bytes of all blobs
	DryRun   bool   `json:"dryRun"`

	Warnings []string `json:"warnings,omitempty"`
}

// Publish pushes an index as an OCI artifact, and moves the tag to it. The same packs give the same digest. Blobs that
// the registry already has are not uploaded.
func (c *Client) Publish(ctx context.Context, o ReleaseOptions) (*ReleaseReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	dir, err := c.open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	if !strings.HasPrefix(strings.TrimPrefix(o.To, "index+"), "oci://") {
		return nil, diag.Errorf(diag.Usage, "--to must be an OCI repository").
			WithHint("use oci://REGISTRY/REPOSITORY[:TAG]")
	}
	target, err := registry.OCIIndex("index+" + strings.TrimPrefix(o.To, "index+"))
	if err != nil {
		return nil, err
	}
	if target.Digest != "" {
		return nil, diag.Errorf(diag.Usage, "--to %s has a digest, but an index requires a tag", o.To).
			WithHint("remove the @ and the digest")
	}
	c.Progress(skillpm.Event{Text: "reading " + dir.display})
	a, packs, err := Artifact(dir.fsys)
	if err != nil {
		return nil, err
	}
	r := &ReleaseReport{Index: dir.display, Registry: "index+" + target.String(), Packs: packs, DryRun: o.DryRun}
	for _, b := range a.Blobs {
		r.Size += int64(len(b.Data))
		if b.MediaType == index.MediaTypeShard {
			r.Shards++
		}
	}
	if r.Warnings, err = c.MayPublish(target, "", true); err != nil || o.DryRun {
		return r, err
	}
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	if err := checkVacant(ctx, sources.OCI(), target); err != nil {
		return nil, err
	}
	c.Progress(skillpm.Event{Text: "publishing " + dir.display + " to " + target.String()})
	return r, c.RecordPublish(target, audit.Record{Reason: "an index"}, func() (err error) {
		r.Digest, err = sources.OCI().PutArtifact(ctx, target, a, target.Rev)
		return err
	})
}

// checkVacant fails if the tag names something other than an index, so that publishing does not replace a pack.
func checkVacant(ctx context.Context, client *oci.Client, target pack.Ref) error {
	raw, mediaType, err := client.Manifest(ctx, target)
	switch {
	case diag.CodeOf(err) == diag.NotFound:
		return nil
	case err != nil:
		return err
	}
	var m struct {
		ArtifactType string `json:"artifactType"`
		Config       struct {
			MediaType string `json:"mediaType"`
		} `json:"config"`
	}
	_ = json.Unmarshal(raw, &m) // not an index manifest
	if m.ArtifactType == index.ArtifactType {
		return nil
	}
	return diag.Errorf(diag.Conflict, "%s already exists and is not an index: its type is %q", target,
		cmp.Or(m.ArtifactType, m.Config.MediaType, mediaType)).
		WithHint("publish the index to another repository, or with another tag")
}

// Artifact builds the OCI artifact of an index directory, and counts its packs. It reads each file as clients do, and
// fails if clients would reject one.
func Artifact(fsys fs.FS) (a oci.Artifact, packs int, err error) {
	config, err := safefile.ReadIn(fsys, index.ConfigPath, index.MaxBytes)
	if err != nil {
		return a, 0, err
	}
	files, _, err := index.Files(fsys)
	if err != nil {
		return a, 0, err
	}
	var wrong error
	list, _, err := catalog(index.UntilError(index.ReadAll(fsys, files), &wrong))
	if err = cmp.Or(wrong, err); err != nil {
		return a, 0, err
	}
	a = oci.Artifact{Type: index.ArtifactType, Blobs: []oci.Blob{
		blob(index.MediaTypeConfig, index.ConfigPath, config), blob(index.MediaTypeCatalog, index.CatalogPath, list),
	}}
	for _, name := range advisory.FeedFiles() {
		data, err := safefile.ReadIn(fsys, name, advisory.MaxFeedBytes)
		if errors.Is(err, fs.ErrNotExist) {
			break // without advisories
		}
		if err != nil {
			return a, 0, err
		}
		a.Blobs = append(a.Blobs, blob(index.MediaTypeAdvisories, name, data))
	}
	shards, err := shards(fsys, files)
	a.Blobs = append(a.Blobs, shards...)
	return a, len(files), err
}

// blob returns a blob with a title, so that other tools write it to a file.
func blob(mediaType, title string, data []byte) oci.Blob {
	return oci.Blob{MediaType: mediaType, Annotations: map[string]string{ocispec.AnnotationTitle: title}, Data: data}
}

// shards distributes the packs' files by the hashes of their names. Empty shards are left out.
func shards(fsys fs.FS, files []index.File) ([]oci.Blob, error) {
	length := index.ShardBits(len(files))
	byPrefix := map[string][]index.File{}
	for _, f := range files {
		prefix := index.Prefix(f.ID, length)
		byPrefix[prefix] = append(byPrefix[prefix], f)
	}
	var list []oci.Blob
	for prefix, group := range byPrefix {
		slices.SortFunc(group, func(a, b index.File) int { return strings.Compare(a.Path, b.Path) })
		var buf bytes.Buffer
		var wrong error
		err := index.WriteShard(&buf, func(yield func(string, []byte) bool) {
			for _, f := range group {
				data, err := safefile.ReadIn(fsys, f.Path, index.MaxBytes)
				if err != nil {
					wrong = err
					return
				}
				if !yield(f.Path, data) {
					return
				}
			}
		})
		if err = cmp.Or(wrong, err); err != nil {
			return nil, err
		}
		if buf.Len() > index.MaxShardBytes {
			return nil, diag.Errorf(diag.Invalid,
				"the index is too large for an OCI registry: a part of the index has more than %d bytes", index.MaxShardBytes).
				WithHint("publish the index as files on a web server or in git")
		}
		b := blob(index.MediaTypeShard, "shards/"+cmp.Or(prefix, "all")+".tar.gz", buf.Bytes())
		b.Annotations[index.AnnotationPrefix] = prefix
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b oci.Blob) int {
		return strings.Compare(a.Annotations[index.AnnotationPrefix], b.Annotations[index.AnnotationPrefix])
	})
	return list, nil
}
