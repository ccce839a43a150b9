package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// catalogReader reads the catalog of an index. The error is [fs.ErrNotExist] if the index does not have one.
type catalogReader interface {
	// catalog returns a function that opens the catalog, and a tag that changes with its content.
	catalog(ctx context.Context) (open func() (io.ReadCloser, error), tag string, err error)
}

// Catalog returns the packs that the index lists in its catalog.
func (r *indexRegistry) Catalog(ctx context.Context) (iter.Seq2[index.CatalogEntry, error], string, error) {
	c, ok := r.files.(catalogReader)
	if !ok {
		return nil, "", r.noCatalog()
	}
	open, tag, err := c.catalog(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		if err := r.check(ctx); err != nil {
			return nil, "", err
		}
		return nil, "", r.noCatalog()
	}
	if err != nil {
		return nil, "", err
	}
	return r.entriesOf(ctx, open), tag, nil
}

func (r *indexRegistry) noCatalog() error {
	return diag.Errorf(diag.NotFound, "cannot search %s: the index does not contain %s", r.name,
		index.CatalogPath).
		WithHint("install packs by name, or ask the owner of the index to run: skillpm index build")
}

// entriesOf reads a catalog. Errors name the registry.
func (r *indexRegistry) entriesOf(ctx context.Context, open func() (io.ReadCloser, error)) iter.Seq2[index.CatalogEntry,
	error] {
	return func(yield func(index.CatalogEntry, error) bool) {
		f, err := open()
		if err != nil {
			yield(index.CatalogEntry{}, fmt.Errorf("%s: %w", r.name, err))
			return
		}
		defer f.Close()
		for e, err := range index.ReadCatalog(f) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(index.CatalogEntry{}, fmt.Errorf("%s: %w", r.name, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// memory opens bytes in memory.
func memory(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// catalog returns the catalog file of the directory, or builds the catalog from the directory's packs.
func (d dirFiles) catalog(context.Context) (func() (io.ReadCloser, error), string, error) {
	info, err := fs.Stat(d.fsys, index.CatalogPath)
	if errors.Is(err, fs.ErrNotExist) {
		return d.buildCatalog()
	}
	if err != nil {
		return nil, "", err
	}
	tag := fmt.Sprintf("%d %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
	if info.ModTime().IsZero() { // true for embedded files
		data, err := safefile.ReadIn(d.fsys, index.CatalogPath, index.MaxCatalogBytes)
		return memory(data), textx.SHA256(data), err
	}
	return func() (io.ReadCloser, error) {
		return safefile.OpenIn(d.fsys, index.CatalogPath, index.MaxCatalogBytes)
	}, tag, nil
}

// buildCatalog builds a catalog from the packs of a directory. Its tag is the digest of its bytes.
func (d dirFiles) buildCatalog() (func() (io.ReadCloser, error), string, error) {
	if _, err := fs.Stat(d.fsys, index.ConfigPath); err != nil {
		return nil, "", err
	}
	var buf bytes.Buffer
	var wrong error
	err := index.WriteCatalog(&buf, index.UntilError(index.Catalog(d.fsys), &wrong))
	if err = errors.Join(wrong, err); err != nil {
		return nil, "", diag.Errorf(diag.CodeOf(err), "%s: %w", d.name, err)
	}
	return memory(buf.Bytes()), textx.SHA256(buf.Bytes()), nil
}

// cachedCatalog returns a catalog from the cache.
func (c cache) cachedCatalog(key string) (open func() (io.ReadCloser, error), tag string, ok bool) {
	note, ok := c.load(key)
	digest := string(note.Body)
	if !ok || note.Missing || !c.has(digest) {
		return nil, "", false
	}
	return func() (io.ReadCloser, error) {
		data, ok := c.loadBlob(digest)
		if !ok {
			return nil, diag.Errorf(diag.Integrity, "the cache of %s is damaged", key).
				WithHint("remove the cache with: skillpm cache gc --all")
		}
		return io.NopCloser(bytes.NewReader(data)), nil
	}, digest, true
}

// keepCatalog caches a catalog for offline use and returns its tag.
func (c cache) keepCatalog(key, etag string, data []byte) (open func() (io.ReadCloser, error), tag string) {
	digest := c.keep(data)
	c.store(key, cached{ETag: etag, Body: []byte(digest)})
	return memory(data), digest
}

// catalog returns the catalog of the pinned commit and caches it for offline use.
func (g *gitFiles) catalog(ctx context.Context) (func() (io.ReadCloser, error), string, error) {
	key := "catalog of " + g.ref.String()
	if g.offline {
		if open, tag, ok := g.cache.cachedCatalog(key); ok {
			return open, tag, nil
		}
		return nil, "", offlineError("the index " + g.ref.String())
	}
	tree, commit, err := g.refresh(ctx)
	if err != nil {
		return nil, "", err
	}
	if note, ok := g.cache.load(key); ok && note.ETag == commit && commit != "" {
		if open, tag, ok := g.cache.cachedCatalog(key); ok {
			return open, tag, nil
		}
	}
	open, _, err := dirFiles{g.ref.String(), tree}.catalog(ctx)
	if err != nil {
		return nil, "", err
	}
	f, err := open()
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, index.MaxCatalogBytes))
	if err != nil {
		return nil, "", err
	}
	openStored, tag := g.cache.keepCatalog(key, commit, data)
	return openStored, tag, nil
}

// catalog requests the catalog, or only whether the cached one is current.
func (w *httpFiles) catalog(ctx context.Context) (func() (io.ReadCloser, error), string, error) {
	at := w.base.JoinPath(index.CatalogPath)
	key := at.String()
	open, tag, ok := w.cache.cachedCatalog(key)
	if w.offline && !ok {
		return nil, "", diag.Errorf(diag.Remote, "%s is not cached, and skillpm is offline", key).
			WithHint("run the command without --offline")
	}
	if w.offline {
		return open, tag, nil
	}
	known := cached{}
	if ok {
		known, _ = w.cache.load(key)
	}
	resp, data, err := w.get(ctx, at, known.ETag, index.MaxCatalogBytes)
	if err != nil {
		return nil, "", err
	}
	switch changed, err := w.handleResponse(at, resp, data, index.MaxCatalogBytes); {
	case err != nil:
		return nil, "", err
	case !changed && ok:
		return open, tag, nil
	}
	fresh, tag := w.cache.keepCatalog(key, resp.Header.Get("ETag"), data)
	return fresh, tag, nil
}
