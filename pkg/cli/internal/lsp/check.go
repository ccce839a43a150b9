package lsp

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxDiagnostics is how many diagnostics one file has at most: editors get slow with more.
const maxDiagnostics = 500

// rulePages has the documentation of the rules, one page each.
const rulePages = "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/"

// result is the result of checking a skill.
type result struct {
	view  *view
	tree  fs.FS
	files map[string]*checkedFile // by path; only those with findings
}

// checkedFile is a file with findings.
type checkedFile struct {
	text     *text // nil if it cannot be read
	findings []diag.Finding
}

// check checks the skill in a directory, or one of skillpm's own files. A directory without a skill has no findings.
func (v *view) check(ctx context.Context, home string) (*result, error) {
	root, name := splitVolume(home)
	tree, err := v.tree(root)
	if err != nil {
		return nil, err
	}
	r := &result{view: v, tree: tree, files: map[string]*checkedFile{}}
	config := v.config(tree, root, home)
	linter, err := v.linter(tree, config)
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
	v.applyBaseline(tree, config, &report)
	for _, f := range report.Findings {
		p := fromDisplayPath(config.folder, f.Path)
		for i := range f.Edits {
			f.Edits[i].Path = fromDisplayPath(config.folder, f.Edits[i].Path)
		}
		c := r.files[p]
		if c == nil {
			c = &checkedFile{text: v.content(tree, p)}
			r.files[p] = c
		}
		c.findings = append(c.findings, f)
	}
	return r, nil
}

// paths returns the files with findings, sorted.
func (r *result) paths() []string { return slices.Sorted(maps.Keys(r.files)) }

// diagnostics returns the diagnostics of a file, never nil.
func (r *result) diagnostics(p string) []protocol.Diagnostic {
	all := []protocol.Diagnostic{}
	c := r.files[p]
	if c == nil {
		return all
	}
	for _, f := range c.findings[:min(len(c.findings), maxDiagnostics)] {
		all = append(all, r.diagnostic(c.text, f))
	}
	return all
}

var severities = [...]protocol.DiagnosticSeverity{
	diag.SeverityError:   protocol.DiagnosticSeverityError,
	diag.SeverityWarning: protocol.DiagnosticSeverityWarning,
	diag.SeverityNote:    protocol.DiagnosticSeverityInformation,
}

