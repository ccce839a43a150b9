// Package render writes validation reports: as text, JSON, SARIF, JUnit, GitHub annotations, and patches.
package render

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/publish"
)

// Outcome is a report with the data that renderers need.
type Outcome struct {
	lint.Report

	Version        string // of skillpm
	Dir            string // base directory of the report's paths
	Stdin          string // the file that standard input replaces
	Workspace      string // the checkout in GitHub Actions, otherwise ""
	JobSummary     string // the file of the job summary in GitHub Actions, otherwise ""
	ShowSuppressed bool   // text and SARIF also list suppressed findings

	ShowCapabilities bool // text lists the capabilities of all skills

	Fixed []publish.FixedFile // the changes that --fix made or would make
	Dry   bool                // --diff: nothing was changed
}

// Format is an output format.
type Format struct {
	name       string
	extensions []string // default for these file extensions
	Edits      bool     // it shows fixes
	Evidence   bool     // it shows the evidence for capabilities
	render     func(a *console.App, w io.Writer, o Outcome) error
}

// IsText reports whether it is the format for users.
func (f Format) IsText() bool { return f.name == "text" }

// formats are all formats; the first is the default.
func formats() []Format {
	return []Format{
		{name: "text", extensions: []string{".txt"}, render: Text},
		{
			name: "json", extensions: []string{".json"}, Edits: true, Evidence: true,
			render: func(_ *console.App, w io.Writer, o Outcome) error { return JSON(w, o) },
		},
		{
			name: "ndjson", extensions: []string{".ndjson"}, Edits: true, Evidence: true,
			render: func(_ *console.App, w io.Writer, o Outcome) error { return NDJSON(w, o) },
		},
		{name: "github", render: func(_ *console.App, w io.Writer, o Outcome) error { return GitHub(w, o) }},
		{
			name: "sarif", extensions: []string{".sarif", ".sarif.json"}, Edits: true,
			render: func(_ *console.App, w io.Writer, o Outcome) error { return renderSARIF(w, o) },
		},
		{
			name: "junit", extensions: []string{".xml"},
			render: func(_ *console.App, w io.Writer, o Outcome) error { return renderJUnit(w, o) },
		},
	}
}

// FormatNames returns the names of all formats.
func FormatNames() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Patch is the format of --diff.
func Patch() Format {
	return Format{name: "diff", extensions: []string{".diff", ".patch"}, render: renderPatch}
}

// FindFormats returns the formats with these names, without duplicates.
func FindFormats(names []string) ([]Format, error) {
	var out []Format
	for _, name := range names {
		f, err := findFormat(name, formats())
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(g Format) bool { return g.name == name }) {
			out = append(out, f)
		}
	}
	return out, nil
}

func findFormat(name string, all []Format) (Format, error) {
	i := slices.IndexFunc(all, func(f Format) bool { return f.name == name })
	if i >= 0 {
		return all[i], nil
	}
	err := diag.Errorf(diag.Usage, "unknown format %q", name)
	if near := diag.Nearest(name, FormatNames()); near != "" {
		return Format{}, err.WithHint("did you mean %s? The formats are %s", near, textx.And(FormatNames()))
	}
	return Format{}, err.WithHint("use %s", textx.OneOf(FormatNames()))
}

// Text prints findings by file. --quiet hides notes; --verbose prints repeated findings of a rule.
func Text(a *console.App, w io.Writer, o Outcome) error {
	t := textReport{Palette: a.Palette(w), quiet: a.Quiet, all: a.Verbose > 0, width: console.TerminalWidth(w)}
	return t.render(w, o)
}

// WriteReport writes a report to all destinations, files first and atomically.
func WriteReport(a *console.App, o Outcome, destinations []Destination) error {
	var direct []Destination
	for _, d := range destinations {
		if d.File == "" {
			direct = append(direct, d)
			continue
		}
		if err := writeFile(OutputPath(a, d.File), func(w io.Writer) error { return d.render(a, w, o) }); err != nil {
			return unwritten(d.File, err)
		}
	}
	for _, d := range direct {
		if err := d.render(a, a.Stdout, o); err != nil {
			return err
		}
		if d.name == "github" { // a log of annotations only does not show that anything was checked
			a.Note("%s", textReport{Palette: a.Palette(a.Stderr)}.summary(o))
		}
	}
	return nil
}

// unwritten is the error for a file that could not be written. It names the target instead of the temporary file.
func unwritten(file string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	} else if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		err = linkErr.Err
	}
	return diag.Errorf(diag.CodeOf(err), "cannot write --output %s: %w", file, err)
}

// OutputPath returns the path of a report's file, relative to the command's working directory.
func OutputPath(a *console.App, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	dir, err := a.WorkDir()
	if err != nil { // exists, because the command has used it
		dir = a.Dir
	}
	return filepath.Join(dir, file)
}

// CheckOutputs checks before the work starts whether the files can be written.
func CheckOutputs(a *console.App, destinations []Destination) error {
	for _, d := range destinations {
		if d.File == "" {
			continue
		}
		file := OutputPath(a, d.File)
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return diag.Errorf(diag.Usage, "cannot write --output %s: the path is a directory", d.File).
				WithHint("use a file in the directory")
		}
		parent := filepath.Dir(file)
		switch info, err := os.Stat(parent); {
		case os.IsNotExist(err):
			return diag.Errorf(diag.NotFound, "cannot write --output %s: directory %s does not exist", d.File,
				filepath.Dir(d.File)).WithHint("create the directory with: mkdir -p %s", filepath.Dir(d.File))
		case err != nil:
			return diag.Errorf(diag.NotFound, "cannot write --output %s: %v", d.File, err)
		case !info.IsDir():
			return diag.Errorf(diag.Usage, "cannot write --output %s: %s is not a directory", d.File,
				filepath.Dir(d.File))
		}
	}
	return nil
}
