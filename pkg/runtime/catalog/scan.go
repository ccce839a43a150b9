package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Limits on a scan, far above ten thousand skills. What exceeds them is reported and skipped.
const (
	maxEntries  = 1 << 15 // entries of one directory
	maxBranches = 1 << 16 // directories of one root that are listed
	maxLeaves   = 1 << 15 // skills' directories of one root
	maxDeep     = 2000    // directories that are listed if skills may be at several levels
)

// scanner reads one root.
type scanner struct {
	root    *root
	before  map[string]*branch // the previous tree, by path
	inPacks func(real string) bool
	now     int64
	changed atomic.Bool // the root differs from the previous tree
	parents sync.Map    // resolved parents of link targets, by path
}

// scan reads a root, and rereads only files whose stamps changed. It reports whether anything changed. inPacks reports
// whether a real path is in a root of packs.
func scan(ctx context.Context, r *root, before *tree, inPacks func(real string) bool, now int64) (*tree, bool, error) {
	t := &tree{real: r.real}
	s := &scanner{root: r, inPacks: inPacks, now: now}
	if before == nil {
		before = &tree{}
		s.changed.Store(true)
	}
	if r.lock != "" {
		facts, changed := readLock(r.lock, before.lock, now)
		t.lock = facts
		if changed {
			s.changed.Store(true)
		}
	}
	if r.absent {
		return t, s.changed.Load() || len(before.dirs) > 0, ctx.Err()
	}
	s.before = make(map[string]*branch, len(before.dirs))
	for i := range before.dirs {
		s.before[before.dirs[i].path] = &before.dirs[i]
	}
	if s.root.depth() > 1 && !s.root.packs {
		s.scanLevels(ctx, t)
	} else {
		s.branches(ctx, t)
		s.readLeaves(ctx, t, t.dirs)
	}
	if len(t.dirs) != len(before.dirs) {
		s.changed.Store(true)
	}
	return t, s.changed.Load(), ctx.Err()
}

// branches lists the directories level by level, down to those that contain skills.
func (s *scanner) branches(ctx context.Context, t *tree) {
	level := []string{""}
	for depth := range s.root.depth() {
		if depth > 0 {
			level = nil
			for i := range t.dirs {
				if t.dirs[i].depth() != depth-1 {
					continue
				}
				for _, n := range t.dirs[i].nodes {
					level = append(level, join(t.dirs[i].path, n.name))
				}
			}
		}
		s.list(ctx, t, level, maxBranches)
	}
	t.limitLeaves(s.root)
}

// list adds the directories of one level.
func (s *scanner) list(ctx context.Context, t *tree, level []string, most int) {
	if over := len(t.dirs) + len(level) - most; over > 0 {
		level = level[:max(0, len(level)-over)]
		t.dirs[0].problem = fmt.Sprintf("it contains more than %d directories", most)
	}
	found := make([]branch, len(level))
	parallel(ctx, len(level), func(i int) { found[i] = s.branch(level[i]) })
	t.dirs = append(t.dirs, found...)
}

// scanLevels searches several levels below the root, but not below a skill's directory. It does not follow links
// downward.
func (s *scanner) scanLevels(ctx context.Context, t *tree) {
	level := []string{""}
	for depth := 0; depth < s.root.depth() && len(level) > 0; depth++ {
		first := len(t.dirs)
		s.list(ctx, t, level, maxDeep)
		t.limitLeaves(s.root)
		s.readLeaves(ctx, t, t.dirs[first:])
		level = nil
		for _, b := range t.dirs[first:] {
			for _, n := range b.nodes {
				if n.record == nil && !n.link {
					level = append(level, join(b.path, n.name))
				}
			}
		}
	}
}

// limitLeaves drops skills' directories beyond the limit.
func (t *tree) limitLeaves(r *root) {
	remaining := maxLeaves
	for i := range t.dirs {
		b := &t.dirs[i]
		if !r.hasSkillsAt(b.depth()) {
			continue
		}
		if len(b.nodes) > remaining {
			b.nodes = b.nodes[:remaining]
			t.dirs[0].problem = fmt.Sprintf("it contains more than %d skills", maxLeaves)
		}
		remaining -= len(b.nodes)
	}
}

// join joins two slash-separated paths inside a root.
func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "/" + b
}

// path returns the absolute path of a path inside the root.
func (s *scanner) path(inside string) string {
	return filepath.Join(s.root.real, filepath.FromSlash(inside))
}

// branch lists one directory, or reuses the previous list.
func (s *scanner) branch(path string) branch {
	b := branch{path: path}
	dir := s.path(path)
	l, err := lstat(dir)
	link := err == nil && l.mode == fs.ModeSymlink
	if link {
		l, err = stat(dir)
	}
	if path == "" && err == nil && l.mode != fs.ModeDir {
		err = syscall.ENOTDIR
	}
	switch {
	case path != "" && notExist(err):
		return b
	case err != nil:
		b.problem = reason(err)
		return b
	case l.mode != fs.ModeDir:
		return b
	}
	old := s.before[path]
	b.stat, b.stable = l.stamp, !link && l.stable(s.now)
	if old != nil && old.stable && old.stat == b.stat && old.problem == "" && timesTell {
		b.nodes = slices.Clone(old.nodes)
		return b
	}
	b.list(dir, s.root.packs)
	if old == nil || old.stat != b.stat || old.stable != b.stable {
		s.changed.Store(true)
	}
	if old != nil {
		b.reuse(old)
	}
	return b
}

