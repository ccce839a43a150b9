package skillpm

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/packsearch"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// SearchOptions are the options of [Client.Search].
type SearchOptions struct {
	Words    []string
	Limit    int    // packs at most
	Registry string // search only this registry, and the installed packs
	Offline  bool   // use no network
}

// SearchReport is the result of a search.
type SearchReport struct {
	Query      string             `json:"query"`
	Total      int                `json:"total"` // found packs, also those beyond the limit
	Packs      []SearchResult     `json:"packs"` // the best first
	Registries []SearchedRegistry `json:"registries"`
	Typos      []SearchTypo       `json:"typos"`   // words that no pack has, and that were read as others
	Missing    []string           `json:"missing"` // words without a match
	Near       []string           `json:"near"`    // similar words for those without a match
}

// SearchResult is a pack that a search found.
type SearchResult struct {
	Pack string `json:"pack"`
	// the newest version, or the installed one if no registry lists the pack
	Version     string            `json:"version"`
	Description string            `json:"description,omitempty"`
	License     string            `json:"license,omitempty"`
	Published   string            `json:"published,omitempty"`
	Deprecated  string            `json:"deprecated,omitempty"`
	Tags        []string          `json:"tags"`
	Skills      []SkillInfo       `json:"skills"`              // those that match the query
	Count       int               `json:"skillCount"`          // all skills of the pack
	Registries  []string          `json:"registries"`          // that have it
	Demo        bool              `json:"demo,omitempty"`      // it comes with skillpm, to try commands without a registry
	Installed   *InstalledVersion `json:"installed,omitempty"` // in the project, otherwise for the user
	Why         []MatchedWord     `json:"why"`
	PackDenial

	names []string // of all its skills
}

// InstalledVersion is the installed version of a pack.
type InstalledVersion struct {
	Version string `json:"version"`
	Scope   string `json:"scope"`

	isDemo bool
}

// MatchedWord says where a pack has a word of the query: in the field with the highest weight.
type MatchedWord struct {
	Word  string `json:"word"`
	Match string `json:"match"` // word, beginning, typo or joined
	Field string `json:"field"` // name, owner, tag, skill, description or skill description
	Found string `json:"found"` // as the pack has it
	Skill string `json:"skill,omitempty"`
}

// SearchedRegistry is a registry that was searched, or could not be.
type SearchedRegistry struct {
	Name     string `json:"name"`
	Packs    int    `json:"packs"`
	Unlisted bool   `json:"unlisted,omitempty"` // not searched, because it can't list its packs
	Stale    bool   `json:"stale,omitempty"`    // the last known list was searched, because of the error
	Error    string `json:"error,omitempty"`    // why it was not searched
	Code     int    `json:"code,omitempty"`     // of the error, as an exit code: 4 for one that can't be searched
	Hint     string `json:"hint,omitempty"`
}

// SearchTypo is a word of the query that was read as others.
type SearchTypo struct {
	Word string   `json:"word"`
	As   []string `json:"as"`
}

