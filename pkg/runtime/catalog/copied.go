package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Limits on the comparison of copies in one catalog. A directory beyond them is not treated as a copy.
const (
	maxCompared  = 1 << 17   // directory entries
	maxCopyBytes = 128 << 20 // bytes read
	maxCopyDepth = 32        // levels of directories in one skill
)

// agentName identifies a skill for agents: the scope of their skills directory, and the skill's name there.
type agentName struct{ scope, name string }

// dropCopies drops local skills that are copies of installed skills. Agents get such copies on systems without symbolic
// links. A directory that differs in any byte is a local skill, whose name no pack can take.
func (b *builder) dropCopies(ctx context.Context) {
	packs := b.copySources()
	if len(packs) == 0 {
		return
	}
	var pairs []copyPair
	for i := range b.candidates {
		c := &b.candidates[i]
		if p := packs[agentName{c.entry.Scope, c.entry.base}]; c.entry.Pack == "" && p != nil && mayBeCopy(c, p) {
			pairs = append(pairs, copyPair{local: c, pack: p})
		}
	}
	var budget copyComparer
	parallel(ctx, len(pairs), func(i int) { pairs[i].compare(&budget, b.now) })
	copies := map[*Skill]bool{}
	b.catalog.copies = map[string]*Skill{}
	for _, p := range pairs {
		if p.same {
			copies[p.local.entry.Skill] = true
			b.catalog.copies[p.local.entry.Dir] = p.pack.entry.Skill
		}
		if p.indexStale {
			b.catalog.changed[p.local.root] = true
		}
	}
	if len(copies) > 0 {
		b.drop(func(c *candidate) bool { return copies[c.entry.Skill] })
	}
}

// copySources returns the skills of packs that have a local skill of the same name and scope.
func (b *builder) copySources() map[agentName]*candidate {
	local := map[agentName]bool{}
	for i := range b.candidates {
		if e := &b.candidates[i].entry; e.Pack == "" {
			local[agentName{e.Scope, e.base}] = true
		}
	}
	if len(local) == 0 || len(local) == len(b.candidates) {
		return nil
	}
	packs := map[agentName]*candidate{}
	for i := range b.candidates {
		c := &b.candidates[i]
		if c.entry.Pack == "" || c.entry.State != Available {
			continue
		}
		name := c.entry.Name
		if b.profile.Qualify != "" {
			name = c.entry.base // agents use the unqualified name
		}
		if at := (agentName{c.entry.Scope, name}); local[at] && packs[at] == nil {
			packs[at] = c
		}
	}
	return packs
}

// mayBeCopy reports whether the frontmatter of a local skill matches that of an installed one.
func mayBeCopy(c, pack *candidate) bool {
	a, b := c.entry.Skill, pack.entry.Skill
	return a.Description == b.Description && a.WhenToUse == b.WhenToUse && a.ArgumentHint == b.ArgumentHint &&
		a.Agent == b.Agent &&
		a.Priority == b.Priority && a.Fork == b.Fork && a.UserInvocable == b.UserInvocable &&
		a.ModelInvocable == b.ModelInvocable &&
		slices.Equal(a.Tags, b.Tags) && (c.node.stat.size == pack.node.stat.size || a.base != b.base)
}

// copyPair is a local skill and the installed skill that it may be a copy of.
type copyPair struct {
	local, pack      *candidate
	same, indexStale bool // it is a copy; the index must be updated
}

// compare sets same if the local skill is a copy. The index caches that as long as all files of the copy have the
// same stamps, and so have SKILL.md and the directory of the installed skill, because packs are installed atomically.
func (p *copyPair) compare(c *copyComparer, now int64) {
	s, pack, n := p.local.entry.Skill, p.pack.entry.Skill, p.local.node
	dir, err := stat(pack.Dir)
	if err != nil {
		return
	}
	facts := &copyFacts{installed: pack.Dir, file: p.pack.node.stat, dir: dir.stamp}
	stable := dir.stable(now) && p.pack.node.stable
	files, ok := c.digestStamps(s.Dir, now, &stable)
	if facts.files = files; ok && n.copy != nil && *n.copy == *facts {
		p.same = true
		return
	}
	p.indexStale, n.copy = n.copy != nil, nil
	if !ok || !c.isCopy(s, pack) {
		return
	}
	if p.same = true; stable {
		p.indexStale, n.copy = true, facts
	}
}

// copyFacts record that a directory is a copy of an installed skill, with the stamps of both.
type copyFacts struct {
	installed string // directory of the installed skill
	file, dir stamp  // stamps of its SKILL.md and its directory
	files     string // digest of the stamps of all files of the copy
}