// list reads the entries of a directory.
func (b *branch) list(dir string, packs bool) {
	f, err := os.Open(dir)
	if err != nil {
		b.problem = reason(err)
		return
	}
	defer func() { _ = f.Close() }()
	entries, err := f.ReadDir(maxEntries + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		b.problem = reason(err)
	case len(entries) > maxEntries:
		entries = entries[:maxEntries]
		b.problem = fmt.Sprintf("it contains more than %d files and directories", maxEntries)
	}
	for _, e := range entries {
		name, kind := e.Name(), e.Type()
		if kind != fs.ModeDir && kind != fs.ModeSymlink || name[0] == '.' || skill.SkipDir(name) && !packs {
			continue
		}
		b.nodes = append(b.nodes, node{name: name, link: kind == fs.ModeSymlink})
	}
	slices.SortFunc(b.nodes, func(x, y node) int { return strings.Compare(x.name, y.name) })
}

// reuse copies what is known of entries from the previous list, except targets of links.
func (b *branch) reuse(old *branch) {
	j := 0
	for i := range b.nodes {
		n := &b.nodes[i]
		for j < len(old.nodes) && old.nodes[j].name < n.name {
			j++
		}
		if j < len(old.nodes) && old.nodes[j].name == n.name && old.nodes[j].link == n.link {
			*n = old.nodes[j]
			n.target = ""
		}
	}
}

// readLeaves reads the SKILL.md of every skill's directory in dirs.
func (s *scanner) readLeaves(ctx context.Context, t *tree, dirs []branch) {
	type leaf struct {
		branch *branch
		node   *node
	}
	all := make([]leaf, 0, t.leaves(s.root))
	for i := range dirs {
		b := &dirs[i]
		if !s.root.hasSkillsAt(b.depth()) {
			continue
		}
		for j := range b.nodes {
			all = append(all, leaf{b, &b.nodes[j]})
		}
	}
	parallel(ctx, len(all), func(i int) { s.readLeaf(all[i].branch.path, all[i].node) })
}

// readLeaf reads one SKILL.md if its stamp changed.
func (s *scanner) readLeaf(dir string, n *node) {
	child := join(dir, n.name)
	path := filepath.Join(s.path(child), skill.File)
	known := n.target
	if !s.mustScan(dir, n) {
		before := *n
		before.target = known
		n.stat, n.stable, n.record = stamp{}, false, nil
		s.markChanged(&before, n)
		return
	}
	l, err := lstat(path)
	if err == nil && l.mode == 0 && n.record != nil && n.stable && l.stamp == n.stat {
		return
	}
	before := *n
	before.target = known
	n.stat, n.stable, n.record = l.stamp, false, nil
	if known != "" && n.target == known { // the link's new target may have another file
		if n.target = ""; !s.mustScan(dir, n) {
			s.markChanged(&before, n)
			return
		}
	}
	switch {
	case notExist(err):
		n.record = wrongCaseRecord(s.path(child))
	case err != nil:
		n.record = &record{fatal: reason(err)}
	case l.mode == fs.ModeSymlink:
		n.record = readLinked(s.path(child))
	case l.mode != 0:
		n.record = &record{fatal: "SKILL.md is not a regular file"}
	default:
		s.open(path, n)
	}
	s.markChanged(&before, n)
}

// markChanged marks the tree as changed if a node differs from the previous one.
func (s *scanner) markChanged(before, now *node) {
	if before.stat != now.stat || before.stable != now.stable || before.target != now.target ||
		(before.record == nil) != (now.record == nil) {
		s.changed.Store(true)
	}
}

// mustScan reports whether an entry must be scanned: it is a directory, or a link to one outside the roots of packs. It
// resolves the link if necessary.
func (s *scanner) mustScan(dir string, n *node) bool {
	if !n.link {
		return true
	}
	if n.target == "" {
		real, err := s.resolve(s.path(join(dir, n.name)))
		if err != nil {
			return false
		}
		n.target = real
	}
	return s.root.packs || !s.inPacks(n.target)
}

// resolve returns the target of a link. If that is an installed skill that is itself a link to a working copy, it
// returns the installed path.
func (s *scanner) resolve(link string) (string, error) {
	text, err := os.Readlink(link)
	if err != nil {
		return "", err
	}
	above, name := filepath.Split(text)
	if !filepath.IsAbs(text) {
		above = filepath.Dir(link) + string(filepath.Separator) + above
	}
	parent, known := s.parents.Load(above) // most links of an agent lead to a few directories
	if !known {
		parent, _ = pathx.ResolveExisting(above) // "" is in no pack
		s.parents.Store(above, parent)
	}
	if parent != "" && name != "" && name != "." && name != ".." && !s.root.packs {
		if target := filepath.Join(parent.(string), name); s.inPacks(target) {
			return target, nil
		}
	}
	return pathx.ResolveExisting(link)
}

// parallel calls do for 0 to n-1 concurrently, until the context ends.
func parallel(ctx context.Context, n int, do func(int)) {
	const chunk = 32
	var group bug.Group
	group.SetLimit(min(runtime.GOMAXPROCS(0), 8))
	for start := 0; start < n; start += chunk {
		group.Go(func() error {
			for i := start; i < min(start+chunk, n) && ctx.Err() == nil; i++ {
				do(i)
			}
			return nil
		})
	}
	_ = group.Wait() // do returns no errors
}
