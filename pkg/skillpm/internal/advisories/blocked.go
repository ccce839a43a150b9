package advisories

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// writeBlocked writes the list that activations read, unless it is the same: the lists of all feeds, except of those
// that only a project configures. It does not need the feeds, so that a damaged one does not allow what it blocks.
func (s Store) writeBlocked(sources []Source) error {
	var lists [][]byte
	for _, src := range sources {
		if src.Project {
			continue
		}
		list, err := os.ReadFile(s.file(src.URL, blockedEnding))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		lists = append(lists, list)
	}
	data := advisory.MergeBlocked(lists...)
	file := filepath.Join(s.Dir, enforce.BlockedName)
	old, err := os.ReadFile(file)
	if err == nil && string(old) == string(data) || errors.Is(err, fs.ErrNotExist) && len(data) == 0 {
		return nil
	}
	return atomicfile.Write(file, data, options())
}

// Blocked finds malicious content in the lists of several feeds, without reading the feeds.
type Blocked struct {
	lists []advisory.Blocked
	files []io.Closer
}

// Blocked opens the lists of the stored feeds of sources. The caller closes them.
func (s Store) Blocked(sources []Source) (*Blocked, error) {
	b := &Blocked{}
	for _, src := range sources {
		list, file, err := advisory.OpenBlocked(s.file(src.URL, blockedEnding))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		b.lists, b.files = append(b.lists, list), append(b.files, file)
	}
	return b, nil
}

// Find returns an advisory that states a subject to be malicious; nil if there is none.
func (b *Blocked) Find(about advisory.Subject) (*advisory.Advisory, error) {
	for _, list := range b.lists {
		found, err := list.Find(about.Pack, about.Version, func() ([]string, error) { return about.Trees, nil })
		if err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// Close closes the lists.
func (b *Blocked) Close() error {
	var errs []error
	for _, f := range b.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
