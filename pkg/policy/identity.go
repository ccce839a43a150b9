package policy

import (
	"net/url"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

func identity(v yamlx.Value) *Identity {
	var id Identity
	v.Each(map[string]func(yamlx.Value){
		"issuer": func(v yamlx.Value) {
			id.Issuer = v.Text(func(s string) error {
				if isIssuer(s) {
					return nil
				}
				hint := "use the exact address, such as https://accounts.example"
				return wrong(hint, "%q is not the https address of an issuer", s)
			})
		},
		"subject": func(v yamlx.Value) {
			id.Subject = v.Text(func(s string) error {
				if message, hint := checkSubject(s); message != "" {
					return wrong(hint, "%s", message)
				}
				return nil
			})
		},
	})
	v.Require("write {issuer: https://…, subject: …}", "issuer", "subject")
	return &id
}

// isIssuer reports whether s is an https address without user, query, fragment, and wildcards.
func isIssuer(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && strings.HasPrefix(s, "https://") &&
		!strings.ContainsAny(s, "?#@*^$()[]{}|\\ ") && u.Host == strings.ToLower(u.Host)
}

// special are the characters that have a meaning in regular expressions and do not occur in subjects. Dots, plus signs,
// and question marks also occur in addresses.
const special = `*^$()[]{}|\`

// checkSubject returns what is wrong with a subject, and how to fix it. An unanchored pattern is rejected, because
// anybody could register a name that contains a match.
func checkSubject(s string) (message, hint string) {
	const exact = "use the exact subject, or a regular expression between ^ and $"
	if s == "" || strings.ContainsAny(s, " ") {
		return "subject is empty or contains a space", exact
	}
	inner, starts := strings.CutPrefix(s, "^")
	inner, ends := strings.CutSuffix(inner, "$")
	switch pattern := strings.ContainsAny(s, special); {
	case !pattern:
		return "", ""
	case !starts || !ends:
		const loose = "a regular expression in subject must start with ^ and end with $; " +
			"otherwise it matches parts of other names"
		return loose, exact
	}
	re, err := syntax.Parse(s, syntax.Perl)
	switch {
	case err != nil:
		return "subject is not a regular expression: " + err.Error(), exact
	case !anchored(re):
		return "subject is only partly anchored: ^ and $ must apply to every alternative", "write ^(" + inner + ")$"
	case !literal(re):
		return "subject matches every identity", "add a fixed part to the expression"
	}
	return "", ""
}

// anchored reports whether an expression only matches complete texts.
func anchored(re *syntax.Regexp) bool {
	return hasAnchor(re, syntax.OpBeginText, false) && hasAnchor(re, syntax.OpEndText, true)
}

// hasAnchor reports whether every alternative of an expression starts or ends with an anchor.
func hasAnchor(re *syntax.Regexp, anchor syntax.Op, end bool) bool {
	switch re.Op {
	case anchor:
		return true
	case syntax.OpCapture:
		return hasAnchor(re.Sub[0], anchor, end)
	case syntax.OpConcat:
		if end {
			return hasAnchor(re.Sub[len(re.Sub)-1], anchor, end)
		}
		return hasAnchor(re.Sub[0], anchor, end)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !hasAnchor(sub, anchor, end) })
	}
	return false
}

// literal reports whether every match of an expression contains a literal character.
func literal(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return true
	case syntax.OpConcat, syntax.OpCapture:
		return slices.ContainsFunc(re.Sub, literal)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !literal(sub) })
	case syntax.OpPlus:
		return literal(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && literal(re.Sub[0])
	}
	return false
}
