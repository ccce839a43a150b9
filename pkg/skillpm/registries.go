package skillpm

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// RegistryEntry is a registry in which names are looked up.
type RegistryEntry struct {
	Name       string   `json:"name"`
	URL        string   `json:"url"`
	Kind       string   `json:"kind"` // index, or packs for a source of packs without an index
	From       string   `json:"from"` // the file that configures it, or "built in"
	Namespaces []string `json:"namespaces"`
}

// Binding binds an owner's packs to one registry.
type Binding struct {
	Owner    string `json:"owner"`
	Registry string `json:"registry"` // name or address
	From     string `json:"from"`
	Enforced bool   `json:"enforced"` // by the machine's administrator
	// Publisher is the publisher that must have signed the owner's packs, "" for any.
	Publisher string `json:"publisher,omitempty"`
	Unknown   bool   `json:"unknown"` // no registry has that name, so the owner's packs are not found
	// Rebound is the address of the registry to which the project binds the owner instead, if the user has not accepted
	// that.
	Rebound string `json:"rebound,omitempty"`
}

// RegistryList says where names are looked up, in order of precedence.
type RegistryList struct {
	Registries []RegistryEntry `json:"registries"`
	Bindings   []Binding       `json:"bindings"`
}

// builtInSource is the origin of registries that every machine has.
const builtInSource = "built in"

