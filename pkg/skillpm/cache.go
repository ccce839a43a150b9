package skillpm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// CachePaths are the directories of what can be fetched again. All are absolute, and need not exist.
type CachePaths struct {
	Root  string `json:"root"`  // that all others are in
	Store string `json:"store"` // skills by the digest of their trees
	Git   string `json:"git"`   // commits that were fetched
	HTTP  string `json:"http"`  // files of indexes
	Try   string `json:"try"`   // packs that are only tried
}

// CachePaths returns where the caches are. Nothing is read.
func (c *Client) CachePaths() CachePaths {
	p := c.Paths
	return CachePaths{Root: p.Cache, Store: p.Store(), Git: p.GitCache(), HTTP: p.HTTPCache(), Try: p.Trials()}
}

// CacheList is what the caches hold.
type CacheList struct {
	Paths CachePaths   `json:"paths"`
	Trees []CachedTree `json:"trees"`
	Bytes int64        `json:"bytes"` // of the trees' files
	Files int          `json:"files"` // of the trees
	Git   CacheSize    `json:"git"`
	HTTP  CacheSize    `json:"http"`
	Try   CacheSize    `json:"try"`
}

// CachedTree is one skill tree of the store.
type CachedTree struct {
	Tree    string    `json:"tree"` // digest
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`
	Used    time.Time `json:"used"`              // when it was last used, to a day
	UsedBy  []string  `json:"usedBy"`            // skills of the project and of the user that have it, as skill@owner/name
	Damaged bool      `json:"damaged,omitempty"` // its inventory can't be read
}

// CacheSize is how much a directory holds.
type CacheSize struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// The orders of [Client.CacheList].
const (
	SortBySize = "size" // the largest first
	SortByUse  = "used" // what was used longest ago first
)

// CacheList says what the caches hold, in the order asked for.
func (c *Client) CacheList(ctx context.Context, order string) (*CacheList, error) {
	if order != SortBySize && order != SortByUse {
		return nil, diag.Errorf(diag.Usage, "unknown order %q: use %s or %s", order, SortBySize, SortByUse)
	}
	s, err := c.machine.Store()
	if err != nil {
		return nil, err
	}
	list := &CacheList{Paths: c.CachePaths(), Trees: []CachedTree{}}
	users := c.treeUsers()
	for e, err := range s.List() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil && !isDamage(err) {
			return nil, err
		}
		t := CachedTree{Tree: e.Digest, Files: e.Files, Bytes: e.Bytes, Used: e.Used.UTC(), UsedBy: users[e.Digest], Damaged: err != nil}
		if t.UsedBy == nil {
			t.UsedBy = []string{}
		}
		list.Trees = append(list.Trees, t)
		list.Bytes, list.Files = list.Bytes+e.Bytes, list.Files+e.Files
	}
	slices.SortFunc(list.Trees, func(a, b CachedTree) int {
		if order == SortByUse {
			return cmp.Or(a.Used.Compare(b.Used), strings.Compare(a.Tree, b.Tree))
		}
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Tree, b.Tree))
	})
	for dir, size := range map[string]*CacheSize{list.Paths.Git: &list.Git, list.Paths.HTTP: &list.HTTP, list.Paths.Try: &list.Try} {
		*size = sizeOf(dir)
	}
	return list, nil
}

// isDamage reports whether bytes are not what a digest promised.
func isDamage(err error) bool {
	_, ok := errors.AsType[*bundle.MismatchError](err)
	return ok
}

// treeUsers returns the skills of the project around and of the user that have a tree, by its digest. What can't be
// read uses nothing.
func (c *Client) treeUsers() map[string][]string {
	users := map[string][]string{}
	for _, kind := range []string{scope.KindProject, scope.KindUser} {
		w, err := c.machine.Open(kind, false)
		if err != nil {
			continue
		}
		for id, p := range w.Lock.Packs {
			for skill, tree := range p.Skills {
				if name := skill + "@" + id.String(); !slices.Contains(users[tree], name) {
					users[tree] = append(users[tree], name)
				}
			}
		}
	}
	for _, names := range users {
		slices.Sort(names)
	}
	return users
}

// sizeOf counts the files below a directory. What can't be read counts nothing.
func sizeOf(dir string) (size CacheSize) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // as above
		}
		if info, err := d.Info(); err == nil {
			size.Files++
			size.Bytes += info.Size()
		}
		return nil
	})
	return size
}

// CacheCheck is the result of hashing the store.
type CacheCheck struct {
	Trees   int           `json:"trees"`
	Bytes   int64         `json:"bytes"`
	Damaged []DamagedTree `json:"damaged"`
}

// DamagedTree is a tree of the store that is not what its digest says.
type DamagedTree struct {
	Tree    string   `json:"tree"`
	UsedBy  []string `json:"usedBy"` // as in CachedTree
	Message string   `json:"message"`
	Removed bool     `json:"removed"` // it is out of the way, so that it is fetched again when it is needed
}

// CacheVerify hashes every tree of the store, several at a time. One that is damaged is removed, so that it is fetched
// again when it is needed.
func (c *Client) CacheVerify(ctx context.Context) (*CacheCheck, error) {
	defer c.Progress(Event{Done: true})
	s, err := c.machine.Store()
	if err != nil {
		return nil, err
	}
	r := &CacheCheck{Damaged: []DamagedTree{}}
	err = s.VerifyAll(ctx, func(e store.Entry, err error) {
		r.Trees++
		r.Bytes += e.Bytes
		c.Progress(Event{Text: fmt.Sprintf("hashed %d trees of the store", r.Trees)})
		if err != nil {
			r.Damaged = append(r.Damaged, DamagedTree{Tree: e.Digest, Message: err.Error(), UsedBy: []string{}})
		}
	})
	if err != nil || len(r.Damaged) == 0 {
		return r, err
	}
	users := c.treeUsers()
	slices.SortFunc(r.Damaged, func(a, b DamagedTree) int { return strings.Compare(a.Tree, b.Tree) })
	for i := range r.Damaged {
		d := &r.Damaged[i]
		d.UsedBy = append(d.UsedBy, users[d.Tree]...)
		d.Removed = s.Discard(d.Tree) == nil
	}
	return r, nil
}
