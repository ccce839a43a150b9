package site

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

const (
	perPage   = 250 // packs on a page of a list
	inline    = 12  // skills whose text is on the page of their pack; of more each has a page of its own
	maxRows   = 500 // rows of any table or list on one page
	homeTags  = 24  // tags on the first page
	maxTags   = 20  // of a pack
	maxTagLen = 64
)

// Site is a catalogue that is being made. Its methods may be used by several goroutines.
type Site struct {
	options    Options
	packs      []Pack // in order of their names
	index      map[pack.ID]int
	dependents map[pack.ID][]pack.ID
	tags       []group
	owners     []group
	versions   map[string]string // of the fixed files
}

// group is packs that have something in common.
type group struct {
	Name  string
	Packs []int
}

// New returns the catalogue of packs. Two packs with one id are an error, as is a pack without versions.
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
			return nil, diag.Errorf(diag.Invalid, "%s is in the catalogue twice", p.ID)
		}
		if len(p.Versions) == 0 {
			return nil, diag.Errorf(diag.Invalid, "%s has no version", p.ID)
		}
		s.index[p.ID] = i
		p.clean()
	}
	s.gather()
	var err error
	s.versions, err = digests()
	return s, err
}

// clean makes one line of every text of a pack, without characters that steer what shows it.
func (p *Pack) clean() {
	p.Tags, p.Versions, p.Skills = cleanTags(p.Tags), slices.Clone(p.Versions), slices.Clone(p.Skills)
	texts := []*string{&p.Description, &p.License, &p.Deprecated}
	for i := range p.Versions {
		v := &p.Versions[i]
		texts = append(texts, &v.Version, &v.Published, &v.Yanked, &v.Source, &v.Digest, &v.Integrity)
	}
	for i := range p.Skills {
		texts = append(texts, &p.Skills[i].Description, &p.Skills[i].Tree) // the name is what the files are found by
	}
	for _, t := range texts {
		*t = oneLine(*t)
	}
}

// gather finds out who depends on whom, and which packs have which tag and owner.
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

// cleanTags returns tags in order, each once, without those that are no words.
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

// displayed returns the version of a pack that pages show.
func (p *Pack) displayed() *Version { return &p.Versions[Displayed(p.Versions)] }

func prerelease(version string) bool {
	v, err := semver.StrictNewVersion(version)
	return err != nil || v.Prerelease() != ""
}

// match returns the highest version of a pack that a range allows, nil where there is none.
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
