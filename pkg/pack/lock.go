package pack

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// LockName is the file name of a lockfile.
const LockName = "skillpm.lock"

// LockVersion is the version of the format.
const LockVersion = "1"

// Lock is the content of a skillpm.lock: the exact packs that are installed, and which skills have bare names.
type Lock struct {
	Packs map[ID]*LockedPack
	Names map[string]LockedName // by bare name: only those that several packs claim, or whose skill has an alias

	unknown unknownKeys
	root    *yaml.Node // only in a lockfile that CheckLock read
}

// LockedPack is one installed version of a pack.
type LockedPack struct {
	Version   string // strict semver
	Source    string // by [Ref.Locked]
	Resolved  string // digest or commit; "" for a directory
	Integrity string // over Skills, by [bundle.Integrity]
	// Signer is a key, as "ecdsa-p256:…", or "identity:ISSUER SUBJECT[ REPOSITORY]"; "" if no signature was required.
	Signer       string
	Dependencies map[string]string // owner/name to the required range or source, by [FormatRequirement]
	Needs        map[string]string // what the pack needs on a machine, by [skill.Requirements.Table]
	Skills       map[string]string // name to tree digest
	Partial      bool              // the pack has more skills than these
}

// LockedName is the pack that has a bare name, and the others that have a skill of that name, each with its alias.
type LockedName struct {
	Winner   ID // zero if every skill of that name has an alias
	Shadowed map[ID]string
}

// Clone returns a deep copy.
func (p *LockedPack) Clone() *LockedPack {
	c := *p
	c.Dependencies, c.Needs, c.Skills = maps.Clone(p.Dependencies), maps.Clone(p.Needs), maps.Clone(p.Skills)
	return &c
}

// Clone returns a copy whose entries can be replaced without changing l's; the entries themselves are shared.
func (l *Lock) Clone() *Lock {
	c := *l
	c.Packs, c.Names = maps.Clone(l.Packs), maps.Clone(l.Names)
	return &c
}

// Equal reports whether two locked packs are the same.
func (p *LockedPack) Equal(o *LockedPack) bool {
	return p.Version == o.Version && p.Source == o.Source && p.Resolved == o.Resolved && p.Integrity == o.Integrity &&
		p.Signer == o.Signer && p.Partial == o.Partial &&
		maps.Equal(p.Dependencies, o.Dependencies) && maps.Equal(p.Needs, o.Needs) && maps.Equal(p.Skills, o.Skills)
}

// Claim returns what a lockfile claims about the content of a pack: that its source has these skills at this revision.
func (p *LockedPack) Claim(id ID) string {
	return fmt.Sprintf("%s %s %q %q %s", id, p.Version, p.Source, p.Resolved, bundle.Integrity(p.Skills))
}

// LinkedClaim is [LockedPack.Claim] for a skill of a linked pack, which is in a directory of this machine.
func LinkedClaim(id, dir string) string { return fmt.Sprintf("linked %s %q", id, dir) }

// Ref returns the source that the pack is locked to. Its URL is empty if only the manifest has it; see [ParseLocked].
func (p *LockedPack) Ref(id ID) (Ref, error) {
	ref, err := ParseLocked(p.Source, p.Resolved, id)
	if IsHub(ref.Kind) {
		ref.Rev = p.Version // such a registry is asked for a version, not for a digest
	}
	return ref, err
}

// IsFrom reports whether the pack is locked from a required source, and to the commit or digest that it names. A lock
// does not repeat the commit at which packs of one repository require each other as the revision of the source. The
// default branch also meets a requirement without a revision.
func (p *LockedPack) IsFrom(ref Ref) bool {
	pin := ref.Digest
	if pin == "" && ref.Kind == KindGit && IsCommit(ref.Rev) {
		pin = ref.Rev
	}
	source := p.Source == ref.Locked(p.Version) || pin != "" && pin == ref.Rev && p.Source == ref.Source() ||
		ref.Rev == "" && p.Source == ref.defaultBranch()
	return source && (pin == "" || pin == p.Resolved)
}

// FollowsDefaultBranch reports whether the pack is locked from the default branch of a repository without releases.
func (p *LockedPack) FollowsDefaultBranch() bool {
	_, rev := cutRev(p.Source)
	return rev == DefaultBranch && strings.HasPrefix(p.Source, "git+")
}

// Equal reports whether two locked names are the same.
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

// SkillNames returns the sorted names of the skills of all packs. A name that several packs have appears several times.
func (l *Lock) SkillNames() []string {
	var names []string
	for _, p := range l.Packs {
		names = slices.AppendSeq(names, maps.Keys(p.Skills))
	}
	slices.Sort(names)
	return names
}

// Equal reports whether two lockfiles are the same, apart from unknown keys.
func (l *Lock) Equal(o *Lock) bool {
	return maps.EqualFunc(l.Packs, o.Packs, (*LockedPack).Equal) && maps.EqualFunc(l.Names, o.Names, LockedName.Equal)
}

// Keep copies from an earlier lockfile the keys that this version does not know. They are written again for the packs
// and names that have not changed.
func (l *Lock) Keep(old *Lock) { l.unknown = old.unknown }

