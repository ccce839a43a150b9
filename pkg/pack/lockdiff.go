package pack

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
)

// MaxDifferences is the number of differences that [Compare] reports at most.
const MaxDifferences = 1000

// DiffKind is the kind of a [Difference].
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
	DiffNames   DiffKind = "names"   // packs and aliases result in other names
	DiffInvalid DiffKind = "invalid" // a part of the lockfile is not valid
	DiffText    DiffKind = "text"    // same content, but not in the form that skillpm writes
)

// Difference is one difference between a lockfile and a manifest. Line and Column count from 1; they are 0 unless
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
	hintInstall = "run \"skillpm install\", review the changes to skillpm.lock, and commit the file"
	hintRestore = restoreLock
)

// Compare returns the differences between a manifest and a lockfile: first those of required packs, then packs that
// nothing requires, skills, aliases, and names. It reads nothing else, so that a lockfile without differences may still
// have packs that no registry has.
func Compare(m *Manifest, l *Lock) []Difference {
	return Comparison{Manifest: m, Lock: l}.Differences()
}

// Comparison configures [Compare] for files that are readable in part only, and for required directories.
type Comparison struct {
	Manifest *Manifest
	Lock     *Lock

	// PartialManifest and PartialLock say that a part of the file is unreadable. Differences about something that is
	// missing there are then left out.
	PartialManifest, PartialLock bool

	// Directory reports whether the content of a required directory differs from what is locked. Nil means no.
	Directory func(Dependency, *LockedPack) bool
}

// Differences returns at most [MaxDifferences] differences, in the order of [Compare].
func (c Comparison) Differences() []Difference {
	s := &comparison{Comparison: c, required: requiredSkills{}}
	s.compareRequirements()
	s.compareSurplus()
	s.compareSkills()
	if s.compareAliases() && !s.mismatch && !s.PartialManifest && !s.PartialLock {
		s.compareNames()
	}
	return s.differences
}

// comparison is the state of one comparison.
type comparison struct {
	Comparison
	required    requiredSkills
	differences []Difference
	mismatch    bool // the lockfile is not that of the manifest
}

func (c *comparison) full() bool { return len(c.differences) >= MaxDifferences }

// add records a difference at a key of a file, or at the nearest parent that exists.
func (c *comparison) add(d Difference, keys ...string) {
	if c.full() {
		return
	}
	position := c.Lock.Position
	if d.File == ManifestName {
		position = c.Manifest.Position
	}
	for ; d.Line == 0 && len(keys) > 0; keys = keys[:len(keys)-1] {
		d.Line, d.Column = position(keys...)
	}
	c.differences = append(c.differences, d)
}

// addMismatch records a difference because of which the lockfile is not that of the manifest.
func (c *comparison) addMismatch(kind DiffKind, id ID, file string, keys []string, format string, args ...any) {
	c.mismatch = true
	c.add(Difference{Kind: kind, Pack: id, File: file, Message: fmt.Sprintf(format, args...), Hint: hintInstall},
		keys...)
}

// addLocked is addMismatch at a key of a locked pack.
func (c *comparison) addLocked(kind DiffKind, id ID, keys []string, format string, args ...any) {
	c.addMismatch(kind, id, LockName, append([]string{"packs", id.String()}, keys...), format, args...)
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
		d.Message = "the lines end with CRLF instead of LF"
		return d, true
	}
	for wantLine := range bytes.Lines(want) {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if string(line)+"\n" != string(wantLine) {
			break
		}
		d.Line, text = d.Line+1, rest
	}
	d.Message = "the format differs from the format that skillpm writes, starting at this line"
	return d, true
}

// compareAliases finds the aliases of skills that are not locked. It reports whether there are none.
func (c *comparison) compareAliases() bool {
	ok := true
	for _, a := range c.Manifest.Aliases {
		p := c.Lock.Packs[a.Pack]
		required := c.required[a.Pack] != nil
		if p == nil && (required || c.PartialLock) || p != nil && p.Skills[a.Skill] != "" || c.full() {
			continue
		}
		ok = false
		d := Difference{
			Kind: DiffAlias, Pack: a.Pack, File: ManifestName, Hint: "correct the alias, or remove it",
			Message: fmt.Sprintf("alias %s refers to %s, but the pack is not locked", a.Alias, a.Target()),
		}
		if p != nil {
			d.Message = fmt.Sprintf("alias %s refers to %s, but the pack does not contain this skill", a.Alias, a.Target())
			if near := diag.Nearest(a.Skill, slices.Sorted(maps.Keys(p.Skills))); near != "" {
				d.Hint = fmt.Sprintf("did you mean %s@%s?", near, a.Pack)
			}
		}
		c.add(d, "aliases", a.Alias)
	}
	return ok
}

// compareNames compares the names that several packs claim or that have an alias.
func (c *comparison) compareNames() {
	_, want, _, err := ResolveNames(Claims(c.Manifest, c.Lock), c.Manifest.Aliases, c.Lock.Names, nil)
	if err != nil {
		c.mismatch = true
		c.add(Difference{Kind: DiffAliases, File: ManifestName, Message: err.Error(), Hint: diag.HintOf(err)},
			"aliases")
		return
	}
	all := maps.Clone(want)
	maps.Copy(all, c.Lock.Names)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c.compareName(name, want)
	}
}

func (c *comparison) compareName(name string, want map[string]LockedName) {
	wanted, needed := want[name]
	got, locked := c.Lock.Names[name]
	keys := []string{"names", name}
	differ := func(format string, args ...any) {
		c.addMismatch(DiffNames, ID{}, LockName, keys, format, args...)
	}
	switch {
	case !needed:
		differ(
			"the mapping \"names\" must not contain %s: only one pack contains this skill, and no alias refers to it", name)
	case !locked:
		if keys = keys[:1]; len(c.Lock.Names) == 0 {
			keys = []string{"packs"}
		}
		differ("the mapping \"names\" must contain %s: several packs contain this skill, or an alias refers to it", name)
	case wanted.Winner != got.Winner:
		keys = append(keys, "winner")
		differ("the name %s must refer to %s", name, winnerName(wanted.Winner))
	case !wanted.Equal(got):
		keys = append(keys, "shadowed")
		differ("the aliases of %s do not match skillpm.yaml", name)
	}
}

func winnerName(id ID) string {
	if id.IsZero() {
		return "no skill, because every skill with that name has an alias"
	}
	return id.String()
}