// digestStamps returns a digest of the stamps of everything in a directory. It clears stable if a later change might
// keep a stamp.
func (c *copyComparer) digestStamps(dir string, now int64, stable *bool) (digest string, ok bool) {
	var seen codec
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		l, err := lstat(path)
		if c.entries.Add(1) > maxCompared {
			err = fs.ErrInvalid
		}
		seen.text(&path)
		seen.stamp(&l.stamp)
		*stable = *stable && l.stable(now)
		return err
	})
	sum := sha256.Sum256(seen.data)
	return string(sum[:]), err == nil
}

// copyComparer counts what all comparisons have read.
type copyComparer struct{ entries, bytes atomic.Int64 }

// isCopy reports whether a skill's directory is a copy of an installed one: both have the same files with the same
// bytes, except for the skill's name if it has an alias.
func (c *copyComparer) isCopy(s, pack *Skill) bool {
	a, err := safefile.OpenRoot(s.Dir)
	if err != nil {
		return false
	}
	defer func() { _ = a.Close() }()
	b, err := safefile.OpenRoot(pack.Dir)
	if err != nil {
		return false
	}
	defer func() { _ = b.Close() }()
	alias := ""
	if s.base != pack.base {
		alias = s.base
	}
	return c.file(a, b, skill.File, alias) && c.dir(a, b, ".", alias, maxCopyDepth)
}

// dir compares two directories, without SKILL.md at their top.
func (c *copyComparer) dir(a, b *safefile.Root, dir, alias string, depth int) bool {
	listA, okA := c.list(a, dir)
	listB, okB := c.list(b, dir)
	if !okA || !okB || depth == 0 || len(listA) != len(listB) {
		return false
	}
	for i, e := range listA {
		if e.Name() != listB[i].Name() || e.Type() != listB[i].Type() {
			return false
		}
		file := path.Join(dir, e.Name())
		same := false
		switch e.Type() {
		case fs.ModeDir:
			same = c.dir(a, b, file, alias, depth-1)
		case fs.ModeSymlink:
			link, err := a.ReadLink(file)
			other, otherErr := b.ReadLink(file)
			same = err == nil && otherErr == nil && link == other
		case 0:
			same = file == skill.File || c.file(a, b, file, "")
		}
		if !same {
			return false
		}
	}
	return true
}

// list returns the entries of a directory, sorted by name.
func (c *copyComparer) list(root *safefile.Root, dir string) ([]fs.DirEntry, bool) {
	f, err := root.Open(dir)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }()
	d, ok := f.(fs.ReadDirFile)
	remaining := maxCompared - c.entries.Load()
	if !ok || remaining <= 0 {
		return nil, false
	}
	entries, err := d.ReadDir(int(remaining) + 1)
	if c.entries.Add(int64(len(entries))) > maxCompared || err != nil && !errors.Is(err, io.EOF) {
		return nil, false
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, true
}

// file compares two files. With an alias, it compares a with b under that skill name.
func (c *copyComparer) file(a, b *safefile.Root, name, alias string) bool {
	f, size, ok := c.open(a, name)
	if !ok {
		return false
	}
	defer func() { _ = f.Close() }()
	other, otherSize, ok := c.open(b, name)
	if !ok {
		return false
	}
	defer func() { _ = other.Close() }()
	if alias == "" {
		return size == otherSize && equal(f, other)
	}
	data, err := io.ReadAll(io.LimitReader(other, skill.MaxFile+1))
	if err != nil || len(data) > skill.MaxFile {
		return false
	}
	named, err := skill.SpliceName(data, alias)
	return err == nil && size == int64(len(named)) && equal(f, bytes.NewReader(named))
}

// open opens a file if the limits allow it.
func (c *copyComparer) open(root *safefile.Root, name string) (fs.File, int64, bool) {
	f, err := safefile.OpenIn(root, name, maxCopyBytes)
	if err != nil {
		return nil, 0, false
	}
	info, err := f.Stat()
	if err != nil || c.bytes.Add(info.Size()) > maxCopyBytes {
		_ = f.Close()
		return nil, 0, false
	}
	return f, info.Size(), true
}

// equal reports whether two readers have the same contents.
func equal(a, b io.Reader) bool {
	var x, y [8 << 10]byte
	for {
		n, err := io.ReadFull(a, x[:])
		m, otherErr := io.ReadFull(b, y[:])
		switch {
		case n != m || !bytes.Equal(x[:n], y[:m]):
			return false
		case err != nil || otherErr != nil:
			return isEOF(err) && isEOF(otherErr)
		}
	}
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