// Encode returns the canonical text of the lockfile. It is sorted and has no dates, so that equal lockfiles are equal
// text.
func (l *Lock) Encode() []byte {
	var b bytes.Buffer
	b.Grow(l.sizeHint())
	b.WriteString("# Written by skillpm. Keep it in version control; change it with skillpm only.\n")
	b.WriteString("version: " + LockVersion + "\n")
	e := encoder{b: &b}
	e.packs(l)
	e.names(l)
	e.unknownKeys(l.unknown.root, 0)
	return b.Bytes()
}

// sizeHint returns the approximate size of the encoded lockfile, most of which is the digests of skills.
func (l *Lock) sizeHint() int {
	size := 1 << 10
	for _, p := range l.Packs {
		size += 1 << 10
		for name := range p.Skills {
			size += len(name) + 90
		}
	}
	return size
}

// encoder writes a lockfile: two spaces a level, one entry a line, every value in double quotes.
type encoder struct{ b *bytes.Buffer }

func (e encoder) line(depth int, key, value string) {
	for range depth {
		e.b.WriteString("  ")
	}
	e.b.WriteString(key)
	e.b.WriteByte(':')
	if value != "" {
		e.b.WriteByte(' ')
		e.b.WriteString(value)
	}
	e.b.WriteByte('\n')
}

// quoted writes a line with a value in quotes, unless the value is empty.
func (e encoder) quoted(depth int, key, value string) {
	if value != "" {
		e.line(depth, key, yamlx.Quote(value))
	}
}

// table writes a mapping of plain keys to quoted values, unless it is empty.
func (e encoder) table(depth int, key string, table map[string]string) {
	if len(table) == 0 {
		return
	}
	e.line(depth, key, "")
	for _, k := range slices.Sorted(maps.Keys(table)) {
		e.line(depth+1, yamlx.Plain(k), yamlx.Quote(table[k]))
	}
}

func (e encoder) packs(l *Lock) {
	if len(l.Packs) == 0 {
		e.line(0, "packs", "{}")
		return
	}
	e.line(0, "packs", "")
	for _, id := range l.IDs() {
		p := l.Packs[id]
		e.line(1, id.String(), "")
		e.quoted(2, "version", p.Version)
		e.quoted(2, "source", p.Source)
		e.quoted(2, "resolved", p.Resolved)
		e.quoted(2, "integrity", p.Integrity)
		e.quoted(2, "signer", p.Signer)
		e.table(2, "dependencies", p.Dependencies)
		e.table(2, "requires", p.Needs)
		e.table(2, "skills", p.Skills)
		if p.Partial {
			e.line(2, "partial", "true")
		}
		if old, ok := l.unknown.packs[id]; ok && old.value.Equal(p) {
			e.unknownKeys(old.keys, 2)
		}
	}
}

func (e encoder) names(l *Lock) {
	if len(l.Names) == 0 {
		return
	}
	e.line(0, "names", "")
	for _, name := range slices.Sorted(maps.Keys(l.Names)) {
		e.name(l, name)
	}
}

func (e encoder) name(l *Lock, name string) {
	n := l.Names[name]
	old, ok := l.unknown.names[name]
	unchanged := ok && old.value.Equal(n)
	if n.Winner.IsZero() && len(n.Shadowed) == 0 && !unchanged {
		e.line(1, yamlx.Plain(name), "{}")
		return
	}
	e.line(1, yamlx.Plain(name), "")
	if !n.Winner.IsZero() {
		e.line(2, "winner", n.Winner.String())
	}
	if len(n.Shadowed) > 0 {
		e.line(2, "shadowed", "")
		for _, id := range slices.SortedFunc(maps.Keys(n.Shadowed), ID.Compare) {
			e.line(3, id.String(), yamlx.Plain(n.Shadowed[id]))
		}
	}
	if unchanged {
		e.unknownKeys(old.keys, 2)
	}
}

// unknownKeys writes the entries of a mapping, sorted by key, each on one line.
func (e encoder) unknownKeys(n *yaml.Node, depth int) {
	values := make(map[string]*yaml.Node)
	for k, v := range yamlx.Pairs(n) {
		values[k.Value] = v
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		e.line(depth, yamlx.Plain(key), flowText(values[key]))
	}
}

// flowText returns any node on one line, in canonical form.
func flowText(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for k, v := range yamlx.Pairs(n) {
			parts = append(parts, yamlx.Plain(k.Value)+": "+flowText(v))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, flowText(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!int", "!!float", "!!bool", "!!timestamp":
		return n.Value
	default:
		return yamlx.Quote(n.Value)
	}
}

// unknownKeys are the keys of a lockfile that this version does not know, with the packs and names that they belong to.
type unknownKeys struct {
	root  *yaml.Node
	packs map[ID]unknownIn[*LockedPack]
	names map[string]unknownIn[LockedName]
}

type unknownIn[T any] struct {
	value T // as it was read: the keys are only written again if it is unchanged
	keys  *yaml.Node
}

// appendPair adds a value with its key to a mapping, which it creates if it is nil.
func appendPair(to *yaml.Node, v yamlx.Value) *yaml.Node {
	if to == nil {
		to = &yaml.Node{Kind: yaml.MappingNode}
	}
	to.Content = append(to.Content, v.Key().Node, v.Node)
	return to
}
