package dispatch

import (
	"slices"
	"strings"
)

// parameters are the declared parameters of a skill.
type parameters struct {
	Required, Optional []string

	order  []parameter // in declared order; each that is not an option has a position
	placed bool        // `arguments:` defines the positions, not only the hint
}

// parameter is one declared parameter.
type parameter struct {
	name     string
	required bool
	option   bool // the hint writes it with dashes, so the skill parses --name itself
	flag     bool // an option without a value
}

// declared reads the parameters of a skill from the names of `arguments:` and from the hint, in which <name> is
// required and [name] is optional. A parameter that the hint marks as optional stays optional if `arguments:` names it.
// [--width N] and --width <px> are options.
func declared(arguments []string, hint string) parameters {
	p := parameters{placed: len(arguments) > 0}
	hinted := hintNames(hint)
	for _, name := range arguments {
		i := slices.IndexFunc(hinted, func(h parameter) bool { return same(h.name, name) })
		p.add(parameter{name: name, required: i < 0 || hinted[i].required})
	}
	for _, h := range hinted {
		p.add(h)
	}
	for _, q := range p.order {
		if q.required {
			p.Required = append(p.Required, q.name)
		} else {
			p.Optional = append(p.Optional, q.name)
		}
	}
	return p
}

// add adds a parameter unless it exists. If a hint marks it as optional anywhere, it is optional.
func (p *parameters) add(q parameter) {
	if q.name == "" {
		return
	}
	if i := slices.IndexFunc(p.order, func(o parameter) bool { return same(o.name, q.name) }); i >= 0 {
		p.order[i].required = p.order[i].required && q.required
		return
	}
	p.order = append(p.order, q)
}

// maxHint is the number of bytes of a hint that are parsed.
const maxHint = 1000

// hintNames returns the names in the brackets of a hint. Nested brackets belong to the outer ones, and unclosed ones
// are text.
func hintNames(hint string) (found []parameter) {
	hint = hint[:min(len(hint), maxHint)]
	for hint != "" {
		start := strings.IndexAny(hint, "<[")
		if start < 0 {
			return found
		}
		opening, closing := hint[start], byte('>')
		if opening == '[' {
			closing = ']'
		}
		depth, end := 0, -1
		for i := start; i < len(hint); i++ {
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
			hint = hint[start+1:]
			continue
		}
		q := bracket(hint[start+1 : end])
		if before := strings.Fields(hint[:start]); len(before) > 0 && isOption(before[len(before)-1]) {
			q = bracket(before[len(before)-1] + " VALUE") // the bracket is the value of an option
		}
		if q.name != "" {
			q.required = opening == '<'
			found = append(found, q)
		}
		hint = hint[end+1:]
	}
	return found
}

// bracket parses the content of a bracket: its first word without dashes, dots, and an equals sign with what follows.
func bracket(text string) parameter {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return parameter{}
	}
	name, _, assigned := strings.Cut(fields[0], "=")
	option := isOption(name)
	return parameter{
		name: strings.Trim(strings.TrimLeft(name, "-"), ".…<>[],:"), option: option, flag: option && !assigned &&
			len(fields) == 1,
	}
}

// isOption reports whether a word has the syntax of an option name.
func isOption(word string) bool { return strings.HasPrefix(word, "--") && len(word) > 2 }

// Missing returns the required parameters without an argument; see [parameters.Bind].
func (p parameters) Missing(args []string) []string {
	_, missing := p.Bind(args)
	return missing
}

// Bind returns the arguments in the order of the parameters, and the required parameters without an argument. An
// argument that names a parameter, as --name VALUE, --name=VALUE, or name=VALUE, provides its value; any other argument
// provides the next parameter. Options that the hint writes with dashes, and undeclared ones, stay unchanged after the
// others. The word after such an option is its value.
//
// If no argument names a parameter, the arguments are returned unchanged.
func (p parameters) Bind(args []string) (bound, missing []string) {
	b := p.read(args)
	unnamed := 0 // required parameters that were not named
	for i, q := range b.order {
		if q.required && !q.option && !b.named[i] {
			unnamed++
		}
	}
	extra := len(b.positional) - unnamed
	var values []string
	next := b.positional
	for i, q := range b.order {
		value := b.values[i]
		switch {
		case q.option:
			if q.required && value == "" {
				missing = append(missing, q.name)
			}
			continue
		case !b.named[i] && len(next) > 0 && (q.required || extra > 0):
			if value, next = next[0], next[1:]; !q.required {
				extra--
			}
		}
		if q.required && value == "" {
			missing = append(missing, q.name)
		}
		values = append(values, value)
	}
	if !b.moved && (!p.placed || !b.mixed) {
		return args, missing
	}
	for len(next) == 0 && len(values) > 0 && values[len(values)-1] == "" {
		values = values[:len(values)-1]
	}
	return slices.Concat(values, next, b.rest), missing
}

// binding is the result of sorting arguments.
type binding struct {
	order      []parameter
	named      []bool   // for each parameter, whether an argument names it
	values     []string // and its value
	positional []string
	rest       []string // options with their values, unchanged
	moved      bool     // an argument names a parameter that has a position
	mixed      bool     // an option precedes another argument
}

// read sorts arguments.
func (p parameters) read(args []string) *binding {
	b := &binding{order: p.order}
	if b.order == nil {
		for _, name := range p.Required {
			b.order = append(b.order, parameter{name: name, required: true})
		}
		for _, name := range p.Optional {
			b.order = append(b.order, parameter{name: name})
		}
	}
	b.named, b.values = make([]bool, len(b.order)), make([]string, len(b.order))
	for len(args) > 0 {
		args = args[b.take(args):]
	}
	return b
}

// take sorts the first argument, with its value if that is the next one, and returns how many it consumed.
func (b *binding) take(args []string) int {
	word, option := args[0], isOption(args[0])
	name, value, assigned := strings.Cut(strings.TrimLeft(word, "-"), "=")
	i := -1
	if option || assigned && !strings.HasPrefix(word, "-") {
		i = slices.IndexFunc(b.order, func(q parameter) bool { return same(q.name, name) })
	}
	n := 1
	switch {
	case i >= 0 && b.order[i].flag:
		b.rest = append(b.rest, word)
		return n
	case option && !assigned && len(args) > 1 && (i >= 0 || !strings.HasPrefix(args[1], "-")):
		value, n = args[1], 2
	}
	switch {
	case i >= 0 && b.order[i].option && option:
		b.named[i], b.values[i] = true, value
		b.rest = append(b.rest, args[:n]...)
	case i >= 0 && !b.order[i].option && (assigned || n == 2):
		b.named[i], b.values[i], b.moved = true, value, true
	case option:
		b.rest = append(b.rest, args[:n]...)
	default:
		b.mixed = b.mixed || len(b.rest) > 0
		b.positional = append(b.positional, word)
	}
	return n
}

// same reports whether two names are equal, ignoring the difference between dashes and underscores.
func same(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "-", "_"), strings.ReplaceAll(b, "-", "_"))
}
