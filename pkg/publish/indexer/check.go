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

// The rules of [Client.Check], as findings name them.
const (
	ruleFile    = "index/file"    // a file can be read, is where it belongs, and says nothing that clients refuse
	ruleHistory = "index/history" // what was said stays: files only grow
	ruleSource  = "index/source"  // what a line names is there
	ruleContent = "index/content" // what is there is what the line says
	ruleDerived = "index/derived" // the derived files are those of the packs
)

// CheckOptions say what to prove.
type CheckOptions struct {
	Dir     string // of the index; "" means the directory that the verbs work in
	Since   string // history is compared with this revision; "" means HEAD's first parent
	Offline bool   // ask no registry: files and history only
	New     bool   // ask only about versions that the earlier revision does not have
}

// CheckReport says what is wrong with an index.
type CheckReport struct {
	Index    string         `json:"index"`
	OK       bool           `json:"ok"`
	Packs    int            `json:"packs"`
	Versions int            `json:"versions"`
	Fetched  int            `json:"asked"` // versions whose source was asked
	Since    string         `json:"since"` // the commit that history was compared with, "" where there was none
	Findings []diag.Finding `json:"findings"`
	Notes    []string       `json:"notes"` // what was not looked at, and why

	code diag.Code
}

// Code is the exit code: Integrity where something is other than it was or was promised to be, else Invalid, or Remote
// where a registry did not answer.
func (r *CheckReport) Code() diag.Code { return r.code }

// Check proves that every file of an index is well-formed and where it belongs, that nothing that was said earlier was
// changed or taken away, and that every version's digest exists at its source with the content that its line describes.
// That something is wrong is no error but a finding.
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
	if err := k.derived(); err != nil {
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

	entries []*index.Entry            // of the files that can be read
	lines   map[string]map[string]int // file -> version -> the line that has it
	before  map[string]*index.Entry   // of the files that changed, as they were
	changed map[string]bool           // files that history knows to have changed; nil where history is not known
}

// find reports something. Among exit codes, that of what was tampered with comes first.
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

// files reads every file.
func (k *checker) files() error {
	files, strays, err := index.Files(k.dir.fsys)
	if err != nil {
		return err
	}
	for _, name := range strays {
		k.stray(name)
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
			continue // it is among the problems
		}
		if entry.ID != f.ID {
			k.find(diag.Invalid, diag.Finding{
				Rule: ruleFile, Path: f.Path, Line: 1, Message: "the file is about " + entry.ID.String(),
				Fix: "move it to " + index.Path(entry.ID),
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

// stray reports a file below packs that no reader looks at.
func (k *checker) stray(name string) {
	if base := path.Base(name); base == ".gitkeep" {
		return
	}
	f := diag.Finding{
		Rule: ruleFile, Path: name,
		Message: "nobody reads this file: it is not where a pack's file is, or not a regular file",
	}
	if data, err := safefile.ReadIn(k.dir.fsys, name, index.MaxBytes); err == nil {
		if id := index.IDOf(data); !id.IsZero() {
			f.Message, f.Fix = fmt.Sprintf("the file is about %s and not where that belongs", id),
				"move it to "+index.Path(id)
		}
	}
	k.find(diag.Invalid, f)
}

// derived compares the catalogue, if there is one, with what it is made from.
func (k *checker) derived() error {
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
			Message: "the catalogue is not that of the packs", Fix: "run skillpm index build",
		})
	}
	return nil
}
