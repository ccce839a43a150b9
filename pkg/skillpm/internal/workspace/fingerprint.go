package workspace

import (
	"encoding/binary"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// fingerprint is how stat sees an installed directory. Whenever an editor or another program touches a file, or adds or
// removes one, it is another.
type fingerprint struct {
	digest string // a digest over what stat says of the entries; "" for one that equals no other
	// entries are every file and directory, relative and sorted, with tabs between them; directories end with a slash,
	// and the one at the top is "/".
	entries string
}

// fileStat are what stat says of an entry. Of a directory only its mode and its time of modification count, which is
// another as soon as there is an entry more or less; the time of change of the topmost is that of its move here.
type fileStat struct {
	mode, size, modified, changed int64
}

// fingerprintOf looks at the directory dir. The look is empty if that is no directory.
func fingerprintOf(dir string) fingerprint {
	entries := listEntries(dir)
	if entries == "" {
		return fingerprint{}
	}
	s := newStatter(filepath.Dir(dir))
	defer s.close()
	return fingerprint{digest: s.digest(filepath.Base(dir), entries), entries: entries}
}

// listEntries lists a directory as a look has it. It returns "" if there is none, or one whose names can't be listed so.
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
		if strings.ContainsAny(name, "\t\n\r") || strings.HasPrefix(name, `"`) {
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

// digest returns the digest over what stat says of the entries of the directory base, "" if one is not there or is not
// what it was.
func (s *statter) digest(base, entries string) string {
	var text []byte
	for name := range strings.SplitSeq(entries, "\t") {
		f, ok := s.stat(base + "/" + strings.TrimPrefix(name, "/"))
		if !ok {
			return ""
		}
		for _, n := range [...]int64{f.mode, f.size, f.modified, f.changed} {
			text = binary.LittleEndian.AppendUint64(text, uint64(n))
		}
	}
	return textx.SHA256(text)[:32]
}

// equal reports whether two states of a tree are the same, looks included.
func (t treeState) equal(o treeState) bool {
	return t.Digest == o.Digest && t.Source == o.Source && t.fingerprint == o.fingerprint
}

// matches reports whether a directory, which is in the statter's, looks as given.
func (s *statter) matches(dir string, l fingerprint) bool {
	if l.digest == "" || !s.hasEntries(dir, l.entries) {
		return false
	}
	return s.digest(filepath.Base(dir), l.entries) == l.digest
}

// diskScan says which of the trees and links that the state has are as they were recorded.
type diskScan struct {
	done  chan struct{} // closed when the rest is there
	trees map[string]bool
	links map[string]bool
}

// StartScan begins to look at what is installed, so that it is known by the time that it is needed.
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

// scanResult returns what the last scan saw.
func (w *Workspace) scanResult() *diskScan {
	if w.scan == nil {
		w.StartScan()
	}
	<-w.scan.done
	return w.scan
}

// inParallel asks of each path, several at a time, with a statter that has the path's directory open.
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
