package scan

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// Problem is a kind of problem of an archive or of one of its entries.
type Problem int

// The problems.
const (
	HoldsNative    Problem = iota + 1 // a program for a processor
	HoldsCompiled                     // code for a virtual machine
	HoldsMacros                       // an office document with macros
	HoldsEncrypted                    // entries with a password
	HoldsText                         // a text with a hit; see Finding.Hit
	UnsafeEntry                       // a path outside of the archive, a link, a device, or a duplicate name
	OpaqueArchive                     // it cannot be checked: unknown format, nested too deeply, too large, or damaged
	problems
)

// Finding is a problem in an archive.
type Finding struct {
	Problem Problem
	Path    string // path of the entry, "" for the archive itself; in a nested archive, the paths of both
	Format  Format // format of the entry
	Count   int    // number of entries with the problem; Path is the first. 1 for HoldsText.
	Hit     Hit    // for HoldsText, with offsets in the entry
	Detail  string // a short fact for a message, such as "ELF program" or "links to ../x"
}

// Limits for archives.
const (
	maxEntries  = 10_000
	maxTotal    = 64 << 20 // unpacked bytes in total
	maxEntry    = 16 << 20 // bytes, of one entry
	maxRatio    = 200      // ratio of unpacked to packed bytes, above 1 MiB
	maxNested   = 1        // nested archives
	maxTextHits = 200
	maxParts    = 100 // nested documents
)

// Archive returns the problems of an archive's content that would be found outside of it too, and reports what cannot
// be checked. It reads zip, tar, gzip and bzip2, and one level of nested archives. An office document is a zip whose
// parts are not files of a skill: only its macros, programs and texts count. The name is that of the file, for messages
// and to determine the format of a compressed file.
func (s *Scanner) Archive(name string, data []byte) []Finding {
	w := archiveScan{scanner: s, budget: maxTotal}
	w.scanArchive(name, "", data, 0)
	return w.findings
}

// archiveScan is the scan of one archive.
type archiveScan struct {
	scanner  *Scanner
	findings []Finding
	first    [problems]int // index of the finding of a problem plus one, for those that are counted
	entries  int
	budget   int // bytes that may still be unpacked
	texts    int // HoldsText findings
	parts    int // nested documents
}

// report adds a finding. All findings of one problem are counted in one, except hits in texts.
func (w *archiveScan) report(f Finding) {
	f.Count = 1
	if f.Problem == HoldsText {
		if w.texts++; w.texts > maxTextHits {
			return
		}
	} else if k := w.first[f.Problem]; k > 0 {
		w.findings[k-1].Count++
		return
	} else {
		w.first[f.Problem] = len(w.findings) + 1
	}
	w.findings = append(w.findings, f)
}

func (w *archiveScan) reportOpaque(at string, f Format, format string, args ...any) {
	w.report(Finding{Problem: OpaqueArchive, Path: at, Format: f, Detail: fmt.Sprintf(format, args...)})
}

// scanArchive scans one archive, whose path inside of the outermost archive is at, and which is nested in depth others.
func (w *archiveScan) scanArchive(name, at string, data []byte, depth int) {
	switch f := Sniff(data); f {
	case Zip:
		w.scanZip(at, data, depth)
	case Tar:
		w.scanTar(at, bytes.NewReader(data), depth)
	case Gzip:
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			w.reportOpaque(at, f, "it is damaged")
			return
		}
		w.scanCompressed(strings.TrimSuffix(name, path.Ext(name)), at, f, r, len(data), depth)
	case Bzip2:
		r := bzip2.NewReader(bytes.NewReader(data))
		w.scanCompressed(strings.TrimSuffix(name, path.Ext(name)), at, f, r, len(data), depth)
	default:
		w.reportOpaque(at, f, "%s", f)
	}
}

