package index

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/klauspost/compress/gzip"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// CatalogPath is the path of the catalog in an index.
const CatalogPath = "catalog.ndjson.gz"

// The limits of a catalog. Two million packs fit.
const (
	MaxCatalogBytes = 256 << 20 // of the file
	maxCatalogText  = 2 << 30   // uncompressed
	maxCatalogLine  = 1 << 20
	maxCatalogLines = 4 << 20
)

// CatalogEntry describes a pack in a catalog by its best version.
type CatalogEntry struct {
	Name        string         `json:"name"`    // owner/name
	Version     string         `json:"version"` // the highest release, or the highest pre-release if there is none
	Description string         `json:"description,omitempty"`
	License     string         `json:"license,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	Published   string         `json:"published,omitempty"` // RFC 3339, of that version
	Skills      []CatalogSkill `json:"skills"`              // sorted by name
	Deprecated  string         `json:"deprecated,omitempty"`
	Content     string         `json:"content,omitempty"` // equal for packs with the same skills
	// When a version with this content, and when any version, was first published; "" for Published.
	ContentSince string `json:"contentSince,omitempty"`
	Since        string `json:"since,omitempty"`
}

// CatalogSkill is a skill of a pack.
type CatalogSkill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Catalog returns the line of the pack in a catalog. ok is false if every version is yanked.
func (e *Entry) Catalog() (c CatalogEntry, ok bool) {
	available := func(l Line) bool { return l.Yanked == "" && CheckVersion(l.Version) == nil }
	release := func(l Line) bool { return available(l) && semver.MustParse(l.Version).Prerelease() == "" }
	best := slices.IndexFunc(e.Versions, release)
	if best < 0 {
		best = slices.IndexFunc(e.Versions, available)
	}
	if best < 0 {
		return CatalogEntry{}, false
	}
	l := e.Versions[best]
	c = CatalogEntry{
		Name: l.Name, Version: l.Version, Description: l.Description, License: l.License, Tags: l.Tags,
		Published: l.Published, Deprecated: e.Deprecated, Skills: make([]CatalogSkill, len(l.Skills)),
	}
	for i, s := range l.Skills {
		c.Skills[i] = CatalogSkill{Name: s.Name, Description: s.Description}
	}
	o := e.Origin(l)
	c.Content = o.Content
	if o.ContentSince != l.Published {
		c.ContentSince = o.ContentSince
	}
	if o.Since != l.Published {
		c.Since = o.Since
	}
	return c, true
}

// Origin returns how old the content of a version is.
func (c *CatalogEntry) Origin() Origin {
	return Origin{
		Content: c.Content, ContentSince: cmp.Or(c.ContentSince, c.Published), Since: cmp.Or(c.Since, c.Published),
		Deprecated: c.Deprecated != "",
	}
}

// WriteCatalog writes a compressed catalog. The entries must be sorted by name. The same entries give the same bytes on
// every machine.
func WriteCatalog(w io.Writer, entries iter.Seq[CatalogEntry]) error {
	zw, err := gzip.NewWriterLevel(w, 6)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(zw)
	enc.SetEscapeHTML(false)
	last := ""
	for e := range entries {
		if e.Name <= last {
			return diag.Errorf(diag.Internal, "the list of packs must be sorted by name: %q comes after %q", e.Name, last)
		}
		last = e.Name
		if e.Skills == nil {
			e.Skills = []CatalogSkill{}
		}
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return zw.Close()
}

// ReadCatalog yields the entries of a catalog in order of names, and ends after the first error. The catalog may be
// compressed or, if a server decompressed it, text.
func ReadCatalog(r io.Reader) iter.Seq2[CatalogEntry, error] {
	return func(yield func(CatalogEntry, error) bool) {
		text, err := decompress(r)
		if err != nil {
			yield(CatalogEntry{}, err)
			return
		}
		limited := &io.LimitedReader{R: text, N: maxCatalogText + 1}
		lines := bufio.NewScanner(limited)
		lines.Buffer(make([]byte, 64<<10), maxCatalogLine)
		last, n := "", 0
		for lines.Scan() {
			if n++; n > maxCatalogLines {
				yield(CatalogEntry{}, diag.Errorf(diag.Invalid, "%s has more than %d lines", CatalogPath, maxCatalogLines))
				return
			}
			raw := bytes.TrimRight(lines.Bytes(), space)
			if len(raw) == 0 {
				continue
			}
			e, err := parseCatalogLine(raw, last)
			if err != nil {
				yield(CatalogEntry{}, &SyntaxError{Path: CatalogPath, Line: n, Err: err})
				return
			}
			last = e.Name
			if !yield(e, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(CatalogEntry{},
				&SyntaxError{Path: CatalogPath, Line: n + 1, Err: fmt.Errorf("the line is larger than %d bytes", maxCatalogLine)})
		case err != nil:
			yield(CatalogEntry{}, diag.Errorf(diag.Invalid, "%s: %w", CatalogPath, err))
		case limited.N <= 0:
			yield(CatalogEntry{}, diag.Errorf(diag.Invalid, "the unpacked %s is larger than %d bytes", CatalogPath,
				maxCatalogText))
		}
	}
}

// decompress returns the text of a catalog, which may be compressed.
func decompress(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := buffered.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	zr, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %w", CatalogPath, err)
	}
	zr.Multistream(false)
	return zr, nil
}

func parseCatalogLine(raw []byte, last string) (CatalogEntry, error) {
	var e CatalogEntry
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, describeJSON(err)
	}
	if _, err := pack.ParseID(e.Name); err != nil {
		return e, err
	}
	if err := CheckVersion(e.Version); err != nil {
		return e, err
	}
	if e.Name <= last {
		return e, errors.New("the names are not sorted: " + e.Name + " comes after " + last)
	}
	return e, nil
}
