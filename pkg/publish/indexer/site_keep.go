package indexer

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/publish/internal/site"
)

// lastPack is what a run wrote of a pack that could be read.
type lastPack struct {
	Version string      `json:"version"`
	Files   []string    `json:"files"`
	Skills  []lastSkill `json:"skills,omitempty"` // in the discovery index
	Plugin  string      `json:"plugin,omitempty"` // name in the marketplace
}

// lastSkill is a skill in the discovery index. Its address and its digest follow from its file.
type lastSkill struct {
	Skill       string `json:"skill"` // name in the pack
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
}

// through returns a function that writes to an output and adds the files to the pack.
func (l *lastPack) through(o *output) site.Write {
	return func(name string, data []byte) error {
		l.Files = append(l.Files, name)
		return o.write(name, data)
	}
}

// recordPack remembers what was written of a pack.
func (o *output) recordPack(id pack.ID, l lastPack) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.packs[id.String()] = l
}

// keep keeps the files that the last run wrote of a pack, except those with a prefix, if that is not empty. It reports
// false, and keeps none, unless all of them are as that run wrote them.
func (o *output) keep(id pack.ID, except string) (lastPack, bool) {
	l := o.old.Packs[id.String()]
	l.Files = slices.DeleteFunc(slices.Clone(l.Files), func(name string) bool {
		return except != "" && strings.HasPrefix(name, except)
	})
	if len(l.Files) == 0 {
		return lastPack{}, false
	}
	for _, name := range l.Files {
		if _, ours := o.old.Files[name]; !ours || !o.isUnchanged(name) {
			return lastPack{}, false
		}
	}
	for _, name := range l.Files {
		o.files[name] = o.old.Files[name]
		o.unchanged++
	}
	o.recordPack(id, l)
	return l, true
}

// isUnchanged reports whether a file is as the record has it, and not behind a link.
func (o *output) isUnchanged(name string) bool {
	info, err := o.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0 || o.link(path.Dir(name)) != "" {
		return false
	}
	data, err := o.root.ReadFile(name)
	return err == nil && textx.SHA256(data) == o.old.Files[name]
}

// keepAll keeps the last pages of the packs that cannot be read, and then names the skills and plugins of all packs.
func (b *siteBuilder) keepAll() error {
	names, plugins := map[pack.SkillKey]string{}, map[pack.ID]string{}
	for i := range b.report.Unfetched {
		u := &b.report.Unfetched[i]
		id, err := pack.ParseID(u.Pack)
		if err != nil {
			return err
		}
		if b.keepPack(id, names) {
			u.Kept = b.out.packs[u.Pack].Version
			b.keepPlugin(id, plugins)
		}
	}
	b.names, b.plugins = b.site.SkillNames(names), b.site.PluginNames(plugins)
	return nil
}

// keepPack keeps the last pages of a pack, unless its version was yanked since. It adds the names of the skills that
// stay in the discovery index.
func (b *siteBuilder) keepPack(id pack.ID, names map[pack.SkillKey]string) bool {
	if l := b.out.old.Packs[id.String()]; !b.isAvailable(id, l.Version) {
		return false
	}
	except := ""
	if b.options.NoWellKnown {
		except = site.WellKnown
	}
	l, ok := b.out.keep(id, except)
	if !ok {
		return false
	}
	b.kept[id] = true
	for _, s := range l.Skills {
		d := site.Discovered{
			Name: s.Name, Type: s.Type, Description: s.Description, Pack: id, Skill: s.Skill, Version: l.Version,
		}
		file := d.Artifact()
		if !slices.Contains(l.Files, file) {
			continue
		}
		d.Digest = "sha256:" + b.out.old.Files[file]
		names[pack.SkillKey{Pack: id, Skill: s.Skill}] = s.Name
		b.discovered = append(b.discovered, d)
	}
	return true
}

// isAvailable reports whether the index has a version of a pack that is not yanked.
func (b *siteBuilder) isAvailable(id pack.ID, version string) bool {
	i := slices.IndexFunc(b.packs, func(p site.Pack) bool { return p.ID == id })
	return slices.ContainsFunc(b.packs[i].Versions, func(v site.Version) bool {
		return v.Version == version && v.Yanked == ""
	})
}

// keepPlugin keeps a pack in the marketplace.
func (b *siteBuilder) keepPlugin(id pack.ID, names map[pack.ID]string) {
	if b.market == nil {
		return
	}
	plugin := b.site.Plugin(id, b.market.old.Packs[id.String()].Plugin)
	l, ok := b.market.keep(id, "")
	if !ok || !slices.Contains(l.Files, plugin.File()) {
		return
	}
	names[id], plugin.Version = plugin.Name, l.Version
	b.offered = append(b.offered, plugin)
}
