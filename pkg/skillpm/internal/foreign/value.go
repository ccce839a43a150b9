package foreign

import (
	"github.com/skillpm/skillpm/pkg/diag"
)

// kind is the type of a [value].
type kind int

const (
	isNull kind = iota
	isText
	isNumber
	isBool
	isList
	isMapping
	isUnsupported // an alias or a tag of YAML, which are not read
)

var kindNames = [...]string{"nothing", "text", "a number", "true or false", "a list", "a mapping", "an alias or a tag"}

func (k kind) String() string { return kindNames[k] }

// value is a value of JSON or YAML.
type value struct {
	kind  kind
	line  int
	text  string   // of a text, a number, or a Boolean
	items []*value // of a list, or the values of a mapping
	keys  []string // of a mapping, in the order of the file
	known map[string]int
}

// field returns a value of a mapping, nil if there is none or v is not a mapping.
func (v *value) field(key string) *value {
	if v == nil || v.kind != isMapping {
		return nil
	}
	if i, ok := v.known[key]; ok {
		return v.items[i]
	}
	return nil
}

// set adds a value to a mapping. It reports whether the key is new.
func (v *value) set(key string, item *value) bool {
	if _, twice := v.known[key]; twice {
		return false
	}
	if v.known == nil {
		v.known = make(map[string]int)
	}
	v.known[key] = len(v.items)
	v.keys = append(v.keys, key)
	v.items = append(v.items, item)
	return true
}

// empty reports whether a value is missing, null, or an empty list or mapping.
func (v *value) empty() bool {
	return v == nil || v.kind == isNull || (v.kind == isList || v.kind == isMapping) && len(v.items) == 0
}

// want checks the kind of a value, and returns nil for one that is missing.
func (f file) want(v *value, what string, want kind) (*value, *diag.Error) {
	switch {
	case v == nil || v.kind == isNull:
		return nil, nil
	case v.kind != want:
		return nil, f.errorf(v, "%s must be %s, not %s", what, want, v.kind)
	}
	return v, nil
}

// textOf returns the text of a key, or "".
func (f file) textOf(v *value, key string) (string, error) {
	t, err := f.want(v.field(key), key, isText)
	if err != nil {
		return "", err
	}
	if t == nil {
		return "", nil
	}
	return t.text, nil
}

// fieldsOf returns the texts of some keys, each "" if it is missing.
func (f file) fieldsOf(v *value, keys ...string) (map[string]string, error) {
	texts := make(map[string]string, len(keys))
	for _, key := range keys {
		text, err := f.textOf(v, key)
		if err != nil {
			return nil, err
		}
		texts[key] = text
	}
	return texts, nil
}

// textsOf returns the list of texts of a key; one text is a list of one.
func (f file) textsOf(v *value, key string) ([]string, error) {
	at := v.field(key)
	if at != nil && at.kind == isText {
		return []string{at.text}, nil
	}
	list, err := f.want(at, key, isList)
	if err != nil || list == nil {
		return nil, asErrorValue(err)
	}
	texts := make([]string, len(list.items))
	for i, item := range list.items {
		if item.kind != isText {
			return nil, f.errorf(item, "an entry of %s must be text, not %s", key, item.kind)
		}
		texts[i] = item.text
	}
	return texts, nil
}

// boolOf returns the Boolean of a key, or a default.
func (f file) boolOf(v *value, key string, otherwise bool) (bool, error) {
	flag, err := f.want(v.field(key), key, isBool)
	if err != nil {
		return false, err
	}
	if flag == nil {
		return otherwise, nil
	}
	return flag.text == "true", nil
}

// asErrorValue keeps a nil pointer from becoming an error.
func asErrorValue(err *diag.Error) error {
	if err == nil {
		return nil
	}
	return err
}
