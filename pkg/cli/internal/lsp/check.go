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

// checks is what is checked, and what was found.
type checks struct {
	wake chan struct{} // says that something is due

	mu      sync.Mutex
	due     map[string]bool               // skills, and files of skillpm's own
	results map[string]*result            // by what was checked
	shown   map[string]map[string]bool    // by what was checked: the files whose findings the client shows
	running map[string]context.CancelFunc // what is being checked
}

func newChecks() *checks {
	return &checks{
		wake: make(chan struct{}, 1), due: map[string]bool{}, results: map[string]*result{},
		shown: map[string]map[string]bool{}, running: map[string]context.CancelFunc{},
	}
}

// add makes something due; a check of it that runs is stopped, because it is out of date.
func (c *checks) add(home string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due[home] = true
	if cancel := c.running[home]; cancel != nil {
		cancel()
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take returns what is due.
func (c *checks) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := slices.Sorted(maps.Keys(c.due))
	clear(c.due)
	return due
}

// target returns what is checked for an open document: its skill, or itself if it is one of skillpm's own files; "" if
// it is neither.
func (v *view) target(p string) string {
	if ownSchema(p) != "" {
		return p
	}
	return v.home(p)
}

// touch has what a path belongs to checked. One of skillpm's own files may say how all others are.
func (s *server) touch(v *view, p string) {
	if ownSchema(p) != "" {
		s.checkAgain()
		return
	}
	if target := v.target(p); target != "" {
		s.checks.add(target)
	}
}

// checkAgain has everything checked that is open, and what is shown of others removed.
func (s *server) checkAgain() {
	v := s.now()
	open := map[string]bool{}
	for p := range v.docs {
		if target := v.target(p); target != "" {
			open[target] = true
			s.checks.add(target)
		}
	}
	s.checks.mu.Lock()
	defer s.checks.mu.Unlock()
	for home := range s.checks.shown {
		if !open[home] {
			s.publish(v, home, nil)
		}
	}
}

// check checks what is due, until ctx is cancelled.
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
			case <-time.After(s.now().options.Delay):
				quiet = true
			}
		}
		for _, home := range s.checks.take() {
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
	v := s.now()
	found, err := s.answer(ctx, "check", func(ctx context.Context) (any, error) { return v.check(ctx, home) })
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, home)
	r, _ := found.(*result)
	if ctx.Err() != nil || c.due[home] {
		return // it is checked again, or never
	}
	if err != nil {
		s.log(protocol.MessageTypeError, home+" could not be checked: "+err.Error())
		return
	}
	s.publish(v, home, r)
}

// publish shows what a check found, nil if nothing is known any more, and removes what was shown before. The lock of
// checks is held, so that results are shown in the order in which they were made.
func (s *server) publish(v *view, home string, r *result) {
	c := s.checks
	show := map[string]bool{}
	if r != nil {
		for _, p := range r.paths() {
			show[p] = true
		}
	}
	files := maps.Clone(show)
	for p := range c.shown[home] {
		files[p] = true
	}
	for p := range v.docs { // also those without findings, so that a client sees that they were checked
		if r != nil && v.target(p) == home {
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
		s.tell(protocol.MethodTextDocumentPublishDiagnostics, &params)
	}
	delete(c.shown, home)
	delete(c.results, home)
	if r != nil {
		c.shown[home], c.results[home] = show, r
	}
}

// resultFor returns what is wrong with the skill of a document as it is in a view.
func (s *server) resultFor(ctx context.Context, v *view, d *document) (*result, error) {
	home := v.target(d.path)
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
