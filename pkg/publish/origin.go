package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// origin describes the git repository that a pack is in.
type origin struct {
	checkout   *git.Checkout
	dir        string   // the pack's path in the repository, "." for its root
	dirty      []string // files that differ from the commit, as paths in the pack
	tagWarning string   // a warning if a tag of the version is on another commit
}

// checkouts caches repositories, because the packs of a workspace share one.
type checkouts struct{ opened []*git.Checkout }

// open returns the work tree of a directory, or nil if the directory is not in one. It fails if the work tree cannot be
// read, for example because another user owns it.
func (k *checkouts) open(ctx context.Context, dir string) (*git.Checkout, error) {
	top := topOf(dir)
	if top == "" {
		return nil, nil //nolint:nilnil // a directory may be outside any repository
	}
	for _, c := range k.opened {
		if c.Root == top {
			return c, nil
		}
	}
	c, err := git.ReadCheckout(ctx, dir)
	if err == nil {
		k.opened = append(k.opened, c)
	}
	return c, err
}

// topOf returns the nearest directory from dir upward that has a .git, "" if there is none.
func topOf(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// originOf returns the origin of a pack's directory, nil if it is not in a repository.
func (c *Client) originOf(ctx context.Context, m *pack.Manifest, dir string, trees []bundle.Tree,
	k *checkouts,
) (*origin, error) {
	real, err := pathx.ResolveExisting(dir)
	if err != nil {
		return nil, err
	}
	if k == nil {
		k = &checkouts{}
	}
	checkout, err := k.open(ctx, real)
	if err != nil || checkout == nil {
		return nil, err
	}
	rel, ok := pathx.Rel(checkout.Root, real)
	if !ok {
		return nil, diag.Errorf(diag.Internal, "%s is not inside %s", real, checkout.Root)
	}
	content, err := pack.Describe(os.DirFS(real), pack.Ref{Kind: pack.KindPath, URL: filepath.ToSlash(dir)})
	if err != nil {
		return nil, err
	}
	o := &origin{checkout: checkout, dir: filepath.ToSlash(rel)}
	o.compare(real, content, trees)
	o.compareTags(ctx, m)
	return o, nil
}

// compare finds the files of the pack that differ from the commit, and those that only the commit has.
func (o *origin) compare(dir string, content *pack.Content, trees []bundle.Tree) {
	check := func(name string) {
		if !o.checkout.Committed(path.Join(o.dir, name)) {
			o.dirty = append(o.dirty, name)
		}
	}
	check(pack.ManifestName)
	if content.Ignore != nil {
		check(pack.IgnoreName)
	}
	for _, s := range content.Skills {
		i := slices.IndexFunc(trees, func(t bundle.Tree) bool { return t.Name == s.Name })
		if i < 0 {
			continue
		}
		for _, e := range trees[i].Inventory {
			check(path.Join(s.Dir, e.Path))
		}
	}
	for _, changed := range o.checkout.Changed() {
		name, ours := pathx.RelSlash(o.dir, changed)
		inSkill := slices.ContainsFunc(content.Skills,
			func(s pack.SkillDir) bool { _, ok := pathx.RelSlash(s.Dir, name); return ok })
		if !ours || !inSkill {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			o.dirty = append(o.dirty, name)
		}
	}
	slices.Sort(o.dirty)
	o.dirty = slices.Compact(o.dirty)
}

// compareTags sets a warning if a tag of the version is on another commit.
func (o *origin) compareTags(ctx context.Context, m *pack.Manifest) {
	if o.checkout.Commit == "" {
		return
	}
	tags := []string{
		"v" + m.Version, m.Version, m.Name.Name + "/v" + m.Version,
		m.Name.Name + "@" + m.Version,
	}
	commits, err := o.checkout.TagCommits(ctx, tags...)
	if err != nil {
		return // a missing warning must not fail the command
	}
	for _, tag := range tags {
		if commit := commits[tag]; commit != "" && commit != o.checkout.Commit {
			o.tagWarning = fmt.Sprintf("the tag %s points to commit %.12s, but skillpm publishes commit %.12s",
				tag, commit, o.checkout.Commit)
			return
		}
	}
}

// provenance returns the repository and commit of the release; the zero value if it is in no repository, or differs
// from the commit.
func (o *origin) provenance() oci.Provenance {
	if o == nil || len(o.dirty) > 0 {
		return oci.Provenance{}
	}
	return oci.Provenance{Source: o.checkout.Origin, Revision: o.checkout.Commit}
}

// maxNamed is how many files a warning names.
const maxNamed = 3

func (o *origin) warnings() []string {
	var list []string
	if len(o.dirty) > 0 {
		list = append(list, "these files differ from the commit: "+textx.FirstAndMore(o.dirty, maxNamed)+
			"; the release will not record its source (commit the changes first, or use --allow-dirty)")
	}
	if o.tagWarning != "" {
		list = append(list, o.tagWarning)
	}
	return list
}
