package publish

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

const usePacked = `use a file or directory that "skillpm publish --output" or "oras cp --to-oci-layout" created`

// PublishPacked publishes the layout that [Client.Pack] wrote, a tar or a directory, byte for byte. It publishes every
// version, those of a pack in ascending order. If it fails, the report has the versions published before the error.
func (c *Client) PublishPacked(ctx context.Context, packed string, o ReleaseOptions) (*WorkspaceReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	layout := c.Machine.Abs(packed)
	info, err := os.Stat(layout)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "%s does not exist", packed).WithHint(usePacked)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		dir, err := os.MkdirTemp("", "skillpm-from-")
		if err != nil {
			return nil, diag.Errorf(diag.Internal, "%w", err)
		}
		defer os.RemoveAll(dir) //nolint:errcheck // temporary
		if err := readLayoutFile(layout, dir); err != nil {
			e := diag.Errorf(diag.CodeOf(err), "%s: %w", packed, err)
			if diag.CodeOf(err) == diag.Invalid {
				e = e.WithHint(usePacked)
			}
			return nil, e
		}
		layout = dir
	}
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	ref := pack.Ref{Kind: pack.KindLayout, URL: filepath.ToSlash(layout)}
	packs, err := sources.OCI().Packs(ctx, ref)
	if err != nil {
		return nil, err
	}
	report := &WorkspaceReport{Packs: []*ReleaseReport{}}
	for _, p := range packs {
		ref.ID = p.ID
		id := p.ID
		if !p.Named {
			if id, err = unnamedTarget(packed, o.To); err != nil {
				return report, err
			}
		}
		if err := c.publishVersions(ctx, sources, ref, id, o, report); err != nil {
			return report, err
		}
	}
	if len(report.Packs) == 0 {
		return nil, diag.Errorf(diag.NotFound, "%s does not contain packs", packed).WithHint(usePacked)
	}
	return report, nil
}

// unnamedTarget returns the name that an artifact of another tool gets, which does not state one: that of the
// repository it is published to.
func unnamedTarget(packed, to string) (pack.ID, error) {
	if strings.HasPrefix(to, "oci://") && strings.Count(strings.TrimSuffix(to, "/"), "/") > 3 {
		if ref, err := pack.Parse(strings.TrimSuffix(to, "/")); err == nil {
			return ref.DefaultID()
		}
	}
	return pack.ID{}, diag.Errorf(diag.Usage, "%s contains an artifact of another tool, which does not name its pack",
		packed).WithHint("set the name with the repository: --to oci://REGISTRY/OWNER/NAME")
}

// publishVersions publishes all versions of one pack of a layout under a name, in ascending order, so that moving tags
// end at the highest one.
func (c *Client) publishVersions(ctx context.Context, sources *source.Clients, sourceRef pack.Ref, id pack.ID,
	o ReleaseOptions, report *WorkspaceReport,
) error {
	client, verifier := sources.OCI(), sources.Verifier(true)
	versions, err := client.Versions(ctx, sourceRef)
	if err != nil {
		return err
	}
	target, err := c.publishTarget(o.To, id)
	if err != nil {
		return err
	}
	for _, version := range slices.Backward(versions) {
		sourceRef.Rev = version
		r := newReport(&pack.Manifest{Name: id, Version: version}, "")
		r.Target, r.DryRun, r.Valid = target.ref.String(), o.DryRun, true
		r.setTarget(target)
		notes, err := c.MayPublish(target.ref, r.Pack, isSigned(ctx, verifier, sourceRef))
		if err != nil {
			return err
		}
		r.Warnings = append(r.Warnings, notes...)
		c.Progress(skillpm.Event{Text: "publishing " + r.Pack + " " + r.Version})
		var pushed oci.Pushed
		send := func() (err error) {
			pushed, err = client.Copy(ctx, sourceRef, target.ref, oci.CopyOptions{Moving: !o.KeepTags, Dry: o.DryRun})
			return err
		}
		if o.DryRun {
			err = send()
		} else {
			err = c.RecordPublish(target.ref, audit.Record{Pack: r.Pack, Version: r.Version}, send)
		}
		if err != nil {
			return err
		}
		r.Digest, r.Existed, r.Tags = pushed.Digest, pushed.Existed, append(r.Tags, pushed.Tags...)
		r.Source, r.Revision = pushed.Provenance.Source, pushed.Provenance.Revision
		if o.DryRun {
			r.Manifest = pushed.Manifest
		}
		report.Packs = append(report.Packs, r)
	}
	return nil
}

// isSigned reports whether an artifact in a layout has a signature. It does not verify the signer.
func isSigned(ctx context.Context, k *trust.Verifier, ref pack.Ref) bool {
	digest, err := k.Digest(ctx, ref)
	if err != nil {
		return false
	}
	ref.Digest = digest
	found, err := k.Find(ctx, ref, nil, nil)
	return err == nil && slices.ContainsFunc(found, func(f trust.Found) bool { return f.Kind == trust.KindSignature })
}

// Limits of a layout in a tar. Its contents are verified when they are read from the layout.
const (
	maxLayoutFiles = 100_000
	maxLayoutBytes = 4 << 30
)

// layoutName matches the names of the files in a layout, and the directory that it may be in.
var layoutName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([^/]+/)?(oci-layout|index\.json|blobs/sha256/[0-9a-f]{64})$`)
})

// readLayoutFile unpacks a layout from a tar. It ignores directories and the lock of a layout, and rejects all other
// entries that are not files of one layout.
func readLayoutFile(name, dir string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		return err
	}
	in, budget := tar.NewReader(f), int64(maxLayoutBytes)
	var parent *string
	for range maxLayoutFiles {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return diag.Errorf(diag.Invalid, "invalid tar archive: %w", err)
		}
		entry := strings.TrimPrefix(head.Name, "./")
		if head.Typeflag == tar.TypeDir || path.Base(entry) == oci.LayoutLock {
			continue
		}
		parts := layoutName().FindStringSubmatch(entry)
		if parts != nil && parent == nil {
			parent = &parts[1]
		}
		switch {
		case head.Typeflag != tar.TypeReg || parts == nil || parts[1] != *parent:
			return diag.Errorf(diag.Invalid, "%q is not part of an OCI image layout", head.Name)
		case head.Size > budget:
			return diag.Errorf(diag.Invalid, "the archive is larger than %d bytes", int64(maxLayoutBytes))
		}
		budget -= head.Size
		if err := writeNew(filepath.Join(dir, filepath.FromSlash(parts[2])), in); err != nil {
			return err
		}
	}
	return diag.Errorf(diag.Invalid, "the archive contains more than %d files", maxLayoutFiles)
}

// writeNew writes a file that must not exist yet.
func writeNew(name string, r io.Reader) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