func (r *result) diagnostic(t *text, f diag.Finding) protocol.Diagnostic {
	d := protocol.Diagnostic{
		Range: t.findingRange(f, r.view.client.encoding), Severity: severities[f.Severity], Code: f.Rule,
		Source: "skillpm", Message: f.Message,
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

// findingRange returns the range of a finding. One about the whole file is at its start, one without an end extends to
// the end of its line.
func (t *text) findingRange(f diag.Finding, e encoding) protocol.Range {
	if t == nil || f.Line == 0 {
		return protocol.Range{}
	}
	start := t.findingOffset(f.Line, max(f.Column, 1))
	if f.EndColumn > 0 {
		if end := t.findingOffset(cmp.Or(f.EndLine, f.Line), f.EndColumn); end > start {
			return t.span(start, end, e)
		}
	}
	line, lineStart := t.line(t.lineAt(start))
	return t.span(start, max(start, lineStart+len(line)), e)
}

// checks are pending checks and results.
type checks struct {
	wake chan struct{} // signals pending checks

	mu        sync.Mutex
	pending   map[string]bool               // skill directories, and skillpm's own files
	results   map[string]*result            // by what was checked
	published map[string]map[string]bool    // by what was checked: the files with published diagnostics
	running   map[string]context.CancelFunc // cancels running checks
}

func newChecks() *checks {
	return &checks{
		wake: make(chan struct{}, 1), pending: map[string]bool{}, results: map[string]*result{},
		published: map[string]map[string]bool{}, running: map[string]context.CancelFunc{},
	}
}

// add schedules a check and cancels a running one, which is out of date.
func (c *checks) add(root string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[root] = true
	if cancel := c.running[root]; cancel != nil {
		cancel()
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// takePending returns and clears the pending checks.
func (c *checks) takePending() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := slices.Sorted(maps.Keys(c.pending))
	clear(c.pending)
	return due
}

// checkRoot returns what is checked for an open document: its skill, or the document itself if it is one of skillpm's
// own files; "" if it is neither.
func (v *view) checkRoot(p string) string {
	if ownSchema(p) != "" {
		return p
	}
	home := v.skillRoot(p)
	if _, name := splitVolume(home + "/"); home == "" || name == "." || home == toSlash(v.options.Home, v.windows()) {
		return "" // a check would read the whole disk
	}
	return home
}

// scheduleCheck schedules the check for a path. A change of skillpm's own files affects every check.
func (s *server) scheduleCheck(v *view, p string) {
	if ownSchema(p) != "" {
		s.scheduleAll()
		return
	}
	if target := v.checkRoot(p); target != "" {
		s.checks.add(target)
	}
}

// scheduleAll schedules checks of everything open, and removes the diagnostics of everything else.
func (s *server) scheduleAll() {
	v := s.currentView()
	open := map[string]bool{}
	for p := range v.docs {
		if target := v.checkRoot(p); target != "" {
			open[target] = true
			s.checks.add(target)
		}
	}
	s.checks.mu.Lock()
	defer s.checks.mu.Unlock()
	for home := range s.checks.published {
		if !open[home] {
			s.publish(v, home, nil)
		}
	}
}

// check runs the pending checks, until ctx is cancelled.
func (s *server) check(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.checks.wake:
		}
		for quiet := false; !quiet; {
			select {
			case <-ctx.Done():
				return
			case <-s.checks.wake:
			case <-time.After(s.currentView().options.Delay):
				quiet = true
			}
		}
		for _, home := range s.checks.takePending() {
			s.checkOne(ctx, home)
		}
	}
}

func (s *server) checkOne(ctx context.Context, home string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := s.checks
	c.mu.Lock()
	c.running[home] = cancel
	c.mu.Unlock()
	v := s.currentView()
	answer, err := s.answer(ctx, "check", func(ctx context.Context) (any, error) { return v.check(ctx, home) })
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, home)
	r, _ := answer.(*result)
	if ctx.Err() != nil || c.pending[home] {
		return // another check is pending, or the server stops
	}
	if err != nil {
		s.log(protocol.MessageTypeError, "cannot check "+home+": "+err.Error())
		return
	}
	s.publish(v, home, r)
}

// publish publishes the result of a check, nil to remove diagnostics, and removes outdated diagnostics. The caller
// holds the lock of checks, so that results are published in their order.
func (s *server) publish(v *view, home string, r *result) {
	c := s.checks
	show := map[string]bool{}
	if r != nil {
		for _, p := range r.paths() {
			show[p] = true
		}
	}
	files := maps.Clone(show)
	for p := range c.published[home] {
		files[p] = true
	}
	for p := range v.docs { // also those without findings, so that a client sees that they were checked
		if r != nil && v.checkRoot(p) == home {
			files[p] = true
		}
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		params := protocol.PublishDiagnosticsParams{URI: v.uri(p), Diagnostics: []protocol.Diagnostic{}}
		if d := v.docs[p]; d != nil && d.version > 0 {
			params.Version = uint32(d.version) //nolint:gosec // it is positive
		}
		if r != nil {
			params.Diagnostics = r.diagnostics(p)
		}
		s.notify(protocol.MethodTextDocumentPublishDiagnostics, &params)
	}
	delete(c.published, home)
	delete(c.results, home)
	if r != nil {
		c.published[home], c.results[home] = show, r
	}
}

// resultFor returns the result for the skill of a document in a view.
func (s *server) resultFor(ctx context.Context, v *view, d *document) (*result, error) {
	home := v.checkRoot(d.path)
	if home == "" {
		return nil, nil
	}
	s.checks.mu.Lock()
	r := s.checks.results[home]
	s.checks.mu.Unlock()
	if r != nil && maps.Equal(r.view.docs, v.docs) && slices.Equal(r.view.profiles, v.profiles) {
		return r, nil
	}
	return v.check(ctx, home)
}
