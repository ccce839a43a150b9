// Package drift says where a skillpm.lock and the skillpm.yaml beside it disagree, in the same words for every command:
// what `skillpm install --frozen` refuses, `skillpm validate` finds, and `skillpm verify` and `skillpm doctor` report.
//
// It compares the two files and nothing else. What can be known only by asking a registry or a place is left out, so a
// lock without a difference may still be one that the network no longer keeps. Differences come in the order in which
// they are found: what is required, what is not, the skills, the aliases, the names; at most [Most] of them.
package drift

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/pack"
)

// Most is how many differences are told of one lock.
const Most = 1000

// Kind says what a [Difference] is about.
type Kind string

// The kinds of difference.
const (
	Missing Kind = "missing" // a pack is required and not locked
	Surplus Kind = "surplus" // a pack is locked and not required
	Place   Kind = "place"   // a pack is locked from another place, or to another commit or digest, than is required
	Version Kind = "version" // a pack is locked in a version that a requirement does not allow
	Skills  Kind = "skills"  // other skills of a pack are locked than are wanted
	Alias   Kind = "alias"   // an alias stands for a skill that is not locked
	Aliases Kind = "aliases" // the aliases exclude each other
	Names   Kind = "names"   // the names are not those that the packs and the aliases lead to
	Invalid Kind = "invalid" // the lock says something that cannot be read
	Text    Kind = "text"    // the lock says what it should, and not as skillpm writes it
)

// Difference is one thing in which a lock and a manifest disagree. Line and column are there, counted from 1, where the
// file was read by [project.CheckManifest] or [project.CheckLock].
type Difference struct {
	Kind         Kind
	Pack         pack.ID // that it is about; zero for names
	File         string  // [project.ManifestName] or [project.LockName]: where to look
	Line, Column int
	Message      string // a sentence without a full stop
	Hint         string // how to mend it
}

// The hints that most differences have.
const (
	hintInstall = "run skillpm install, look at what it changes in skillpm.lock, and commit it"
	hintRestore = "restore skillpm.lock from version control, or delete it and run skillpm install to lock anew"
)

// Compare returns the differences between a manifest and a lock.
func Compare(m *pack.Manifest, l *pack.Lock) []Difference {
	return Comparison{Manifest: m, Lock: l}.Differences()
}

// Comparison is what is compared, where that is not simply two files that were read whole.
type Comparison struct {
	Manifest *pack.Manifest
	Lock     *pack.Lock

	// PartOfManifest and PartOfLock say that the file has more in it, which could not be read. What follows from the
	// absence of something is then not said.
	PartOfManifest, PartOfLock bool

	// Directory is asked about every directory that the manifest requires and the lock agrees with: does what is in it
	// differ from what is locked? Nil for no.
	Directory func(pack.Dependency, *pack.LockedPack) bool
}

// Differences compares.
func (in Comparison) Differences() []Difference {
	c := &comparison{Comparison: in, wants: wantedSkills{}}
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
	wants   wantedSkills // of every pack that is required
	found   []Difference
	refused bool // the lock cannot be installed from
}

// agreed reports whether nothing was found that makes the lock another one than the manifest's.
func (c *comparison) agreed() bool { return !c.refused && !c.PartOfManifest && !c.PartOfLock }

func (c *comparison) full() bool { return len(c.found) >= Most }

// add takes down a difference at a key of a file, or at what the key would be in.
func (c *comparison) add(d Difference, keys ...string) {
	if c.full() {
		return
	}
	place := c.Lock.Place
	if d.File == pack.ManifestName {
		place = c.Manifest.Place
	}
	for ; d.Line == 0 && len(keys) > 0; keys = keys[:len(keys)-1] {
		d.Line, d.Column = place(keys...)
	}
	c.found = append(c.found, d)
}

// differ takes down a difference that makes the lock another one than the manifest's.
func (c *comparison) differ(kind Kind, id pack.ID, file string, keys []string, format string, args ...any) {
	c.refused = true
	c.add(Difference{Kind: kind, Pack: id, File: file, Message: fmt.Sprintf(format, args...), Hint: hintInstall}, keys...)
}

// inLock is differ at a key of a pack's entry in the lock.
func (c *comparison) inLock(kind Kind, id pack.ID, keys []string, format string, args ...any) {
	c.differ(kind, id, pack.LockName, append([]string{"packs", id.String()}, keys...), format, args...)
}
