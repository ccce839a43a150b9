package capability

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Maximum sizes in bytes of files that are inspected. A larger file counts as having every capability that its kind can
// have.
const (
	maxText    = 4 << 20
	maxArchive = 16 << 20
)

// Of returns the capabilities of the skill at the root of fsys. It inspects the files of the skill's bundle and those
// that the bundle omits although they can be run, see [Beside]. A file that cannot be read, and one that cannot be in a
// bundle, such as a link, is an error.
func Of(fsys fs.FS) (Set, error) {
	r := reader{fsys: fsys}
	if err := bundle.Walk(fsys, ".", nil, r.file); err != nil {
		return nil, err
	}
	beside, err := Beside(fsys)
	if err != nil {
		return nil, err
	}
	for _, f := range beside {
		if err := r.beside(f); err != nil {
			return nil, err
		}
	}
	return r.found.sorted(), nil
}

// reader inspects the files of one skill.
type reader struct {
	fsys  fs.FS
	scan  *scan.Scanner
	found Set
}

func (r *reader) add(c policy.Capability, file string, line int, format string, args ...any) {
	r.found = append(r.found, Evidence{Capability: c, Path: file, Line: line, Why: fmt.Sprintf(format, args...)})
}

// file inspects one file.
func (r *reader) file(f bundle.File) error {
	limit := int64(maxArchive)
	data, err := read(r.fsys, f.Name, limit)
	if err != nil {
		return err
	}
	r.named(f)
	format := scan.Sniff(data)
	if format == scan.UTF16 {
		data, format = scan.FromUTF16(data), scan.Text
	}
	readable := format == scan.Text || scriptName(f.Path) || markdownName(f.Path)
	if !readable && scan.Shebang(data) { // the system runs it by its first line, whatever follows
		r.text(f, data[:min(len(data), maxText)])
	}
	if readable && format.Archive() { // an archive that is named like a script or a page
		r.archive(f, data)
	}
	switch {
	case f.Path == skill.File:
		r.main(data)
	case format.Native() || format.Compiled():
		r.add(policy.NativeBinaries, f.Path, 0, "is compiled: %s", format)
	case !readable && f.Executable() && isDisplayFormat(format) && isText(data):
		r.add(policy.Scripts, f.Path, 0, "is executable text, which a shell can run")
	case !readable && f.Executable() && !format.Archive() && !isDisplayFormat(format):
		r.add(policy.NativeBinaries, f.Path, 0, "is executable, but skillpm cannot scan its format")
	case format.Archive() && !readable:
		r.archive(f, data)
	case !readable:
	case f.Info.Size() > maxText:
		r.tooLarge(f, data)
	default:
		r.text(f, data)
	}
	return nil
}

// named adds the capabilities that a file's name shows.
func (r *reader) named(f bundle.File) {
	switch base := strings.ToLower(path.Base(f.Path)); base {
	case "hooks.json":
		r.add(policy.Hooks, f.Path, 0, "configures hooks")
	case ".mcp.json", "mcp.json":
		r.add(policy.NetworkTools, f.Path, 0, "configures MCP servers")
	default:
		switch path.Ext(base) {
		case ".exe", ".dll", ".so", ".dylib", ".msi", ".scr", ".node", ".jar", ".class", ".pyc", ".pyd", ".wasm",
			".appimage":
			r.add(policy.NativeBinaries, f.Path, 0, "has the file extension of a program")
		}
	}
}

// text inspects a text file other than SKILL.md.
func (r *reader) text(f bundle.File, data []byte) {
	script := isScript(f, data)
	if script {
		r.add(policy.Scripts, f.Path, 0, "is a script")
		r.program(f.Path, data)
	}
	if markdownName(f.Path) {
		r.page(f.Path, data, 0)
	}
}

// isScript reports whether a text can be run: by its name, by its first line, or because it is executable and not a
// page.
func isScript(f bundle.File, data []byte) bool {
	return scriptName(f.Path) || scan.Shebang(data) || f.Executable() && !markdownName(f.Path)
}

// tooLarge adds all capabilities that a text can have. Data is the beginning of the file.
func (r *reader) tooLarge(f bundle.File, data []byte) {
	if !isScript(f, data) {
		return
	}
	for _, c := range []policy.Capability{policy.Scripts, policy.NetworkTools, policy.FileWrite} {
		r.add(c, f.Path, 0, "is a script of %d bytes, which skillpm does not scan", f.Info.Size())
	}
}

// archive inspects the files in an archive. One that cannot be read counts as a native binary.
func (r *reader) archive(f bundle.File, data []byte) {
	if f.Info.Size() > maxArchive {
		r.add(policy.NativeBinaries, f.Path, 0, "is an archive of %d bytes, which skillpm does not scan", f.Info.Size())
		return
	}
	if r.scan == nil {
		r.scan = scan.New()
	}
	for _, found := range r.scan.Archive(f.Path, data) {
		switch found.Problem {
		case scan.HoldsNative, scan.HoldsCompiled, scan.HoldsMacros:
			r.add(policy.NativeBinaries, f.Path, 0, "contains %s: %s", found.Path, found.Detail)
		case scan.HoldsEncrypted, scan.OpaqueArchive:
			r.add(policy.NativeBinaries, f.Path, 0, "is an archive that skillpm cannot scan")
		}
	}
}

// read returns the bytes of a file, up to limit.
func read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit))
}

// scriptName reports whether a file has the name of a script on any system.
func scriptName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".ps1", ".psm1", ".bat", ".cmd", ".vbs", ".wsf", ".ksh", ".fish", ".csh", ".awk", ".tcl", ".exs", ".groovy",
		".jsx", ".tsx", ".mts", ".cts", ".pyw", ".scpt", ".applescript", ".command":
		return true
	}
	return scan.ScriptName(name)
}

func markdownName(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown" || ext == ".mdx"
}

// isDisplayFormat reports whether a format is displayed and not run.
func isDisplayFormat(f scan.Format) bool { return f >= scan.Image && f <= scan.Database }

// isText reports whether a file begins with a line of plain text. Pure images do not; shells run such files if the
// kernel cannot.
func isText(data []byte) bool {
	first, _, _ := bytes.Cut(data[:min(len(data), 4096)], []byte("\n"))
	return !bytes.ContainsFunc(first, func(c rune) bool { return c < ' ' && c != '\t' && c != '\r' || c > '~' })
}

func plural(more int) string {
	if more == 1 {
		return ", and one more location"
	}
	return fmt.Sprintf(", and %d more locations", more)
}
