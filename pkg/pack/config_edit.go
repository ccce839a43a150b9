package pack

import (
	"maps"
	"reflect"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Lookups is what a file says about where names are looked up: the user's configuration, or a manifest. It is edited in
// the bytes of the file, so that comments and order survive.
type Lookups struct {
	Path       string
	Registries []Registry
	Namespaces map[string]string // owner to the registry, by name or address

	manifest bool
	data     []byte
}

// ParseLookups reads a file's registries and namespaces; manifest says that it is a manifest and not a configuration.
// No bytes are a file that says nothing.
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
	item := yamlx.Mapping{{Key: "name", Value: r.Name}, {Key: "url", Value: r.URL}}
	return l.edit(want, "add - "+yamlx.Render(item, false)+" to registries", func(e *yamlx.Editor) error {
		return e.Append(item, "registries")
	})
}

// Remove takes a registry out, by its name or address, and says whether it was there. What is bound to it is not
// touched.
func (l *Lookups) Remove(nameOrURL string) (bool, error) {
	i := slices.IndexFunc(l.Registries, func(r Registry) bool { return r.Name == nameOrURL || r.URL == nameOrURL })
	if i < 0 {
		return false, nil
	}
	want := l.clone()
	want.Registries = slices.Delete(want.Registries, i, i+1)
	return true, l.edit(want, "remove "+nameOrURL+" from registries", func(e *yamlx.Editor) error {
		return e.RemoveItem(i, "registries")
	})
}

// Bind has an owner's packs looked up in one registry only, given by name or address.
func (l *Lookups) Bind(owner, registry string) error {
	want := l.clone()
	want.Namespaces[owner] = registry
	return l.edit(want, "write "+owner+": "+yamlx.Quote(registry)+" under namespaces", func(e *yamlx.Editor) error {
		return e.Set(registry, "namespaces", owner)
	})
}

// Unbind takes the binding of an owner back, and says whether there was one.
func (l *Lookups) Unbind(owner string) (bool, error) {
	if _, ok := l.Namespaces[owner]; !ok {
		return false, nil
	}
	want := l.clone()
	delete(want.Namespaces, owner)
	return true, l.edit(want, "remove "+owner+" from namespaces", func(e *yamlx.Editor) error {
		_, err := e.Prune("namespaces", owner)
		return err
	})
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
func (l *Lookups) edit(want *Lookups, todo string, change func(*yamlx.Editor) error) error {
	e, err := yamlx.NewEditor(l.Path, l.data)
	if err != nil {
		return err
	}
	if err := change(e); err != nil {
		return refusedEdit(l.Path, todo, err)
	}
	next, err := ParseLookups(l.Path, e.Bytes(), l.manifest)
	if err != nil {
		if diag.CodeOf(err) == diag.Invalid {
			return err // the value is none: it says why
		}
		return refusedEdit(l.Path, todo, nil)
	}
	same := slices.Equal(next.Registries, want.Registries) && maps.Equal(next.Namespaces, want.Namespaces) &&
		l.sameBut(e.Bytes())
	if !same {
		return refusedEdit(l.Path, todo, nil)
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
