package git

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

const (
	headsPrefix = "refs/heads/"
	tagsPrefix  = "refs/tags/"
	maxListed   = 200_000 // branches and tags of a server
)

var commitText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}$`) })

func isCommit(s string) bool { return commitText().MatchString(s) }

// refs are the branches and tags of a repository: full names and commits. Annotated tags are already peeled.
type refs struct {
	head    string // the commit of the default branch, "" if there is none
	all     map[string]string
	objects map[string]plumbing.Hash // the tag objects of annotated tags
}

// newRefs converts the references that a server sent. It drops names that git would not allow.
func newRefs(adv *packp.AdvRefs) *refs {
	r := &refs{all: make(map[string]string, len(adv.References))}
	if adv.Head != nil && !adv.Head.IsZero() {
		r.head = adv.Head.String()
	}
	for name, id := range adv.References {
		if peeled, ok := adv.Peeled[name]; ok {
			r.addTagObject(name, id)
			id = peeled
		}
		r.add(name, id)
	}
	return r
}

func (r *refs) add(name string, id plumbing.Hash) {
	if (strings.HasPrefix(name, headsPrefix) || strings.HasPrefix(name, tagsPrefix)) && pack.CheckRev(name) == nil {
		r.all[name] = id.String()
	}
}

// addTagObject stores the tag object of an annotated tag.
func (r *refs) addTagObject(name string, id plumbing.Hash) {
	if r.objects == nil {
		r.objects = make(map[string]plumbing.Hash)
	}
	r.objects[name] = id
}

// check returns an error if there are too many branches and tags.
func (r *refs) check() error {
	if len(r.all) > maxListed {
		return packfile.TooLarge("it has more than %d branches and tags", maxListed)
	}
	return nil
}

// contains reports whether a branch, a tag, or HEAD points to the commit.
func (r *refs) contains(commit string) bool {
	if r.head == commit {
		return true
	}
	for _, id := range r.all {
		if id == commit {
			return true
		}
	}
	return false
}

// tips returns the distinct commits of all branches and tags, sorted.
func (r *refs) tips() []plumbing.Hash {
	seen := make(map[string]bool)
	var tips []plumbing.Hash
	for _, id := range r.all {
		if !seen[id] {
			seen[id] = true
			tips = append(tips, plumbing.NewHash(id))
		}
	}
	plumbing.HashesSort(tips)
	return tips
}

// find returns the commit of a reference's revision, and whether that is a branch. A tag takes precedence over a branch
// with the same name, as in git.
func (r *refs) find(ref pack.Ref) (commit string, branch bool, err error) {
	if ref.Rev == pack.DefaultBranch && r.head != "" {
		return r.head, true, nil
	}
	candidates := []string{tagsPrefix + ref.Rev, headsPrefix + ref.Rev}
	if strings.HasPrefix(ref.Rev, "refs/") {
		candidates = []string{ref.Rev}
	}
	for _, name := range candidates {
		if id, ok := r.all[name]; ok {
			return id, strings.HasPrefix(name, headsPrefix), nil
		}
	}
	return "", false, diag.Errorf(diag.NotFound, "%s does not have a tag or branch %q", ref.URL, ref.Rev).
		WithHint("%s", r.hint(ref.Rev))
}

// hint suggests an existing revision, for the error about one that does not exist.
func (r *refs) hint(rev string) string {
	var tags, branches []string
	for name := range maps.Keys(r.all) {
		if tag, ok := strings.CutPrefix(name, tagsPrefix); ok {
			tags = append(tags, tag)
		} else {
			branches = append(branches, strings.TrimPrefix(name, headsPrefix))
		}
	}
	sortByVersion(tags, func(tag string) string { return tag })
	slices.Sort(branches)
	names := slices.Concat(tags, branches)
	if suggestion := diag.Nearest(rev, names); suggestion != "" {
		return "did you mean " + suggestion + "?"
	}
	if len(rev) >= 7 && strings.Trim(rev, "0123456789abcdef") == "" {
		return "use all 40 digits of the commit"
	}
	if len(tags) > 0 {
		return "available tags: " + textx.First(tags, 8)
	}
	return "available branches: " + textx.First(branches, 8)
}

// sortByVersion sorts by the version of a tag, highest first, and then by the tag. Tags without a version are last.
func sortByVersion[T any](list []T, tagOf func(T) string) {
	versions := make(map[string]*semver.Version, len(list)) // parsed once, because a repository may have many tags
	for _, t := range list {
		tag := tagOf(t)
		versions[tag], _ = semver.StrictNewVersion(pack.DefaultVersion(tag, "")) // nil for none
	}
	slices.SortStableFunc(list, func(a, b T) int {
		va, vb := versions[tagOf(a)], versions[tagOf(b)]
		switch {
		case va != nil && vb != nil:
			return cmp.Or(vb.Compare(va), strings.Compare(tagOf(b), tagOf(a)))
		case va == nil && vb == nil:
			return strings.Compare(tagOf(b), tagOf(a))
		case va == nil:
			return 1
		}
		return -1
	})
}

// release is a version and its tag.
type release struct {
	version string
	tag     string
	commit  string
}

// releases returns the versions of tags, highest first: of tags that carry one of the pack's names, or if there are
// none, of tags without a name.
func (r *refs) releases(names []string) []release {
	var named, unnamed []release
	for _, full := range slices.Sorted(maps.Keys(r.all)) {
		tag, ok := strings.CutPrefix(full, tagsPrefix)
		if !ok {
			continue
		}
		if v, ok := pack.VersionFromTag(tag, ""); ok {
			unnamed = append(unnamed, release{v, tag, r.all[full]})
		}
		for _, name := range names {
			if v, ok := pack.TaggedVersion(tag, name); ok {
				named = append(named, release{v, tag, r.all[full]})
				break
			}
		}
	}
	if len(named) > 0 {
		return sortReleases(named)
	}
	return sortReleases(unnamed)
}

// sortReleases sorts by version, highest first, and drops duplicates. Of two tags for one version, such as 1.2.0 and
// v1.2.0, it keeps the last by name.
func sortReleases(list []release) []release {
	slices.SortFunc(list, func(a, b release) int { return strings.Compare(b.tag, a.tag) })
	sortByVersion(list, func(r release) string { return r.version })
	return slices.CompactFunc(list, func(a, b release) bool { return a.version == b.version })
}

// namedTags reports whether any version tag carries the name of a pack.
func (r *refs) namedTags() bool {
	for full := range r.all {
		tag, ok := strings.CutPrefix(full, tagsPrefix)
		if ok && strings.ContainsAny(tag, "@/") && pack.DefaultVersion(tag, "") != "0.0.0" {
			return true
		}
	}
	return false
}

// versionList returns the first versions of releases as text.
func versionList(releases []release) string {
	versions := make([]string, len(releases))
	for i, r := range releases {
		versions[i] = r.version
	}
	return textx.First(versions, 8)
}
