package workspace

import (
	"encoding/binary"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// fingerprint identifies how an installed directory looks to stat. It changes if a program touches, adds, or removes a
// file.
type fingerprint struct {
	digest string // over the stat results of the entries; "" never matches
	// entries are every file and directory, relative and sorted, with tabs between them; directories end with a slash,
	// and the one at the top is "/".
	entries string
}

// fileStat is what stat says of an entry. For a directory only the mode and the modification time count, which changes
// with its entries; its change time is that of the move to its path.
type fileStat struct {
	mode, size, modified, changed int64
}

// fingerprintOf returns the fingerprint of a directory with entries, empty if one does not exist.
func fingerprintOf(dir, entries string) fingerprint {
	if entries == "" {
		return fingerprint{}
	}
	s := newStatter(filepath.Dir(dir))
	defer s.close()
	return fingerprint{digest: s.digest(filepath.Base(dir), entries), entries: entries}
}

// entriesOf returns the entries of a directory that has the files of an inventory, in the form of
// [fingerprint.entries]. It returns "" if a name can't be listed.
func entriesOf(inv bundle.Inventory) string {
	entries := []string{"/"}
	for _, e := range inv {
		if !canList(e.Path) {
			return ""
		}
		entries = append(entries, e.Path)
		for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
			entries = append(entries, dir+"/")
		}
	}
	slices.Sort(entries)
	return strings.Join(slices.Compact(entries), "\t")
}

// canList reports whether [fingerprint.entries] can have a name.
func canList(name string) bool {
	return !strings.ContainsAny(name, "\t\n\r") && !strings.HasPrefix(name, `"`)
}

// listEntries lists a directory in the form of [fingerprint.entries]. It returns "" if there is no directory, or a name
// can't be listed.
func listEntries(dir string) string {
	var entries []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path[len(dir):]), "/")
		switch {
		case d.IsDir():
			name += "/"
		case path == dir:
			return fs.ErrInvalid
		}
		if !canList(name) {
			return fs.ErrInvalid
		}
		entries = append(entries, name)
		return nil
	})
	if err != nil {
		return ""
	}
	slices.Sort(entries)
	return strings.Join(entries, "\t")
}

// digest returns the digest over the stat results of entries of the directory base, "" if one does not exist or changed
// its type.
func (s *statter) digest(base, entries string) string {
	text := s.text[:0]
	for name := range strings.SplitSeq(entries, "\t") {
		f, ok := s.stat(base + "/" + strings.TrimPrefix(name, "/"))
		if !ok {
			return ""
		}
		for _, n := range [...]int64{f.mode, f.size, f.modified, f.changed} {
			text = binary.LittleEndian.AppendUint64(text, uint64(n))
		}
	}
	s.text = text
	return textx.SHA256(text)[:32]
}

// equal reports whether two states of a tree are the same, with their fingerprints.
func (t treeState) equal(o treeState) bool {
	return t.Digest == o.Digest && t.Source == o.Source && t.fingerprint == o.fingerprint
}

// matches reports whether a directory, which is in the statter's, has a fingerprint.
func (s *statter) matches(base string, l fingerprint) bool {
	return l.digest != "" && s.hasEntries(base, l.entries) && s.digest(base, l.entries) == l.digest
}

// diskScan says which trees and links of the state are unchanged on disk.
type diskScan struct {
	done  chan struct{} // closed when the maps are complete
	trees map[string]bool
	links map[string]bool
}

// StartScan starts to compare the installed files with the state, in the background.
func (w *Workspace) StartScan() {
	state, root := w.state, w.Scope.Root
	g := &diskScan{
		done:  make(chan struct{}),
		trees: make(map[string]bool, len(state.Trees)), links: make(map[string]bool, len(state.Links)),
	}
	w.scan = g
	bug.Go(func() {
		defer close(g.done)
		trees, links := sortedKeys(state.Trees), sortedKeys(state.Links)
		unchanged := inParallel(root, trees, func(s *statter, at string) bool {
			return s.matches(path.Base(at), state.Trees[at].fingerprint)
		})
		for i, at := range trees {
			g.trees[at] = unchanged[i]
		}
		unchanged = inParallel(root, links, func(s *statter, at string) bool {
			return s.isLinkTo(path.Base(at), state.Links[at])
		})
		for i, at := range links {
			g.links[at] = unchanged[i]
		}
	})
}

// sortedKeys returns the sorted keys of a map. Unlike [slices.Sorted], it allocates the slice once.
func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// scanResult waits for the scan and returns it.
func (w *Workspace) scanResult() *diskScan {
	if w.scan == nil {
		w.StartScan()
	}
	<-w.scan.done
	return w.scan
}

// inParallel calls check for each path below root, several at a time, with a statter that has the path's directory
// open.
func inParallel(root string, paths []string, check func(s *statter, at string) bool) []bool {
	results := make([]bool, len(paths))
	workers := min(runtime.GOMAXPROCS(0), len(paths)/64+1)
	var wg bug.WaitGroup
	for k := range workers {
		wg.Go(func() {
			s, opened := newStatter(""), ""
			defer func() { s.close() }()
			for i := k * len(paths) / workers; i < (k+1)*len(paths)/workers; i++ {
				if dir := path.Dir(paths[i]); dir != opened {
					s.close()
					s, opened = newStatter(filepath.Join(root, filepath.FromSlash(dir))), dir
				}
				results[i] = check(s, paths[i])
			}
		})
	}
	wg.Wait()
	return results
}

// isLinkTo reports whether the entry at path is a link to target.
func isLinkTo(path, target string) bool {
	got, err := os.Readlink(path)
	return err == nil && got == target
}
