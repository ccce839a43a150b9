package graph

// Document is a graph, or a part of one, in JSON. Packs and requirements are in order of names.
type Document struct {
	Name     string        `json:"name"`     // of the manifest
	Requires []Requirement `json:"requires"` // of the manifest, if it is in this part
	Packs    []PackNode    `json:"packs"`
}

// PackNode is one pack of a [Document].
type PackNode struct {
	Pack       string        `json:"pack"`
	Version    string        `json:"version"` // "" for a missing one
	Source     string        `json:"source"`
	Linked     string        `json:"linked,omitempty"`  // the directory that it is linked to
	Direct     bool          `json:"direct"`            // the manifest requires it
	Dev        bool          `json:"dev"`               // it is required for development only, directly or not
	Required   bool          `json:"required"`          // it is required, directly or not
	Missing    bool          `json:"missing,omitempty"` // it is required and not installed
	Skills     []SkillNode   `json:"skills"`
	Requires   []Requirement `json:"requires"`   // also of packs that are not in this part
	RequiredBy []string      `json:"requiredBy"` // packs of this part; the manifest is not among them
}

// SkillNode is one skill of a [PackNode].
type SkillNode struct {
	Name string `json:"name"`
	Link string `json:"link"` // the name that agents know it under
}

// Requirement is a requirement in a [Document].
type Requirement struct {
	Pack  string `json:"pack"`
	Range string `json:"range"`         // the range or source, and skills in brackets, as the lockfile writes them
	Dev   bool   `json:"dev,omitempty"` // for development only
}

// Document returns the graph for JSON.
func (g *Graph) Document() Document {
	d := Document{Requires: []Requirement{}, Packs: []PackNode{}}
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.key == "" {
			d.Name, d.Requires = n.name, n.requires
			continue
		}
		p := PackNode{
			Pack: n.name, Version: n.Version, Source: n.Source, Linked: n.Linked,
			Direct: n.direct, Dev: n.dev, Required: n.required, Missing: n.missing,
			Skills: []SkillNode{}, Requires: n.requires, RequiredBy: []string{},
		}
		for _, s := range n.Skills {
			link := s.Link
			if link == "" {
				link = s.Name
			}
			p.Skills = append(p.Skills, SkillNode{Name: s.Name, Link: link})
		}
		for _, a := range n.in {
			if by := &g.nodes[a.to]; by.key != "" {
				p.RequiredBy = append(p.RequiredBy, by.name)
			}
		}
		d.Packs = append(d.Packs, p)
	}
	return d
}
