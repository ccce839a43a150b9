package lint

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// packDir is a directory that a dependency names, and what is in it.
type packDir struct {
	tree    fs.FS
	content *pack.Content
}

// pathOf returns the directory that a dependency names, in the file system that is checked.
func pathOf(of *packDoc, d pack.Dependency) (dir string, ok bool) {
	if d.Ref == nil || d.Ref.Kind != pack.KindPath || path.IsAbs(d.Ref.URL) {
		return "", false
	}
	dir = path.Join(path.Dir(of.name), d.Ref.URL)
	return dir, fs.ValidPath(dir)
}

// packDir reads the directory that a dependency names; nil where it is elsewhere, or no pack.
func (d *packDoc) packDir(dep pack.Dependency) *packDir {
	dir, ok := pathOf(d, dep)
	if !ok {
		return nil
	}
	p, known := d.dirs[dir]
	if !known {
		if d.dirs == nil {
			d.dirs = map[string]*packDir{}
		}
		p = d.l.readPackDir(dir, *dep.Ref)
		d.dirs[dir] = p
	}
	return p
}

func (l *linter) readPackDir(dir string, ref pack.Ref) *packDir {
	if !l.isDir(dir) {
		return nil
	}
	tree, err := fs.Sub(l.fsys, dir)
	if err != nil {
		return nil
	}
	content, err := pack.Describe(tree, ref)
	if err != nil {
		return nil // what is wrong with it is said there
	}
	return &packDir{tree, content}
}

// declared checks that the directories that the manifest requires are the packs that they are required as.
func (d *packDoc) declared() {
	check := func(key string, deps []pack.Dependency) {
		for _, dep := range deps {
			if p := d.packDir(dep); p != nil && p.content.ID != dep.ID {
				d.atKey(rule.Manifest, fmt.Sprintf("%s is required as %s and declares itself %s", dep.Ref, dep.ID,
					p.content.ID),
					"write "+p.content.ID.String(), key, dep.ID.String())
			}
		}
	}
	check("dependencies", d.manifest.Dependencies)
	check("dev-dependencies", d.manifest.DevDependencies)
}

// directory compares a locked directory with what is in it now. It reports whether they differ.
func (c *lockCheck) directory(dep pack.Dependency, p *pack.LockedPack) bool {
	dir := c.m.packDir(dep)
	if dir == nil || dir.content.ID != dep.ID {
		return false
	}
	before := c.differs
	c.differs = false
	c.directoryPack(dep, p, dir)
	differ := c.differs
	c.differs = differ || before
	return differ
}

func (c *lockCheck) directoryPack(dep pack.Dependency, p *pack.LockedPack, dir *packDir) {
	if has := dir.content.Version; has != p.Version {
		c.differ(dep.ID, []string{"version"}, fmt.Sprintf("%s %s is locked, and %s has %s", dep.ID, p.Version, dep.Ref,
			has))
		return
	}
	required := map[string]string{}
	for _, d := range dir.content.Dependencies {
		text := pack.FormatRequirement(d)
		if is := p.Dependencies[d.ID.String()]; d.Ref != nil && is != "" {
			text = is // places are written as they are seen from the project
		}
		required[d.ID.String()] = text
	}
	if !maps.Equal(required, p.Dependencies) {
		c.differ(dep.ID, []string{"dependencies"}, fmt.Sprintf("%s is locked with other dependencies than %s has",
			dep.ID, dep.Ref))
	}
	c.directorySkills(dep, p, dir)
}

// directorySkills compares the skills of a locked directory with those that are in it now.
func (c *lockCheck) directorySkills(dep pack.Dependency, p *pack.LockedPack, dir *packDir) {
	var names []string
	for _, s := range dir.content.Skills {
		if p.Skills[s.Name] != "" {
			names = append(names, s.Name)
		} else if len(dep.Skills) == 0 {
			c.differ(dep.ID, []string{"skills"}, fmt.Sprintf("%s has a skill %s, which is not locked", dep.Ref, s.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		if _, there := slices.BinarySearch(names, name); !there { // skills are in order of their names
			c.differ(dep.ID, []string{"skills", name}, fmt.Sprintf(
				"the skill %s is locked, and %s has none of that name", name, dep.Ref))
		}
	}
	if c.l.NoModes || len(names) == 0 {
		return // a digest is made of the modes too
	}
	sink := &treeSink{Hasher: bundle.NewHasher(bundle.Limits{})}
	if err := dir.content.Stream(context.Background(), dir.tree, names, sink); err != nil || sink.crlf {
		return // git may have changed the line ends, which do not count
	}
	for name, inventory := range sink.Inventories() {
		if inventory.Digest() != p.Skills[name] {
			c.differ(dep.ID, []string{"skills", name}, fmt.Sprintf("the skill %s of %s has changed since it was locked",
				name, dep.Ref))
		}
	}
}

// treeSink computes digests, and notices lines that end with CRLF.
type treeSink struct {
	*bundle.Hasher
	crlf bool
	last byte
}

// WriteFile takes one file.
func (s *treeSink) WriteFile(skill, name string, executable bool, size int64, r io.Reader) error {
	s.last = 0
	return s.Hasher.WriteFile(skill, name, executable, size, io.TeeReader(r, s))
}

// Write looks at some bytes of a file.
func (s *treeSink) Write(p []byte) (int, error) {
	if len(p) > 0 {
		s.crlf = s.crlf || s.last == '\r' && p[0] == '\n' || bytes.Contains(p, []byte("\r\n"))
		s.last = p[len(p)-1]
	}
	return len(p), nil
}
