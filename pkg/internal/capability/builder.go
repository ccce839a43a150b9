package capability

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
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

// headSize is the number of bytes that show what a file is.
const headSize = 64 << 10

// Of returns the capabilities of the skill at the root of fsys. It inspects the files of the skill's bundle and those
// that the bundle omits although they can be run, see [Beside]. A file that cannot be read, and one that cannot be in a
// bundle, such as a link, is an error.
func Of(fsys fs.FS) (Set, error) {
	b := Builder{}
	add := func(f bundle.File) error {
		data, err := readCode(fsys, f)
		if err == nil {
			b.Add(File{Path: f.Path, Size: f.Info.Size(), Executable: f.Executable(), Data: data})
		}
		return err
	}
	if err := bundle.Walk(fsys, ".", nil, add); err != nil {
		return nil, err
	}
	beside, err := Beside(fsys)
	if err != nil {
		return nil, err
	}
	for _, f := range beside {
		switch source := compiledFrom(f.Path); {
		case f.Link != "": // its target is checked as a file
		case source != "" && exists(fsys, source):
			b.add(policy.Scripts, f.Path, f.Path, 0, "runs instead of %s", source)
		default:
			err = add(f.File)
		}
		if err != nil {
			return nil, err
		}
	}
	return b.Set(), nil
}

// Builder collects the capabilities of one skill from files that a caller has read. The zero value is ready for use.
type Builder struct {
	found Set
}

// scanner is the scanner for archives and SKILL.md.
var scanner = sync.OnceValue(func() *scan.Scanner { return scan.New() })

// File is one file of a skill.
type File struct {
	Path       string // in the skill, with slashes
	Size       int64
	Executable bool
	Data       []byte          // the content, or the first bytes of a file that is too large
	Format     scan.Format     // of the content; if it is 0, it is detected
	Summary    *flow.Summary   // what its code does; if it is nil, the file is analyzed
	Doc        *skill.Document // of SKILL.md; if it is nil, the text is parsed
	Hits       []scan.Hit      // of SKILL.md: what the scanner found; if it is nil, the text is scanned
}

// Set returns the capabilities of the files.
func (b *Builder) Set() Set { return b.found.sorted() }

func (b *Builder) add(c policy.Capability, name, file string, line int, format string, args ...any) {
	b.found = append(b.found, Evidence{
		Capability: c, Name: clean(name), Path: file, Line: line, Why: clean(fmt.Sprintf(format, args...)),
	})
}

// Add inspects one file.
func (b *Builder) Add(f File) {
	b.named(f)
	if f.Format == 0 {
		f.Format = scan.Sniff(f.Data)
	}
	if f.Format == scan.UTF16 {
		f.Data, f.Format = scan.FromUTF16(f.Data), scan.Text
	}
	readable := f.Format == scan.Text || scriptName(f.Path) || markdownName(f.Path)
	if !readable && scan.Shebang(f.Data) { // the system runs it by its first line, whatever follows
		f.Data = f.Data[:min(len(f.Data), maxText)]
		b.text(f)
	}
	if readable && f.Format.Archive() { // an archive that is named like a script or a page
		b.archive(f)
	}
	switch {
	case f.Path == skill.File:
		b.main(f)
	case f.Format.Native() || f.Format.Compiled():
		b.add(policy.NativeBinaries, f.Path, f.Path, 0, "is compiled: %s", f.Format)
	case !readable && f.Executable && isDisplayFormat(f.Format) && isText(f.Data):
		b.add(policy.Scripts, f.Path, f.Path, 0, "is executable text, which a shell can run")
	case !readable && f.Executable && !f.Format.Archive() && !isDisplayFormat(f.Format):
		b.add(policy.NativeBinaries, f.Path, f.Path, 0, "is executable, but skillpm cannot scan its format")
	case f.Format.Archive() && !readable:
		b.archive(f)
	case !readable:
	case f.Size > maxText:
		b.tooLarge(f)
	default:
		b.text(f)
	}
}

// named adds the capabilities that a file's name shows.
func (b *Builder) named(f File) {
	switch base := strings.ToLower(path.Base(f.Path)); base {
	case "hooks.json":
		b.add(policy.Hooks, f.Path+" "+digest(f.Data), f.Path, 0, "configures hooks")
	case ".mcp.json", "mcp.json":
		b.add(policy.NetworkTools, "MCP servers", f.Path, 0, "configures MCP servers")
		b.add(policy.Tools, f.Path+" "+digest(f.Data), f.Path, 0, "configures MCP servers")
	default:
		switch path.Ext(base) {
		case ".exe", ".dll", ".so", ".dylib", ".msi", ".scr", ".node", ".jar", ".class", ".pyc", ".pyd", ".wasm",
			".appimage":
			b.add(policy.NativeBinaries, f.Path, f.Path, 0, "has the file extension of a program")
		}
	}
}

// text inspects a text file other than SKILL.md.
func (b *Builder) text(f File) {
	if !isScript(f) && !markdownName(f.Path) {
		return
	}
	if f.Summary == nil {
		f.Summary = summarize(f)
	}
	if !isScript(f) {
		b.code(f.Path, f.Summary, nil)
		return
	}
	b.add(policy.Scripts, f.Path, f.Path, 0, "is a script")
	if !analyzed(f) && !markdownName(f.Path) {
		b.unread(f.Path, "is a script in a language that skillpm does not analyze")
		return
	}
	b.code(f.Path, f.Summary, f.Data)
}

// isScript reports whether a text can be run: by its name, by its first line, or because it is executable and not a
// page.
func isScript(f File) bool {
	return scriptName(f.Path) || scan.Shebang(f.Data) || f.Executable && !markdownName(f.Path)
}

// tooLarge adds all capabilities that a text can have.
func (b *Builder) tooLarge(f File) {
	if isScript(f) {
		const why = "is a script of %d bytes, which skillpm does not scan"
		b.add(policy.Scripts, f.Path, f.Path, 0, why, f.Size)
		b.unread(f.Path, why, f.Size)
	}
}

// archive inspects the files in an archive. One that cannot be read counts as a native binary.
func (b *Builder) archive(f File) {
	if f.Size > maxArchive {
		b.add(policy.NativeBinaries, f.Path, f.Path, 0, "is an archive of %d bytes, which skillpm does not scan", f.Size)
		return
	}
	for _, found := range scanner().Archive(f.Path, f.Data) {
		switch found.Problem {
		case scan.HoldsNative, scan.HoldsCompiled, scan.HoldsMacros:
			b.add(policy.NativeBinaries, f.Path, f.Path, 0, "contains %s: %s", found.Path, found.Detail)
		case scan.HoldsEncrypted, scan.OpaqueArchive:
			b.add(policy.NativeBinaries, f.Path, f.Path, 0, "is an archive that skillpm cannot scan")
		}
	}
}

// readCode returns the content of a file up to the limit for archives, or the beginning of one that has no code, such as
// an image.
func readCode(fsys fs.FS, f bundle.File) ([]byte, error) {
	if f.Info.Size() > headSize && !scriptName(f.Path) && !markdownName(f.Path) {
		head, err := read(fsys, f.Name, headSize)
		format := scan.Sniff(head)
		if err != nil || format != scan.Text && format != scan.UTF16 && !format.Archive() && !scan.Shebang(head) {
			return head, err
		}
	}
	return read(fsys, f.Name, maxArchive)
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
