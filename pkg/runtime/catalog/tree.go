package catalog

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/skill"
)

// tree is the contents of a root, independent of the profile: the contents of one index file.
type tree struct {
	real string // path of the root without links
	lock lockFacts
	dirs []branch // the root, and its directories down to those with skills, breadth first
}

// branch is a directory that is listed: a root, or a directory of an owner or a pack below it.
type branch struct {
	path    string // relative to the root, "" for the root
	stat    stamp
	stable  bool
	problem string // why its list is incomplete, "" if it is complete
	nodes   []node // sorted by name

	dir string // absolute path with a separator; set while the catalog is built
}

// node is an entry of a branch: a directory or a link to one.
type node struct {
	name   string
	link   bool
	target string // for a link, the final target; "" if there is none

	// For a skill's directory: stamp and record of its SKILL.md; nil if there is none.
	stat   stamp
	stable bool
	record *record
	copy   *copyFacts // set if it is known to be a copy of an installed skill
}

// leaves returns the number of nodes that may be directories of skills.
func (t *tree) leaves(r *root) int {
	n := 0
	for i := range t.dirs {
		if r.hasSkillsAt(t.dirs[i].depth()) {
			n += len(t.dirs[i].nodes)
		}
	}
	return n
}

// records returns the number of nodes with a record.
func (t *tree) records() (n int) {
	for i := range t.dirs {
		n += t.dirs[i].records()
	}
	return n
}

// records returns the number of nodes with a record.
func (b *branch) records() (n int) {
	for i := range b.nodes {
		if b.nodes[i].record != nil {
			n++
		}
	}
	return n
}

// has reports whether the node of that name has a record.
func (b *branch) has(name string) bool {
	i, ok := slices.BinarySearchFunc(b.nodes, name,
		func(n node, name string) int { return strings.Compare(n.name, name) })
	return ok && b.nodes[i].record != nil
}

// depth returns the depth of a branch below its root.
func (b *branch) depth() int {
	if b.path == "" {
		return 0
	}
	return strings.Count(b.path, "/") + 1
}

// lockFacts are the facts of a skillpm.lock about packs and names.
type lockFacts struct {
	stat    stamp
	stable  bool
	exists  bool
	problem string // why it cannot be read
	packs   []lockedPack
	names   []lockedName
}

// lockedPack is a locked pack with its source, the names of its skills, each followed by a slash, and what it requires
// that can be checked without asking agents, nil for nothing.
type lockedPack struct {
	id, version, source, skills string

	claim string // see [pack.LockedPack.Claim]
	trees string // digests of the skills in the order of their names, each followed by a slash

	requires *skill.Requirements
}

// tree returns the digest of a skill, "" if the pack has no such skill.
func (p lockedPack) tree(name string) string {
	trees := strings.Split(p.trees, "/")
	i := slices.Index(strings.Split(p.skills, "/"), name)
	if name == "" || i < 0 || i >= len(trees) {
		return ""
	}
	return trees[i]
}

// lockedName is the owner of a bare name, "" for none, and the aliases of other skills of that name.
type lockedName struct {
	name, winner string
	shadowed     []lockedAlias
}

type lockedAlias struct{ pack, alias string }