// Registries lists the registries and bindings of the project, the user, and the machine's administrator, and the
// built-in registries.
func (c *Client) Registries(context.Context) (*RegistryList, error) {
	admin, err := c.Machine.AdminConfig()
	if err != nil {
		return nil, err
	}
	user, err := c.Machine.UserConfig()
	if err != nil {
		return nil, err
	}
	manifest, err := c.projectManifest()
	if err != nil {
		return nil, err
	}
	r := &RegistryList{Registries: []RegistryEntry{}, Bindings: []Binding{}}
	bound := map[string]Binding{}
	bind := func(namespaces map[string]string, from string, enforced bool) {
		for owner, address := range namespaces {
			bound[owner] = Binding{Owner: owner, Registry: address, From: from, Enforced: enforced}
		}
	}
	rebound, err := c.reboundOwners()
	if err != nil {
		return nil, err
	}
	bind(user.Namespaces, c.DisplayPath(user.Path), false)
	for owner, address := range manifest.Namespaces {
		if b, ok := bound[owner]; ok && rebound[owner] != nil {
			b.Rebound = rebound[owner].Project
			bound[owner] = b
			continue
		}
		bound[owner] = Binding{Owner: owner, Registry: address, From: c.DisplayPath(manifest.Path)}
	}
	bind(admin.Namespaces, admin.Path, true)
	for _, config := range []*pack.Config{user, admin} {
		for owner, publisher := range config.Publishers {
			if b, ok := bound[owner]; ok {
				b.Publisher = publisher
				bound[owner] = b
			}
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(bound)) {
		r.Bindings = append(r.Bindings, bound[owner])
	}
	r.add(manifest.Registries, c.DisplayPath(manifest.Path))
	r.add(user.Registries, c.DisplayPath(user.Path))
	for i, b := range r.Bindings { // a binding may name an address that no settings list
		switch {
		case slices.ContainsFunc(r.Registries, b.matches):
		case c.isUnknownRegistry(b.Registry):
			r.Bindings[i].Unknown = true
		default:
			r.add([]pack.Registry{{Name: b.Registry, URL: b.Registry}}, b.From)
		}
	}
	r.add([]pack.Registry{
		{Name: registry.Local, URL: registry.Local},
		{Name: registry.Embedded, URL: registry.Embedded},
	}, builtInSource)
	for i, e := range r.Registries {
		for _, b := range r.Bindings {
			if b.matches(e) {
				r.Registries[i].Namespaces = append(r.Registries[i].Namespaces, b.Owner)
			}
		}
	}
	if r.areConfigured() {
		r.limitBuiltIn()
	}
	return r, nil
}

// limitBuiltIn limits the built-in registries to the owners whose packs skillpm looks up there even if other registries
// are configured: bound owners, and the owner of skillpm's own packs.
func (r *RegistryList) limitBuiltIn() {
	isBound := slices.ContainsFunc(r.Bindings, func(b Binding) bool { return b.Owner == registry.OfficialOwner })
	for i, e := range r.Registries {
		if e.URL == registry.Embedded && e.From == builtInSource && !isBound {
			r.Registries[i].Namespaces = append(e.Namespaces, registry.OfficialOwner)
		}
	}
	r.Registries = slices.DeleteFunc(r.Registries, func(e RegistryEntry) bool {
		return e.From == builtInSource && len(e.Namespaces) == 0
	})
}

// areConfigured reports whether anybody has settings about registries.
func (r *RegistryList) areConfigured() bool {
	return len(r.Bindings) > 0 ||
		slices.ContainsFunc(r.Registries, func(e RegistryEntry) bool { return e.From != builtInSource })
}

// isUnknownRegistry reports whether the registry of a binding is a name that no registry has.
func (c *Client) isUnknownRegistry(name string) bool {
	if name == registry.Local || name == registry.Embedded || strings.ContainsAny(name, `:/\.`) {
		return false
	}
	_, err := os.Stat(c.Machine.Abs(name))
	return err != nil
}

// matches reports whether an owner is bound to a registry.
func (b Binding) matches(e RegistryEntry) bool { return b.Registry == e.Name || b.Registry == e.URL }

// projectManifest returns the manifest of the project around the working directory, an empty one if there is none.
func (c *Client) projectManifest() (*pack.Manifest, error) {
	w, err := c.Machine.Open(scope.KindProject, false)
	if diag.CodeOf(err) == diag.NotFound {
		return &pack.Manifest{}, nil
	}
	if err != nil {
		return nil, err
	}
	return w.Manifest, nil
}

func (r *RegistryList) add(list []pack.Registry, from string) {
	for _, one := range list {
		if slices.ContainsFunc(r.Registries, func(e RegistryEntry) bool { return e.URL == one.URL }) {
			continue // the project and the user may configure the same one
		}
		r.Registries = append(r.Registries, RegistryEntry{
			Name: one.Name, URL: one.URL, Kind: registry.KindOf(one.URL), From: from, Namespaces: []string{},
		})
	}
}

// RegistryNames returns the names of configured registries, nil if they can't be read.
func (c *Client) RegistryNames() []string {
	list, err := c.Registries(context.Background())
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range list.Registries {
		if e.configured() {
			names = append(names, e.Name)
		}
	}
	return names
}

// configured reports whether the settings list a registry, rather than only bind an owner to its address.
func (e RegistryEntry) configured() bool {
	return e.From != builtInSource && (e.Name != e.URL || len(e.Namespaces) == 0)
}

// RegistryChange is the result of changing the registries.
type RegistryChange struct {
	File       string   `json:"file"`
	Changed    bool     `json:"changed"`
	Name       string   `json:"name,omitempty"`
	URL        string   `json:"url,omitempty"`
	Namespaces []string `json:"namespaces"`
	Notes      []string `json:"notes"` // hints about other settings
}

// RegistryAddOptions are the options of [Client.RegistryAdd].
type RegistryAddOptions struct {
	Name, URL  string
	Namespaces []string // owners to bind to it
	Publisher  string   // that must have signed the packs of these owners; "" for anybody
	Project    bool     // in skillpm.yaml instead of the user's settings
	NoCheck    bool     // don't check that it answers
}

// RegistryAdd adds a registry to the settings, and binds owners to it.
func (c *Client) RegistryAdd(ctx context.Context, o RegistryAddOptions) (*RegistryChange, error) {
	defer c.Progress(Event{Done: true})
	file, err := c.openSettings(o.Project)
	if err != nil {
		return nil, err
	}
	if err := c.checkAddress(o.URL); err != nil {
		return nil, err
	}
	if registry.IsBuiltIn(o.Name) {
		return nil, diag.Errorf(diag.Conflict, "cannot add the registry %s: a built-in registry has this name", o.Name).
			WithHint("choose another name")
	}
	url := c.registryURL(o.URL, filepath.Dir(file.Path), o.Project)
	if err := c.mayBind(o.Namespaces...); err != nil {
		return nil, err
	}
	before := string(file.Bytes())
	if err := file.Add(pack.Registry{Name: o.Name, URL: url}); err != nil {
		return nil, err
	}
	if o.Publisher != "" && len(o.Namespaces) == 0 {
		return nil, diag.Errorf(diag.Usage, "--publisher requires an owner").
			WithHint("add --namespace OWNER: the publisher signs all packs of this owner")
	}
	for _, owner := range o.Namespaces {
		if err := c.bind(file, owner, o.Name, o.Publisher); err != nil {
			return nil, err
		}
	}
	if err := c.checkReachable(ctx, url, o.NoCheck); err != nil {
		return nil, err
	}
	r := &RegistryChange{
		File: c.DisplayPath(file.Path), Name: o.Name, URL: url, Namespaces: append([]string{}, o.Namespaces...),
	}
	if r.Changed, err = c.saveSettings(ctx, file, before); err == nil && o.Project {
		err = c.acceptOwn(o.Namespaces...)
	}
	r.Notes = c.unboundNotes(ctx)
	return r, err
}

// RegistryRemove removes a registry from the settings, by name or address, with the bindings to it.
func (c *Client) RegistryRemove(ctx context.Context, nameOrURL string, inProject bool) (*RegistryChange, error) {
	file, err := c.openSettings(inProject)
	if err != nil {
		return nil, err
	}
	removed, ok := file.Registry(nameOrURL)
	if !ok {
		err := diag.Errorf(diag.NotFound, "registry %s does not exist in %s", nameOrURL,
			c.DisplayPath(file.Path))
		for _, owner := range slices.Sorted(maps.Keys(file.Namespaces)) {
			if file.Namespaces[owner] == nameOrURL {
				return nil, err.WithHint(
					"the owner %s is bound to this registry; remove the binding with: skillpm registry bind %s --undo", owner, owner)
			}
		}
		if names := c.RegistryNames(); slices.Contains(names, nameOrURL) && !inProject {
			return nil, err.WithHint("use --scope project: the registry is in the project's settings")
		}
		return nil, err.WithHint("list registries with: skillpm registry list")
	}
	before := string(file.Bytes())
	r := &RegistryChange{
		File: c.DisplayPath(file.Path), Name: removed.Name, URL: removed.URL, Namespaces: []string{}, Notes: []string{},
	}
	for _, owner := range slices.Sorted(maps.Keys(file.Namespaces)) {
		if address := file.Namespaces[owner]; address != removed.Name && address != removed.URL {
			continue
		}
		if _, err := file.Unbind(owner); err != nil {
			return nil, err
		}
		r.Namespaces = append(r.Namespaces, owner)
	}
	if _, err := file.Remove(nameOrURL); err != nil {
		return nil, err
	}
	r.Changed, err = c.saveSettings(ctx, file, before)
	return r, err
}

// RegistryBindOptions are the options of [Client.RegistryBind].
type RegistryBindOptions struct {
	Owner     string
	Registry  string // by name or address
	Publisher string // that must have signed the owner's packs; "" leaves it as it is
	Project   bool   // in skillpm.yaml instead of the user's settings
}

// RegistryBind binds an owner to a registry: its packs are looked up only there.
func (c *Client) RegistryBind(ctx context.Context, o RegistryBindOptions) (*RegistryChange, error) {
	owner, nameOrURL, inProject := o.Owner, o.Registry, o.Project
	file, err := c.openSettings(inProject)
	if err != nil {
		return nil, err
	}
	if err := c.mayBind(owner); err != nil {
		return nil, err
	}
	_, isNamed := file.Registry(nameOrURL)
	address := nameOrURL
	if url := c.registryURLOf(nameOrURL); url != "" && !isNamed {
		address = absoluteRegistry(cmp.Or(c.projectRoot(), c.Dir), url) // the name is that of another file
	} else if !isNamed && !registry.IsBuiltIn(nameOrURL) {
		if !strings.ContainsAny(nameOrURL, ":/\\.") {
			return nil, diag.Errorf(diag.NotFound, "registry %s does not exist", nameOrURL).
				WithHint("run \"skillpm registry add %s URL\" to add the registry, or use the URL of a registry", nameOrURL)
		}
		address = c.registryURL(nameOrURL, filepath.Dir(file.Path), inProject)
	}
	before := string(file.Bytes())
	if err := c.bind(file, owner, address, o.Publisher); err != nil {
		return nil, err
	}
	r := &RegistryChange{
		File: c.DisplayPath(file.Path), Name: nameOrURL, Namespaces: []string{owner},
		Notes: []string{},
	}
	if r.Changed, err = c.saveSettings(ctx, file, before); err == nil && inProject {
		err = c.acceptOwn(owner)
	}
	return r, err
}

// registryURLOf returns the address of the configured registry with a name, "" if there is none.
func (c *Client) registryURLOf(name string) string {
	list, err := c.Registries(context.Background())
	if err != nil {
		return ""
	}
	for _, e := range list.Registries {
		if e.configured() && e.Name == name {
			return e.URL
		}
	}
	return ""
}

// RegistryUnbind removes the binding of an owner.
func (c *Client) RegistryUnbind(ctx context.Context, owner string, inProject bool) (*RegistryChange, error) {
	file, err := c.openSettings(inProject)
	if err != nil {
		return nil, err
	}
	if err := c.mayBind(owner); err != nil {
		return nil, err
	}
	before := string(file.Bytes())
	ok, err := file.Unbind(owner)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, diag.Errorf(diag.NotFound, "%s does not bind the owner %s", c.DisplayPath(file.Path), owner).
			WithHint("list bindings with: skillpm registry list")
	}
	r := &RegistryChange{File: c.DisplayPath(file.Path), Namespaces: []string{owner}, Notes: []string{}}
	r.Changed, err = c.saveSettings(ctx, file, before)
	return r, err
}

