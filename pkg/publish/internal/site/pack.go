package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// packPage is the data of a pack's page.
type packPage struct {
	item
	Problem     string
	Summary     string
	License     string
	Deprecated  string
	Yanked      string // why the displayed version was yanked
	Digest      string
	Integrity   string
	Source      string
	Install     string
	NoRegistry  bool  // the install command needs a registry that the website does not know
	Original    *link // the pack that this one copies; nil for none
	Skills      []skillView
	Separate    bool // the skills' texts have their own pages
	Files       int
	Bytes       int64
	Versions    []versionView
	OlderCount  int // number of versions that are not listed
	Requires    []required
	Graph       string
	Tree        []treeItem
	GraphIsPart bool
	Dependents  []link
	MoreUsers   int // number of dependents that are not listed
	Signatures  []Signature
	Signed      string
	Verified    int
	Provenance  []Provenance
	Profiles    string
	tally
}

type versionView struct {
	Version
	Shown      bool
	Prerelease bool
}

type required struct {
	Name    string
	Range   string
	Skills  string
	Href    string // relative to the root; "" if the website does not have the pack
	Version string // the highest matching version; "" if none
}

// skillView is a skill of a pack.
type skillView struct {
	Pack        pack.ID
	Name        string
	Description string
	Anchor      string
	Href        string // page of the skill, relative to the root
	Tree        string
	Fetched     bool
	Body        string
	Cut         bool // the body is truncated
	Fields      []field
	Files       bundle.Inventory
	MoreFiles   int
	FileCount   int
	Bytes       int64
	Findings    []diag.Finding
	MoreFound   int
	tally
}

// licenseText formats the license.
func (p *packPage) licenseText() string { return cmp.Or(p.License, "not specified") }

// checkScope formats the checked profiles, and the number of notes besides errors and warnings.
func (p *packPage) checkScope() string {
	text := ""
	if p.Profiles != "" {
		text += " for " + p.Profiles
	}
	if p.Notes > 0 {
		text += ", and " + count(p.Notes, "note", "notes")
	}
	return text + "."
}

// signerName formats the signer.
func (s Signature) signerName() string { return cmp.Or(oneLine(s.Signer), "unknown") }

// field is a field of the frontmatter to display.
type field struct{ Name, Value string }

