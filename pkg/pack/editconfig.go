package pack

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Lookups is what a file says about where names are looked up: the user's configuration, or a manifest. It is edited in the
// bytes of the file, so that comments and order survive.
type Lookups struct {
	Path       string
	Registries []Registry
	Namespaces map[string]string // owner to the registry, by name or address

	manifest bool
	data     []byte
}

// ParseLookups reads a file's registries and namespaces; manifest says that it is a manifest and not a configuration. No
// bytes are a file that says nothing.
func ParseLookups(path string, data []byte, manifest bool) (*Lookups, error) {
	l := &Lookups{Path: path, manifest: manifest, data: data}
	if manifest {
		m, err := ParseManifest(path, data)
		if err != nil {
			return nil, err
		}
		l.Registries, l.Namespaces = m.Registries, m.Namespaces
		return l, nil
	}
	c, err := ParseConfig(path, data)
	if err != nil {
		return nil, err
	}
	l.Registries, l.Namespaces = c.Registries, c.Namespaces
	return l, nil
}

// Bytes returns the file.
func (l *Lookups) Bytes() []byte { return l.data }

// Registry returns the registry with a name or an address.
func (l *Lookups) Registry(nameOrURL string) (Registry, bool) {
	i := slices.IndexFunc(l.Registries, func(r Registry) bool { return r.Name == nameOrURL || r.URL == nameOrURL })
	if i < 0 {
		return Registry{}, false
	}
	return l.Registries[i], true
}

// Add appends a registry. It is a conflict if its name is another's.
func (l *Lookups) Add(r Registry) error {
	if old, ok := l.Registry(r.Name); ok {
		if old == r {
			return nil
		}
		return diag.Errorf(diag.Conflict, "%s has a registry %s already, at %s", l.Path, r.Name, old.URL).
			WithHint("choose another name, or remove that one: skillpm registry remove %s", r.Name)
	}
	want := l.clone()
	want.Registries = append(want.Registries, r)
	item := value{fields: []field{{key: "name", text: r.Name}, {key: "url", text: r.URL}}}
	return l.edit(want, "add - "+item.render(false)+" to registries", func(d *document) error { return d.appendItem("registries", item) })
}

// Remove takes a registry out, by its name or address, and says whether it was there. What is bound to it is not touched.
func (l *Lookups) Remove(nameOrURL string) (bool, error) {
	i := slices.IndexFunc(l.Registries, func(r Registry) bool { return r.Name == nameOrURL || r.URL == nameOrURL })
	if i < 0 {
		return false, nil
	}
	want := l.clone()
	want.Registries = slices.Delete(want.Registries, i, i+1)
	return true, l.edit(want, "remove "+nameOrURL+" from registries", func(d *document) error { return d.removeItem("registries", i) })
}

// Bind has an owner's packs looked up in one registry only, given by name or address.
func (l *Lookups) Bind(owner, registry string) error {
	want := l.clone()
	want.Namespaces[owner] = registry
	return l.edit(want, "write "+owner+": "+quote(registry)+" under namespaces", func(d *document) error {
		return d.set(value{text: registry}, "namespaces", owner)
	})
}

// Unbind takes the binding of an owner back, and says whether there was one.
func (l *Lookups) Unbind(owner string) (bool, error) {
	if _, ok := l.Namespaces[owner]; !ok {
		return false, nil
	}
	want := l.clone()
	delete(want.Namespaces, owner)
	return true, l.edit(want, "remove "+owner+" from namespaces", func(d *document) error { return removeEntry(d, "namespaces", owner) })
}

func (l *Lookups) clone() *Lookups {
	c := *l
	c.Registries, c.Namespaces = slices.Clone(l.Registries), maps.Clone(l.Namespaces)
	if c.Namespaces == nil {
		c.Namespaces = map[string]string{}
	}
	return &c
}

// edit makes a change, and takes it over only if the file then says what is wanted and nothing else has changed.
func (l *Lookups) edit(want *Lookups, todo string, change func(*document) error) error {
	refused := (&Manifest{Path: l.Path}).refused
	doc, err := newDocument(l.Path, l.data)
	if err != nil {
		return err
	}
	if err := change(doc); err != nil {
		return refused(todo, err)
	}
	next, err := ParseLookups(l.Path, doc.data, l.manifest)
	if err != nil {
		if diag.CodeOf(err) == diag.Invalid {
			return err // the value is none: it says why
		}
		return refused(todo, nil)
	}
	same := slices.Equal(next.Registries, want.Registries) && maps.Equal(next.Namespaces, want.Namespaces) && l.sameBut(doc.data)
	if !same {
		return refused(todo, nil)
	}
	*l = *next
	return nil
}

