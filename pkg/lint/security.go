package lint

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
)

// checkSecurity checks all files for hostile or risky content.
func (u *skillCheck) checkSecurity(names []string) {
	for _, rel := range names {
		switch f := u.files[rel]; {
		case f.isText():
			u.scanText(f)
		case f.format.Native():
			u.add(finding{rule: rule.NativeBinary, path: f.path, message: rel + " is a native program: " + f.format.String()})
		case f.format.Compiled():
			u.add(finding{rule: rule.CompiledCode, path: f.path, message: rel + " is compiled code: " + f.format.String()})
		case f.format.Archive() && f.data != nil:
			u.checkArchive(f)
		case f.format == scan.Image || f.format == scan.PDF:
			u.checkDocument(f)
		}
	}
}

// scanText reports what the scanner finds in one text. A warning or a note is reported once per file, because one is
// enough to make a reviewer look. Of the errors of a rule in one line, the first is reported.
func (u *skillCheck) scanText(f *file) {
	hits := u.l.scanner.Text(f.data, scan.Options{
		Markdown: isMarkdown(f.rel), Script: isScript(f), Skill: f.source == u.src,
		SVG: strings.EqualFold(path.Ext(f.rel), ".svg"),
	})
	if f.source == u.src {
		f.hits = append([]scan.Hit{}, hits...)
	}
	if len(hits) > 0 {
		u.reportHits(f, hits)
	}
	if p := f.page; p != nil {
		u.reportComment(f, p)
	}
}

// locator returns what finds the contexts in a file.
func (u *skillCheck) locator(f *file) *scan.Locator {
	l := &scan.Locator{
		Path: f.rel, Data: f.data, Script: isScript(f), Called: u.called[f.rel] || u.interpreted[f.rel],
	}
	if isMarkdown(f.rel) {
		l.Page = u.page(f).Page
		if f.source == u.src {
			l.Body = u.doc.BodyStart
		}
	}
	return l
}

func isScript(f *file) bool { return scriptExtension(f.rel) || isShebang(f.data) }

// reportHits reports the hits that count in their contexts.
func (u *skillCheck) reportHits(f *file, hits []scan.Hit) {
	l := u.locator(f)
	type match struct {
		scan.Hit
		scan.Match
	}
	var matches []match
	for _, h := range hits {
		if h.Kind == scan.Secret || h.Kind == scan.PossibleSecret {
			u.redact(f, h.Start, h.End)
		}
		if (h.Kind == scan.ZeroWidthWord || h.Kind == scan.MixedScript) && l.Page != nil && followsQuote(f.data[:h.Start]) {
			continue
		}
		if h.Kind == scan.BlankPadding && (path.Ext(f.rel) == ".html" || path.Ext(f.rel) == ".htm") {
			continue // generators leave blank lines
		}
		if h.Kind == scan.PasteSite && f.source != u.src && l.Script && u.namesService(h.Detail) {
			continue
		}
		if m, ok := u.l.scanner.Match(h, l.At(h.Start, h.End)); ok {
			matches = append(matches, match{h, m})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(a.Severity, b.Severity) }) // errors first
	reported, lines := map[string]bool{}, map[string]int{}
	for _, m := range matches {
		id := m.Rule.ID
		line, _ := f.position(m.Start)
		if reported[id] && m.Severity != diag.SeverityError || lines[id] == line {
			u.addSignal(f, m.Hit, m.Match)
			continue
		}
		reported[id], lines[id] = true, line
		u.reportMatch(f, m.Hit, m.Match)
	}
}

// namesService reports whether the name or the description of the skill has the name of a host's service.
func (u *skillCheck) namesService(host string) bool {
	labels, about := strings.Split(host, "."), u.ownName()
	if u.doc != nil {
		about += " " + u.doc.Description()
	}
	return len(labels) > 1 && strings.Contains(strings.ToLower(about), labels[len(labels)-2])
}

// reportMatch reports a hit of a rule, and counts it in the score.
func (u *skillCheck) reportMatch(f *file, h scan.Hit, m scan.Match) {
	message := m.Rule.Title
	if h.Detail != "" {
		message += ": " + h.Detail
	}
	u.at(f.source, h.Start, h.End, finding{
		rule: m.Rule.ID, severity: &m.Severity, message: message, fix: m.Rule.Fix,
	})
	u.addSignal(f, h, m)
}

// followsQuote reports whether a text ends with an opening quotation mark.
func followsQuote(head []byte) bool {
	last := strings.TrimRight(string(head[max(0, len(head)-8):]), " ")
	for _, mark := range []string{"\"", "'", "“", "‘", "«"} {
		if strings.HasSuffix(last, mark) {
			return true
		}
	}
	return false
}

// redact keeps a secret out of the line that reports show: of every character stands a star. Of long secrets, the first
// four characters remain, which are the prefix of a provider.
func (u *skillCheck) redact(f *file, start, end int) {
	line, column := f.position(start)
	at := lineKey{u.l.show(f.path), line}
	text := []rune(u.redacted[at])
	if len(text) == 0 {
		text = []rune(f.line(line))
	}
	n, shown := utf8.RuneCount(f.data[start:end]), 4
	if n < 20 {
		shown = 0
	}
	for i := column - 1 + shown; i < min(len(text), column-1+n); i++ {
		text[i] = '*'
	}
	if u.redacted == nil {
		u.redacted = map[lineKey]string{}
	}
	u.redacted[at] = string(text)
}

