package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// item is a pack in a list.
type item struct {
	ID          pack.ID
	Href        string // relative to the root
	Version     string
	Published   string
	Description string
	Deprecated  bool
	Yanked      bool
	Skills      int
	Tags        []link
	Copies      []link // packs with the same skills
}

type link struct {
	Name  string
	Href  string // relative to the root
	Count int
}

// list is one page of a list of packs.
type list struct {
	Heading  string
	Crumb    link
	Items    []item
	Total    int
	Number   int // of the page
	Pages    []link
	Previous string
	Next     string
}

// size describes the length of the list and the page's number.
func (l *list) size() string {
	text := count(l.Total, "pack", "packs")
	if len(l.Pages) > 0 {
		text += ", page " + textx.Thousands(int64(l.Number))
	}
	return text
}

var toPacks = link{Name: "Packs", Href: "index.html"}

// home is the first page.
type home struct {
	list
	Tags     []link
	MoreTags bool
	Skills   int
	Owners   int
	Recent   []item
	Registry string // command that adds the registry; "" for none
}

// Lists writes everything that is not specific to one pack: the lists of packs, the pages of tags and owners, the
// search index, and the fixed files.
func (s *Site) Lists(w Write) error {
	writers := []func(Write) error{s.writeFixedFiles, s.home, s.tagPages, s.ownerPages, s.notFound, s.search}
	for _, write := range writers {
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) writeFixedFiles(w Write) error {
	for _, name := range fixed {
		data, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		if err := w("assets/"+name, data); err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) item(i int) item {
	p := &s.packs[i]
	v := p.displayed()
	it := item{
		ID: p.ID, Href: packPath(p.ID), Version: v.Version, Published: v.Published, Description: short(p.about(), 240),
		Deprecated: p.Deprecated != "", Yanked: v.Yanked != "", Skills: len(p.Skills),
	}
	for _, t := range p.Tags {
		it.Tags = append(it.Tags, link{Name: t, Href: tagPath(t)})
	}
	for _, k := range s.copies[i] {
		it.Copies = append(it.Copies, link{Name: s.packs[k].ID.String(), Href: packPath(s.packs[k].ID)})
	}
	return it
}

// about returns a pack's description, or else that of its first skill.
func (p *Pack) about() string {
	if text := oneLine(p.Description); text != "" || len(p.Skills) == 0 {
		return text
	}
	return oneLine(p.Skills[0].Description)
}

// paged writes a list on as many pages as necessary.
func (s *Site) paged(packs []int, first string, write func(n int, l list, path string) error) error {
	pages := max(1, (len(packs)+perPage-1)/perPage)
	links := make([]link, 0, pages)
	for n := 1; n <= pages; n++ {
		links = append(links, link{Name: textx.Thousands(int64(n)), Href: numbered(first, n)})
	}
	for n := 1; n <= pages; n++ {
		l := list{Total: len(packs), Number: n}
		for _, i := range packs[(n-1)*perPage : min(n*perPage, len(packs))] {
			l.Items = append(l.Items, s.item(i))
		}
		if pages > 1 {
			l.Pages = near(links, n)
		}
		if n > 1 {
			l.Previous = links[n-2].Href
		}
		if n < pages {
			l.Next = links[n].Href
		}
		if err := write(n, l, links[n-1].Href); err != nil {
			return err
		}
	}
	return nil
}

// near returns links to the first page, the last page, and the pages around the nth. A link without an address marks a
// gap.
func near(links []link, n int) []link {
	const around = 3
	var out []link
	for i, l := range links {
		switch {
		case i == 0, i == len(links)-1, i+1 >= n-around && i+1 <= n+around:
			out = append(out, l)
		case len(out) > 0 && out[len(out)-1].Href != "":
			out = append(out, link{Name: "…"})
		}
	}
	return out
}

func (s *Site) home(w Write) error {
	all := make([]int, len(s.packs))
	skills := 0
	for i := range all {
		all[i] = i
		skills += len(s.packs[i].Skills)
	}
	tags := s.tagLinks()
	slices.SortStableFunc(tags, func(a, b link) int { return cmp.Compare(b.Count, a.Count) })
	more := len(tags) > homeTags
	tags = tags[:min(len(tags), homeTags)]
	return s.paged(s.folded(all), "index.html", func(n int, l list, path string) error {
		if n > 1 {
			l.Heading, l.Crumb = "All packs", link{Name: "All packs", Href: "index.html"}
			return s.write(w, page{
				Title: "All packs, page " + textx.Thousands(int64(n)) + " – " + s.options.Title,
				Path:  path,
			}, func(r root) templ.Component { return packList(r, &l) })
		}
		h := home{
			list: l, Tags: tags, MoreTags: more, Skills: skills, Owners: len(s.owners), Recent: s.recent(),
			Registry: s.registryCommand(),
		}
		about := "Agent skills: " + count(l.Total, "pack", "packs") + " with " + count(skills, "skill", "skills") + "."
		return s.write(w, page{Title: s.options.Title, Path: path, Home: true, Description: about},
			func(r root) templ.Component { return homePage(r, s.options.Title, &h) })
	})
}

// recent returns the most recently published packs, if there are enough to choose from.
func (s *Site) recent() []item {
	const most, least = 6, 24
	if len(s.packs) < least {
		return nil
	}
	type dated struct {
		r string
		i int
	}
	var all []dated
	for i := range s.packs {
		if _, r := date(s.packs[i].displayed().Published); r != "" && s.packs[i].Deprecated == "" && s.originals[i] < 0 {
			all = append(all, dated{r, i})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return strings.Compare(b.r, a.r) })
	var out []item
	for _, d := range all[:min(most, len(all))] {
		out = append(out, s.item(d.i))
	}
	return out
}

func (s *Site) tagLinks() []link {
	links := make([]link, 0, len(s.tags))
	for _, g := range s.tags {
		links = append(links, link{Name: g.Name, Href: tagPath(g.Name), Count: len(s.folded(g.Packs))})
	}
	return links
}

func (s *Site) tagPages(w Write) error {
	if err := s.write(w, page{Title: "Tags – " + s.options.Title, Path: "tags.html"},
		func(r root) templ.Component { return allTags(r, s.tagLinks()) }); err != nil {
		return err
	}
	folded := slices.Clone(s.tags)
	for i := range folded {
		folded[i].Packs = s.folded(folded[i].Packs)
	}
	return s.groupPages(w, folded, tagPath, "Packs tagged ", link{Name: "Tags", Href: "tags.html"})
}

func (s *Site) ownerPages(w Write) error {
	return s.groupPages(w, s.owners, ownerPath, "Packs of ", toPacks)
}

func (s *Site) groupPages(w Write, groups []group, r func(string) string, heading string, crumb link) error {
	for _, g := range groups {
		err := s.paged(g.Packs, r(g.Name), func(n int, l list, path string) error {
			l.Heading, l.Crumb = heading+g.Name, crumb
			title := l.Heading
			if n > 1 {
				title += ", page " + textx.Thousands(int64(n))
			}
			return s.write(w, page{Title: title + " – " + s.options.Title, Path: path},
				func(r root) templ.Component { return packList(r, &l) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// notFound writes the page for missing addresses. Its links start at the server's root, if that is known, because it is
// shown at any address.
func (s *Site) notFound(w Write) error {
	p := page{Title: "Page not found – " + s.options.Title, Path: "404.html", NoAddress: true}
	if s.options.BaseURL != "" {
		p.Root = basePath(s.options.BaseURL)
	}
	return s.write(w, p, notFound)
}
