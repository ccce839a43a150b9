package lint

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/markdown"
)

// marker starts a comment that suppresses findings:
//
//	<!-- skillpm-ignore REF001, REF012: made at release -->
//	# skillpm-ignore-file SEC325: teaches administration until 2027-01-31
//
// It counts for its own line and, where nothing else is on that line, for the next line with text; with -file for the
// whole file. Without a reason it does not count.
const marker = "skillpm-ignore"

// Suppressed is a finding that does not count, and why.
type Suppressed struct {
	diag.Finding
	Reason string `json:"reason"`
	By     string `json:"by"` // ByComment, ByConfiguration or ByBaseline
}

// What suppresses findings.
const (
	ByComment       = "comment"
	ByConfiguration = "configuration"
	ByBaseline      = "baseline"
)

// suppression is one such comment.
type suppression struct {
	file        string // in the file system
	path        string // as reports have it
	line        int    // of the comment
	column      int    // of the marker
	text        string // of that line
	first, last int    // the lines that it counts for; all where first is 0
	rules       []string
	reason      string
	used        bool
}

// maxCommentLine is the length in bytes of the longest line that may have a suppression.
const maxCommentLine = 8 << 10

// maxSuppressions is how many such comments of one file are read.
const maxSuppressions = 500

// suppressions reads the comments of a file that suppress findings, and reports those that do not count.
func (u *skillCheck) suppressions(f *file) []*suppression {
	if !u.mayHaveMarker(f) {
		return nil
	}
	var out []*suppression
	for at, tries := 0, 0; ; tries++ {
		i := bytes.Index(f.data[at:], []byte(marker))
		if i < 0 || tries >= maxSuppressions {
			return out
		}
		at += i
		line, _ := f.position(at)
		if f.lineLength(line) > maxCommentLine {
			at += len(marker)
			continue
		}
		if text, alone, ok := u.commentAt(f, at, line); ok {
			if s := u.suppression(f, line, text, alone); s != nil {
				out = append(out, s)
			}
		}
		at += len(marker)
	}
}

// mayHaveMarker reports whether a file is worth searching for the marker: of a parsed page only its comments are, and
// of a page that nothing leads to only if it has findings.
func (u *skillCheck) mayHaveMarker(f *file) bool {
	switch {
	case !f.isText():
		return false
	case f.page != nil && (f.source != u.src || !bytes.Contains(f.data[:u.doc.BodyStart], []byte(marker))):
		return slices.ContainsFunc(f.page.Comments, func(c markdown.Span) bool {
			return strings.Contains(c.Text, marker)
		}) ||
			len(f.page.Blocks) > 0 && u.hasFindings(f) && bytes.Contains(f.data, []byte(marker))
	case isMarkdown(f.rel) && f.page == nil:
		return u.hasFindings(f) && bytes.Contains(f.data, []byte(marker))
	}
	return bytes.Contains(f.data, []byte(marker))
}

func (u *skillCheck) hasFindings(f *file) bool {
	shown := u.l.show(f.path)
	return slices.ContainsFunc(u.findings, func(found diag.Finding) bool { return found.Path == shown })
}

// commentAt returns the text after the marker at an offset, up to the end of its comment; ok is false where the marker
// is not the first word of a comment. alone means that nothing else is on the line.
func (u *skillCheck) commentAt(f *file, at, line int) (text string, alone, ok bool) {
	lineText := f.line(line)
	start := f.index()[line-1]
	before := strings.TrimSpace(lineText[:at-start])
	text = lineText[at-start+len(marker):]
	if isMarkdown(f.rel) && (f.source != u.src || at >= u.doc.BodyStart) {
		p := u.page(f)
		switch {
		case p == nil:
			return "", false, false
		case p.inBlock(at): // a comment of the code's language
		case !strings.HasSuffix(before, "<!--") || p.InCode(at):
			return "", false, false
		default:
			text, after, closed := strings.Cut(text, "-->")
			return text, before == "<!--" && closed && strings.TrimSpace(after) == "", true
		}
	}
	for _, open := range []string{"<!--", "/*", "//", "#", "--", ";", "%"} {
		if strings.HasSuffix(before, open) {
			text = strings.TrimSuffix(strings.TrimSpace(text), "*/")
			text = strings.TrimSuffix(strings.TrimSpace(text), "-->")
			return text, before == open, true
		}
	}
	return "", false, false
}