// sameBut reports whether a file says what this one says, registries and namespaces aside.
func (l *Lookups) sameBut(data []byte) bool {
	if l.manifest {
		before, err := ParseManifest(l.Path, l.data)
		after, errAfter := ParseManifest(l.Path, data)
		if err != nil || errAfter != nil {
			return false
		}
		before.Registries, before.Namespaces = after.Registries, after.Namespaces
		return before.equal(after)
	}
	before, err := ParseConfig(l.Path, l.data)
	after, errAfter := ParseConfig(l.Path, data)
	if err != nil || errAfter != nil {
		return false
	}
	before.Registries, before.Namespaces = after.Registries, after.Namespaces
	return reflect.DeepEqual(before, after)
}

// appendItem adds an item to the end of a list at the root: on a line of its own, unless the list is written on one line.
func (d *document) appendItem(key string, item value) error {
	found := d.find(key)
	if len(found) == 0 || isNull(found[0].val) {
		return d.beginList(key, item)
	}
	e := found[0]
	list := e.val
	switch {
	case list.Kind != yaml.SequenceNode:
		return d.refuse(list, "write "+key+" as a list")
	case isFlow(list):
		end, last := scanFlow(d.data, d.offset(list))
		text := item.render(d.json(e.parent))
		if len(list.Content) == 0 {
			return d.splice(end-1, end-1, text)
		}
		if d.data[last-1] == ',' {
			return d.splice(last, last, " "+text)
		}
		return d.splice(last, last, ", "+text)
	}
	last := entry{key: list.Content[len(list.Content)-1], next: e.next}
	at := d.lineEnd(d.lastLine(last))
	text := strings.Repeat(" ", list.Column-1) + "- " + item.render(false) + d.eol
	if at > 0 && d.data[at-1] != '\n' {
		text = d.eol + text
	}
	return d.splice(at, at, text)
}

// beginList writes the first item of a list that is not there, or has no items.
func (d *document) beginList(key string, item value) error {
	if err := d.set(value{text: "x"}, key); err != nil { // where the list belongs
		return err
	}
	e := d.find(key)[0]
	start, end := d.offset(e.val), d.valueEnd(e.val, isFlow(e.parent))
	if isFlow(e.parent) {
		return d.splice(start, end, "["+item.render(d.json(e.parent))+"]")
	}
	for start > 0 && d.data[start-1] == ' ' {
		start--
	}
	return d.splice(start, end, d.eol+strings.Repeat(" ", e.key.Column+1)+"- "+item.render(false))
}

// removeItem removes an item of a list at the root, and the list with its last one. Comments above it stay.
func (d *document) removeItem(key string, i int) error {
	e := d.find(key)[0]
	list := e.val
	item := list.Content[i]
	switch {
	case len(list.Content) == 1 && !isFlow(e.parent) && d.alone(e):
		_, err := d.remove(key)
		return err
	case isFlow(list) && len(list.Content) == 1:
		end, _ := scanFlow(d.data, d.offset(list))
		return d.splice(d.offset(list)+1, end-1, "")
	case isFlow(list) && i+1 < len(list.Content):
		return d.splice(d.offset(item), d.offset(list.Content[i+1]), "")
	case isFlow(list):
		return d.splice(d.valueEnd(list.Content[i-1], true), d.valueEnd(item, true), "")
	}
	next := e.next
	if i+1 < len(list.Content) {
		next = list.Content[i+1].Line
	}
	start, end := d.lines[item.Line-1], d.lineEnd(d.lastLine(entry{key: item, next: next}))
	if strings.TrimLeft(string(d.data[start:d.offset(item)]), " -") != "" {
		return d.refuse(item, "remove the item")
	}
	if len(list.Content) == 1 { // a comment stays, and so must the key
		return d.splice(start, end, strings.Repeat(" ", list.Column-1)+"[]"+d.eol)
	}
	return d.splice(start, end, "")
}
