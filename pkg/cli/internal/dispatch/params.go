package dispatch

import (
	"slices"
	"strings"
)

// parameters are what a skill's arguments are called.
type parameters struct {
	Required, Optional []string

	order  []parameter // as the skill names them: what is no option has its position among the arguments
	placed bool        // `arguments:` gives the positions, and not the hint alone
}

// parameter is one of them.
type parameter struct {
	name     string
	required bool
	option   bool // the hint writes it with dashes: the skill reads --name itself
	flag     bool // an option without a value
}

// declared reads the parameters of a skill from the names of `arguments:` and from the hint, in which <name> is
// required and [name] is not. What the hint calls optional is not required because `arguments:` names it. What the hint
// writes as an option, [--width N] or --width <px>, is one.
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

// add adds a parameter, once: what a hint calls optional anywhere is optional.
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

// maxHint is how many bytes of a hint are read.
const maxHint = 1000

// hintNames returns the names in the brackets of a hint. Brackets inside brackets belong to the outer ones; one that is
// not closed is text.
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

// bracket reads what stands in a bracket: its first word without dashes, dots and what comes after an equals sign.
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

// isOption reports whether a word is written as the name of an option.
func isOption(word string) bool { return strings.HasPrefix(word, "--") && len(word) > 2 }

// Missing returns the required parameters that arguments do not give: see [parameters.Bind].
func (p parameters) Missing(args []string) []string {
	_, missing := p.Bind(args)
	return missing
}

// Bind returns arguments with each in its place, and the required parameters that they do not give. An argument counts
// for the parameter that it names, as --name VALUE, --name=VALUE or name=VALUE, and its value then takes that
// parameter's position; else it counts for the next one. Options that the hint writes as such, and those that nothing
// declares, stay as they are, behind the others; the word after one is its value, and counts for nothing.
//
// Arguments of which none is named come back as they are.
func (p parameters) Bind(args []string) (bound, missing []string) {
	b := p.read(args)
	unnamed := 0 // required parameters that no name gives
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

// binding is what arguments say.
type binding struct {
	order      []parameter
	named      []bool   // of each parameter, whether an argument names it
	values     []string // and what that says
	positional []string
	rest       []string // options with their values, which are not touched
	moved      bool     // an argument names a parameter that has a position
	mixed      bool     // an option stands before an argument that is none
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

// take sorts the first of some arguments, with its value if that is the next one, and returns how many it took.
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

// same reports whether two names are that of one parameter: dashes and underscores are the same.
func same(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "-", "_"), strings.ReplaceAll(b, "-", "_"))
}
