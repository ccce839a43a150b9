package tool

import (
	"slices"
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Pattern is an entry of a tool list.
type Pattern struct {
	Tool        string // as written
	Argument    string // the text in parentheses
	HasArgument bool
}

// Limits of a list, far above those of real skills.
const (
	maxPatterns = 1000
	maxPattern  = 4 << 10 // bytes of one entry
)

// String returns the pattern as in a list.
func (p Pattern) String() string {
	if !p.HasArgument {
		return p.Tool
	}
	argument := p.Argument
	if strings.Contains(argument, `\`) || !balanced(argument) {
		argument = strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`).Replace(argument)
	}
	return p.Tool + "(" + argument + ")"
}

// Fill returns the pattern with ${NAME} replaced by values. A value must be plain text for patterns and shells. If it
// is not, or if a name does not have a value, the pattern stays unchanged and matches nothing. In a file pattern, a
// leading value is an absolute path.
func (p Pattern) Fill(values map[string]string) Pattern {
	rest, out := p.Argument, ""
	for {
		before, after, found := strings.Cut(rest, "${")
		name, behind, closed := strings.Cut(after, "}")
		if !found || !closed {
			p.Argument = out + rest
			return p
		}
		value := slash(values[name])
		if value == "" || strings.Trim(value, fillable) != "" || slices.Contains(strings.Split(value, "/"), "..") {
			out, rest = out+before+"${"+name+"}", behind
			continue
		}
		if kind := rows()[p.Tool].kindOf(); out+before == "" && (kind == file || kind == search) &&
			strings.HasPrefix(value, "/") {
			value = "/" + value
		}
		out, rest = out+before+value, behind
	}
}

// fillable are the characters without a meaning for patterns and shells.
const fillable = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:@+"

func balanced(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// ParseList parses tool lists. An entry may contain several tools, separated by commas or spaces, so that text in the
// frontmatter is one entry and a YAML list has several. In parentheses a backslash escapes an unmatched parenthesis.
// The error has the code Invalid and quotes the invalid text.
func ParseList(entries []string) ([]Pattern, error) {
	var out []Pattern
	for _, entry := range entries {
		if strings.ContainsFunc(entry, isInvisible) {
			return nil, diag.Errorf(diag.Invalid, "allowed-tools contains invisible characters: %s", quoted(entry)).
				WithHint("separate tools with a comma or a space, and remove other spaces and control characters")
		}
		for rest := entry; ; {
			rest = strings.TrimLeftFunc(rest, separates)
			if rest == "" {
				break
			}
			p, n, err := parseOne(rest)
			if err != nil {
				return nil, err
			}
			if out = append(out, p); len(out) > maxPatterns {
				return nil, diag.Errorf(diag.Invalid, "allowed-tools contains more than %d entries", maxPatterns)
			}
			rest = rest[n:]
		}
	}
	return out, nil
}

func separates(r rune) bool { return r == ',' || strings.ContainsRune(blanks, r) }

// blanks are the characters that shells and lists skip between words. Agents and shells take other spaces of Unicode as
// part of a word, so that they must never be trimmed.
const blanks = " \t\n"

// isInvisible reports whether a character is a space, or has no appearance, and does not separate words.
func isInvisible(r rune) bool {
	return !strings.ContainsRune(blanks, r) && (unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

// parseOne parses the pattern at the start of s, and returns its length.
func parseOne(s string) (Pattern, int, error) {
	end := strings.IndexFunc(s, func(r rune) bool { return separates(r) || r == '(' || r == ')' })
	if end < 0 {
		end = len(s)
	}
	p := Pattern{Tool: s[:end]}
	if quote := p.Tool[:min(1, end)]; end > 2 && strings.Contains("\"'`", quote) && strings.HasSuffix(p.Tool, quote) {
		p.Tool = p.Tool[1 : end-1]
	}
	if i := strings.IndexFunc(p.Tool, func(r rune) bool {
		return !unicode.IsPrint(r) ||
			strings.ContainsRune("\"'`", r)
	}); i >= 0 || len(p.Tool) > maxPattern {
		return p, 0, diag.Errorf(diag.Invalid, "allowed-tools contains an invalid tool name: %s", quoted(s))
	}
	open := end + len(s[end:]) - len(strings.TrimLeft(s[end:], " ")) // Bash (git:*) means Bash(git:*)
	if !strings.HasPrefix(s[open:], "(") {
		if strings.HasPrefix(s[end:], ")") {
			return p, 0, diag.Errorf(diag.Invalid,
				"allowed-tools contains an extra closing parenthesis: %s", quoted(s)).
				WithHint(`write a parenthesis that belongs to a command as \( or \)`)
		}
		return p, end, nil
	}
	if p.Tool == "" {
		return p, 0, diag.Errorf(diag.Invalid, "allowed-tools contains parentheses without a tool name: %s", quoted(s)).
			WithHint("write the name of the tool before the parentheses, such as Bash(git:*)")
	}
	argument, n, err := parseArgument(s[open:])
	if err != nil {
		return p, 0, err
	}
	p.Argument, p.HasArgument = argument, true
	if after := s[open+n:]; after != "" && !separates([]rune(after[:min(len(after), 4)])[0]) {
		return p, 0, diag.Errorf(diag.Invalid, "allowed-tools contains text directly after a closing parenthesis: %s",
			quoted(s)).
			WithHint("separate tools with a comma or a space")
	}
	return p, open + n, nil
}

// parseArgument parses the parentheses at the start of s.
func parseArgument(s string) (argument string, length int, err error) {
	var out strings.Builder
	depth := 1
	for i := 1; i < len(s) && i <= maxPattern; i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte(`()\`, s[i+1]) >= 0:
			i++
			out.WriteByte(s[i])
			continue
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth > 0 {
				break
			}
			if argument = strings.Trim(out.String(), blanks); argument == "" {
				return "", 0, diag.Errorf(diag.Invalid, "allowed-tools contains empty parentheses").
					WithHint("remove the parentheses to allow every call, or add a pattern, such as Bash(git:*)")
			}
			return argument, i + 1, nil
		}
		out.WriteByte(s[i])
	}
	return "", 0, diag.Errorf(diag.Invalid, "allowed-tools contains a parenthesis that is not closed: %s", quoted(s)).
		WithHint(`write a parenthesis that belongs to a command as \( or \)`)
}
