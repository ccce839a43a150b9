package lint

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
)

// hitRules are the rules for what package scan finds.
var hitRules = map[scan.Kind]string{
	scan.EncryptedArchive:   rule.EncryptedArchive,
	scan.Base64Shell:        rule.Base64Shell,
	scan.EncodedCommand:     rule.EncodedCommand,
	scan.RawIPShell:         rule.RawIPShell,
	scan.PasteSite:          rule.PasteSite,
	scan.TagCharacters:      rule.TagCharacters,
	scan.BidiControls:       rule.BidiControls,
	scan.ZeroWidthRun:       rule.ZeroWidthRun,
	scan.Secret:             rule.Secret,
	scan.BlankPadding:       rule.BlankPadding,
	scan.DynamicShell:       rule.DynamicShell,
	scan.PipeToShell:        rule.PipeToShell,
	scan.InstallerFirst:     rule.InstallerFirst,
	scan.SkipPermission:     rule.SkipPermission,
	scan.IgnoreInstructions: rule.IgnoreInstructions,
	scan.HideFromUser:       rule.HideFromUser,
	scan.CredentialPath:     rule.CredentialPath,
	scan.ReverseShell:       rule.ReverseShell,
	scan.Shortener:          rule.Shortener,
	scan.Sudo:               rule.Sudo,
}

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
		}
	}
}

// scanText reports what the scanner finds in one text. A warning or a note is reported once per file, because one is
// enough to make a reviewer look.
func (u *skillCheck) scanText(f *file) {
	script := scriptExtension(f.rel) || isShebang(f.data)
	reported := map[string]bool{}
	for _, h := range u.l.scanner.Text(f.data, scan.Options{
		Markdown: isMarkdown(f.rel), Script: script,
		Skill: f.source == u.src,
	}) {
		id := hitRules[h.Kind]
		switch {
		case h.Kind == scan.PipeToShell && !script:
			id = rule.PipeToShellText
		case h.Kind == scan.BlankPadding && (path.Ext(f.rel) == ".html" || path.Ext(f.rel) == ".htm"):
			continue // generators leave blank lines
		}
		if reported[id] && rule.Severity(id) != diag.SeverityError || isMarkdown(f.rel) && u.isQuoted(f, h) {
			continue
		}
		reported[id] = true
		r, _ := rule.Lookup(id)
		message := r.Title
		if h.Detail != "" {
			message += ": " + h.Detail
		}
		u.at(f.source, h.Start, h.End, finding{rule: id, message: message})
		if h.Kind == scan.Secret {
			u.redact(f, h.Start, h.End)
		}
	}
	if p := f.page; p != nil {
		u.reportComment(f, p)
	}
}

// isQuoted reports whether a page only quotes the words of an attack, or names a switch outside of a command.
func (u *skillCheck) isQuoted(f *file, h scan.Hit) bool {
	switch h.Kind {
	case scan.IgnoreInstructions, scan.HideFromUser, scan.CredentialPath:
		before := strings.TrimRight(string(f.data[max(0, h.Start-8):h.Start]), " ")
		return before != "" && strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "'") ||
			strings.HasSuffix(before, "“") ||
			strings.HasSuffix(before, "‘") || strings.HasSuffix(before, "«")
	case scan.SkipPermission:
		p := u.page(f)
		if p == nil || p.inBlock(h.Start) {
			return false
		}
		for _, s := range p.Spans {
			if s.Offset <= h.Start && h.Start < s.End {
				return !strings.Contains(strings.TrimSpace(s.Text), " ") // the switch alone
			}
		}
		return true
	}
	return false
}

// redact keeps a secret out of the line that reports show: of every character after the first four stands a star.
func (u *skillCheck) redact(f *file, start, end int) {
	line, column := f.position(start)
	at := lineKey{u.l.show(f.path), line}
	text := []rune(u.redacted[at])
	if len(text) == 0 {
		text = []rune(f.line(line))
	}
	last := min(len(text), column-1+utf8.RuneCount(f.data[start:end]))
	for i := column - 1 + 4; i < last; i++ {
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
			id, detail = hitRules[found.Hit.Kind], found.Hit.Detail
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
			wildcard, shell := scan.ToolRisk(item)
			switch {
			case wildcard:
				u.atNode(n, finding{rule: rule.WildcardTools, message: item + " allows every tool"})
			case shell:
				u.atNode(n, finding{rule: rule.UnscopedShell, message: item + " allows every shell command"})
			}
		}
	}
}
