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
	"sync"

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

// matches reports whether a directory has a fingerprint.
func (s *statter) matches(dir string, l fingerprint) bool {
	if l.digest == "" || !s.hasEntries(dir, l.entries) {
		return false
	}
	return s.digest(filepath.Base(dir), l.entries) == l.digest
}

// diskScan says which trees and links of the state are unchanged on disk.
type diskScan struct {
	done  chan struct{} // closed when the maps are complete
	trees map[string]bool
	links map[string]bool
}

// StartScan starts to compare the installed files with the state, in the background.
func (w *Workspace) StartScan() {
	g := &diskScan{done: make(chan struct{}), trees: map[string]bool{}, links: map[string]bool{}}
	w.scan = g
	state, abs := w.state, w.abs
	go func() {
		defer close(g.done)
		trees, links := slices.Sorted(maps.Keys(state.Trees)), slices.Sorted(maps.Keys(state.Links))
		unchanged := inParallel(trees, abs, func(s *statter, path, at string) bool {
			return s.matches(path, state.Trees[at].fingerprint)
		})
		for i, at := range trees {
			g.trees[at] = unchanged[i]
		}
		unchanged = inParallel(links, abs, func(s *statter, path, at string) bool {
			return s.isLinkTo(path, state.Links[at])
		})
		for i, at := range links {
			g.links[at] = unchanged[i]
		}
	}()
}

// scanResult waits for the scan and returns it.
func (w *Workspace) scanResult() *diskScan {
	if w.scan == nil {
		w.StartScan()
	}
	<-w.scan.done
	return w.scan
}

// inParallel calls check for each path, several at a time, with a statter that has the path's directory open.
func inParallel(paths []string, abs func(string) string, check func(s *statter, path, at string) bool) []bool {
	results := make([]bool, len(paths))
	workers := min(runtime.GOMAXPROCS(0), len(paths)/64+1)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			s := newStatter("")
			defer func() { s.close() }()
			for i := k * len(paths) / workers; i < (k+1)*len(paths)/workers; i++ {
				path := abs(paths[i])
				if dir := filepath.Dir(path); dir != s.dir {
					s.close()
					s = newStatter(dir)
				}
				results[i] = check(s, path, paths[i])
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
