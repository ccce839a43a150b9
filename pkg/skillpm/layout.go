package skillpm

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/source"
)

// layout is what a scope should hold: the trees and links that a manifest, a lock and the agents' directories imply.
// Paths are slash-separated and relative to the scope's root.
type layout struct {
	named     []project.Named
	names     map[string]project.LockedName
	conflicts []project.Conflict
	dirs      []AgentDir
	trees     map[string]tree
	links     map[string]string // path -> relative target
}

// tree is one directory to install.
type tree struct {
	digest string // of the pristine tree, in the store
	alias  string // the name to splice into SKILL.md, "" for none
	pack   source.ID
	skill  string
}

const linkModeCopy = "copy"

// newLayout works out what the scope should hold.
func (w *workspace) newLayout(m *project.Manifest, lock *project.Lock, dirs []AgentDir) (*layout, error) {
	l := &layout{dirs: dirs, trees: map[string]tree{}, links: map[string]string{}}
	var err error
	taken := func(name string) bool { return w.handWritten(dirs, name) }
	l.named, l.names, l.conflicts, err = project.Names(claims(m, lock), aliasesOf(m, lock), w.lock.Names, taken)
	if err != nil {
		return nil, err
	}
	for id, p := range lock.Packs {
		for name, digest := range p.Skills {
			l.trees[w.rel(w.scope.PluginSkill(id, name))] = tree{digest: digest, pack: id, skill: name}
		}
	}
	for _, n := range l.named {
		w.placeNamed(l, lock, n, w.linkMode(m))
	}
	return l, nil
}

// placeNamed adds what makes one skill visible to agents: its copy under an alias, and a link or copy for every agent.
func (w *workspace) placeNamed(l *layout, lock *project.Lock, n project.Named, mode string) {
	t := tree{digest: lock.Packs[n.Pack].Skills[n.Skill], pack: n.Pack, skill: n.Skill}
	at := w.rel(w.scope.PluginSkill(n.Pack, n.Skill))
	if n.Alias {
		t.alias = n.Link
		at = w.rel(w.scope.Link(n.Link))
		l.trees[at] = t
	}
	for _, dir := range l.dirs {
		entry := path.Join(dir.real, n.Link)
		if mode == linkModeCopy {
			l.trees[entry] = t
			continue
		}
		target, err := filepath.Rel(filepath.FromSlash(dir.real), filepath.FromSlash(at))
		if err != nil {
			target = w.scope.Abs(at)
		}
		l.links[entry] = target
	}
}

// linkMode is how agents' directories get skills: links, or copies where links can't be had or were not wanted.
func (w *workspace) linkMode(m *project.Manifest) string {
	for _, mode := range []string{m.LinkMode, w.config.LinkMode} {
		if mode != "" {
			return mode
		}
	}
	if w.client.OS == "windows" {
		return linkModeCopy
	}
	return "symlink"
}

// aliasesOf returns the manifest's aliases without those of packs that it requires and that are not installed yet.
func aliasesOf(m *project.Manifest, lock *project.Lock) []project.Alias {
	return slices.DeleteFunc(slices.Clone(m.Aliases), func(a project.Alias) bool {
		_, locked := lock.Packs[a.Pack]
		_, required := m.Dependency(a.Pack)
		return required && !locked
	})
}

// claims lists the locked packs in the order in which their skills win bare names: the manifest's own in its order,
// then the others by name.
func claims(m *project.Manifest, lock *project.Lock) []project.Claim {
	var list []project.Claim
	direct := map[source.ID]bool{}
	add := func(id source.ID, isDirect bool) {
		if p, ok := lock.Packs[id]; ok {
			list = append(list, project.Claim{Pack: id, Skills: slices.Sorted(maps.Keys(p.Skills)), Direct: isDirect})
		}
	}
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		if !direct[d.ID] {
			direct[d.ID] = true
			add(d.ID, true)
		}
	}
	for _, id := range lock.IDs() {
		if !direct[id] {
			add(id, false)
		}
	}
	return list
}

// handWritten reports whether an agent's directory has an entry of that name that skillpm did not put there.
func (w *workspace) handWritten(dirs []AgentDir, name string) bool {
	for _, dir := range dirs {
		entry := path.Join(dir.real, name)
		if _, err := os.Lstat(w.scope.Abs(entry)); err == nil && !w.owns(entry) {
			return true
		}
	}
	return false
}

// owns reports whether the entry at path (relative to the root) is skillpm's: it was recorded when it was written, or is a
// link that leads into skillpm's own directory.
func (w *workspace) owns(entry string) bool {
	if _, ok := w.state.Trees[entry]; ok {
		return !isLink(w.scope.Abs(entry))
	}
	target, err := os.Readlink(w.scope.Abs(entry))
	if err != nil {
		return false
	}
	if recorded, ok := w.state.Links[entry]; ok && recorded == target {
		return true
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(w.scope.Abs(entry)), target)
	}
	return within(w.scope.Plugins(), target) || within(w.scope.Links(), target)
}

// within reports whether path is below dir; both are absolute.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// expected returns the inventory that a tree has once it is installed: that of the store, with SKILL.md's entry
// changed where an alias is spliced into it, and that file's bytes.
func (c *Client) expected(t tree) (bundle.Inventory, []byte, error) {
	s, err := c.openStore()
	if err != nil {
		return nil, nil, err
	}
	inv, err := s.Inventory(t.digest)
	if err != nil || t.alias == "" {
		return inv, nil, err
	}
	data, err := s.ReadFile(t.digest, skill.File)
	if err != nil {
		return nil, nil, err
	}
	spliced, err := skill.SpliceName(data, t.alias)
	if err != nil {
		return nil, nil, fmt.Errorf("%s@%s as %s: %w", t.skill, t.pack, t.alias, err)
	}
	return renamed(inv, spliced), spliced, nil
}
