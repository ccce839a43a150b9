package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/publish"
)

// outcome is what the renderers print: a report, and what they need to know besides.
type outcome struct {
	lint.Report

	version        string // of skillpm
	dir            string // the directory that the report's paths are relative to
	stdin          string // the file that standard input stands for
	workspace      string // the checkout on a runner of GitHub Actions, "" elsewhere
	showSuppressed bool   // text and SARIF tell what was suppressed, too

	mended []publish.MendedFile // what --fix changed, or would change
	dry    bool                 // nothing was changed
}

// format is a way to write a report.
type format struct {
	name       string
	extensions []string // of the files that get it when nothing else is said
	edits      bool     // it tells how findings can be mended
	render     func(a *app, w io.Writer, o outcome) error
}

// formats are all of them; the first is the default.
func formats() []format {
	return []format{
		{"text", []string{".txt"}, false, (*app).renderText},
		{"json", []string{".json"}, true, func(_ *app, w io.Writer, o outcome) error { return renderJSON(w, o) }},
		{"github", nil, false, func(_ *app, w io.Writer, o outcome) error { return renderGitHub(w, o) }},
		{"sarif", []string{".sarif", ".sarif.json"}, true, func(_ *app, w io.Writer, o outcome) error { return renderSARIF(w, o) }},
		{"junit", []string{".xml"}, false, func(_ *app, w io.Writer, o outcome) error { return renderJUnit(w, o) }},
	}
}

func formatNames() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// patch is the format of --diff.
func patch() format {
	return format{"diff", []string{".diff", ".patch"}, false, (*app).renderPatch}
}

// findFormats returns the formats of these names, each once.
func findFormats(names []string) ([]format, error) {
	var out []format
	for _, name := range names {
		f, err := findFormat(name, formats())
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(g format) bool { return g.name == name }) {
			out = append(out, f)
		}
	}
	return out, nil
}

func findFormat(name string, all []format) (format, error) {
	i := slices.IndexFunc(all, func(f format) bool { return f.name == name })
	if i >= 0 {
		return all[i], nil
	}
	err := diag.Errorf(diag.Usage, "unknown format %q", name)
	if near := diag.Nearest(name, formatNames()); near != "" {
		return format{}, err.WithHint("did you mean %s? The formats are %s", near, list(formatNames()))
	}
	return format{}, err.WithHint("the formats are %s", list(formatNames()))
}

// renderText prints findings by file; --quiet leaves out advice, and the summary where there is nothing else to say.
func (a *app) renderText(w io.Writer, o outcome) error {
	t := textReport{palette: a.palette(w), quiet: a.quiet}
	return t.render(w, o)
}

// render writes a report to every destination: the files first, each whole or not at all.
func (a *app) render(o outcome, to []destination) error {
	var direct []destination
	for _, d := range to {
		if d.file == "" {
			direct = append(direct, d)
			continue
		}
		var b bytes.Buffer
		if err := d.render(a, &b, o); err != nil {
			return err
		}
		if err := writeWhole(a.outputPath(d.file), b.Bytes()); err != nil {
			return unwritten(d.file, err)
		}
	}
	for _, d := range direct {
		if err := d.render(a, a.Stdout, o); err != nil {
			return err
		}
	}
	return nil
}

// unwritten is the error for a file that could not be written; it does not name the file beside it that was tried.
func unwritten(file string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	} else if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		err = linkErr.Err
	}
	return diag.Errorf(diag.CodeOf(err), "--output %s cannot be written: %w", file, err)
}

// outputPath returns where a report's file is: as every path, relative to the directory that the command works in.
func (a *app) outputPath(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	dir, err := a.workDir()
	if err != nil { // the command has used it, so it is there
		dir = a.Dir
	}
	return filepath.Join(dir, file)
}

// checkOutputs finds out before the work is done whether the files can be written.
func (a *app) checkOutputs(to []destination) error {
	for _, d := range to {
		if d.file == "" {
			continue
		}
		file := a.outputPath(d.file)
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return diag.Errorf(diag.Usage, "--output %s: it is a directory", d.file).WithHint("name a file in it")
		}
		parent := filepath.Dir(file)
		switch info, err := os.Stat(parent); {
		case os.IsNotExist(err):
			return diag.Errorf(diag.NotFound, "--output %s: directory %s does not exist", d.file, filepath.Dir(d.file)).
				WithHint("mkdir -p %s", filepath.Dir(d.file))
		case err != nil:
			return diag.Errorf(diag.NotFound, "--output %s: %v", d.file, err)
		case !info.IsDir():
			return diag.Errorf(diag.Usage, "--output %s: %s is not a directory", d.file, filepath.Dir(d.file))
		}
	}
	return nil
}
