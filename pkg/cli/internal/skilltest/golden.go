package skilltest

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// golden compares results with a case's expected texts, in the test file or in separate files.
func (r *Result) golden(dir string, c *Case) {
	if c.Body != nil {
		r.same("the text", "body", *c.Body, r.Body)
	}
	if c.Stdout != nil {
		r.same("standard output", "stdout", *c.Stdout, r.Stdout)
	}
	for _, f := range []struct{ what, name, got string }{
		{"the text", c.BodyFile, r.Body},
		{"standard output", c.StdoutFile, r.Stdout},
	} {
		if f.name == "" {
			continue
		}
		want, err := readGolden(dir, f.name)
		if err != nil {
			r.Mismatches = append(r.Mismatches, Mismatch{Message: stableError(nil, err)})
			continue
		}
		r.same(f.what, f.name, want, f.got)
	}
}

// readGolden reads an expected text.
func readGolden(dir, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", diag.Errorf(diag.Invalid, "%q is not a path inside %s", name, Dir)
	}
	root, err := safefile.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	data, err := safefile.ReadIn(root, path.Join(Dir, name), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", diag.Errorf(diag.NotFound, "%s does not exist", path.Join(Dir, name)).
			WithHint("create the file with: skillpm test --update")
	}
	return string(data), err
}

// update rewrites expected texts: separate files, and blocks in the test file.
func (f *File) update(dir string, results []Result) error {
	data := f.Data
	for i := len(f.Cases) - 1; i >= 0; i-- { // from the end, so that earlier line numbers stay valid
		c := &f.Cases[i]
		match := slices.IndexFunc(results, func(r Result) bool { return r.Line == c.line && r.Name == c.Name })
		if match < 0 || results[match].Outcome == Skipped || c.Error != "" {
			continue
		}
		r := &results[match]
		if !wasCompared(r, c) {
			continue
		}
		for name, text := range map[string]string{c.BodyFile: r.Body, c.StdoutFile: r.Stdout} {
			if err := r.rewrite(dir, name, text); err != nil {
				return err
			}
		}
		if c.Stdout != nil {
			r.same("standard output", "stdout", *c.Stdout, r.Stdout)
		}
		if c.Body != nil && !equalTrimmed(*c.Body, r.Body) {
			if next, ok := replaceBlock(data, c.key, c.body, r.Body, i); ok {
				data = next
				r.Updated = append(r.Updated, f.Path)
			} else {
				r.same("the text", "body", *c.Body, r.Body)
				r.wrongf(
					"cannot rewrite body: write \"body: |\" with the text on the next lines, or use body-file")
			}
		}
		if len(r.Mismatches) > 0 {
			r.Outcome = Failed
		}
	}
	if string(data) == string(f.Data) {
		return nil
	}
	return write(dir, f.Path, data)
}

// wasCompared reports whether a case reached the comparison of its text.
func wasCompared(r *Result, c *Case) bool {
	return !c.runs() && r.Body != "" || c.runs() && r.Exit != nil
}

// rewrite writes a test file if it changed.
func (r *Result) rewrite(dir, name, text string) error {
	if name == "" {
		return nil
	}
	text = strings.Trim(text, "\n") + "\n"
	if was, err := readGolden(dir, name); err == nil && equalTrimmed(was, text) {
		return nil
	} else if err != nil && diag.CodeOf(err) != diag.NotFound {
		return err
	}
	r.Updated = append(r.Updated, path.Join(Dir, name))
	return write(dir, path.Join(Dir, name), []byte(text))
}

// write writes a file below a skill's directory, without following links.
func write(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	above := path.Dir(name)
	if err := root.MkdirAll(above, 0o755); err != nil {
		return diag.Errorf(diag.Denied, "cannot write %s: %w", name, err)
	}
	for dir := above; dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
			return diag.Errorf(diag.Denied, "cannot write %s: %s is not a directory", name, dir)
		}
	}
	mode := fs.FileMode(0o644)
	if info, err := root.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return diag.Errorf(diag.Denied, "cannot write %s: the path is not a regular file", name)
		}
		mode = info.Mode().Perm()
	}
	return atomicfile.Write(filepath.Join(dir, filepath.FromSlash(name)), data, atomicfile.Options{Mode: mode})
}

// replaceBlock replaces the text of a block scalar, the value of key in the case with a number. It returns false if the
// value is not a block, or if the result would not parse as the new text.
func replaceBlock(data []byte, key, value *yaml.Node, text string, number int) ([]byte, bool) {
	if key == nil || value == nil || value.Style&yaml.LiteralStyle == 0 || key.Line != value.Line {
		return nil, false
	}
	lines := strings.SplitAfter(string(data), "\n")
	first := value.Line - 1
	margin := strings.Repeat(" ", key.Column-1)
	end := first + 1
	for end < len(lines) {
		if line := strings.TrimRight(lines[end], " \r\n"); line != "" && !strings.HasPrefix(line, margin+" ") {
			break
		}
		end++
	}
	for end > first+1 && strings.TrimSpace(lines[end-1]) == "" { // blank lines after it are not part of it
		end--
	}
	text = strings.Trim(text, "\n") + "\n"
	header := "|"
	if strings.HasPrefix(text, " ") {
		header = "|2"
	}
	var b strings.Builder
	b.WriteString(lines[first][:value.Column-1] + header + "\n")
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(margin + "  ")
		}
		b.WriteString(line)
	}
	out := strings.Join(lines[:first], "") + b.String() + strings.Join(lines[end:], "")
	f, err := Parse("", []byte(out))
	if err != nil || number >= len(f.Cases) || f.Cases[number].Body == nil ||
		!equalTrimmed(*f.Cases[number].Body, text) {
		return nil, false
	}
	return []byte(out), true
}