// bind adds a binding to a settings file.
func (c *Client) bind(file *pack.RegistryFile, owner, address, publisher string) error {
	if _, err := pack.ParseID(owner + "/x"); err != nil {
		return diag.Errorf(diag.Usage, "invalid owner %q", owner).
			WithHint("use the part of a pack's name before the slash, such as acme for acme/deploy")
	}
	if err := file.Bind(owner, address); err != nil || publisher == "" {
		return err
	}
	if file.IsManifest() {
		return diag.Errorf(diag.Usage, "--publisher cannot be used with --scope project").
			WithHint("bind the owner in your settings; a policy can require a signer in a project")
	}
	if _, err := pack.ParsePublisher(publisher); err != nil {
		return diag.Errorf(diag.Usage, "%s", err).WithHint("%s", diag.HintOf(err))
	}
	return file.BindPublisher(owner, publisher)
}

// mayBind refuses owners that the machine's administrator has bound.
func (c *Client) mayBind(owners ...string) error {
	admin, err := c.Machine.AdminConfig()
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if address, ok := admin.Namespaces[owner]; ok {
			return diag.Errorf(diag.Denied, "cannot bind %s: the administrator of this machine bound it to %s in %s",
				owner, address, admin.Path)
		}
	}
	return nil
}

// openSettings reads the settings file of the user or the project.
func (c *Client) openSettings(inProject bool) (*pack.RegistryFile, error) {
	path := cmp.Or(c.Config, c.Paths.ConfigFile())
	if inProject {
		w, err := c.Machine.Open(scope.KindProject, false)
		if err != nil {
			return nil, err
		}
		path = w.Scope.Manifest()
	}
	data, err := safefile.ReadOptional(path)
	if err != nil {
		return nil, err
	}
	return pack.ParseRegistryFile(path, data, inProject)
}

