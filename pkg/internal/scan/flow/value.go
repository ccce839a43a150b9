package flow

import "slices"

// set is the nodes that a value comes from, sorted.
type set []int32

func (s set) with(other set) set {
	if len(other) == 0 {
		return s
	}
	if len(s) == 0 || s.subsetOf(other) {
		return other
	}
	if other.subsetOf(s) {
		return s
	}
	out := make(set, 0, len(s)+len(other))
	out = append(append(out, s...), other...)
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxSources)]
}

// subsetOf reports whether all nodes are in another set.
func (s set) subsetOf(other set) bool {
	if len(s) > len(other) {
		return false
	}
	for _, n := range s {
		if !slices.Contains(other, n) {
			return false
		}
	}
	return true
}

// value is what is known about the value of an expression.
type value struct {
	text    string // the text; a part that is unknown is a mark, see [reader.hole]
	literal bool   // the text is known although it may be empty
	from    set    // what it comes from
	name    string // the function, module, or kind of object, such as "requests.post" and "requests.Session()"
	post    bool   // options of a request that has a body
	ref     string // the variable, such as "self.client"
	parts   *parts // nil without parts, which is most common
}

// parts are the values in a value. They are shared by copies of it, and never change once the value is set.
type parts struct {
	argv    []value
	fields  []field // of a literal object; not nil for an empty one
	choices []value // what an element of a list may be
}

// noParts is the parts of a value without parts.
var noParts parts

func (v *value) partsOrEmpty() *parts {
	if v.parts == nil {
		return &noParts
	}
	return v.parts
}

// setArgv sets the elements of a list, of which the first [maxElements] are known.
func (v *value) setArgv(list []value) {
	p := *v.partsOrEmpty()
	p.argv = list[:min(len(list), maxElements)]
	if v.parts = &p; len(p.argv) == 0 && p.fields == nil && len(p.choices) == 0 {
		v.parts = nil
	}
}

// setChoices sets what an element of a list may be: the first [maxChoices] values.
func (v *value) setChoices(list []value) {
	p := *v.partsOrEmpty()
	p.choices = list[:min(len(list), maxChoices)]
	v.parts = &p
}

// field is a field of an object.
type field struct {
	name string
	v    value
}

// field returns a field of an object.
func (v *value) field(name string) (value, bool) {
	for _, f := range v.partsOrEmpty().fields {
		if f.name == name {
			return f.v, true
		}
	}
	return value{}, false
}

// maxFields is the number of fields that are known of an object.
const maxFields = 16

// withField returns the fields of an object with another one, or with another value of it.
func withField(fields []field, name string, v value) []field {
	for i := range fields {
		if fields[i].name == name {
			fields[i].v = v
			return fields
		}
	}
	if len(fields) == maxFields {
		return fields
	}
	return append(fields, field{name, v})
}

// oneOf returns the value of an element of a list.
func oneOf(list []value) value {
	v := union(list...)
	v.setChoices(alternatives(list[:min(len(list), maxChoices)]))
	return v
}

// alternatives returns the values that each of several may be.
func alternatives(values []value) []value {
	var out []value
	for _, v := range values {
		choices := v.partsOrEmpty().choices
		if len(choices) == 0 {
			out = append(out, v)
		}
		out = append(out, choices...)
	}
	return out
}

func union(values ...value) (v value) {
	for _, x := range values {
		v.from = v.from.with(x.from)
	}
	return v
}
