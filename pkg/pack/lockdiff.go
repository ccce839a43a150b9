package pack

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
)

// MaxDifferences is how many differences [Compare] reports at most.
const MaxDifferences = 1000

// DiffKind is what a [Difference] is about.
type DiffKind string

// The kinds of difference.
const (
	DiffMissing DiffKind = "missing" // a required pack is not locked
	DiffSurplus DiffKind = "surplus" // nothing requires a locked pack
	DiffSource  DiffKind = "place"   // another source, commit, or digest is locked than is required
	DiffVersion DiffKind = "version" // a requirement does not allow the locked version
	DiffSkills  DiffKind = "skills"  // other skills of a pack are locked than are required
	DiffAlias   DiffKind = "alias"   // the skill of an alias is not locked
	DiffAliases DiffKind = "aliases" // two aliases contradict each other
	DiffNames   DiffKind = "names"   // packs and aliases lead to other names
	DiffInvalid DiffKind = "invalid" // a part of the lockfile is not valid
	DiffText    DiffKind = "text"    // same content, but not in the form that skillpm writes
)

// Difference is one disagreement between a lockfile and a manifest. Line and column count from 1; they are 0 unless
// [CheckManifest] or [CheckLock] read the file.
type Difference struct {
	Kind         DiffKind
	Pack         ID     // zero for names
	File         string // [ManifestName] or [LockName]
	Line, Column int
	Message      string // a sentence without a full stop
	Hint         string // how to fix it
}

// The hints that most differences have.
const (
	hintInstall = "run skillpm install, look at what it changes in skillpm.lock, and commit it"
	hintRestore = "restore skillpm.lock from version control, or delete it and run skillpm install to lock anew"
)

// Compare returns the differences between a manifest and a lockfile: first what is required, then what is not, then
// skills, aliases, and names. It compares the two files only, so a lockfile without a difference may still name packs
// that no registry has.
func Compare(m *Manifest, l *Lock) []Difference {
	return Comparison{Manifest: m, Lock: l}.Differences()
}

// Comparison compares files that could be read only in part, or whose required directories are compared too.
type Comparison struct {
	Manifest *Manifest
	Lock     *Lock

	// PartialManifest and PartialLock say that a part of the file could not be read. Differences that follow from the
	// absence of something are then left out.
	PartialManifest, PartialLock bool

	// Directory reports whether the content of a required directory differs from what is locked. Nil means no.
	Directory func(Dependency, *LockedPack) bool
}

// Differences returns at most [MaxDifferences] differences, in the order of [Compare].
func (in Comparison) Differences() []Difference {
	c := &comparison{Comparison: in, wants: selections{}}
	c.requirements()
	c.surplus()
	c.skills()
	if aliased := c.aliases(); aliased && c.agreed() {
		c.names()
	}
	return c.found
}

// comparison is the state of one comparison.
type comparison struct {
	Comparison
	wants   selections // by pack
	found   []Difference
	refused bool // the lockfile cannot be installed from
}

// agreed reports whether the lockfile is the manifest's as far as is known.
func (c *comparison) agreed() bool { return !c.refused && !c.PartialManifest && !c.PartialLock }

func (c *comparison) full() bool { return len(c.found) >= MaxDifferences }

// add records a difference at a key of a file, or at the nearest parent that exists.
func (c *comparison) add(d Difference, keys ...string) {
	if c.full() {
		return
	}
	place := c.Lock.Position
	if d.File == ManifestName {
		place = c.Manifest.Position
	}
	for ; d.Line == 0 && len(keys) > 0; keys = keys[:len(keys)-1] {
		d.Line, d.Column = place(keys...)
	}
	c.found = append(c.found, d)
}

// differ records a difference after which the lockfile is not the manifest's.
func (c *comparison) differ(kind DiffKind, id ID, file string, keys []string, format string, args ...any) {
	c.refused = true
	c.add(Difference{Kind: kind, Pack: id, File: file, Message: fmt.Sprintf(format, args...), Hint: hintInstall},
		keys...)
}