// scanCompressed scans a compressed file: a tar, or one file.
func (w *archiveScan) scanCompressed(name, at string, f Format, r io.Reader, packed, depth int) {
	head := make([]byte, 1024)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		w.reportOpaque(at, f, "it is damaged")
		return
	}
	head = head[:n]
	r = io.MultiReader(bytes.NewReader(head), r)
	limited := &ratioReader{r: r, packed: packed}
	if Sniff(head) == Tar {
		w.scanTar(at, limited, depth)
		return
	}
	data, ok := w.unpack(at, f, limited)
	if ok {
		w.scanEntry(name, path.Join(at, path.Base(name)), data, depth)
	}
}

// errBomb is the error of a ratioReader.
var errBomb = errors.New("it expands to far more than its compressed size")

// ratioReader fails if a reader returns far more than it reads.
type ratioReader struct {
	r        io.Reader
	packed   int
	unpacked int
}

func (m *ratioReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.unpacked += n
	if m.unpacked > 1<<20 && m.unpacked/maxRatio > m.packed {
		return n, errBomb
	}
	return n, err
}

// unpack reads one entry, or reports why it cannot.
func (w *archiveScan) unpack(at string, f Format, r io.Reader) ([]byte, bool) {
	most := min(maxEntry, w.budget)
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	w.budget = max(0, w.budget-len(data))
	switch {
	case errors.Is(err, errBomb):
		w.reportOpaque(at, f, "%s", errBomb)
	case errors.Is(err, zip.ErrAlgorithm):
		w.reportOpaque(at, f, "its compression is unknown")
	case err != nil:
		w.reportOpaque(at, f, "it is damaged")
	case len(data) > most:
		w.reportOpaque(at, f, "it is too large")
	default:
		return data, true
	}
	return nil, false
}

// count counts an entry, and reports whether there are too many.
func (w *archiveScan) count(at string, f Format) bool {
	if w.entries++; w.entries > maxEntries {
		w.reportOpaque(at, f, "it has more than %d entries", maxEntries)
		return false
	}
	return true
}

func (w *archiveScan) scanZip(at string, data []byte, depth int) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if r == nil || err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		w.reportOpaque(at, Zip, "it is damaged")
		return
	}
	document := isDocument(r)
	seen := make(map[string]bool, len(r.File))
	for _, file := range r.File {
		if !w.count(at, Zip) {
			return
		}
		name := path.Join(at, file.Name)
		if !w.checkName(at, file.Name, seen) {
			continue
		}
		switch mode := file.Mode(); {
		case mode.IsDir():
			continue
		case mode&fs.ModeType != 0:
			w.report(Finding{Problem: UnsafeEntry, Path: name, Detail: "the entry is a link or a device"})
			continue
		case file.Flags&1 != 0:
			w.report(Finding{Problem: HoldsEncrypted, Path: name, Detail: "the entry has a password"})
			continue
		}
		if document && isMacro(file.Name) {
			w.report(Finding{Problem: HoldsMacros, Path: name, Detail: "macros"})
			continue
		}
		w.scanZipEntry(name, file, document, depth)
	}
}

func (w *archiveScan) scanZipEntry(name string, file *zip.File, document bool, depth int) {
	r, err := file.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		w.reportOpaque(name, Zip, "its compression is unknown")
		return
	}
	if err != nil {
		w.reportOpaque(name, Zip, "it is damaged")
		return
	}
	defer r.Close()
	data, ok := w.unpack(name, Zip, &ratioReader{r: r, packed: int(min(file.CompressedSize64, maxTotal))})
	if !ok {
		return
	}
	if document && w.parts < maxParts && Sniff(data) == Zip {
		w.parts++
		depth-- // a table in a text is a part of the document
	}
	w.scanEntry(name, name, data, depth)
}

// isDocument reports whether a zip is an office document or a book, which have an entry of a fixed name.
func isDocument(r *zip.Reader) bool {
	for i, f := range r.File {
		switch {
		case f.Name == "[Content_Types].xml", i == 0 && f.Name == "mimetype":
			return true
		}
	}
	return false
}

// isMacro reports whether an entry of a document holds macros.
func isMacro(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), "vbaproject.bin") || strings.HasPrefix(name, "Basic/") &&
		strings.HasSuffix(name, ".xml") &&
		!strings.HasSuffix(name, "-lc.xml") && !strings.HasSuffix(name, "-lb.xml")
}

