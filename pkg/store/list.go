package store

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Entry is a tree of a store.
type Entry struct {
	Digest string
	Files  int
	Bytes  int64     // of the files
	Used   time.Time // last use, with a precision of a day; see [Store.Track]
}

// List yields the trees of the store, sorted by digest. For a damaged inventory it yields the digest and a
// [bundle.MismatchError], and continues. It ends after any other error.
func (s *Store) List() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for digest, err := range s.digests() {
			if err != nil {
				yield(Entry{}, syserr.Explain(err))
				return
			}
			e, err := s.describe(digest)
			if diag.CodeOf(err) == diag.NotFound {
				continue // another process removed it, or it is not a tree
			}
			_, damaged := errors.AsType[*bundle.MismatchError](err)
			if !yield(e, err) || err != nil && !damaged {
				return
			}
		}
	}
}

// digests yields the digests in the names of the directories of the store.
func (s *Store) digests() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		base := filepath.Join(s.dir, "t1")
		prefixes, err := os.ReadDir(base)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield("", err)
			return
		}
		for _, prefix := range prefixes {
			rest, err := os.ReadDir(filepath.Join(base, prefix.Name()))
			if err != nil && prefix.IsDir() && !yield("", err) {
				return
			}
			for _, r := range rest {
				digest := "t1:sha256:" + prefix.Name() + r.Name()
				if r.IsDir() && bundle.CheckDigest(digest) == nil && !yield(digest, nil) {
					return
				}
			}
		}
	}
}

func (s *Store) describe(digest string) (Entry, error) {
	e := Entry{Digest: digest}
	dir, err := s.openEntry(digest)
	if err != nil {
		return e, err
	}
	defer dir.close()
	inv, used, err := readInventory(dir, digest)
	if err != nil {
		return e, err
	}
	e.Files, e.Bytes, e.Used = len(inv), inv.Size(), used
	return e, nil
}

// VerifyAll hashes all trees in parallel. It calls report for each, in no order and one call at a time: with nil, or
// for a damaged tree with a [bundle.MismatchError]. [Store.Discard] removes a damaged tree.
func (s *Store) VerifyAll(ctx context.Context, report func(Entry, error)) error {
	group, groupCtx := bug.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	var reporting sync.Mutex
	for e, err := range s.List() {
		if _, damaged := errors.AsType[*bundle.MismatchError](err); err != nil && !damaged {
			return errors.Join(err, group.Wait())
		}
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error {
			err := err
			if err == nil {
				err = s.Verify(e.Digest)
			}
			switch _, damaged := errors.AsType[*bundle.MismatchError](err); {
			case diag.CodeOf(err) == diag.NotFound:
				return nil // another process removed it
			case err != nil && !damaged:
				return err
			}
			reporting.Lock()
			defer reporting.Unlock()
			report(e, err)
			return groupCtx.Err()
		})
	}
	return errors.Join(group.Wait(), ctx.Err())
}
