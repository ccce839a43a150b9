package render

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Destination is a format and the file for it.
type Destination struct {
	Format
	File string // "" for standard output
}

// Destinations combines --format and --output. Formats without a file go to standard output, which accepts one; the
// default is text.
func Destinations(chosen []Format, outputs []string) ([]Destination, error) {
	var destinations []Destination
	for _, value := range outputs {
		d, err := newDestination(value, chosen)
		if err != nil {
			return nil, err
		}
		if d.File != "" && slices.ContainsFunc(destinations, func(t Destination) bool { return t.File == d.File }) {
			return nil, diag.Errorf(diag.Usage, "cannot write two reports to --output %s", d.File).
				WithHint("use a different file for each report")
		}
		destinations = append(destinations, d)
	}
	if len(chosen) == 0 && !slices.ContainsFunc(destinations, Destination.direct) {
		destinations = append(destinations, Destination{Format: formats()[0]})
	}
	for _, f := range chosen {
		if !slices.ContainsFunc(destinations, func(t Destination) bool { return t.name == f.name }) {
			destinations = append(destinations, Destination{Format: f})
		}
	}
	return destinations, oneDirect(destinations)
}

func (d Destination) direct() bool { return d.File == "" }

// oneDirect returns an error if several reports would go to standard output.
func oneDirect(destinations []Destination) error {
	var names []string
	for _, d := range destinations {
		if d.direct() {
			names = append(names, d.name)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return diag.Errorf(diag.Usage, "cannot write several reports to standard output: %s", textx.And(names)).
		WithHint("write one report to a file, for example with --output %s=FILE", names[len(names)-1])
}

// newDestination parses a value of --output: [FORMAT=]FILE, with - for standard output. The default format is that of
// the file's extension, or else the only given one.
func newDestination(value string, chosen []Format) (Destination, error) {
	file, name := value, ""
	if before, after, ok := strings.Cut(value, "="); ok && isWord(before) {
		name, file = before, after
	}
	if file == "" {
		return Destination{}, diag.Errorf(diag.Usage, "--output %q does not name a file", value).
			WithHint("use --output FORMAT=FILE")
	}
	d := Destination{File: file}
	if file == "-" {
		d.File = ""
	}
	var err error
	switch byName := formatOfFile(file, chosen); {
	case name != "":
		d.Format, err = findFormat(name, append(formats(), chosen...))
	case byName != nil:
		d.Format = *byName
	case len(chosen) == 1:
		d.Format = chosen[0]
	case len(chosen) == 0 && file == "-":
		d.Format = formats()[0]
	default:
		err = diag.Errorf(diag.Usage, "cannot detect the format of --output %s", file).
			WithHint("use --output FORMAT=%s; the formats are %s", file, textx.And(FormatNames()))
	}
	return d, err
}

// formatOfFile returns the format of a file's extension, or nil. A .json file gets SARIF if SARIF was requested and
// JSON was not.
func formatOfFile(file string, chosen []Format) *Format {
	lower := strings.ToLower(file)
	var found *Format
	for _, f := range append(formats(), chosen...) {
		for _, ending := range f.extensions {
			if strings.HasSuffix(lower, ending) && (found == nil || f.name == "sarif") {
				found = &f
			}
		}
	}
	named := func(name string) int { return slices.IndexFunc(chosen, func(f Format) bool { return f.name == name }) }
	if i := named("sarif"); found != nil && found.name == "json" && i >= 0 && named("json") < 0 {
		return &chosen[i]
	}
	return found
}

func isWord(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == ""
}

// writeFile replaces a regular file atomically with what a function writes. It writes directly to other existing files, such as pipes and
// terminals.
func writeFile(file string, write func(io.Writer) error) error {
	if target, err := pathx.ResolveExisting(file); err == nil {
		file = target
	}
	mode := fs.FileMode(0o666) // before the umask
	switch info, err := os.Stat(file); {
	case err == nil && info.IsDir():
		return diag.Errorf(diag.Usage, "the path is a directory")
	case err == nil && !info.Mode().IsRegular():
		return writeInto(file, os.O_WRONLY, 0, write)
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	temp, err := createBeside(file, mode, write)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, file); err != nil {
		_ = os.Remove(temp) // the first error matters
		return err
	}
	return nil
}

// PartMark follows the target's name in the name of a temporary file.
const PartMark = ".part"

// createBeside writes to a new file in the same directory, and removes it after an error.
func createBeside(file string, mode fs.FileMode, write func(io.Writer) error) (string, error) {
	for i := 0; ; i++ {
		temp := file + PartMark + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(i)
		err := writeInto(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode, write)
		switch {
		case err == nil:
			return temp, nil
		case errors.Is(err, fs.ErrExist) && i < 100:
		default:
			return "", err
		}
	}
}

func writeInto(file string, flags int, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(file, flags, mode)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil && flags&os.O_EXCL != 0 {
		_ = os.Remove(file) // the first error matters
	}
	return err
}
