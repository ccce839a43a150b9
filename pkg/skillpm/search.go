package skillpm

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/packsearch"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// SearchOptions are the options of [Client.Search].
type SearchOptions struct {
	Words    []string // no words list all packs, the newest first
	Limit    int      // packs at most; 0 for all
	Registry string   // search only this registry, and the installed packs
	Offline  bool     // use no network
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
	Copies      []string          `json:"copies"`              // packs with the same skills, published later
	Demo        bool              `json:"demo,omitempty"`      // it comes with skillpm, for use without a registry
	Installed   *InstalledVersion `json:"installed,omitempty"` // in the project, otherwise for the user
	Why         []MatchedWord     `json:"why"`
	PackDenial

	names  []string // of all its skills
	origin index.Origin
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
	r := &SearchReport{
		Query: strings.TrimSpace(strings.Join(o.Words, " ")), Packs: []SearchResult{}, Registries: []SearchedRegistry{},
		Typos: []SearchTypo{}, Missing: []string{}, Near: []string{},
	}
	for _, p := range s.registries {
		r.Registries = append(r.Registries, p.report())
	}
	if r.Query == "" {
		err = s.listAll(ctx, r)
	} else {
		err = s.search(ctx, r, o)
	}
	if err != nil {
		return nil, err
	}
	if o.Limit > 0 {
		r.Packs = r.Packs[:min(o.Limit, len(r.Packs))]
	}
	for i := range r.Packs {
		s.markResult(ctx, &r.Packs[i])
		r.Packs[i].Demo = s.isDemo(&r.Packs[i])
	}
	return r, s.failure()
}

// search adds the packs that match the query.
func (s *searcher) search(ctx context.Context, r *SearchReport, o SearchOptions) error {
	query, n := strings.Join(o.Words, " "), 0
	for _, x := range s.indexes() {
		n += x.Len()
	}
	if o.Limit > 0 {
		// Several registries may have the same pack, and addHits drops duplicates.
		n = min(n, o.Limit*(len(s.registries)+1)+extraHits)
	}
	a, err := s.find(ctx, query, n)
	if err != nil {
		return err
	}
	r.Total, r.Missing = a.Total, append(r.Missing, a.Missing...)
	for _, t := range a.Typos {
		r.Typos = append(r.Typos, SearchTypo{t.Word, t.Replacements})
	}
	s.addHits(r, a.Hits)
	for i := range r.Packs {
		if err := s.preferInstallSource(&r.Packs[i]); err != nil {
			return err
		}
	}
	r.foldCopies()
	for _, word := range a.Missing {
		if near := packsearch.Near(s.indexes(), word); near != "" {
			r.Near = append(r.Near, near)
		}
	}
	return nil
}

// listAll adds all packs, the newest first, and then those without a time by name.
func (s *searcher) listAll(ctx context.Context, r *SearchReport) error {
	hits, err := s.all(ctx)
	if err != nil {
		return err
	}
	r.Total = len(hits)
	s.addHits(r, hits)
	r.foldCopies()
	published := func(p *SearchResult) time.Time {
		t, _ := time.Parse(time.RFC3339, p.Published) // zero if it is unknown
		return t
	}
	slices.SortFunc(r.Packs, func(a, b SearchResult) int {
		return cmp.Or(published(&b).Compare(published(&a)), strings.Compare(a.Pack, b.Pack))
	})
	return nil
}

// foldCopies moves copies of a pack to the original, if both were found. The original gets the better place. A copy
// that was searched by its name stays.
func (r *SearchReport) foldCopies() {
	origins := make([]index.Origin, len(r.Packs))
	for i := range r.Packs {
		origins[i] = r.Packs[i].origin
	}
	of := index.Originals(origins)
	if len(r.Packs) > 0 && strings.EqualFold(r.Packs[0].Pack, r.Query) {
		of[0] = -1
	}
	packs, position := []SearchResult{}, map[int]int{}
	for i, p := range r.Packs {
		original := i
		if of[i] >= 0 {
			original = of[i]
			r.Total--
		}
		at, ok := position[original]
		if !ok {
			at = len(packs)
			position[original] = at
			packs = append(packs, r.Packs[original])
		}
		if original != i {
			packs[at].Copies = append(packs[at].Copies, p.Pack)
		}
	}
	r.Packs = packs
}

// extraHits is how many hits the search gets beyond the limit, because some are dropped as duplicates.
const extraHits = 20

// addHits adds the hits to a report, each pack once, and corrects the total.
func (s *searcher) addHits(r *SearchReport, hits []packsearch.Hit) {
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
	p.origin = originIn(doc, preferred.name)
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
	return err == nil && registry.IsDemo(id, s.urlOf(p.Registries[0]))
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
		Registries: []string{}, Copies: []string{},
		Why:       []MatchedWord{},
		Installed: s.installed[h.Name], names: skillNamesIn(h.Pack),
		origin: originIn(h.Pack, index.name),
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

// originIn returns the origin of a pack. The times of one registry do not count in another one: a registry could claim
// to be the first with the packs of another registry.
func originIn(d packsearch.Pack, registry string) index.Origin {
	o := index.Origin{Content: d.Content, ContentSince: d.Since, Since: d.First, Deprecated: d.Deprecated != ""}
	if o.Content != "" {
		o.Content += " " + registry
	}
	return o
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
				versions[name] = &InstalledVersion{Version: p.Version, Scope: kind, isDemo: registry.IsDemo(id, p.Source)}
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
