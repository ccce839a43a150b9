package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// VerifyReport is the result of comparing what is installed with the lockfile.
type VerifyReport struct {
	Scope    string    `json:"scope"`
	Root     string    `json:"root"`
	Skills   int       `json:"skills"` // skills that were hashed
	Links    int       `json:"links"`
	Linked   []string  `json:"linked,omitempty"` // packs that are linked to working copies: not compared
	Problems []Problem `json:"problems"`
	Fixed    []Problem `json:"fixed,omitempty"` // problems that no longer exist
	// Saved are replaced or removed directories with local edits -> where a copy is.
	Saved map[string]string `json:"saved,omitempty"`
	// Signed are the packs whose signers the lock records.
	Signed []SignedPack `json:"signed"`
	// Store is nil unless the store was hashed.
	Store *StoreReport `json:"store,omitempty"`
}

// SignedPack is a pack whose signer the lockfile records.
type SignedPack struct {
	Pack     string `json:"pack"`
	Version  string `json:"version"`
	Signer   string `json:"signer"`   // as the lock records it
	SignedBy string `json:"signedBy"` // its fingerprint
	Checked  bool   `json:"checked"`  // the signature was checked, and is right
}

// StoreReport is the result of hashing the trees of a lockfile in the store.
type StoreReport struct {
	Trees    int       `json:"trees"`    // hashed
	Absent   int       `json:"absent"`   // not in the store, which is no problem while they are installed
	Problems []Problem `json:"problems"` // paths are pack/skill
}

// The kinds of problems.
const (
	KindMissing     = "missing"     // it does not exist; an installation restores it
	KindChanged     = "changed"     // an installed skill differs from the lockfile
	KindLink        = "link"        // a link that skillpm created leads elsewhere
	KindStray       = "stray"       // a link whose skill is no longer installed
	KindForeign     = "foreign"     // a file that skillpm did not create is in the path of a link; it stays
	KindUnlisted    = "stranger"    // it is among the installed packs, but not in the lockfile
	KindInterrupted = "interrupted" // an installation was interrupted
	KindDamaged     = "damaged"     // a tree of the store does not match its digest
	KindUnfetched   = "unfetched"   // the content could not be fetched
	KindDenied      = "denied"      // an agent finds a skill that a policy denies
	KindSignature   = "signature"   // a pack is not signed by its recorded signer
)

// Problem is a difference from the lockfile.
type Problem struct {
	Kind    string `json:"kind"`
	Path    string `json:"path"` // relative to the root
	Message string `json:"message"`
	Missing bool   `json:"missing"` // it is not there; an install puts it back
	Want    string `json:"want,omitempty"`
	Got     string `json:"got,omitempty"`
	Why     string `json:"why,omitempty"` // why it was not fixed
}

// ForeignHint returns what to do about an entry of an agent's directory that skillpm did not create.
func (p Problem) ForeignHint() string {
	return fmt.Sprintf("move %s away, or rename the pack's skill: skillpm install PACK --skill %s --as OTHER-NAME",
		p.Path, path.Base(p.Path))
}

// Verify hashes every installed skill, with copies under aliases, and compares it with the lockfile; it also checks the
// links of agents. It changes nothing and needs no network. Differences are in the report; the error is for files that
// can't be read.
//
// If another process is changing the scope, Verify waits for it and compares again.
func (w *Workspace) Verify(ctx context.Context) (*VerifyReport, error) {
	r, err := w.verify(ctx)
	if err != nil || len(r.Problems) == 0 {
		return r, err
	}
	if _, err := os.Lstat(w.Scope.LockFile()); err != nil {
		return r, nil
	}
	unlock, err := w.machine.lock(ctx, w.Scope.LockFile())
	if err != nil {
		return r, ctx.Err() // the lock cannot be created, so no other process can hold it
	}
	if err = w.read(); err == nil {
		r, err = w.verify(ctx)
	}
	return r, errors.Join(err, unlock())
}

func (w *Workspace) verify(ctx context.Context) (*VerifyReport, error) {
	l, err := w.InstalledLayout()
	if err != nil {
		return nil, err
	}
	if w.LacksLock() {
		return nil, diag.Errorf(diag.NotFound, "skillpm.lock does not exist in %s", w.Scope.Root).
			WithHint("create skillpm.lock with: skillpm install")
	}
	r := &VerifyReport{Scope: w.Scope.Kind, Root: w.Scope.Root, Problems: []Problem{}}
	if _, err := os.Lstat(w.Scope.Journal()); err == nil {
		r.Problems = append(r.Problems, Problem{
			Kind: KindInterrupted, Path: w.Rel(w.Scope.Journal()),
			Message: "an install was interrupted; run \"skillpm install\" to finish or undo it",
		})
	}
	skills := map[Tree]bool{}
	for _, at := range slices.Sorted(maps.Keys(l.trees)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tree := l.trees[at]
		r.Problems = append(r.Problems, w.verifyTree(at, tree)...)
		tree.Alias = "" // a skill with an alias also has a copy under that name
		skills[tree] = true
	}
	r.Skills = len(skills)
	for _, at := range slices.Sorted(maps.Keys(l.links)) {
		r.Links++
		r.Problems = append(r.Problems, w.verifyLink(at, l.links[at])...)
	}
	for _, id := range slices.SortedFunc(maps.Keys(l.Linked), pack.ID.Compare) {
		r.Linked = append(r.Linked, id.String())
	}
	r.Problems = append(r.Problems, w.deniedEntries(l)...)
	for _, p := range slices.Concat(w.unlistedEntries(l), w.strayLinks(l)) {
		if _, denied := l.withheld[p.Path]; !denied {
			r.Problems = append(r.Problems, p)
		}
	}
	return r, nil
}

