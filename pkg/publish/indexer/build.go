package indexer

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// BuildOptions configure [Client.Build].
type BuildOptions struct {
	Dir string // of the index; "" means the client's directory
	Out string // directory for derived files; "" means the index
}

// BuildReport is the result of [Client.Build].
type BuildReport struct {
	Index string      `json:"index"`
	Out   string      `json:"out"`
	Packs int         `json:"packs"` // in the catalog
	Files []BuiltFile `json:"files"`
}

// BuiltFile is a derived file.
type BuiltFile struct {
	Path    string `json:"path"` // relative to Out
	Size    int    `json:"size"`
	Changed bool   `json:"changed"` // it was missing or different
}

// Build writes the derived files of an index: the catalog. The same packs give the same bytes.
func (c *Client) Build(_ context.Context, o BuildOptions) (*BuildReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	dir, err := c.open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	out := &indexDir{dir: dir.dir, display: dir.display}
	if o.Out != "" {
		out.dir = c.Machine.Abs(o.Out)
		out.display = c.DisplayPath(out.dir)
	}
	c.Progress(skillpm.Event{Text: "reading " + dir.display})
	data, n, err := dir.catalog()
	if err != nil {
		return nil, err
	}
	r := &BuildReport{Index: dir.display, Out: out.display, Packs: n, Files: []BuiltFile{}}
	changed, err := out.write(index.CatalogPath, data)
	if err != nil {
		return nil, err
	}
	r.Files = append(r.Files, BuiltFile{Path: filepath.ToSlash(index.CatalogPath), Size: len(data), Changed: changed})
	return r, nil
}

// entries yields the packs of an index, sorted by name. It ends after the first error.
func (o *indexDir) entries() iter.Seq2[*index.Entry, error] {
	return func(yield func(*index.Entry, error) bool) {
		files, _, err := index.Files(o.fsys)
		if err != nil {
			yield(nil, err)
			return
		}
		for e, err := range index.ReadAll(o.fsys, files) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// catalog builds the catalog of an index, and counts its packs.
func (o *indexDir) catalog() (data []byte, packs int, err error) {
	var wrong error
	data, packs, err = catalog(index.UntilError(o.entries(), &wrong))
	if wrong != nil {
		return nil, 0, wrong
	}
	return data, packs, err
}

// catalog builds the catalog of packs that are sorted by name.
func catalog(entries iter.Seq[*index.Entry]) (data []byte, packs int, err error) {
	var buf bytes.Buffer
	err = index.WriteCatalog(&buf, func(yield func(index.CatalogEntry) bool) {
		for e := range entries {
			line, ok := e.Catalog()
			if !ok {
				continue
			}
			if packs++; !yield(line) {
				return
			}
		}
	})
	return buf.Bytes(), packs, err
}
