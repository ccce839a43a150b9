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
)

const (
	headsPrefix = "refs/heads/"
	tagsPrefix  = "refs/tags/"
)

var commitText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}$`) })

func isCommit(s string) bool { return commitText().MatchString(s) }

// refs are the branches and tags of a repository: full names and the ids they stand for. A tag object is already
// followed to what it is on.
type refs struct {
	head    string // the commit of the default branch, "" if there is none
	all     map[string]string
	objects map[string]plumbing.Hash // the tag objects of annotated tags
}

// advertised reads the references that a server has sent. References that git would not allow are left out.
func advertised(adv *packp.AdvRefs) *refs {
	r := &refs{all: make(map[string]string, len(adv.References))}
	if adv.Head != nil && !adv.Head.IsZero() {
		r.head = adv.Head.String()
	}
	for name, id := range adv.References {
		if peeled, ok := adv.Peeled[name]; ok {
			r.annotate(name, id)
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

// annotate notes the object of an annotated tag.
func (r *refs) annotate(name string, id plumbing.Hash) {
	if r.objects == nil {
		r.objects = make(map[string]plumbing.Hash)
	}
	r.objects[name] = id
}

// has reports whether a branch, tag or HEAD is on the commit.
func (r *refs) has(commit string) bool {
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

// tips returns all commits that branches and tags are on.
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

// find returns the commit of a place's revision, and whether that is a branch. Of a tag and a branch of one name the
// tag counts, as in git.
func (r *refs) find(ref pack.Ref) (commit string, branch bool, err error) {
	if ref.Rev == "HEAD" && r.head != "" {
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
	return "", false, diag.Errorf(diag.NotFound, "%s has no tag or branch %q", ref.URL, ref.Rev).
		WithHint("%s", r.hint(ref.Rev))
}

// hint names what might have been meant by a revision that does not exist.
func (r *refs) hint(rev string) string {
	var tags, branches []string
	for name := range maps.Keys(r.all) {
		if tag, ok := strings.CutPrefix(name, tagsPrefix); ok {
			tags = append(tags, tag)
		} else {
			branches = append(branches, strings.TrimPrefix(name, headsPrefix))
		}
	}
	slices.SortFunc(tags, func(a, b string) int { return cmp.Or(compareTags(b, a), strings.Compare(b, a)) })
	slices.Sort(branches)
	names := slices.Concat(tags, branches)
	if near := diag.Nearest(rev, names); near != "" {
		return "did you mean " + near + "?"
	}
	if len(rev) >= 7 && strings.Trim(rev, "0123456789abcdef") == "" {
		return "a commit is written with all of its 40 digits"
	}
	if len(tags) > 0 {
		return "its tags are " + textx.First(tags, 8)
	}
	return "it has no tags; its branches are " + textx.First(branches, 8)
}

// compareTags orders tags by the versions they stand for; tags that stand for none come first.
func compareTags(a, b string) int {
	va, ea := semver.StrictNewVersion(pack.DefaultVersion(a, ""))
	vb, eb := semver.StrictNewVersion(pack.DefaultVersion(b, ""))
	if ea != nil || eb != nil {
		return 0
	}
	return va.Compare(vb)
}

// release is a version and the tag that stands for it.
type release struct {
	version string
	tag     string
	commit  string
}

// releases returns the versions that tags stand for, highest first: those that carry one of the pack's names, or if
// there are none, those without a name.
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

// sortReleases sorts by version, highest first. Of two tags for one version the last by name counts: v1.2.0.
func sortReleases(list []release) []release {
	slices.SortStableFunc(list, func(a, b release) int {
		return cmp.Or(compareTags(b.version, a.version), strings.Compare(b.tag, a.tag))
	})
	return slices.CompactFunc(list, func(a, b release) bool { return a.version == b.version })
}

// namedTags reports whether some tags carry the name of a pack.
func (r *refs) namedTags() bool {
	for full := range r.all {
		tag, ok := strings.CutPrefix(full, tagsPrefix)
		if ok && strings.ContainsAny(tag, "@/") && pack.DefaultVersion(tag, "") != "0.0.0" {
			return true
		}
	}
	return false
}

// list names the versions of releases.
func list(releases []release) string {
	versions := make([]string, len(releases))
	for i, r := range releases {
		versions[i] = r.version
	}
	return textx.First(versions, 8)
}
