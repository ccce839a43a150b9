package catalog

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// maxLock is the maximum size of a lockfile in bytes.
const maxLock = 64 << 20

// maxManifest is the maximum size of a manifest in bytes.
const maxManifest = 4 << 20

// readLock returns the facts of the lockfile at path. It reuses those from before if the file's stamp is the same.
func readLock(path string, before lockFacts, now int64) (facts lockFacts, changed bool) {
	l, err := stat(path)
	switch {
	case notExist(err):
		return lockFacts{}, before.exists
	case err == nil && before.exists && before.stable && l.stamp == before.stat:
		return before, false
	}
	facts = lockFacts{exists: true, stat: l.stamp, stable: err == nil && l.stable(now)}
	changed = !before.exists || facts.stat != before.stat || facts.stable != before.stable
	data, err := safefile.ReadIn(safefile.Dir(filepath.Dir(path)), filepath.Base(path), maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return lockFacts{}, before.exists
	}
	var lock *pack.Lock
	if err == nil {
		lock, err = pack.ParseLock(pack.LockName, data)
	}
	if err != nil {
		facts.problem = reason(err)
		return facts, changed
	}
	for id, p := range lock.Packs {
		one := lockedPack{
			id: id.String(), version: p.Version, source: p.Source, claim: p.Claim(id),
			requires: checkable(skill.ParseRequirements(p.Needs)),
		}
		for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
			one.skills, one.trees = one.skills+name+"/", one.trees+p.Skills[name]+"/"
		}
		facts.packs = append(facts.packs, one)
	}
	slices.SortFunc(facts.packs, func(a, b lockedPack) int { return cmp.Compare(a.id, b.id) })
	for name, n := range lock.Names {
		one := lockedName{name: name}
		if !n.Winner.IsZero() {
			one.winner = n.Winner.String()
		}
		for id, alias := range n.Shadowed {
			one.shadowed = append(one.shadowed, lockedAlias{id.String(), alias})
		}
		slices.SortFunc(one.shadowed, func(a, b lockedAlias) int { return cmp.Compare(a.pack, b.pack) })
		facts.names = append(facts.names, one)
	}
	slices.SortFunc(facts.names, func(a, b lockedName) int { return cmp.Compare(a.name, b.name) })
	return facts, changed
}

// pack returns the locked pack with an id.
func (l *lockFacts) pack(id string) (lockedPack, bool) {
	i, ok := slices.BinarySearchFunc(l.packs, id, func(p lockedPack, id string) int { return cmp.Compare(p.id, id) })
	if !ok {
		return lockedPack{}, false
	}
	return l.packs[i], true
}

// name returns what is locked about a bare name.
func (l *lockFacts) name(name string) (lockedName, bool) {
	i, ok := slices.BinarySearchFunc(l.names, name,
		func(n lockedName, name string) int { return cmp.Compare(n.name, name) })
	if !ok {
		return lockedName{}, false
	}
	return l.names[i], true
}

// alias returns the alias of a pack's skill, "" if it has none.
func (n lockedName) alias(pk string) string {
	for _, s := range n.shadowed {
		if s.pack == pk {
			return s.alias
		}
	}
	return ""
}