func (w *archiveScan) scanTar(at string, r io.Reader, depth int) {
	archive := tar.NewReader(r)
	seen := make(map[string]bool)
	for {
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			w.checkTarEnd(at, r)
			return
		case errors.Is(err, errBomb):
			w.reportOpaque(at, Tar, "%s", errBomb)
			return
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			w.reportOpaque(at, Tar, "it is damaged")
			return
		}
		if !w.count(at, Tar) {
			return
		}
		if h.Typeflag == tar.TypeXGlobalHeader || !w.checkName(at, h.Name, seen) {
			continue
		}
		name := path.Join(at, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
		case tar.TypeReg:
			if h.Size > maxEntry {
				w.reportOpaque(name, Tar, "it is too large")
				return
			}
			data, ok := w.unpack(name, Tar, archive)
			if !ok {
				return
			}
			w.scanEntry(name, name, data, depth)
		default:
			w.report(Finding{Problem: UnsafeEntry, Path: name, Detail: "the entry is a link or a device"})
		}
	}
}

// checkTarEnd reports data after the end of a tar, where only zeros belong: readers ignore it silently.
func (w *archiveScan) checkTarEnd(at string, r io.Reader) {
	buf := make([]byte, 4096)
	for read := 0; read <= maxEntry; {
		n, err := r.Read(buf)
		read += n
		if len(bytes.Trim(buf[:n], "\x00")) > 0 {
			w.reportOpaque(at, Tar, "unexpected data after its end")
			return
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return
		default:
			w.reportOpaque(at, Tar, "unexpected data after its end")
			return
		}
	}
}

// scanEntry scans one unpacked file.
func (w *archiveScan) scanEntry(name, at string, data []byte, depth int) {
	switch f := Sniff(data); {
	case f.Native():
		w.report(Finding{Problem: HoldsNative, Path: at, Format: f, Detail: f.String()})
	case f.Compiled():
		w.report(Finding{Problem: HoldsCompiled, Path: at, Format: f, Detail: f.String()})
	case f.Archive() && depth >= maxNested:
		w.reportOpaque(at, f, "it is nested in too many archives")
	case f.Archive():
		w.scanArchive(name, at, data, depth+1)
	case f == Text, f == UTF16:
		if f == UTF16 {
			data = FromUTF16(data)
		}
		for _, h := range w.scanner.Text(data, textOptions(name, data)) {
			w.report(Finding{Problem: HoldsText, Path: at, Format: f, Hit: h, Detail: h.Detail})
		}
	}
}

// textOptions returns the options for a text in an archive, by its name and its first line.
func textOptions(name string, data []byte) Options {
	o := Options{Skill: path.Base(name) == "SKILL.md"}
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx":
		o.Markdown = true
	case ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl",
		".php", ".command":
		o.Script = true
	case ".svg":
		o.SVG = true
	}
	o.Script = o.Script || bytes.HasPrefix(data, []byte("#!"))
	return o
}

// checkName checks the name of an entry and reports one that leads out of the archive, or occurs twice.
func (w *archiveScan) checkName(at, name string, seen map[string]bool) bool {
	what := ""
	clean := path.Clean(name)
	dir := strings.HasSuffix(name, "/")
	switch {
	case name == "" || strings.HasPrefix(name, "/") || len(name) >= 2 && name[1] == ':':
		what = "its name is absolute"
	case strings.Contains(name, `\`):
		what = "its name contains a backslash"
	case pathx.Escapes(name) || strings.Contains("/"+name+"/", "/../"):
		what = "its name leads out of the archive"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7F || isBidi(r) || isTag(r) }):
		what = "its name contains invisible characters"
	case seen[clean] && !dir:
		what = "its name is duplicated in the archive"
	}
	seen[clean] = true
	if what == "" {
		return true
	}
	w.report(Finding{Problem: UnsafeEntry, Path: printablePath(at, name), Detail: what})
	return false
}

// printablePath returns the path of an entry without control characters.
func printablePath(at, name string) string {
	if at != "" {
		at += "/"
	}
	return at + strings.Trim(fmt.Sprintf("%q", name), `"`)
}
