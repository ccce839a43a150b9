package dispatch

import (
	"slices"
	"strings"
)

// Parameters are what a skill's arguments are called.
type Parameters struct{ Required, Optional []string }

// Declared reads the parameters of a skill from the names of `arguments:` and from the hint, in which <name> is required
// and [name] is not. What the hint calls optional is not required because `arguments:` names it.
func Declared(arguments []string, hint string) Parameters {
	var p Parameters
	hinted, optional := hintNames(hint)
	for _, name := range slices.Concat(arguments, hinted) {
		if name != "" && !slices.Contains(p.Required, name) && !slices.Contains(optional, name) {
			p.Required = append(p.Required, name)
		}
	}
	for _, name := range optional {
		if !slices.Contains(p.Optional, name) {
			p.Optional = append(p.Optional, name)
		}
	}
	return p
}

// maxHint is how many bytes of a hint are read.
const maxHint = 1000

// hintNames returns the names in the brackets of a hint. Brackets inside brackets belong to the outer ones; one that is
// not closed is text.
func hintNames(hint string) (required, optional []string) {
	hint = hint[:min(len(hint), maxHint)]
	for hint != "" {
		at := strings.IndexAny(hint, "<[")
		if at < 0 {
			return required, optional
		}
		opening, closing := hint[at], byte('>')
		if opening == '[' {
			closing = ']'
		}
		depth, end := 0, -1
		for i := at; i < len(hint); i++ {
			switch hint[i] {
			case opening:
				depth++
			case closing:
				depth--
			}
			if depth == 0 {
				end = i
				break
			}
		}
		if end < 0 {
			hint = hint[at+1:]
			continue
		}
		if name := parameterName(hint[at+1 : end]); name != "" {
			if opening == '<' {
				required = append(required, name)
			} else {
				optional = append(optional, name)
			}
		}
		hint = hint[end+1:]
	}
	return required, optional
}

// parameterName returns the name in a bracket: its first word without dashes, dots and what comes after an equals sign.
func parameterName(text string) string {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(fields[0], "=")
	return strings.Trim(strings.TrimLeft(name, "-"), ".…<>[],:")
}

// Missing returns the required parameters that arguments do not give: by name, as --name VALUE, --name=VALUE or
// name=VALUE, or else one for each argument that is no option.
func (p Parameters) Missing(args []string) []string {
	known := func(name string) string {
		for _, n := range slices.Concat(p.Required, p.Optional) {
			if same(n, name) {
				return n
			}
		}
		return ""
	}
	given := map[string]bool{}
	positional := 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, v, assigned := strings.Cut(strings.TrimLeft(a, "-"), "=")
		option := strings.HasPrefix(a, "--") && len(a) > 2
		switch n := known(name); {
		case assigned && n != "" && (option || !strings.HasPrefix(a, "-")):
			given[n] = given[n] || v != ""
		case option && !assigned && n != "" && i+1 < len(args):
			i++
			given[n] = given[n] || args[i] != ""
		case option || a == "":
		default:
			positional++
		}
	}
	var missing []string
	for _, name := range p.Required {
		switch {
		case given[name]:
		case positional > 0:
			positional--
		default:
			missing = append(missing, name)
		}
	}
	return missing
}

// same reports whether two names are that of one parameter: dashes and underscores are the same.
func same(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "-", "_"), strings.ReplaceAll(b, "-", "_"))
}
