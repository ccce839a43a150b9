package lint

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skill"
)

// packKind is a kind of file that describes packs.
type packKind int

const (
	packManifest packKind = iota
	packLock
	packIndex       // the file of one pack in an index
	packIndexConfig // the description of an index
	packPolicy
	packMaybePolicy // a policy.yaml, which may be another tool's
	packBaseline
)

// The names of policies: the first is one wherever it is, the second only in a directory of skillpm's or if it looks
// so.
const (
	policyName      = "skillpm-policy.yaml"
	otherPolicyName = "policy.yaml"
	indexExt        = ".ndjson"
	indexDir        = "packs"
)

// packFileKind recognizes a file that describes packs by its name. The files of an index have no fixed names; see
// [lintRun.packTarget] and [lintRun.packFilesIn].
func packFileKind(name string) (packKind, bool) {
	switch path.Base(name) {
	case pack.ManifestName:
		return packManifest, true
	case pack.LockName:
		return packLock, true
	case BaselineName:
		return packBaseline, true
	case policyName:
		return packPolicy, true
	case otherPolicyName:
		dir := path.Base(path.Dir(name))
		return packPolicy, dir == "skillpm" || dir == ".skillpm"
	}
	return 0, false
}

// packTarget recognizes a target that describes packs. A policy.yaml counts if it looks like a policy, and a file of
// JSON lines unless it is in a skill.
func (l *lintRun) packTarget(name string) (packKind, bool) {
	if kind, ok := packFileKind(name); ok {
		return kind, true
	}
	dir := path.Dir(name)
	switch {
	case path.Base(name) == otherPolicyName:
		head, err := readHead(l.fsys, name, maxText)
		return packPolicy, err == nil && looksLikePolicy(head)
	case path.Base(name) == index.ConfigPath:
		return packIndexConfig, l.isDir(path.Join(dir, indexDir))
	case path.Ext(name) == indexExt:
		_, inIndex := l.indexOf(name)
		return packIndex, inIndex || !l.inSkill(dir)
	}
	return 0, false
}

// packFilesIn returns the files of a directory that describe packs.
func (l *lintRun) packFilesIn(dir string, entries []fs.DirEntry) []packFile {
	var out []packFile
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		kind, ok := packFileKind(name)
		switch {
		case !e.Type().IsRegular():
			continue
		case ok:
		case e.Name() == otherPolicyName:
			kind, ok = packMaybePolicy, true
		case e.Name() == index.ConfigPath:
			kind, ok = packIndexConfig, slices.ContainsFunc(entries,
				func(e fs.DirEntry) bool { return e.IsDir() && e.Name() == indexDir })
		case path.Ext(name) == indexExt:
			kind = packIndex
			_, ok = l.indexOf(name)
		}
		if ok && !l.Settings.skipsPath(name) {
			out = append(out, packFile{kind, name})
		}
	}
	return out
}

// entryPath is how the path of a pack's file in an index ends.
var entryPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)packs/[0-9a-f]{2}/[0-9a-f]{2}/[^/]+/[^/]+\.ndjson$`)
})

// indexOf returns the index that a file is in: the directory whose packs directory is above the file and that describes
// itself, or the one that the form of the path shows.
func (l *lintRun) indexOf(name string) (root string, ok bool) {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if path.Base(dir) != indexDir {
			continue
		}
		if info, err := fs.Stat(l.fsys, path.Join(path.Dir(dir), index.ConfigPath)); err == nil && info.Mode().
			IsRegular() {
			return path.Dir(dir), true
		}
	}
	if at := entryPath().FindStringIndex(name); at != nil {
		return path.Clean("./" + name[:at[0]]), true
	}
	return "", false
}

func (l *lintRun) isDir(name string) bool {
	info, err := fs.Stat(l.fsys, name)
	return err == nil && info.IsDir()
}

// inSkill reports whether a directory is a skill's or below one.
func (l *lintRun) inSkill(dir string) bool {
	for ; ; dir = path.Dir(dir) {
		if _, err := fs.Stat(l.fsys, path.Join(dir, skill.File)); err == nil {
			return true
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// policyKeys are the keys of a policy besides its version.
var policyKeys = [...]string{
	"mode", "sources", "skills", "require", "forbid", "approve", "limits", "downgrade", "lint", "audit",
}

// looksLikePolicy reports whether YAML has a version and more of a policy's keys than others.
func looksLikePolicy(data []byte) bool {
	version, own, others := false, 0, 0
	for line := range bytes.Lines(data) {
		key, _, ok := strings.Cut(string(line[:min(len(line), 32)]), ":")
		switch {
		case !ok || key == "" || key[0] < 'A' || key[0] > 'z':
		case key == "version":
			version = true
		case slices.Contains(policyKeys[:], key):
			own++
		default:
			others++
		}
	}
	return version && own > others
}

// packDir is a directory that a dependency names, and what is in it.
type packDir struct {
	tree    fs.FS
	content *pack.Content
}

// dependencyDir returns the directory that a dependency names, in the file system that is checked.
func dependencyDir(of *packDoc, d pack.Dependency) (dir string, ok bool) {
	if d.Ref == nil || d.Ref.Kind != pack.KindPath || path.IsAbs(d.Ref.URL) {
		return "", false
	}
	dir = path.Join(path.Dir(of.name), d.Ref.URL)
	return dir, fs.ValidPath(dir)
}

// packDir reads the directory that a dependency names; nil where it is elsewhere, or no pack.
func (d *packDoc) packDir(dep pack.Dependency) *packDir {
	dir, ok := dependencyDir(d, dep)
	if !ok {
		return nil
	}
	p, cached := d.dirs[dir]
	if !cached {
		if d.dirs == nil {
			d.dirs = map[string]*packDir{}
		}
		p = d.l.readPackDir(dir, *dep.Ref)
		d.dirs[dir] = p
	}
	return p
}

func (l *lintRun) readPackDir(dir string, ref pack.Ref) *packDir {
	if !l.isDir(dir) {
		return nil
	}
	tree, err := fs.Sub(l.fsys, dir)
	if err != nil {
		return nil
	}
	content, err := pack.Describe(tree, ref)
	if err != nil {
		return nil // its own check reports the error
	}
	return &packDir{tree, content}
}

// checkDeclaredIDs checks that the directories that the manifest requires are the packs that they are required as.
func (d *packDoc) checkDeclaredIDs() {
	check := func(key string, deps []pack.Dependency) {
		for _, dep := range deps {
			if p := d.packDir(dep); p != nil && p.content.ID != dep.ID {
				d.atKey(rule.Manifest, fmt.Sprintf("the name of the pack in %s is %s, but this file requires %s",
					dep.Ref, p.content.ID, dep.ID), "write "+p.content.ID.String(), key, dep.ID.String())
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
		c.differ(dep.ID, []string{"version"},
			fmt.Sprintf("%s %s is locked, but %s has version %s", dep.ID, p.Version, dep.Ref, has))
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
		c.differ(dep.ID, []string{"dependencies"}, fmt.Sprintf(
			"the locked dependencies of %s differ from the dependencies in %s", dep.ID, dep.Ref))
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
			c.differ(dep.ID, []string{"skills"}, fmt.Sprintf(
				"%s contains the skill %s, but the skill is not locked", dep.Ref, s.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		if _, exists := slices.BinarySearch(names, name); !exists { // skills are in order of their names
			c.differ(dep.ID, []string{"skills", name}, fmt.Sprintf(
				"the skill %s is locked, but %s does not contain this skill", name, dep.Ref))
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