// Page writes the page of a pack, and pages for its skills if there are many.
func (s *Site) Page(id pack.ID, d Details, w Write) error {
	i, ok := s.index[id]
	if !ok {
		return diag.Errorf(diag.NotFound, "%s is not in the index", id)
	}
	view := s.packView(i, d)
	title := id.String() + " – " + s.options.Title
	if err := s.write(w, page{Title: title, Description: view.Summary, Path: packPath(id)},
		func(r root) templ.Component { return packContent(r, &view) }); err != nil {
		return err
	}
	if !view.Separate {
		return nil
	}
	for i := range view.Skills {
		sk := &view.Skills[i]
		p := page{Title: sk.Name + " in " + title, Description: sk.Description, Path: sk.Href}
		if err := s.write(w, p, func(r root) templ.Component { return skillPage(r, sk) }); err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) packView(i int, d Details) packPage {
	p := &s.packs[i]
	v := p.displayed()
	view := packPage{
		item: s.item(i), Problem: oneLine(d.Problem), Summary: p.about(), License: oneLine(p.License),
		Deprecated: oneLine(p.Deprecated),
		Yanked:     oneLine(v.Yanked), Digest: v.Digest, Integrity: v.Integrity, Source: v.Source,
		Separate:   len(p.Skills) > inline,
		Signatures: d.Signatures, Signed: oneLine(d.Signed), Provenance: d.Provenance,
		Profiles: oneLine(strings.Join(d.Profiles, ", ")),
	}
	view.Install, view.NoRegistry = s.installCommand(p)
	if of := s.originals[i]; of >= 0 {
		view.Original = &link{Name: s.packs[of].ID.String(), Href: packPath(s.packs[of].ID)}
	}
	for k, ver := range p.Versions[:min(len(p.Versions), maxRows)] {
		view.Versions = append(view.Versions, versionView{ver, k == Displayed(p.Versions), prerelease(ver.Version)})
	}
	view.OlderCount = len(p.Versions) - len(view.Versions)
	s.links(p, &view)
	view.Graph, view.GraphIsPart = s.graph(i)
	view.Tree = s.tree(i)
	for _, sig := range d.Signatures {
		if sig.Verified {
			view.Verified++
		}
	}
	for _, sk := range p.Skills {
		one := s.skillView(p, sk, d, view.Separate)
		view.Skills = append(view.Skills, one)
		view.Files, view.Bytes = view.Files+one.FileCount, view.Bytes+one.Bytes
		view.sum(one.tally)
	}
	return view
}

// links adds the dependencies and dependents of a pack.
func (s *Site) links(p *Pack, view *packPage) {
	for _, d := range p.Dependencies {
		r := required{
			Name: d.ID.String(), Range: cmp.Or(oneLine(d.Constraint), "any"),
			Skills: oneLine(strings.Join(d.Skills, ", ")),
		}
		if k, ok := s.index[d.ID]; ok {
			r.Href = packPath(d.ID)
			if v := s.packs[k].match(d.Constraint); v != nil {
				r.Version = v.Version
			}
		}
		view.Requires = append(view.Requires, r)
	}
	users := s.dependents[p.ID]
	for _, id := range users[:min(len(users), maxRows)] {
		view.Dependents = append(view.Dependents, link{Name: id.String(), Href: packPath(id)})
	}
	view.MoreUsers = len(users) - len(view.Dependents)
}

func (s *Site) skillView(p *Pack, sk Skill, d Details, separate bool) skillView {
	view := skillView{
		Pack: p.ID, Name: oneLine(sk.Name), Description: sk.Description, Anchor: skillAnchor(sk.Name), Tree: sk.Tree,
		Href: skillPath(p.ID, sk.Name),
	}
	i := slices.IndexFunc(d.Skills, func(c Content) bool { return c.Name == sk.Name })
	if i < 0 {
		return view
	}
	c := d.Skills[i]
	level := 3 // of the heading above the text
	if separate {
		level = 2
	}
	doc, _ := skill.Parse(c.Markdown)
	view.Fetched = true
	view.Body, view.Cut = prose(doc.Body(), level, view.Anchor+"-")
	view.Fields = fields(doc)
	view.Files = c.Files[:min(len(c.Files), maxRows)]
	view.FileCount, view.MoreFiles, view.Bytes = len(c.Files), len(c.Files)-len(view.Files), c.Files.Size()
	view.Findings = c.Findings[:min(len(c.Findings), maxRows)]
	view.MoreFound = len(c.Findings) - len(view.Findings)
	for _, f := range c.Findings {
		view.add(f.Severity)
	}
	return view
}

// fields returns the frontmatter fields that help users to choose a skill.
func fields(doc *skill.Document) []field {
	var out []field
	for _, f := range []field{
		{"Allowed tools", "allowed-tools"},
		{"Compatibility", "compatibility"},
		{"License", "license"},
		{"Model", "model"},
		{"Context", "context"},
	} {
		_, node := doc.Lookup(f.Value)
		text := skill.ScalarText(node)
		if node != nil && text == "" {
			var parts []string
			for _, n := range node.Content {
				parts = append(parts, skill.ScalarText(n))
			}
			text = strings.Join(parts, ", ")
		}
		if text = short(text, 500); text != "" {
			out = append(out, field{f.Name, text})
		}
	}
	return out
}

// tally counts findings by severity.
type tally struct{ Errors, Warnings, Notes int }

func (t *tally) add(s diag.Severity) {
	switch s {
	case diag.SeverityError:
		t.Errors++
	case diag.SeverityWarning:
		t.Warnings++
	default:
		t.Notes++
	}
}

func (t *tally) sum(other tally) {
	t.Errors, t.Warnings, t.Notes = t.Errors+other.Errors, t.Warnings+other.Warnings, t.Notes+other.Notes
}