var until = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s*\(?\buntil (\d[\d./-]+)\)?\s*$`) })

// suppression reads what follows the marker.
func (u *skillCheck) suppression(f *file, line int, text string, alone bool) *suppression {
	s := &suppression{file: f.path, path: u.l.show(f.path), line: line, text: f.line(line), first: line, last: line}
	if rest, ok := strings.CutPrefix(text, "-file"); ok {
		s.first, text = 0, rest
	} else if alone {
		s.last = f.nextText(line)
	}
	s.column = 1
	if i := strings.Index(s.text, marker); i >= 0 {
		s.column = utf8.RuneCountInString(s.text[:i]) + 1
	}
	say := func(id, message, fix string) {
		u.add(finding{
			rule: id, src: f.source, line: line, column: s.column, width: len(marker), message: message,
			fix: fix,
		})
	}
	list, reason, colon := strings.Cut(text, ":")
	if words := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }); !colon &&
		slices.ContainsFunc(words, func(w string) bool { return u.l.Rules.checkPattern(w) != nil }) {
		say(rule.NoReason, "the suppression does not have a colon before its reason, so skillpm ignores it", "")
		return nil
	}
	s.rules = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	s.reason = strings.TrimSpace(reason)
	if m := until().FindStringSubmatchIndex(s.reason); m != nil {
		day, err := time.Parse(time.DateOnly, s.reason[m[2]:m[3]])
		s.reason = strings.TrimSpace(s.reason[:m[0]])
		if err != nil {
			say(rule.Expired, "the suppression has an invalid end date, so skillpm ignores it",
				"use the form 2027-01-31")
			return nil
		}
		if !u.l.Now.IsZero() && !u.l.Now.Before(day) {
			say(rule.Expired, "the suppression expired on "+day.Format(time.DateOnly), "")
			return nil
		}
	}
	valid := slices.DeleteFunc(slices.Clone(s.rules), func(pattern string) bool {
		return u.l.Rules.checkPattern(pattern) != nil
	})
	for _, pattern := range s.rules {
		if !slices.Contains(valid, pattern) {
			say(rule.UnknownRule, fmt.Sprintf("unknown rule %q", pattern), "")
		}
	}
	switch {
	case len(s.rules) == 0:
		say(rule.UnknownRule, "the suppression does not name a rule", "write the rule's id after "+marker)
		return nil
	case s.reason == "":
		say(rule.NoReason, "the suppression does not have a reason, so skillpm ignores it", "")
		return nil
	}
	s.rules = valid
	return s
}

// nextText returns the next line after n that is not blank.
func (s *source) nextText(n int) int {
	for next := n + 1; next <= len(s.index()); next++ {
		if strings.TrimSpace(s.line(next)) != "" {
			return next
		}
	}
	return n
}

// covers reports whether the comment counts for a finding.
func (s *suppression) covers(f diag.Finding) bool {
	if f.Path != s.path || s.first > 0 && (f.Line < s.first || f.Line > s.last) {
		return false
	}
	return slices.ContainsFunc(s.rules, func(pattern string) bool { return rule.Match(pattern, f.Rule) })
}

// readSuppressions finds the comments that suppress findings.
func (u *skillCheck) readSuppressions() {
	for _, rel := range u.sortedFiles() {
		u.comments = append(u.comments, u.suppressions(u.files[rel])...)
	}
}

// suppress removes the findings that comments suppress. Comments cannot suppress findings about comments.
func (u *skillCheck) suppress() {
	if len(u.comments) == 0 {
		return
	}
	active := u.findings[:0]
	for _, f := range u.findings {
		i := slices.IndexFunc(u.comments, func(s *suppression) bool { return s.covers(f) })
		if i < 0 || strings.HasPrefix(f.Rule, "SUP") {
			active = append(active, f)
			continue
		}
		u.comments[i].used = true
		u.suppressed = append(u.suppressed, Suppressed{Finding: f, Reason: u.comments[i].reason, By: ByComment})
	}
	u.findings = active
	for _, s := range u.comments {
		if !s.used && slices.ContainsFunc(s.rules, u.l.alwaysOn) {
			u.add(finding{
				rule: rule.Unused, path: s.file, line: s.line, column: s.column, width: len(marker),
				message: fmt.Sprintf("the suppression does not match a finding of %s", strings.Join(s.rules, ", ")),
			})
		}
	}
}

// reportedOnce reports whether a rule is reported only at its first position in a file.
func reportedOnce(r rule.Rule) bool { return r.Family() == "SEC" && r.Severity != diag.SeverityError }

// alwaysOn reports whether a pattern's rules apply whatever the profiles and the other checked skills are, and the
// settings leave them on.
func (l *lintRun) alwaysOn(pattern string) bool {
	for _, r := range rule.All() {
		if !rule.Match(pattern, r.ID) {
			continue
		}
		if _, off := l.Settings.level(r.ID, r.Severity); off || r.Off || r.Weak ||
			slices.Contains([]string{"FM", "PACK", "XS"}, r.Family()) || reportedOnce(r) || r.ID == rule.Executable &&
			l.NoModes {
			return false
		}
	}
	return true
}
