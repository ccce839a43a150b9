package git

import (
	"io/fs"
	"path"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// maxDescribed is how many files that describe a pack are fetched in one batch. Further ones are fetched one by one;
// the limits of a pack are lower.
const maxDescribed = 20_000

// fetchDescription fetches the files that [pack.Describe] reads, in any directory, if the server left them out. It
// visits each distinct tree once.
func (t treeFS) fetchDescription() error {
	if _, complete := t.commit.availableObjects(); complete {
		return nil
	}
	var missing []plumbing.Hash
	seen := map[plumbing.Hash]bool{t.root: true}
	for queue := []plumbing.Hash{t.root}; len(queue) > 0 && len(missing) < maxDescribed; queue = queue[1:] {
		nodes, err := t.commit.nodes(t.ctx, queue[0])
		if err != nil {
			return nil //nolint:nilerr // pack.Describe reports the error with its path
		}
		for _, n := range nodes {
			switch {
			case n.IsDir() && !seen[n.id] && !skill.SkipDir(n.name):
				seen[n.id] = true
				queue = append(queue, n.id)
			case n.Type().IsRegular() && describes(n.name):
				missing = append(missing, n.id)
			}
		}
	}
	return t.commit.fetchMissing(t.ctx, missing)
}

func describes(name string) bool {
	return name == skill.File || name == pack.ManifestName || name == pack.IgnoreName
}

// fetchAll fetches all files that the server left out.
func (t treeFS) fetchAll() error {
	if _, complete := t.commit.availableObjects(); complete {
		return nil
	}
	var missing []plumbing.Hash
	seen := map[plumbing.Hash]bool{t.root: true}
	for queue := []plumbing.Hash{t.root}; len(queue) > 0; queue = queue[1:] {
		nodes, err := t.commit.nodes(t.ctx, queue[0])
		if err != nil {
			return err
		}
		for _, n := range nodes {
			switch {
			case n.IsDir() && !seen[n.id]:
				seen[n.id] = true
				queue = append(queue, n.id)
			case n.Type().IsRegular():
				missing = append(missing, n.id)
			}
		}
	}
	return t.commit.fetchMissing(t.ctx, missing)
}

// fetchSkills fetches the files of skills that the server left out.
func (t treeFS) fetchSkills(content *pack.Content, names []string) error {
	if _, complete := t.commit.availableObjects(); complete {
		return nil
	}
	skills, err := content.Select(names)
	if err != nil {
		return err
	}
	listing := t
	listing.listing = true
	var missing []plumbing.Hash
	for _, s := range skills {
		var skip func(string, bool) bool
		if content.Ignore != nil {
			skip = func(p string, dir bool) bool { return content.Ignore.Match(path.Join(s.Dir, p), dir) }
		}
		_ = bundle.Walk(listing, s.Dir, skip, func(f bundle.File) error { // Content.Stream reports its errors
			if info, ok := f.Info.(fileInfo); ok {
				missing = append(missing, info.id)
			}
			return nil
		})
	}
	return t.commit.fetchMissing(t.ctx, missing)
}

var _ fs.FS = treeFS{}