// reportComment reports the first HTML comment of the skill that is neither a suppression nor one of the usual ones.
func (u *skillCheck) reportComment(f *file, p *page) {
	for _, c := range p.Comments {
		if text := strings.TrimSpace(c.Text); text != "" && !u.commented && !strings.HasPrefix(text, marker) &&
			!usualComment(text) {
			u.commented = true
			u.at(f.source, c.Offset, c.End, finding{
				rule:    rule.HTMLComment,
				message: "models read this HTML comment, but rendered pages hide it",
			})
			return
		}
	}
}

// usualComment reports whether a comment is about copyright or for a tool.
func usualComment(text string) bool {
	text = strings.ToLower(text)
	for _, word := range []string{
		"copyright", "license", "licence", "spdx", "©", "attribution", "prettier", "markdownlint", "cspell", "vale ",
		"textlint", "toc", "lint",
	} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// archiveRules are the rules for problems of archives.
var archiveRules = map[scan.Problem]string{
	scan.HoldsNative:    rule.NativeBinary,
	scan.HoldsCompiled:  rule.CompiledCode,
	scan.HoldsMacros:    rule.Macros,
	scan.HoldsEncrypted: rule.EncryptedArchive,
	scan.UnsafeEntry:    rule.UnsafePath,
	scan.OpaqueArchive:  rule.OpaqueArchive,
}

// checkArchive reports the problems of an archive.
func (u *skillCheck) checkArchive(f *file) {
	for _, found := range u.l.scanner.Archive(f.rel, f.data) {
		id, detail := archiveRules[found.Problem], found.Detail
		if found.Problem == scan.HoldsText {
			m, ok := u.l.scanner.Match(found.Hit, scan.Context{Surface: scan.InScript})
			if !ok {
				continue
			}
			id, detail = m.Rule.ID, found.Hit.Detail
		}
		r, _ := rule.Lookup(id)
		message := r.Title
		if found.Path != "" {
			message += fmt.Sprintf(" in %q", found.Path)
		}
		if detail != "" {
			message += ": " + detail
		}
		if found.Count > 1 {
			message += ", and " + textx.Count(found.Count-1, "similar problem")
		}
		u.add(finding{rule: id, path: f.path, message: message})
	}
}

// checkDocument reports files that follow the end of a picture, and what a PDF document runs.
func (u *skillCheck) checkDocument(f *file) {
	r, err := u.l.fsys.Open(f.path)
	if err != nil {
		return // the file was there when its format was detected: it is going away
	}
	defer r.Close()
	if f.format == scan.Image {
		if about, _ := scan.Appended(r); about != "" {
			u.add(finding{rule: rule.AppendedFile, path: f.path, message: "a file follows the end of the picture: " + about})
		}
		return
	}
	data, _ := io.ReadAll(io.LimitReader(r, maxArchive))
	switch scan.DocumentActions(data) {
	case scan.PDFNothing:
	case scan.PDFJavaScript:
		u.add(finding{rule: rule.ActiveDocument, path: f.path, message: f.rel + " has JavaScript"})
	case scan.PDFLaunch:
		u.add(finding{
			rule: rule.ActiveDocument, severity: new(diag.SeverityError), path: f.path,
			message: f.rel + " starts a program",
		})
	}
}

// reportCapabilities reports once what the skill can make an agent do.
func (u *skillCheck) reportCapabilities(names []string) {
	var scripts, servers, hooks []string
	for _, rel := range names {
		switch base := path.Base(rel); {
		case base == ".mcp.json" || base == "mcp.json":
			servers = append(servers, rel)
		case base == "hooks.json":
			hooks = append(hooks, rel)
		case u.files[rel].isText() && (scriptExtension(rel) || isShebang(u.files[rel].data)):
			scripts = append(scripts, rel)
		}
	}
	if len(scripts) > 0 {
		u.add(finding{rule: rule.Scripts, path: u.file, message: "the skill has " + countAndFirst(scripts, "script")})
	}
	for _, rel := range servers {
		u.add(finding{rule: rule.MCPServers, path: u.files[rel].path, message: rel + " configures MCP servers"})
	}
	for _, rel := range hooks {
		u.add(finding{rule: rule.Hooks, path: u.files[rel].path, message: rel + " configures hooks"})
	}
	if u.doc == nil || u.doc.Front == nil {
		return
	}
	if key, _ := u.doc.Lookup("hooks"); key != nil {
		u.atNode(key, finding{
			rule:    rule.Hooks,
			message: "the skill has hooks, which run without a decision by the model",
		})
	}
	if _, v := u.doc.Lookup("allowed-tools"); v != nil {
		u.checkToolRisks(v)
	}
}

// countAndFirst returns the length of a list and its first item.
func countAndFirst(list []string, what string) string {
	if len(list) == 1 {
		return "a " + what + ": " + list[0]
	}
	return textx.Count(len(list), what) + ", for example " + list[0]
}

// checkToolRisks reports the tools of allowed-tools that allow too much.
func (u *skillCheck) checkToolRisks(v *yaml.Node) {
	list := []*yaml.Node{v}
	if yamlschema.TypeOf(v) == "list" {
		list = v.Content
	}
	for _, n := range list {
		if n.Kind != yaml.ScalarNode {
			continue
		}
		for _, item := range tools(n.Value) {
			switch scan.ToolRisk(item) {
			case scan.EveryTool:
				u.atNode(n, finding{rule: rule.WildcardTools, message: item + " allows every tool"})
			case scan.EveryMCPTool:
				u.atNode(n, finding{
					rule: rule.WildcardTools, severity: new(diag.SeverityWarning), message: item + " allows every tool of MCP servers",
				})
			case scan.EveryCommand:
				u.atNode(n, finding{rule: rule.UnscopedShell, message: item + " allows every shell command"})
			case scan.NoRisk:
			}
		}
	}
}
