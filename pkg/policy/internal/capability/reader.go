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

// The sizes in bytes beyond which a file is not looked into: what it may be able to do is not known then, and counts as
// if it could.
const (
	maxText    = 4 << 20
	maxArchive = 16 << 20
)

// Of returns what the skill at the root of a file system is able to do. The files are those that a bundle of it has:
// what can't be part of one, as a link, is an error, and so is a file that can't be read. What a bundle leaves out and
// what can be run all the same counts, too: see [Beside].
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

// reader looks at the files of one skill.
type reader struct {
	fsys  fs.FS
	scan  *scan.Scanner
	found Set
}

func (r *reader) add(c policy.Capability, file string, line int, format string, args ...any) {
	r.found = append(r.found, Evidence{Capability: c, Path: file, Line: line, Why: fmt.Sprintf(format, args...)})
}

// file looks at one file.
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
	if !readable && scan.Shebang(data) { // a system runs it, whatever comes behind its first line
		r.text(f, data[:min(len(data), maxText)])
	}
	if readable && format.Archive() { // one that calls itself a script or a page
		r.archive(f, data)
	}
	switch {
	case f.Path == skill.File:
		r.main(data)
	case format.Native() || format.Compiled():
		r.add(policy.NativeBinaries, f.Path, 0, "is compiled: %s", format)
	case !readable && f.Executable() && isDisplayFormat(format) && isText(data):
		r.add(policy.Scripts, f.Path, 0, "may be executed, and a shell reads its first line")
	case !readable && f.Executable() && !format.Archive() && !isDisplayFormat(format):
		r.add(policy.NativeBinaries, f.Path, 0, "may be executed, and can't be read")
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

// named adds what the name of a file shows.
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
			r.add(policy.NativeBinaries, f.Path, 0, "is a program by its name")
		}
	}
}

// text looks at a text that is no SKILL.md.
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

// isScript reports whether a text is one that is run: by its name, its first line, or because its owner may execute it
// and it is no page.
func isScript(f bundle.File, data []byte) bool {
	return scriptName(f.Path) || scan.Shebang(data) || f.Executable() && !markdownName(f.Path)
}

// tooLarge adds everything that a text may be able to do which is not looked into. The data is its beginning.
func (r *reader) tooLarge(f bundle.File, data []byte) {
	if !isScript(f, data) {
		return
	}
	for _, c := range []policy.Capability{policy.Scripts, policy.NetworkTools, policy.FileWrite} {
		r.add(c, f.Path, 0, "is a script of %d bytes, which is not looked into", f.Info.Size())
	}
}

// archive looks into an archive. What can't be looked into may be anything.
func (r *reader) archive(f bundle.File, data []byte) {
	if f.Info.Size() > maxArchive {
		r.add(policy.NativeBinaries, f.Path, 0, "is an archive of %d bytes, which is not looked into", f.Info.Size())
		return
	}
	if r.scan == nil {
		r.scan = scan.New()
	}
	for _, found := range r.scan.Archive(f.Path, data) {
		switch found.Problem {
		case scan.HoldsNative, scan.HoldsCompiled, scan.HoldsMacros:
			r.add(policy.NativeBinaries, f.Path, 0, "holds %s: %s", found.Path, found.Detail)
		case scan.HoldsEncrypted, scan.OpaqueArchive:
			r.add(policy.NativeBinaries, f.Path, 0, "is an archive that can't be looked into")
		}
	}
}

// read returns the bytes of a file, and of one that is larger than a limit so many.
func read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, limit))
}

// scriptName reports whether a file is a script by its name, for any system.
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

// isDisplayFormat reports whether a format is one that is shown and not run.
func isDisplayFormat(f scan.Format) bool { return f >= scan.Image && f <= scan.Database }

// isText reports whether a file begins with a line of plain text, as no picture does that is nothing else: a shell runs
// such a file where the system can't.
func isText(data []byte) bool {
	first, _, _ := bytes.Cut(data[:min(len(data), 4096)], []byte("\n"))
	return !bytes.ContainsFunc(first, func(c rune) bool { return c < ' ' && c != '\t' && c != '\r' || c > '~' })
}

func plural(more int) string {
	if more == 1 {
		return ", and one more place"
	}
	return fmt.Sprintf(", and %d more places", more)
}
