package publish

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// PackReport is the result of [Client.Pack].
type PackReport struct {
	*ReleaseReport
	Output string `json:"output"` // the written file or directory
}

// Pack checks a pack and writes it as an OCI image layout: into a directory, or as a tar if the name ends with .tar.
// The default name is OWNER-NAME-VERSION.tar. The layout has exactly the bytes that publishing would push, and the same
// pack gives the same file. A directory that already is a layout keeps its other packs.
func (c *Client) Pack(ctx context.Context, o ReleaseOptions, output string) (*PackReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	dir := c.packDir(o.Dir)
	m, err := c.releaseManifest(dir)
	if err != nil {
		return nil, err
	}
	if output == "" {
		output = m.Name.Owner + "-" + m.Name.Name + "-" + m.Version + ".tar"
	}
	if ext := strings.ToLower(filepath.Ext(output)); slices.Contains(otherArchives[:], ext) {
		return nil, diag.Errorf(diag.Usage, "cannot write --output %s: unsupported format %s", output,
			ext).
			WithHint("use --output %s.tar, or a directory", strings.TrimSuffix(strings.TrimSuffix(output,
				filepath.Ext(output)), ".tar"))
	}
	abs := c.Machine.Abs(output)
	layout := abs
	archived := strings.HasSuffix(abs, ".tar")
	if archived {
		if err := checkOutput(abs, output); err != nil {
			return nil, err
		}
		if layout, err = os.MkdirTemp("", "skillpm-pack-"); err != nil {
			return nil, diag.Errorf(diag.Internal, "%w", err)
		}
		defer os.RemoveAll(layout) //nolint:errcheck // temporary
	}
	o.packOnly = true
	r, err := c.publishAt(ctx, m, dir, pack.Ref{Kind: pack.KindLayout, URL: filepath.ToSlash(layout), ID: m.Name}, o)
	if err != nil {
		return nil, err
	}
	report := &PackReport{ReleaseReport: r, Output: abs}
	if !archived {
		return report, nil
	}
	r.Target = ""
	if !r.Valid {
		return report, nil
	}
	return report, writeLayoutFile(abs, layout)
}

// otherArchives are extensions of unsupported archives, because a directory with such a name is probably a mistake.
var otherArchives = [...]string{".zip", ".tgz", ".gz", ".bz2", ".tbz2", ".xz", ".txz", ".zst", ".7z", ".rar"}

// isPacked reports whether a file looks like a result of [writeLayout].
func isPacked(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := tar.NewReader(f).Next()
	return err == nil && (head.Name == "blobs/" || layoutName().MatchString(head.Name))
}

// checkOutput fails if the output exists and is not a packed file.
func checkOutput(abs, display string) error {
	info, err := os.Lstat(abs)
	if err == nil && !info.Mode().IsRegular() {
		return diag.Errorf(diag.Conflict, "%s is not a file", display).
			WithHint("use another name with --output")
	}
	if err == nil && info.Size() > 0 && !isPacked(abs) {
		return diag.Errorf(diag.Conflict, "%s already exists, and skillpm publish did not create it", display).
			WithHint("use another name with --output, or remove the file")
	}
	if _, err := os.Stat(filepath.Dir(abs)); errors.Is(err, fs.ErrNotExist) {
		return diag.Errorf(diag.NotFound, "directory %s does not exist", filepath.Dir(display)).
			WithHint("create the directory with: mkdir -p %s", filepath.Dir(display))
	}
	return nil
}

// writeLayoutFile writes a layout as a tar file, atomically.
func writeLayoutFile(name, layout string) error {
	return atomicfile.Stream(name, atomicfile.Options{Mode: 0o644, Sync: true},
		func(w io.Writer) error { return writeLayout(w, layout) })
}

// writeLayout writes a layout as a reproducible tar: sorted by name, without owners and times. It leaves out skillpm's
// own bookkeeping files.
func writeLayout(w io.Writer, layout string) error {
	var names []string
	err := filepath.WalkDir(layout, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != layout && !strings.HasPrefix(d.Name(), ".") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	out := tar.NewWriter(w)
	for _, path := range names {
		if err := addToTar(out, layout, path); err != nil {
			return err
		}
	}
	return out.Close()
}

func addToTar(out *tar.Writer, root, path string) error {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	head := &tar.Header{
		Name: filepath.ToSlash(rel), Mode: 0o644, Size: info.Size(), ModTime: time.Unix(0, 0),
		Format: tar.FormatUSTAR, Typeflag: tar.TypeReg,
	}
	if info.IsDir() {
		head.Name, head.Mode, head.Size, head.Typeflag = head.Name+"/", 0o755, 0, tar.TypeDir
		return out.WriteHeader(head)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := out.WriteHeader(head); err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}