// inLock is differ at a key of a pack's entry in the lock.
func (c *comparison) inLock(kind DiffKind, id ID, keys []string, format string, args ...any) {
	c.differ(kind, id, LockName, append([]string{"packs", id.String()}, keys...), format, args...)
}

// CompareText compares the bytes of a lockfile with those that skillpm writes for the same content. It returns the
// first line that differs, and false if none does.
func CompareText(l *Lock, text []byte) (Difference, bool) {
	d := Difference{Kind: DiffText, File: LockName, Line: 1, Column: 1, Hint: hintInstall}
	want := l.Encode()
	switch {
	case bytes.Equal(want, text):
		return Difference{}, false
	case bytes.Equal(want, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))):
		d.Message = "the lines end with CRLF, and skillpm writes LF"
		return d, true
	}
	for wanted := range bytes.Lines(want) {
		is, rest, _ := bytes.Cut(text, []byte("\n"))
		if string(is)+"\n" != string(wanted) {
			break
		}
		d.Line, text = d.Line+1, rest
	}
	d.Message = "the lock is not written as skillpm writes it, from this line on"
	return d, true
}

// aliases finds the aliases of skills that are not locked. It reports whether there are none.
func (c *comparison) aliases() bool {
	ok := true
	for _, a := range c.Manifest.Aliases {
		p := c.Lock.Packs[a.Pack]
		required := c.wants[a.Pack] != nil
		if p == nil && (required || c.PartialLock) || p != nil && p.Skills[a.Skill] != "" || c.full() {
			continue
		}
		ok = false
		d := Difference{
			Kind: DiffAlias, Pack: a.Pack, File: ManifestName, Hint: "correct it, or remove it",
			Message: fmt.Sprintf("%s stands for %s, and the pack is not locked", a.Alias, a.Target()),
		}
		if p != nil {
			d.Message = fmt.Sprintf("%s stands for %s, and the pack has no such skill", a.Alias, a.Target())
			if near := diag.Nearest(a.Skill, slices.Sorted(maps.Keys(p.Skills))); near != "" {
				d.Hint = fmt.Sprintf("did you mean %s@%s?", near, a.Pack)
			}
		}
		c.add(d, "aliases", a.Alias)
	}
	return ok
}

// names compares who has the names that are contested or have an alias.
func (c *comparison) names() {
	_, want, _, err := ResolveNames(Claims(c.Manifest, c.Lock), c.Manifest.Aliases, c.Lock.Names, nil)
	if err != nil {
		c.refused = true
		c.add(Difference{Kind: DiffAliases, File: ManifestName, Message: err.Error(), Hint: diag.HintOf(err)},
			"aliases")
		return
	}
	all := maps.Clone(want)
	maps.Copy(all, c.Lock.Names)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c.name(name, want)
	}
}

// name compares the entry of one name with what it should be.
func (c *comparison) name(name string, want map[string]LockedName) {
	should, needed := want[name]
	is, locked := c.Lock.Names[name]
	at := []string{"names", name}
	differ := func(format string, args ...any) {
		c.differ(DiffNames, ID{}, LockName, at, format, args...)
	}
	switch {
	case !needed:
		differ("the name %s is locked, and is neither contested nor has an alias", name)
	case !locked:
		if at = at[:1]; len(c.Lock.Names) == 0 {
			at = []string{"packs"}
		}
		differ("the name %s is contested or has an alias, and is not locked", name)
	case should.Winner != is.Winner:
		at = append(at, "winner")
		differ("the name %s belongs to %s", name, winnerName(should.Winner))
	case !should.Equal(is):
		at = append(at, "shadowed")
		differ("the aliases of %s are not those that skillpm.yaml leads to", name)
	}
}

func winnerName(id ID) string {
	if id.IsZero() {
		return "nobody: every skill of that name has an alias"
	}
	return id.String()
}