// saveSettings writes a settings file if it changed, and if no other process has changed it since it was read.
func (c *Client) saveSettings(ctx context.Context, file *pack.RegistryFile, before string) (changed bool, err error) {
	if string(file.Bytes()) == before {
		return false, nil
	}
	unlock, err := c.Paths.LockSettings(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = unlock() }() // the kernel releases it when the process ends
	if now, err := safefile.ReadOptional(file.Path); err != nil || string(now) != before {
		return false, cmp.Or(err, error(diag.Errorf(diag.Conflict, "%s changed while skillpm used it", file.Path).
			WithHint("run the command again")))
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(file.Path); err == nil {
		mode = info.Mode().Perm()
	}
	err = atomicfile.Write(file.Path, file.Bytes(), atomicfile.Options{Mode: mode, MkdirMode: 0o755, Sync: true})
	return err == nil, err
}

// unboundNotes returns notes about registries that hold packs without an index and that no owner is bound to: beside
// other registries they are not asked.
func (c *Client) unboundNotes(ctx context.Context) []string {
	notes := []string{}
	list, err := c.Registries(ctx)
	if err != nil {
		return notes
	}
	list.Registries = slices.DeleteFunc(list.Registries, func(e RegistryEntry) bool { return !e.configured() })
	for _, e := range list.Registries {
		if e.Kind == "packs" && len(e.Namespaces) == 0 && len(list.Registries) > 1 {
			notes = append(notes, "skillpm uses the registry "+e.Name+
				" only for owners that are bound to this registry; bind an owner with: skillpm registry bind OWNER "+e.Name)
		}
	}
	return notes
}