// Search searches every registry that can list its packs, and the installed packs. The report has the registries that
// can't be searched; it is an error if none can.
func (c *Client) Search(ctx context.Context, o SearchOptions) (*SearchReport, error) {
	defer c.Progress(Event{Done: true})
	s, err := c.searcher(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	query := strings.Join(o.Words, " ")
	// Several registries may have the same pack, and addHits drops duplicates.
	a, err := s.find(ctx, query, o.Limit*(len(s.registries)+1)+extraHits)
	if err != nil {
		return nil, err
	}
	r := &SearchReport{
		Query: query, Total: a.Total, Packs: []SearchResult{}, Registries: []SearchedRegistry{},
		Typos: []SearchTypo{}, Missing: append([]string{}, a.Missing...), Near: []string{},
	}
	for _, t := range a.Typos {
		r.Typos = append(r.Typos, SearchTypo{t.Word, t.Replacements})
	}
	for _, p := range s.registries {
		r.Registries = append(r.Registries, p.report())
	}
	s.addHits(r, a.Hits, o.Limit)
	for i := range r.Packs {
		if err := s.preferInstallSource(&r.Packs[i]); err != nil {
			return nil, err
		}
		s.markResult(ctx, &r.Packs[i])
		r.Packs[i].Demo = s.isDemo(&r.Packs[i])
	}
	for _, word := range a.Missing {
		if near := packsearch.Near(s.indexes(), word); near != "" {
			r.Near = append(r.Near, near)
		}
	}
	return r, s.failure()
}

// extraHits is how many hits the search gets beyond the limit, because some are dropped as duplicates.
const extraHits = 20

// addHits adds the hits to a report, each pack once, and corrects the total.
func (s *searcher) addHits(r *SearchReport, hits []packsearch.Hit, limit int) {
	positions := map[string]int{}
	for _, h := range hits {
		index := s.searchable[h.Index]
		owner, _, _ := strings.Cut(h.Name, "/")
		if bound := s.Registries.BoundTo(owner); bound != "" && index.url != "" && bound != index.url {
			r.Total--
			continue
		}
		if i, ok := positions[h.Name]; ok {
			r.Total--
			if index.url != "" {
				r.Packs[i].Registries = append(r.Packs[i].Registries, index.name)
			}
			continue
		}
		positions[h.Name] = len(r.Packs)
		r.Packs = append(r.Packs, s.newResult(h, index))
	}
	r.Packs = r.Packs[:min(limit, len(r.Packs))]
}

// preferInstallSource changes a result to what an installation would get, if that is from another registry than the one
// that matched best.
func (s *searcher) preferInstallSource(p *SearchResult) error {
	owner, _, _ := strings.Cut(p.Pack, "/")
	bound := s.Registries.BoundTo(owner)
	preferred, rank := (*searchedIndex)(nil), s.rank(p)
	var doc packsearch.Pack
	for _, index := range s.searchable {
		if index.rank() >= rank || bound != "" && index.url != bound {
			continue
		}
		d, ok, err := index.index.Pack(p.Pack)
		if err != nil {
			return err
		}
		if ok {
			preferred, doc, rank = index, d, index.rank()
		}
	}
	if preferred == nil {
		return nil
	}
	p.Version, p.Description, p.License, p.Published, p.Deprecated = doc.Version, doc.Description, doc.License,
		doc.Published, doc.Deprecated
	p.Tags, p.Count, p.names = append([]string{}, doc.Tags...), len(doc.Skills), skillNamesIn(doc)
	p.Skills = slices.DeleteFunc(p.Skills, func(one SkillInfo) bool {
		return !slices.ContainsFunc(doc.Skills, func(sk packsearch.Skill) bool { return sk.Name == one.Name })
	})
	p.Registries = slices.DeleteFunc(p.Registries, func(name string) bool { return name == preferred.name })
	p.Registries = slices.Insert(p.Registries, 0, preferred.name)
	return nil
}

// rank returns the rank of the registry that has a result.
func (s *searcher) rank(p *SearchResult) int {
	i := slices.IndexFunc(s.searchable, func(index *searchedIndex) bool {
		return len(p.Registries) > 0 &&
			index.name == p.Registries[0]
	})
	if i < 0 {
		return (&searchedIndex{}).rank()
	}
	return s.searchable[i].rank()
}

// isDemo reports whether a result is a demo pack: in its registry, or as it is installed if no registry has it.
func (s *searcher) isDemo(p *SearchResult) bool {
	if len(p.Registries) == 0 {
		return p.Installed != nil && p.Installed.isDemo
	}
	id, err := pack.ParseID(p.Pack)
	return err == nil && isDemo(id, s.urlOf(p.Registries[0]))
}

// urlOf returns the address of a searched registry, "" if there is none with the name.
func (s *searcher) urlOf(name string) string {
	i := slices.IndexFunc(s.registries, func(p *searchedIndex) bool { return p.name == name })
	if i < 0 {
		return ""
	}
	return s.registries[i].url
}

// rank is the order in which an installation asks registries, the highest first: configured ones, then what was
// published on this machine, then the embedded index.
func (p *searchedIndex) rank() int {
	return slices.Index([]string{registry.Local, registry.Embedded, ""}, p.url)
}

func (s *searcher) newResult(h packsearch.Hit, index *searchedIndex) SearchResult {
	p := SearchResult{
		Pack: h.Name, Version: h.Version, Description: h.Description, License: h.License, Published: h.Published,
		Deprecated: h.Deprecated,
		Tags:       append([]string{}, h.Tags...), Skills: []SkillInfo{}, Count: len(h.Pack.Skills),
		Registries: []string{},
		Why:        []MatchedWord{},
		Installed:  s.installed[h.Name], names: skillNamesIn(h.Pack),
	}
	if index.url != "" {
		p.Registries = append(p.Registries, index.name)
	}
	for _, name := range h.Skills {
		i := slices.IndexFunc(h.Pack.Skills, func(sk packsearch.Skill) bool { return sk.Name == name })
		p.Skills = append(p.Skills, SkillInfo{Name: name, Description: h.Pack.Skills[i].Description})
	}
	for _, w := range h.Why {
		p.Why = append(p.Why, MatchedWord{w.Word, string(w.Match), w.Field, w.Found, w.Skill})
	}
	return p
}

func skillNamesIn(d packsearch.Pack) []string {
	names := make([]string, len(d.Skills))
	for i, s := range d.Skills {
		names[i] = s.Name
	}
	return names
}

// installedPacks returns what both scopes have installed, by name and as packs to search in. It skips a scope that
// can't be read.
func (c *Client) installedPacks() (map[string]*InstalledVersion, []packsearch.Pack) {
	versions, docs := map[string]*InstalledVersion{}, map[string]packsearch.Pack{}
	for _, kind := range []string{scope.KindProject, scope.KindUser} {
		w, err := c.Machine.Open(kind, false)
		if err != nil {
			continue
		}
		for id, p := range w.Lock.Packs {
			if name := id.String(); versions[name] == nil {
				versions[name] = &InstalledVersion{Version: p.Version, Scope: kind, isDemo: isDemo(id, p.Source)}
				docs[name] = installedDoc(w, id, p)
			}
		}
	}
	list := make([]packsearch.Pack, 0, len(docs))
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		list = append(list, docs[name])
	}
	return versions, list
}

func installedDoc(w *workspace.Workspace, id pack.ID, p *pack.LockedPack) packsearch.Pack {
	d := packsearch.Pack{Name: id.String(), Version: p.Version}
	for _, s := range slices.Sorted(maps.Keys(p.Skills)) {
		d.Skills = append(d.Skills, packsearch.Skill{Name: s, Description: describe(w.Scope.PluginSkill(id, s))})
	}
	if len(d.Skills) == 1 {
		d.Description = d.Skills[0].Description
	}
	return d
}

// failure returns an error if no registry could be searched.
func (s *searcher) failure() error {
	var first error
	for _, p := range s.registries {
		if p.err == nil {
			return nil
		}
		if first == nil || diag.CodeOf(first) == diag.NotFound {
			first = p.err
		}
	}
	return first
}
