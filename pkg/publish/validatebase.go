package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/lint"
)

// baselineFile returns the absolute path of the baseline for a job, or "".
func (j *job) baselineFile(o ValidateOptions) string {
	switch {
	case o.NoBaseline:
		return ""
	case o.Baseline != "":
		return j.client.Machine.Abs(o.Baseline)
	case j.project.config.Baseline != "":
		return filepath.Join(j.project.dir, filepath.FromSlash(j.project.config.Baseline))
	}
	return ""
}

// applyBaseline removes the findings that the baseline accepts from a report, and lists its obsolete entries.
func (j *job) applyBaseline(report *lint.Report, o ValidateOptions) error {
	file := j.baselineFile(o)
	if file == "" {
		return nil
	}
	path := j.show(j.inVolume(file))
	data, ok := readFile(file)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return diag.Errorf(diag.NotFound, "the baseline %s does not exist", path).
			WithHint("create the baseline with: skillpm validate --baseline %s --write-baseline --reason TEXT", path)
	}
	if !ok {
		return diag.Errorf(diag.Invalid,
			"cannot read the baseline %s: it is not a readable file or is too large", path)
	}
	b, err := lint.ParseBaseline(path, data)
	if err != nil {
		return err
	}
	m := b.Matcher(j.client.Now())
	report.Accept(lint.ByBaseline, func(f diag.Finding) (string, bool) {
		e, ok := m.Accept(j.client.baselineFinding(file, *report, f))
		return e.Reason, ok
	})
	for _, e := range m.Expired() {
		report.Add(diag.Finding{
			Rule: rule.Expired, Severity: diag.SeverityWarning, Path: path, Line: e.Line, Column: 1,
			Message: fmt.Sprintf("the baseline entry for %s in %s expired on %s", e.Rule, e.Path, e.Expires),
			Fix:     rule.Fix(rule.Expired),
		})
	}
	for _, e := range m.Stale() {
		if j.covers(filepath.Join(filepath.Dir(file), filepath.FromSlash(e.Path))) && o.StdinName == "" {
			report.Add(diag.Finding{
				Rule: rule.Unused, Severity: diag.SeverityWarning, Path: path, Line: e.Line, Column: 1,
				Message: fmt.Sprintf("the baseline accepts findings of %s, but %s does not have such findings", e.Rule, e.Path),
				Fix:     "remove the baseline entry, or run `skillpm validate --write-baseline`",
			})
		}
	}
	return nil
}

// covers reports whether a path was checked.
func (j *job) covers(abs string) bool {
	for _, t := range j.targets {
		if root := filepath.Join(j.root, filepath.FromSlash(t)); pathx.Contains(root, abs) {
			return true
		}
	}
	return false
}

// baselineFinding converts a finding for the baseline. Its digest is that of the line; for a finding about a whole
// file, that of the file; for a capability note, that of the capability.
func (c *Client) baselineFinding(file string, report lint.Report, f diag.Finding) lint.BaselineFinding {
	abs := c.Machine.Abs(filepath.FromSlash(f.Path))
	rel, err := filepath.Rel(filepath.Dir(file), abs)
	if err != nil {
		rel = f.Path
	}
	text := []byte(report.Line(f))
	if f.Line == 0 {
		text = []byte(f.Message)
		if r, _ := rule.Lookup(f.Rule); !r.Capability {
			if data, ok := readFile(abs); ok {
				text = data
			}
		}
	}
	return lint.BaselineFinding{Rule: f.Rule, Path: filepath.ToSlash(rel), Digest: lint.BaselineDigest(text)}
}

// maxDigested is the size in bytes above which the digest of a baseline entry does not include the file's content.
const maxDigested = 64 << 20

// readFile returns the content of a regular file. Reading other files may never end.
func readFile(name string) ([]byte, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxDigested {
		return nil, false
	}
	data, err := os.ReadFile(name)
	return data, err == nil
}

// BaselineReport is the result of [Client.WriteBaseline].
type BaselineReport struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Kept    int    `json:"kept"`
	Dropped int    `json:"dropped"`
}

// WriteBaseline validates and writes a baseline that accepts all current errors and warnings for a reason. Existing
// entries keep their reasons. Notes never fail a run and are left out.
func (c *Client) WriteBaseline(ctx context.Context, o ValidateOptions, reason string) (*BaselineReport, error) {
	jobs, err := c.jobs(o)
	if err != nil {
		return nil, err
	}
	file := jobs[0].baselineFile(o)
	if file == "" {
		file = filepath.Join(jobs[0].project.dir, lint.BaselineName)
	}
	abs := c.Machine.Abs(file)
	path := jobs[0].show(jobs[0].inVolume(abs))
	old := &lint.Baseline{}
	data, err := safefile.ReadOptional(abs)
	if err != nil {
		return nil, err
	}
	if data != nil {
		if old, err = lint.ParseBaseline(path, data); err != nil {
			return nil, err
		}
	}
	o.NoBaseline = true
	report, err := c.Validate(ctx, o)
	if err != nil {
		return nil, err
	}
	var findings []lint.BaselineFinding
	for _, f := range report.Findings {
		if f.Severity != diag.SeverityNote && !strings.HasPrefix(f.Rule, "SUP") {
			findings = append(findings, c.baselineFinding(abs, report, f))
		}
	}
	next, changes, err := old.Update(findings, func(path string) bool {
		for _, j := range jobs {
			if j.covers(filepath.Join(filepath.Dir(abs), filepath.FromSlash(path))) {
				return true
			}
		}
		return false
	}, reason)
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(abs); err == nil {
		mode = info.Mode().Perm()
	}
	if err := replaceFile(abs, next.Encode(), mode); err != nil {
		return nil, err
	}
	return &BaselineReport{Path: path, Added: changes.Added, Kept: changes.Kept, Dropped: changes.Dropped}, nil
}
