package site

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/packsearch"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

const (
	perPage   = 250 // packs on one page of a list
	inline    = 12  // skills whose text is on their pack's page; if a pack has more, each has its own page
	maxRows   = 500 // rows of a table or list on one page
	homeTags  = 24  // tags on the first page
	maxTags   = 20  // of a pack
	maxTagLen = 64
)

// Site is a website in progress. It is safe for concurrent use.
type Site struct {
	options    Options
	packs      []Pack // sorted by name
	index      map[pack.ID]int
	dependents map[pack.ID][]pack.ID
	tags       []group
	owners     []group
	versions   map[string]string // of the fixed files
	documents  []packsearch.Pack // the packs as they are searched
	originals  []int             // for packs that copy another one: the original; otherwise -1
	copies     map[int][]int     // for originals
}

// group is a set of packs with a common property.
type group struct {
	Name  string
	Packs []int
}

// New returns the website of packs. Packs with the same id, or without versions, are an error.
func New(o Options, packs []Pack) (*Site, error) {
	o.Title, o.Registry = cmp.Or(oneLine(o.Title), "Agent skills"), oneLine(o.Registry)
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	s := &Site{
		options: o, packs: slices.Clone(packs), index: make(map[pack.ID]int, len(packs)),
		dependents: map[pack.ID][]pack.ID{},
	}
	slices.SortFunc(s.packs, func(a, b Pack) int { return a.ID.Compare(b.ID) })
	for i := range s.packs {
		p := &s.packs[i]
		if _, twice := s.index[p.ID]; twice {
			return nil, diag.Errorf(diag.Invalid, "%s is duplicated in the index", p.ID)
		}
		if len(p.Versions) == 0 {
			return nil, diag.Errorf(diag.Invalid, "%s does not have a version", p.ID)
		}
		s.index[p.ID] = i
		s.documents = append(s.documents, p.searchDocument())
		p.clean()
	}
	s.findCopies()
	s.gather()
	var err error
	s.versions, err = digests()
	return s, err
}

// findCopies finds the packs that have the skills of another one. Packs without an available version do not count.
func (s *Site) findCopies() {
	s.copies = map[int][]int{}
	origins := make([]index.Origin, len(s.packs))
	for i := range s.packs {
		if s.packs[i].displayed().Yanked == "" {
			origins[i] = s.packs[i].Origin
		}
	}
	s.originals = index.Originals(origins)
	for i, of := range s.originals {
		if of >= 0 {
			s.copies[of] = append(s.copies[of], i)
		}
	}
}

// folded returns packs without copies of others that are among them.
func (s *Site) folded(packs []int) []int {
	among := map[int]bool{}
	for _, i := range packs {
		among[i] = true
	}
	return slices.DeleteFunc(slices.Clone(packs), func(i int) bool {
		return s.originals[i] >= 0 && among[s.originals[i]]
	})
}

// clean converts each text of a pack to one line, without control characters.
func (p *Pack) clean() {
	p.Tags, p.Versions, p.Skills = cleanTags(p.Tags), slices.Clone(p.Versions), slices.Clone(p.Skills)
	texts := []*string{&p.Description, &p.License, &p.Deprecated}
	for i := range p.Versions {
		v := &p.Versions[i]
		texts = append(texts, &v.Version, &v.Published, &v.Yanked, &v.Source, &v.Digest, &v.Integrity)
	}
	for i := range p.Skills {
		texts = append(texts, &p.Skills[i].Description, &p.Skills[i].Tree) // the name determines file paths
	}
	for _, t := range texts {
		*t = oneLine(*t)
	}
}

// gather collects the dependents of each pack, and the packs of each tag and owner.
func (s *Site) gather() {
	tags, owners := map[string][]int{}, map[string][]int{}
	for i := range s.packs {
		p := &s.packs[i]
		for _, d := range p.Dependencies {
			s.dependents[d.ID] = append(s.dependents[d.ID], p.ID)
		}
		for _, t := range p.Tags {
			tags[t] = append(tags[t], i)
		}
		owners[p.ID.Owner] = append(owners[p.ID.Owner], i)
	}
	s.tags, s.owners = groups(tags), groups(owners)
}

func groups(m map[string][]int) []group {
	list := make([]group, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, group{name, m[name]})
	}
	return list
}

// cleanTags returns sorted tags without duplicates and invalid ones.
func cleanTags(tags []string) []string {
	var clean []string
	for _, t := range tags {
		if t = strings.ToLower(oneLine(t)); t != "" && len(t) <= maxTagLen {
			clean = append(clean, t)
		}
	}
	slices.Sort(clean)
	clean = slices.Compact(clean)
	return clean[:min(len(clean), maxTags)]
}

// displayed returns the displayed version of a pack.
func (p *Pack) displayed() *Version { return &p.Versions[Displayed(p.Versions)] }

func prerelease(version string) bool {
	v, err := semver.StrictNewVersion(version)
	return err != nil || v.Prerelease() != ""
}

// match returns the highest version of a pack in a range, or nil.
func (p *Pack) match(constraint string) *Version {
	if constraint == "" || constraint == "latest" {
		return p.displayed()
	}
	c, err := semver.NewConstraint(constraint)
	if err != nil {
		return nil
	}
	for i := range p.Versions {
		v, err := semver.StrictNewVersion(p.Versions[i].Version)
		if err == nil && p.Versions[i].Yanked == "" && c.Check(v) {
			return &p.Versions[i]
		}
	}
	return nil
}
