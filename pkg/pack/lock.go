package pack

import (
	"bytes"
	"maps"
	"slices"
)

// LockName is the name of a lock's file.
const LockName = "skillpm.lock"

// LockVersion is the version of the lock's format that is read and written.
const LockVersion = "1"

// Lock is what a skillpm.lock says: exactly which packs are installed, and which skills have the bare names.
type Lock struct {
	Packs map[ID]*LockedPack
	Names map[string]LockedName // of bare names: only those that were contested or whose skill has an alias

	extra  extras // keys that this version does not know
	places places
}

// LockedPack is one installed version of a pack.
type LockedPack struct {
	Version      string            // strict semver
	Source       string            // what [source.Ref.Locked] returns
	Resolved     string            // digest or commit; "" for a directory
	Integrity    string            // over Skills, by [bundle.Integrity]
	Signer       string            // who signed it: "ecdsa-p256:…" and other keys, or "identity:ISSUER SUBJECT"; "" where nobody was asked for
	Dependencies map[string]string // owner/name to the range of versions, or the place, that is required
	Skills       map[string]string // name to tree digest
	Partial      bool              // the pack has more skills than these
}

// LockedName says who has a bare name. Shadowed are the others that have a skill of that name, with the alias that each
// is known under.
type LockedName struct {
	Winner   ID // zero when every skill of that name has an alias
	Shadowed map[ID]string
}

// Clone returns a deep copy.
func (p *LockedPack) Clone() *LockedPack {
	c := *p
	c.Dependencies, c.Skills = maps.Clone(p.Dependencies), maps.Clone(p.Skills)
	return &c
}

// Clone returns a copy whose entries can be replaced without changing l's; the entries themselves are shared.
func (l *Lock) Clone() *Lock {
	c := *l
	c.Packs, c.Names = maps.Clone(l.Packs), maps.Clone(l.Names)
	return &c
}

// Equal reports whether two packs are locked alike.
func (p *LockedPack) Equal(o *LockedPack) bool {
	return p.Version == o.Version && p.Source == o.Source && p.Resolved == o.Resolved && p.Integrity == o.Integrity &&
		p.Signer == o.Signer && p.Partial == o.Partial &&
		maps.Equal(p.Dependencies, o.Dependencies) && maps.Equal(p.Skills, o.Skills)
}

// Ref returns the place that the pack is locked to. Its URL is empty where the lock leaves it out: the manifest has it.
func (p *LockedPack) Ref(id ID) (Ref, error) {
	return ParseLocked(p.Source, p.Resolved, id)
}

// Equal reports whether two names are locked alike.
func (n LockedName) Equal(o LockedName) bool {
	return n.Winner == o.Winner && maps.Equal(n.Shadowed, o.Shadowed)
}

// NewLock returns a lock without packs.
func NewLock() *Lock {
	return &Lock{Packs: make(map[ID]*LockedPack), Names: make(map[string]LockedName)}
}

// IDs returns the locked packs' ids in order.
func (l *Lock) IDs() []ID {
	return slices.SortedFunc(maps.Keys(l.Packs), ID.Compare)
}

// SkillNames returns the names of all skills of all packs; of a name that several have there are several.
func (l *Lock) SkillNames() []string {
	var names []string
	for _, p := range l.Packs {
		names = slices.AppendSeq(names, maps.Keys(p.Skills))
	}
	slices.Sort(names)
	return names
}

// Equal reports whether two locks say the same, keys that are unknown here left aside.
func (l *Lock) Equal(o *Lock) bool {
	return maps.EqualFunc(l.Packs, o.Packs, (*LockedPack).Equal) && maps.EqualFunc(l.Names, o.Names, LockedName.Equal)
}

// Keep takes over from an earlier lock the keys that this version does not know. They are written again for every
// entry that is still as it was there.
func (l *Lock) Keep(old *Lock) { l.extra = old.extra }

// Encode returns the lock as text: sorted, without a clock, the same for equal locks.
func (l *Lock) Encode() []byte {
	var b bytes.Buffer
	b.WriteString("# Written by skillpm. Keep it in version control; change it with skillpm only.\n")
	b.WriteString("version: " + LockVersion + "\n")
	e := encoder{b: &b}
	e.packs(l)
	e.names(l)
	e.unknown(l.extra.root, 0)
	return b.Bytes()
}
