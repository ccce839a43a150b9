package indexer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// Rules of [Client.Check], as named in findings.
const (
	ruleFile    = "index/file"    // a file is readable, in its place, and accepted by clients
	ruleHistory = "index/history" // lines are only appended
	ruleSource  = "index/source"  // the source of a line exists
	ruleContent = "index/content" // the source has the content of the line
	ruleDerived = "index/derived" // the derived files are up to date
)

// CheckOptions configure [Client.Check].
type CheckOptions struct {
	Dir     string // of the index; "" means the client's directory
	Since   string // revision to compare with; "" means HEAD's first parent
	Offline bool   // check only files and history, without network access
	New     bool   // check only the sources of versions that the revision does not have
}

// CheckReport is the result of [Client.Check].
type CheckReport struct {
	Index    string         `json:"index"`
	OK       bool           `json:"ok"`
	Packs    int            `json:"packs"`
	Versions int            `json:"versions"`
	Fetched  int            `json:"fetched"` // number of versions whose source was checked
	Since    string         `json:"since"`   // the commit that history was compared with; "" if none
	Findings []diag.Finding `json:"findings"`
	Notes    []string       `json:"notes"` // what was not checked, and why

	code diag.Code
}

// Code is the exit code: Integrity if content differs from what was recorded or promised, otherwise Invalid, or Remote
// if a registry did not respond.
func (r *CheckReport) Code() diag.Code { return r.code }

// Check verifies that each file of an index is valid and in its place, that no earlier line was changed or removed, and
// that each version's digest exists in its source with the content of its line. Problems are findings, not errors.
func (c *Client) Check(ctx context.Context, o CheckOptions) (*CheckReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	dir, err := c.open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	k := &checker{
		client: c, dir: dir, options: o,
		report: &CheckReport{Index: dir.display, Findings: []diag.Finding{}, Notes: []string{}},
	}
	if err := k.files(); err != nil {
		return nil, err
	}
	if err := k.history(ctx); err != nil {
		return nil, err
	}
	if err := k.derivedFiles(); err != nil {
		return nil, err
	}
	if err := k.sources(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(k.report.Findings, diag.CompareFindings)
	k.report.OK = !slices.ContainsFunc(k.report.Findings,
		func(f diag.Finding) bool { return f.Severity == diag.SeverityError })
	return k.report, nil
}

// checker is a call of [Client.Check].
type checker struct {
	client  *Client
	dir     *indexDir
	options CheckOptions
	report  *CheckReport

	entries []*index.Entry            // of readable files
	lines   map[string]map[string]int // file -> version -> its line
	before  map[string]*index.Entry   // earlier contents of changed files
	changed map[string]bool           // files changed since the compared commit; nil if unknown
}

// find adds a finding. The exit code for tampering takes precedence.
func (k *checker) find(code diag.Code, f diag.Finding) {
	f.Path = path.Join(k.dir.display, f.Path)
	k.report.Findings = append(k.report.Findings, f)
	if f.Severity != diag.SeverityError {
		return
	}
	rank := func(c diag.Code) int {
		return slices.Index([]diag.Code{diag.OK, diag.Remote, diag.Invalid, diag.Integrity}, c)
	}
	if rank(code) > rank(k.report.code) {
		k.report.code = code
	}
}

// files checks all files.
func (k *checker) files() error {
	files, strays, err := index.Files(k.dir.fsys)
	if err != nil {
		return err
	}
	for _, name := range strays {
		k.strayFile(name)
	}
	k.lines = make(map[string]map[string]int, len(files))
	for _, f := range files {
		data, err := safefile.ReadIn(k.dir.fsys, f.Path, index.MaxBytes)
		if err != nil {
			k.find(diag.Invalid, diag.Finding{Rule: ruleFile, Path: f.Path, Message: err.Error()})
			continue
		}
		problems := index.Check(f.Path, data)
		for _, p := range problems {
			k.find(diag.Invalid, diag.Finding{
				Rule: ruleFile, Path: f.Path, Line: p.Line, Column: p.Column,
				Message: p.Message, Fix: p.Hint,
			})
		}
		entry, err := index.Parse(f.Path, data)
		if err != nil {
			continue // already reported
		}
		if entry.ID != f.ID {
			k.find(diag.Invalid, diag.Finding{
				Rule: ruleFile, Path: f.Path, Line: 1, Message: "the file describes another pack, " + entry.ID.String(),
				Fix: "move the file to " + index.Path(entry.ID),
			})
			continue
		}
		k.entries = append(k.entries, entry)
		k.lines[f.Path] = index.LineNumbers(data)
		k.layouts(f.Path, entry)
		k.report.Packs++
		k.report.Versions += len(entry.Versions)
	}
	return nil
}

// layouts reports layouts that are not in the index.
func (k *checker) layouts(name string, entry *index.Entry) {
	for _, l := range entry.Versions {
		if err := index.CheckLayout(k.dir.fsys, l.Source); err != nil {
			k.find(diag.Invalid, diag.Finding{
				Rule: ruleFile, Path: name, Line: k.lines[name][l.Version],
				Message: err.Error(), Fix: diag.HintOf(err),
			})
		}
	}
}

// strayFile reports a file below packs that no reader uses.
func (k *checker) strayFile(name string) {
	if base := path.Base(name); base == ".gitkeep" {
		return
	}
	f := diag.Finding{
		Rule: ruleFile, Path: name,
		Message: "skillpm ignores this file: it is not a regular file, or its path is not the path of a pack",
		Fix:     "remove the file",
	}
	if data, err := safefile.ReadIn(k.dir.fsys, name, index.MaxBytes); err == nil {
		if id := index.IDOf(data); !id.IsZero() {
			f.Message, f.Fix = fmt.Sprintf("the file describes the pack %s, but is at the wrong path", id),
				"move the file to "+index.Path(id)
		}
	}
	k.find(diag.Invalid, f)
}

// derivedFiles compares an existing catalog with the packs.
func (k *checker) derivedFiles() error {
	have, err := safefile.ReadIn(k.dir.fsys, index.CatalogPath, index.MaxCatalogBytes)
	if errors.Is(err, fs.ErrNotExist) || len(k.report.Findings) > 0 {
		return nil
	}
	if err != nil {
		return err
	}
	want, _, err := catalog(slices.Values(k.entries))
	if err != nil {
		return err
	}
	if string(have) != string(want) {
		k.find(diag.Invalid, diag.Finding{
			Rule: ruleDerived, Severity: diag.SeverityWarning, Path: index.CatalogPath,
			Message: "the file is out of date: it does not match the packs in the index", Fix: "run \"skillpm index build\"",
		})
	}
	return nil
}