// strayLinks finds links from agents' directories into skillpm's own directories that the layout does not have.
func (w *Workspace) strayLinks(l *Layout) []Problem {
	var found []Problem
	for _, dir := range l.Dirs {
		entries, err := os.ReadDir(w.Scope.Abs(dir.real))
		if err != nil {
			continue // there is none
		}
		for _, e := range entries {
			at := path.Join(dir.real, e.Name())
			_, isLink := l.links[at]
			_, isTree := l.trees[at]
			if e.Type()&fs.ModeSymlink == 0 || isLink || isTree || !w.owns(at) {
				continue
			}
			target, err := os.Readlink(w.Scope.Abs(at))
			if err == nil {
				found = append(found, Problem{
					Kind: KindStray, Path: at, Message: "the link points to a skill that is not installed", Got: target,
				})
			}
		}
	}
	return found
}

// verifyTree hashes one installed directory.
func (w *Workspace) verifyTree(at string, t Tree) []Problem {
	got, err := bundle.Sum(os.DirFS(w.Scope.Root), at)
	if errors.Is(err, fs.ErrNotExist) {
		return []Problem{{Kind: KindMissing, Path: at, Message: "is missing", Missing: true, Want: t.Digest}}
	}
	if err != nil {
		return []Problem{{Kind: KindChanged, Path: at, Message: err.Error(), Want: t.Digest}}
	}
	want, err := w.expectedDigest(t)
	if err != nil {
		return []Problem{{Kind: KindChanged, Path: at, Message: err.Error(), Want: t.Digest}}
	}
	if got.Digest() == want {
		return nil
	}
	return []Problem{{Kind: KindChanged, Path: at, Message: w.difference(got, t), Want: want, Got: got.Digest()}}
}

// expectedDigest is the digest that a tree should have on disk. For a copy under an alias it is computed from the
// pristine tree: the installed one if it is intact, otherwise that of the store.
func (w *Workspace) expectedDigest(t Tree) (string, error) {
	if t.Alias == "" {
		return t.Digest, nil
	}
	at := w.SkillAt(t.Pack, t.Skill)
	if inv, err := bundle.Sum(os.DirFS(w.Scope.Root), at); err == nil && inv.Digest() == t.Digest {
		data, err := os.ReadFile(w.Scope.Abs(path.Join(at, skill.File)))
		if err != nil {
			return "", err
		}
		spliced, err := skill.SpliceName(data, t.Alias)
		if err != nil {
			return "", err
		}
		return withSkillFile(inv, spliced).Digest(), nil
	}
	inv, _, err := w.machine.expected(t)
	if err != nil {
		return "", err
	}
	return inv.Digest(), nil
}

// differenceText describes how a file of a changed status differs.
var differenceText = map[textdiff.Status]string{
	textdiff.Removed: "is missing",
	textdiff.Changed: "was changed",
	textdiff.Mode:    "has a different mode",
	textdiff.Added:   "is not part of the skill",
}

// difference describes the first file that differs, if the store knows what should be there.
func (w *Workspace) difference(got bundle.Inventory, t Tree) string {
	want, _, err := w.machine.expected(t)
	if err != nil {
		return "was changed"
	}
	if files := changedFiles(want, got); len(files) > 0 {
		return "file " + files[0].Path + " " + differenceText[files[0].Status]
	}
	return "was changed"
}

func (w *Workspace) verifyLink(at, target string) []Problem {
	got, err := os.Readlink(w.Scope.Abs(at))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Problem{{Kind: KindMissing, Path: at, Message: "the link is missing", Missing: true, Want: target}}
	case err != nil:
		return []Problem{{Kind: KindForeign, Path: at, Message: "is not a link that skillpm created", Want: target}}
	case got != target && !w.owns(at):
		return []Problem{{
			Kind: KindForeign, Path: at, Message: "is a link that skillpm did not create", Want: target,
			Got: got,
		}}
	case got != target:
		return []Problem{{
			Kind: KindLink, Path: at, Message: "the link points to the wrong target", Want: target,
			Got: got,
		}}
	}
	return nil
}

// unlistedEntries finds entries among the installed packs that the layout does not have.
func (w *Workspace) unlistedEntries(l *Layout) []Problem {
	known := map[string]bool{}
	for _, at := range slices.AppendSeq(slices.Collect(maps.Keys(l.trees)), maps.Keys(l.links)) {
		for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
			known[dir] = true
		}
	}
	var found []Problem
	for _, top := range []string{w.Scope.Plugins(), w.Scope.Links()} {
		found = append(found, w.unlistedIn(w.Rel(top), l, known)...)
	}
	return found
}

func (w *Workspace) unlistedIn(dir string, l *Layout, known map[string]bool) []Problem {
	entries, err := os.ReadDir(w.Scope.Abs(dir))
	if err != nil {
		return nil
	}
	var found []Problem
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		_, linked := l.links[at]
		if _, installed := l.trees[at]; installed || linked {
			continue
		}
		if known[at] && e.IsDir() {
			found = append(found, w.unlistedIn(at, l, known)...)
			continue
		}
		found = append(found, Problem{Kind: KindUnlisted, Path: at, Message: "is not in skillpm.lock"})
	}
	return found
}
