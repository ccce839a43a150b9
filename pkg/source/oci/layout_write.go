package oci

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
)

// LayoutLock is the file that a writer of a layout locks. It is never removed, because that would let two writers in.
const LayoutLock = ".skillpm-lock"

func (l *layout) begin(ctx context.Context) (func(), error) {
	if l.dir == "" {
		return nil, diag.Errorf(diag.Denied, "cannot publish to %s: it is read-only", l.title)
	}
	if _, err := l.index(); err != nil { // never write into other directories
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(l.dir, "blobs", "sha256"), 0o755); err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	name := filepath.Join(l.dir, LayoutLock)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() { // opening a pipe would block
		return nil, diag.Errorf(diag.Invalid, "the lock %s is not a regular file", name).
			WithHint("remove %s, then run the command again", name)
	}
	lock := flock.New(name)
	wait := activity.Begin(ctx, &activity.Wait{Source: "another process that writes to " + l.title})
	_, err := lock.TryLockContext(ctx, 20*time.Millisecond)
	if wait.End(); err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", l.title, err)
	}
	return func() { _ = lock.Close() }, nil
}

func (l *layout) pushBlob(_ context.Context, d ocispec.Descriptor, content io.ReadSeeker) error {
	path := filepath.Join(l.dir, filepath.FromSlash(blobPath(d)))
	if ok, err := l.intact(d); err != nil || ok {
		return err
	}
	if err := writeFile(path, content); err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	return nil
}

// intact reports whether the blob exists and matches its digest. A damaged one is written again.
func (l *layout) intact(d ocispec.Descriptor) (bool, error) {
	f, err := l.fsys.Open(blobPath(d))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, diag.Errorf(diag.Internal, "%w", err)
	}
	defer func() { _ = f.Close() }()
	v := newVerifier(f, d, "blob")
	return v.drain() == nil, nil
}

func (l *layout) pushDocument(ctx context.Context, doc document, tag string) error {
	if err := l.pushBlob(ctx, doc.desc, bytes.NewReader(doc.raw)); err != nil {
		return err
	}
	if tag == "" {
		return nil
	}
	idx, err := l.index()
	if err != nil {
		return err
	}
	desc := doc.desc
	desc.Annotations = map[string]string{ocispec.AnnotationRefName: l.prefix() + tag}
	idx.Manifests = slices.DeleteFunc(idx.Manifests, func(d ocispec.Descriptor) bool {
		return d.Annotations[ocispec.AnnotationRefName] == l.prefix()+tag
	})
	idx.Manifests = append(idx.Manifests, desc)
	slices.SortFunc(idx.Manifests, func(a, b ocispec.Descriptor) int {
		const name = ocispec.AnnotationRefName
		return cmp.Or(cmp.Compare(a.Annotations[name], b.Annotations[name]), cmp.Compare(a.Digest, b.Digest))
	})
	return l.writeIndex(idx)
}

func (l *layout) writeIndex(idx *ocispec.Index) error {
	version, err := json.Marshal(ocispec.ImageLayout{Version: ocispec.ImageLayoutVersion})
	if err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	data, err := json.MarshalIndent(idx, "", "  ")
	if err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	if err := writeFile(filepath.Join(l.dir, ocispec.ImageLayoutFile), bytes.NewReader(version)); err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	if err := writeFile(filepath.Join(l.dir, ocispec.ImageIndexFile), bytes.NewReader(append(data, '\n'))); err != nil {
		return diag.Errorf(diag.Internal, "%w", err)
	}
	return nil
}

// writeFile replaces a file atomically: readers, and a crash, leave either the old or the new content.
func writeFile(path string, content io.Reader) error {
	return atomicfile.From(path, content, atomicfile.Options{Mode: 0o644, Sync: true})
}

// referrers finds the referrers among the manifests in index.json. Manifests with a reference name are versions.
func (l *layout) referrers(ctx context.Context, subject, artifactType string) ([]ocispec.Descriptor, error) {
	idx, err := l.index()
	if err != nil {
		return nil, err
	}
	var found []ocispec.Descriptor
	for _, d := range idx.Manifests {
		about := d.Annotations[annotationSubject]
		other := artifactType != "" && d.ArtifactType != "" && d.ArtifactType != artifactType || about != "" &&
			about != subject
		if other || d.Annotations[ocispec.AnnotationRefName] != "" || d.MediaType != ocispec.MediaTypeImageManifest ||
			checkDescriptor(d) != nil {
			continue
		}
		doc, err := l.document(ctx, string(d.Digest))
		if err != nil {
			return nil, err
		}
		var m struct {
			Subject struct {
				Digest string `json:"digest"`
			} `json:"subject"`
		}
		if json.Unmarshal(doc.raw, &m) == nil && m.Subject.Digest == subject {
			found = append(found, d)
		}
	}
	return found, nil
}

// attach stores a referrer and lists it.
func (l *layout) attach(ctx context.Context, doc document, m *ocispec.Manifest) error {
	if err := l.pushDocument(ctx, doc, ""); err != nil {
		return err
	}
	idx, err := l.index()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(idx.Manifests, func(d ocispec.Descriptor) bool {
		return d.Digest == doc.desc.Digest && d.Annotations[ocispec.AnnotationRefName] == ""
	}) {
		return nil
	}
	descriptor := referrerEntry(doc, m)
	// The manifest's annotations stay its own: in an index.json those of an entry say what to look for.
	descriptor.Annotations = map[string]string{annotationSubject: string(m.Subject.Digest)}
	idx.Manifests = append(idx.Manifests, descriptor)
	return l.writeIndex(idx)
}
