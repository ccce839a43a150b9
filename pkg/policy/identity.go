package policy

import (
	"net/url"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/pack"
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
		"repository": func(v yamlx.Value) { id.Repository = v.Text(checkRepository) },
	})
	v.Require("write {issuer: https://…, subject: …}", "issuer", "subject")
	return &id
}

// publisher is the short form of the identity of a CI job: {github: acme/skills, workflow: release.yml}.
type publisher struct {
	pack.Publisher
	limit string // a key that requires github or gitlab; "" if there is none
}

func (p *publisher) repository(system string, v yamlx.Value) {
	p.System = system
	p.Repository = v.Text()
}

// text returns a function that reads a key of the short form.
func (p *publisher) text(into *string) func(yamlx.Value) {
	return func(v yamlx.Value) {
		p.limit = v.Key().Node.Value
		*into = v.Text(func(s string) error {
			if s == "" {
				return wrong("remove the key", "%s is empty", v.Name)
			}
			return nil
		})
	}
}

// identity returns the identity that the short form means.
func (p *publisher) identity(v yamlx.Value) *Identity {
	if err := p.Check(); err != nil {
		v.Errorf(diag.HintOf(err), "%s", err)
		return &Identity{}
	}
	var id Identity
	id.Issuer, id.Subject, id.Repository = p.Certificate()
	return &id
}

// checkRepository checks the address of a repository in a certificate.
func checkRepository(s string) error {
	if u, err := url.Parse(s); err == nil && isIssuer(s) && len(u.Path) > 1 && !strings.HasSuffix(s, "/") {
		return nil
	}
	hint := "use the exact address, such as https://github.com/acme/skills"
	return wrong(hint, "%q is not the https address of a repository", s)
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
