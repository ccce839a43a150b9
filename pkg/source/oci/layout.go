package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// layout is one pack in an OCI image layout. The reference name of a version is owner/name:version; [layoutEntry] has
// the other names that it reads.
type layout struct {
	fsys  fs.FS
	dir   string // "" if the layout is read-only
	title string // the name in messages
	id    pack.ID
	named bool // the user named the directory, so it must exist
}

func newLayoutDir(dir string, id pack.ID) *layout {
	return &layout{fsys: safefile.Dir(dir), dir: dir, title: dir, id: id}
}

// NoDirectoryError reports that the directory of a layout does not exist.
type NoDirectoryError struct {
	Pack pack.ID
	Dir  string
}

// Error names the directory, and the pack if it is known.
func (e *NoDirectoryError) Error() string {
	if e.Pack.IsZero() {
		return fmt.Sprintf("directory %s does not exist", e.Dir)
	}
	return fmt.Sprintf("%s: directory %s does not exist", e.Pack, e.Dir)
}

// Code returns [diag.NotFound].
func (e *NoDirectoryError) Code() diag.Code { return diag.NotFound }

// prefix is the part of a reference name before the tag.
func (l *layout) prefix() string {
	if l.id.IsZero() {
		return ""
	}
	return l.id.String() + ":"
}

// index reads index.json. A missing directory has an empty index; a directory that is not a layout is an error.
func (l *layout) index() (*ocispec.Index, error) {
	idx := &ocispec.Index{MediaType: ocispec.MediaTypeImageIndex}
	idx.SchemaVersion = 2
	if info, err := os.Stat(l.dir); l.dir != "" && err == nil && !info.IsDir() {
		return nil, diag.Errorf(diag.Invalid, "%s is a file, but an OCI layout is a directory", l.title).
			WithHint("unpack the file with tar -x, or publish it with: skillpm publish --from FILE")
	}
	data, err := safefile.ReadIn(l.fsys, ocispec.ImageIndexFile, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		entries, dirErr := fs.ReadDir(l.fsys, ".")
		switch {
		case dirErr != nil || isPartialLayout(entries):
			return idx, nil
		case slices.ContainsFunc(entries, isIndexFile): // another process created the layout just now
			data, err = safefile.ReadIn(l.fsys, ocispec.ImageIndexFile, maxIndex)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.Invalid, "%s is not an OCI layout: it does not contain index.json", l.title).
			WithHint("use another directory")
	}
	if err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", l.title, err)
	}
	idx = &ocispec.Index{}
	if err := json.Unmarshal(data, idx); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: index.json is not JSON: %v", l.title, err)
	}
	if idx.SchemaVersion != 2 || idx.MediaType != "" && idx.MediaType != ocispec.MediaTypeImageIndex {
		return nil, diag.Errorf(diag.Invalid, "%s is not an OCI layout: its index.json is not an OCI index", l.title).
			WithHint("use another directory")
	}
	return idx, nil
}

func isIndexFile(e fs.DirEntry) bool { return e.Name() == ocispec.ImageIndexFile }

// isPartialLayout reports whether a directory only holds a layout whose first index.json is not written yet.
func isPartialLayout(entries []fs.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		name := e.Name()
		return !strings.HasPrefix(name, ".") && name != ocispec.ImageBlobsDir && name != ocispec.ImageLayoutFile
	})
}

func (l *layout) tags(context.Context) ([]string, error) {
	if _, err := os.Stat(l.dir); l.named && errors.Is(err, fs.ErrNotExist) {
		return nil, &NoDirectoryError{Pack: l.id, Dir: l.dir}
	}
	entries, err := l.selected()
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, e := range entries {
		for _, tag := range []string{e.tag, e.version} {
			if tag != "" && !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	if tags == nil {
		return nil, l.notFound("")
	}
	return tags, nil
}

func (l *layout) notFound(tag string) error {
	what := "packs"
	if !l.id.IsZero() {
		what = l.id.String()
	}
	if tag != "" {
		what = l.id.String() + "@" + tag
	}
	err := diag.Errorf(diag.NotFound, "%s does not contain %s", l.title, what)
	if all, entriesErr := l.entries(); entriesErr == nil && len(all) > 0 && !l.id.IsZero() {
		if ids := packIDs(all); !slices.Contains(ids, l.id) && len(ids) > 0 {
			return err.WithHint("use a pack that the layout contains, such as oci-layout:DIR//%s", ids[0])
		}
	}
	return err
}

func (l *layout) document(_ context.Context, ref string) (document, error) {
	desc, err := l.find(ref)
	if err != nil {
		return document{}, err
	}
	doc, err := l.read(desc)
	if errors.Is(err, fs.ErrNotExist) && pack.IsDigest(ref) {
		return document{}, l.notFound(ref)
	}
	return doc, err
}

// read reads a manifest and verifies its bytes.
func (l *layout) read(desc ocispec.Descriptor) (document, error) {
	if desc.Size > maxManifest {
		return document{}, diag.Errorf(diag.Invalid, "%s: the OCI manifest of %s is larger than %d bytes", l.title,
			l.id, maxManifest)
	}
	raw, err := safefile.ReadIn(l.fsys, blobPath(desc), maxManifest)
	if err != nil {
		return document{}, diag.Errorf(diag.Integrity, "%s: %w", l.title, err).
			WithHint("publish the pack to the layout again")
	}
	if sum := digestOf(raw); sum != desc.Digest || (desc.Size != 0 && desc.Size != int64(len(raw))) {
		return document{}, &bundle.MismatchError{
			What: "OCI manifest of " + l.id.String() + " in " + l.title,
			Want: string(desc.Digest), Got: string(sum),
		}
	}
	desc.Size = int64(len(raw))
	if desc.MediaType == "" { // a digest alone does not have one
		desc.MediaType = mediaTypeOf(raw)
	}
	return document{
		desc: ocispec.Descriptor{MediaType: desc.MediaType, Digest: desc.Digest, Size: desc.Size},
		raw:  raw,
	}, nil
}

// find returns the descriptor that a tag or digest names. A digest need not be tagged.
func (l *layout) find(ref string) (ocispec.Descriptor, error) {
	if pack.IsDigest(ref) {
		return ocispec.Descriptor{Digest: digest.Digest(ref)}, nil
	}
	idx, err := l.index()
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	for _, d := range idx.Manifests {
		if d.Annotations[ocispec.AnnotationRefName] == l.prefix()+ref {
			return d, checkDescriptor(d)
		}
	}
	return l.findEntry(ref)
}

func (l *layout) blob(_ context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	f, err := l.fsys.Open(blobPath(d))
	if err != nil {
		return nil, diag.Errorf(diag.Integrity, "%s: %w", l.title, err).
			WithHint("publish the pack to the layout again")
	}
	return f, nil
}

func blobPath(d ocispec.Descriptor) string {
	return "blobs/sha256/" + strings.TrimPrefix(string(d.Digest), "sha256:")
}
