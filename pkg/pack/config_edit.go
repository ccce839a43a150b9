package pack

import (
	"maps"
	"reflect"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// RegistryFile is the registries and namespaces of a configuration or a manifest. Edits change the bytes of the file,
// so that comments and order stay.
type RegistryFile struct {
	Path       string
	Registries []Registry
	Namespaces map[string]string // owner to the registry, by name or address
	Publishers map[string]string // owner to the publisher; nil in a manifest

	manifest bool // the file is a manifest
	data     []byte
}

// ParseRegistryFile parses a configuration, or a manifest. data may be empty.
func ParseRegistryFile(path string, data []byte, manifest bool) (*RegistryFile, error) {
	f := &RegistryFile{Path: path, manifest: manifest, data: data}
	if manifest {
		m, err := ParseManifest(path, data)
		if err != nil {
			return nil, err
		}
		f.Registries, f.Namespaces = m.Registries, m.Namespaces
		return f, nil
	}
	c, err := ParseConfig(path, data)
	if err != nil {
		return nil, err
	}
	f.Registries, f.Namespaces, f.Publishers = c.Registries, c.Namespaces, c.Publishers
	return f, nil
}

// IsManifest reports whether the file is a manifest, which does not bind owners to publishers.
func (f *RegistryFile) IsManifest() bool { return f.manifest }

// Bytes returns the content of the file with all edits.
func (f *RegistryFile) Bytes() []byte { return f.data }

// Registry returns the registry with a name or an address.
func (f *RegistryFile) Registry(nameOrURL string) (Registry, bool) {
	i := slices.IndexFunc(f.Registries, func(r Registry) bool { return r.Name == nameOrURL || r.URL == nameOrURL })
	if i < 0 {
		return Registry{}, false
	}
	return f.Registries[i], true
}

// Add appends a registry. The error has code [diag.Conflict] if another one has its name.
func (f *RegistryFile) Add(r Registry) error {
	if err := checkAddress(r.Name)(r.URL); err != nil { // names no line: the file does not have it
		return err
	}
	if old, ok := f.Registry(r.Name); ok {
		if old == r {
			return nil
		}
		return diag.Errorf(diag.Conflict, "%s already contains a registry %s: %s", f.Path, r.Name, old.URL).
			WithHint("choose another name, or remove the existing registry with: skillpm registry remove %s", r.Name)
	}
	want := f.clone()
	want.Registries = append(want.Registries, r)
	item := yamlx.Mapping{{Key: "name", Value: r.Name}, {Key: "url", Value: r.URL}}
	return f.edit(want, "add - "+yamlx.Render(item, false)+" to registries", func(e *yamlx.Editor) error {
		return e.Append(item, "registries")
	})
}

// Remove removes a registry by its name or address, and reports whether it was there. Namespaces that are bound to it
// stay.
func (f *RegistryFile) Remove(nameOrURL string) (bool, error) {
	i := slices.IndexFunc(f.Registries, func(r Registry) bool { return r.Name == nameOrURL || r.URL == nameOrURL })
	if i < 0 {
		return false, nil
	}
	want := f.clone()
	want.Registries = slices.Delete(want.Registries, i, i+1)
	return true, f.edit(want, "remove "+nameOrURL+" from registries", func(e *yamlx.Editor) error {
		return e.RemoveItem(i, "registries")
	})
}

// Bind makes a registry, by name or address, the only one that may have the packs of an owner.
func (f *RegistryFile) Bind(owner, registry string) error {
	if err := checkAddress("the registry of owner " + owner)(registry); err != nil { // as in Add
		return err
	}
	want := f.clone()
	want.Namespaces[owner] = registry
	return f.edit(want, "write "+owner+": "+yamlx.Quote(registry)+" under namespaces", func(e *yamlx.Editor) error {
		return e.Set(registry, "namespaces", owner)
	})
}

// BindPublisher makes a publisher the only one that may sign the packs of an owner.
func (f *RegistryFile) BindPublisher(owner, publisher string) error {
	want := f.clone()
	want.Publishers[owner] = publisher
	return f.edit(want, "write "+owner+": "+yamlx.Quote(publisher)+" under publishers", func(e *yamlx.Editor) error {
		return e.Set(publisher, "publishers", owner)
	})
}

// Unbind removes the bindings of an owner to a registry and to a publisher, and reports whether there was one.
func (f *RegistryFile) Unbind(owner string) (bool, error) {
	if _, ok := f.Publishers[owner]; ok {
		want := f.clone()
		delete(want.Publishers, owner)
		if err := f.edit(want, "remove "+owner+" from publishers", func(e *yamlx.Editor) error {
			_, err := e.Prune("publishers", owner)
			return err
		}); err != nil {
			return false, err
		}
	}
	if _, ok := f.Namespaces[owner]; !ok {
		return false, nil
	}
	want := f.clone()
	delete(want.Namespaces, owner)
	return true, f.edit(want, "remove "+owner+" from namespaces", func(e *yamlx.Editor) error {
		_, err := e.Prune("namespaces", owner)
		return err
	})
}

func (f *RegistryFile) clone() *RegistryFile {
	c := *f
	c.Registries, c.Namespaces = slices.Clone(f.Registries), maps.Clone(f.Namespaces)
	if c.Namespaces == nil {
		c.Namespaces = map[string]string{}
	}
	if c.Publishers = maps.Clone(f.Publishers); c.Publishers == nil {
		c.Publishers = map[string]string{}
	}
	return &c
}

// edit changes the bytes of the file and parses the result, which must equal want and change nothing else. instruction
// is the hint for editing by hand.
func (f *RegistryFile) edit(want *RegistryFile, instruction string, change func(*yamlx.Editor) error) error {
	e, err := yamlx.NewEditor(f.Path, f.data)
	if err != nil {
		return err
	}
	if err := change(e); err != nil {
		return editError(f.Path, instruction, err)
	}
	next, err := ParseRegistryFile(f.Path, e.Bytes(), f.manifest)
	if err != nil {
		if diag.CodeOf(err) == diag.Invalid {
			return err // it says why the value is invalid
		}
		return editError(f.Path, instruction, nil)
	}
	if !slices.Equal(next.Registries, want.Registries) || !maps.Equal(next.Namespaces, want.Namespaces) ||
		!maps.Equal(next.Publishers, want.Publishers) ||
		!f.sameRest(e.Bytes()) {
		return editError(f.Path, instruction, nil)
	}
	*f = *next
	return nil
}

// sameRest reports whether data equals the file apart from registries and namespaces.
func (f *RegistryFile) sameRest(data []byte) bool {
	if f.manifest {
		before, err := ParseManifest(f.Path, f.data)
		after, errAfter := ParseManifest(f.Path, data)
		if err != nil || errAfter != nil {
			return false
		}
		before.Registries, before.Namespaces = after.Registries, after.Namespaces
		return before.equal(after)
	}
	before, err := ParseConfig(f.Path, f.data)
	after, errAfter := ParseConfig(f.Path, data)
	if err != nil || errAfter != nil {
		return false
	}
	before.Registries, before.Namespaces = after.Registries, after.Namespaces
	before.Publishers = after.Publishers
	return reflect.DeepEqual(before, after)
}
