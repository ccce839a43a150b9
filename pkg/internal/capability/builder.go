package capability

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

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
	files map[string][]string // paths by name
	runs  []run
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
func (b *Builder) Set() Set {
	b.addRuns()
	return b.found.sorted()
}

func (b *Builder) add(c policy.Capability, name, file string, line int, format string, args ...any) {
	b.found = append(b.found, Evidence{
		Capability: c, Name: clean(name), Path: file, Line: line, Why: clean(fmt.Sprintf(format, args...)),
	})
}

// Add inspects one file.
func (b *Builder) Add(f File) {
	if b.files == nil {
		b.files = map[string][]string{}
	}
	b.files[path.Base(f.Path)] = append(b.files[path.Base(f.Path)], f.Path)
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
		if f.Size > maxText {
			b.tooLarge(f)
		}
	case strings.EqualFold(path.Base(f.Path), skill.File):
		b.nested(f)
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
		b.servers(f.Path, 0, f.Data)
	case ".lsp.json":
		b.add(policy.Tools, f.Path+" "+digest(f.Data), f.Path, 0, "configures language servers")
	case "plugin.json":
		if path.Base(path.Dir(f.Path)) == ".claude-plugin" {
			b.add(policy.Hooks, f.Path+" "+digest(f.Data), f.Path, 0, "configures a plugin, which can have hooks")
			b.servers(f.Path, 0, f.Data)
		}
	case "openai.yaml":
		b.codex(f)
	default:
		switch path.Ext(base) {
		case ".exe", ".dll", ".so", ".dylib", ".msi", ".scr", ".node", ".jar", ".class", ".pyc", ".pyd", ".wasm",
			".appimage":
			b.add(policy.NativeBinaries, f.Path, f.Path, 0, "has the file extension of a program")
		}
	}
}

// servers adds a configuration of MCP servers at a line of a file.
func (b *Builder) servers(file string, line int, config []byte) {
	b.add(policy.NetworkTools, "MCP servers", file, line, "configures MCP servers")
	b.add(policy.Tools, file+" "+digest(config), file, line, "configures MCP servers")
}

// codex inspects the file in which skills name the MCP servers that Codex starts for them.
func (b *Builder) codex(f File) {
	if f.Size > headSize {
		b.servers(f.Path, 0, f.Data)
		return
	}
	var root yaml.Node
	if yaml.Unmarshal(f.Data, &root) != nil || len(root.Content) == 0 {
		return
	}
	for _, field := range fields(root.Content[0]) {
		if field.name == "dependencies" {
			b.servers(f.Path, field.line, []byte(value(field.value)))
		}
	}
}

// nested inspects the SKILL.md of a directory in the skill, which some agents also load. What it restricts does not
// restrict the skill.
func (b *Builder) nested(f File) {
	var inner Builder
	inner.main(f)
	if f.Size > maxText {
		b.tooLarge(f)
	}
	for _, e := range inner.found {
		if e.Path = f.Path; e.Capability != policy.Restriction {
			b.found = append(b.found, e)
		}
	}
	for _, r := range inner.runs {
		r.path = f.Path
		b.runs = append(b.runs, r)
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
		if flow.LanguageOf(f.Path, f.Data) == flow.Other {
			return
		}
	}
	b.code(f.Path, f.Summary, f.Data)
}

// isScript reports whether a text can be run: by its name, by its first line, or because it is executable and not a
// page.
func isScript(f File) bool {
	return scriptName(f.Path) || scan.Shebang(f.Data) || f.Executable && !markdownName(f.Path)
}

// tooLarge adds all capabilities that a script or a page can have.
func (b *Builder) tooLarge(f File) {
	switch {
	case isScript(f):
		const why = "is a script of %d bytes, which skillpm does not scan"
		b.add(policy.Scripts, f.Path, f.Path, 0, why, f.Size)
		b.unread(f.Path, why, f.Size)
	case markdownName(f.Path):
		b.unread(f.Path, "is a page of %d bytes, which skillpm does not scan", f.Size)
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

// scriptName reports whether a file has the name of a script on any system, of a notebook, or of a build file.
func scriptName(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch base {
	case "makefile", "gnumakefile", "justfile", "rakefile", ".envrc":
		return true
	}
	switch path.Ext(base) {
	case ".ps1", ".psm1", ".psd1", ".bat", ".cmd", ".vbs", ".vbe", ".jse", ".wsf", ".wsh", ".hta", ".lnk", ".desktop",
		".ksh", ".fish", ".csh", ".nu", ".xsh", ".bats", ".awk", ".tcl", ".exs", ".groovy", ".jl", ".swift", ".kts", ".el",
		".jsx", ".tsx", ".mts", ".cts", ".pyw", ".pyx", ".pth", ".ipynb", ".pm", ".raku", ".rake", ".mk",
		".scpt", ".applescript", ".command":
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
