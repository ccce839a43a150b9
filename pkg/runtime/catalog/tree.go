package catalog

import (
	"slices"
	"strings"
)

// tree is what a root holds, whatever the profile: what one file of the index says.
type tree struct {
	real string // the root's directory, without links
	lock lockFacts
	dirs []branch // the root, and the directories down to those of skills, in the order in which they are reached
}

// branch is a directory whose entries are looked at: the root, or one of an owner or a pack below it.
type branch struct {
	path    string // from the root, "" for itself
	stat    stamp
	stable  bool
	problem string // why it cannot be read in whole, "" where it can
	nodes   []node // in order of their names

	dir string // what the directories of its entries begin with, while a catalog is made of them
}

// node is an entry of a branch: a directory or a link to one.
type node struct {
	name   string
	link   bool
	target string // of a link: where it leads in the end, "" for nowhere

	// Of the directory of a skill: how its SKILL.md looks, and what it says; nil where there is none.
	stat   stamp
	stable bool
	record *record
	copy   *copyFacts // that it is a copy of an installed skill, nil where that is not known
}

// leaves returns how many nodes may be directories of skills.
func (t *tree) leaves(r *root) int {
	n := 0
	for i := range t.dirs {
		if r.holds(t.dirs[i].depth()) {
			n += len(t.dirs[i].nodes)
		}
	}
	return n
}

// records returns how many nodes of a tree have a record.
func (t *tree) records() (n int) {
	for i := range t.dirs {
		n += t.dirs[i].records()
	}
	return n
}

// records returns how many of its nodes have a record.
func (b *branch) records() (n int) {
	for i := range b.nodes {
		if b.nodes[i].record != nil {
			n++
		}
	}
	return n
}

// has reports whether a directory of that name has a record.
func (b *branch) has(name string) bool {
	i, ok := slices.BinarySearchFunc(b.nodes, name,
		func(n node, name string) int { return strings.Compare(n.name, name) })
	return ok && b.nodes[i].record != nil
}

// depth returns how many levels a branch is below its root.
func (b *branch) depth() int {
	if b.path == "" {
		return 0
	}
	return strings.Count(b.path, "/") + 1
}

// lockFacts are what a skillpm.lock says of names.
type lockFacts struct {
	stat    stamp
	stable  bool
	exists  bool
	problem string // why it cannot be read
	packs   []lockedPack
	names   []lockedName
}

// lockedPack is a pack that is to be installed, where it is from, and the names of its skills with a slash after each.
type lockedPack struct{ id, version, source, skills string }

// lockedName says who has a bare name, "" for nobody, and how the others are called.
type lockedName struct {
	name, winner string
	shadowed     []lockedAlias
}

type lockedAlias struct{ pack, alias string }
