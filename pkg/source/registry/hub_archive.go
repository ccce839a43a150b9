package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// hubArchive is the described archive of one version.
type hubArchive struct {
	ref      pack.Ref // pinned
	files    fs.FS
	size     int // bytes in memory
	content  *pack.Content
	trees    map[string]string // digests of the skills
	warnings []string
}

// apmSkills is the directory of the skills in a package of apm.
const apmSkills = ".apm/skills"

// describeArchive reads the pack in an archive like that in a directory, and computes its digests. The digest for the
// lockfile is the one that the server states, and otherwise that of the content, because a server may pack the same
// files in other ways.
func describeArchive(ctx context.Context, ref pack.Ref, d *hubDownload, limits bundle.Limits) (*hubArchive, error) {
	data := d.data
	if !d.zip {
		var err error
		if data, err = zipOfTar(data, limits); err != nil {
			return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", ref, err)
		}
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: it is not a valid zip archive: %w", ref, err)
	}
	if len(archive.File) > limits.Files {
		return nil, diag.Errorf(diag.Invalid, "%s has %d entries; the limit is %d", ref, len(archive.File), limits.Files)
	}
	var files fs.FS = archive
	if info, err := fs.Stat(archive, apmSkills); err == nil && info.IsDir() && ref.Kind == pack.KindAPM {
		if files, err = fs.Sub(archive, apmSkills); err != nil {
			return nil, err
		}
	}
	a := &hubArchive{ref: ref, files: files, size: len(data), trees: map[string]string{}, warnings: d.warnings}
	if a.content, err = pack.Describe(files, ref); err != nil {
		if !strings.Contains(err.Error(), ref.String()) {
			err = fmt.Errorf("%s: %w", ref, err)
		}
		return nil, err
	}
	if m := a.content.Manifest; m != nil && (a.content.ID != ref.ID || m.Version != "" && m.Version != ref.Rev) {
		return nil, diag.Errorf(diag.Invalid, "%s contains %s %s", ref, a.content.ID, a.content.Version)
	}
	if ref.Kind == pack.KindAPM && a.content.Manifest == nil {
		deps, others, err := apmDependencies(archive)
		a.content.Dependencies = deps
		if err != nil {
			a.warnings = append(a.warnings,
				fmt.Sprintf("cannot read the dependencies of the apm package %s: %v", ref.ID, err))
		}
		if len(others) > 0 {
			a.warnings = append(a.warnings, fmt.Sprintf(
				"the apm package %s has dependencies that skillpm does not install: %s; install those that its skills need",
				ref.ID, textx.FirstAndMore(others, 5)))
		}
	}
	if err := a.hash(ctx, limits); err != nil {
		return nil, err
	}
	if a.ref.Digest = d.digest; a.ref.Digest == "" {
		a.ref.Digest = strings.TrimPrefix(bundle.Integrity(a.trees), "t1:")
	}
	return a, nil
}

// hash computes the digests of the skills. It leaves out skills that cannot be part of a pack, with warnings.
func (a *hubArchive) hash(ctx context.Context, limits bundle.Limits) error {
	hasher := bundle.NewHasher(limits)
	err := a.content.Stream(ctx, a.files, nil, hasher)
	if bad, ok := errors.AsType[*pack.BadSkillsError](err); ok && len(bad.Skills) < len(a.content.Skills) {
		for _, s := range bad.Skills {
			isBad := func(d pack.SkillDir) bool { return d.Name == s.Name }
			a.content.Skills = slices.DeleteFunc(a.content.Skills, isBad)
			a.warnings = append(a.warnings, s.Warning(a.ref.ID, a.ref.Rev))
		}
		hasher = bundle.NewHasher(limits)
		err = a.content.Stream(ctx, a.files, nil, hasher)
	}
	if err != nil {
		return err
	}
	for name, inventory := range hasher.Inventories() {
		a.trees[name] = inventory.Digest()
	}
	return nil
}

// pack returns the description of the archive.
func (a *hubArchive) pack() *pack.Pack {
	p := a.content.Pack(a.ref)
	p.ID, p.Version, p.Integrity = a.ref.ID, a.ref.Rev, bundle.Integrity(a.trees)
	for i, s := range p.Skills {
		p.Skills[i].Tree = a.trees[s.Name]
	}
	p.Warnings = append(p.Warnings, a.warnings...)
	return p
}

// zipOfTar converts a tar archive, compressed with gzip, to a zip archive, which can be read like a directory. Links
// and special files are refused.
func zipOfTar(data []byte, limits bundle.Limits) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "it is not a gzip archive: %w", err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	most := min(maxUnpackedTar, limits.TotalBytes)
	unpacked, entries := &io.LimitedReader{R: z, N: most}, 0
	for r := tar.NewReader(unpacked); ; entries++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case entries == limits.Files:
			return nil, diag.Errorf(diag.Invalid, "the archive has more than %d entries", limits.Files)
		case unpacked.N == 0:
			return nil, diag.Errorf(diag.Invalid, "the unpacked archive is larger than %d bytes", most)
		case err != nil:
			return nil, diag.Errorf(diag.Invalid, "the archive is damaged: %w", err)
		}
		if h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if h.Typeflag != tar.TypeReg {
			return nil, &bundle.EntryError{Entry: h.Name, Rule: "is neither a file nor a directory"}
		}
		if err := bundle.CheckPath(strings.TrimPrefix(h.Name, "./")); err != nil {
			return nil, err
		}
		if h.Size > limits.FileBytes {
			return nil, &bundle.EntryError{
				Entry: h.Name, Rule: fmt.Sprintf("has %d bytes; the limit is %d", h.Size, limits.FileBytes),
			}
		}
		if err := copyToZip(w, h, r); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// copyToZip adds one file of a tar to a zip.
func copyToZip(w *zip.Writer, h *tar.Header, r io.Reader) error {
	header := &zip.FileHeader{Name: strings.TrimPrefix(h.Name, "./"), Method: zip.Store}
	header.SetMode(fs.FileMode(h.Mode).Perm()) //nolint:gosec // only permission bits remain
	f, err := w.CreateHeader(header)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		return diag.Errorf(diag.Invalid, "the archive is damaged: %w", err)
	}
	return nil
}

// hubReason returns the reason in an error's body: text, or problem details as in RFC 7807.
func hubReason(resp *http.Response, data []byte) string {
	const limit = 300
	if resp.StatusCode == http.StatusOK || strings.Contains(resp.Header.Get("Content-Type"), "html") {
		return ""
	}
	var problem struct{ Title, Detail string }
	text := string(data[:min(len(data), limit)])
	if strings.Contains(resp.Header.Get("Content-Type"), "json") {
		if jsonx.Decode(data, &problem, jsonx.Options{ExactKeys: true}) != nil {
			return ""
		}
		if text = problem.Detail; text == "" {
			text = problem.Title
		}
	}
	return httpx.Clean(strings.TrimSpace(text[:min(len(text), limit)]))
}
