package lsp

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxShown is how many findings of one file are shown: more help nobody, and editors get slow.
const maxShown = 500

// rulePages is where the rules are explained, one page each.
const rulePages = "https://github.com/skillpm/skillpm/blob/main/docs/rules/"

// result is what a check of a skill found.
type result struct {
	view  *view
	tree  fs.FS
	files map[string]*checked // by path; only those with findings
}

// checked is a file with findings.
type checked struct {
	text     *text // nil if it cannot be read
	findings []diag.Finding
}

// check checks the skill in a directory, or one of skillpm's own files. What is no skill any more has no findings.
func (v *view) check(ctx context.Context, home string) (*result, error) {
	root, name := split(home)
	tree, err := v.tree(root)
	if err != nil {
		return nil, err
	}
	r := &result{view: v, tree: tree, files: map[string]*checked{}}
	config := v.config(tree, root, home)
	linter, err := v.linter(config)
	if err != nil {
		return nil, err
	}
	report, err := linter.Run(ctx, tree, []string{name})
	if diag.CodeOf(err) == diag.NotFound {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	v.accept(tree, config, &report)
	for _, f := range report.Findings {
		p := shown(config.folder, f.Path)
		for i := range f.Edits {
			f.Edits[i].Path = shown(config.folder, f.Edits[i].Path)
		}
		c := r.files[p]
		if c == nil {
			c = &checked{text: v.content(tree, p)}
			r.files[p] = c
		}
		c.findings = append(c.findings, f)
	}
	return r, nil
}

// paths returns the files with findings in order.
func (r *result) paths() []string { return slices.Sorted(maps.Keys(r.files)) }

// diagnostics returns what the client shows of a file, never nil.
func (r *result) diagnostics(p string) []protocol.Diagnostic {
	all := []protocol.Diagnostic{}
	c := r.files[p]
	if c == nil {
		return all
	}
	for _, f := range c.findings[:min(len(c.findings), maxShown)] {
		all = append(all, r.diagnostic(c.text, f))
	}
	return all
}

var severities = [...]protocol.DiagnosticSeverity{
	diag.SeverityError:   protocol.DiagnosticSeverityError,
	diag.SeverityWarning: protocol.DiagnosticSeverityWarning,
	diag.SeverityAdvice:  protocol.DiagnosticSeverityInformation,
}

func (r *result) diagnostic(t *text, f diag.Finding) protocol.Diagnostic {
	d := protocol.Diagnostic{
		Range: t.findingRange(f, r.view.client.encoding), Severity: severities[f.Severity], Code: f.Rule, Source: "skillpm", Message: f.Message,
	}
	if f.Profile != "" {
		d.Message += " (" + f.Profile + ")"
	}
	if f.Fix != "" {
		d.Message += "\n" + f.Fix
	}
	if r.view.client.links {
		d.CodeDescription = &protocol.CodeDescription{Href: protocol.URI(rulePages + f.Rule + ".md")}
	}
	return d
}

// findingRange returns where a finding is. One about the whole file is at its start, one without an end goes on to the
// end of its line.
func (t *text) findingRange(f diag.Finding, e encoding) protocol.Range {
	if t == nil || f.Line == 0 {
		return protocol.Range{}
	}
	start := t.found(f.Line, max(f.Column, 1))
	if f.EndColumn > 0 {
		if end := t.found(cmp.Or(f.EndLine, f.Line), f.EndColumn); end > start {
			return t.span(start, end, e)
		}
	}
	line, lineStart := t.line(t.lineAt(start))
	return t.span(start, max(start, lineStart+len(line)), e)
}
