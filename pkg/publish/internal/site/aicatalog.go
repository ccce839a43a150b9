package site

import (
	"slices"
	"strings"
)

// The path and format of an AI Catalog (https://github.com/Agent-Card/ai-catalog, specification/ai-catalog.md, version
// 0.9).
const (
	CatalogPath    = ".well-known/ai-catalog.json"
	catalogVersion = "0.9"
)

// aiCatalog is an AI Catalog. It has a host, which makes it a "Discoverable Catalog".
type aiCatalog struct {
	SpecVersion string         `json:"specVersion"`
	Host        catalogHost    `json:"host"`
	Entries     []catalogEntry `json:"entries"`
}

type catalogHost struct {
	DisplayName      string `json:"displayName"`
	Identifier       string `json:"identifier,omitempty"`
	DocumentationURL string `json:"documentationUrl,omitempty"`
}

type catalogEntry struct {
	Identifier  string   `json:"identifier"` // the address of the skill's page
	DisplayName string   `json:"displayName"`
	Version     string   `json:"version"`
	Type        string   `json:"type"`
	URL         string   `json:"url"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Digest      string   `json:"digest"`
	UpdatedAt   string   `json:"updatedAt,omitempty"`
}

// WriteCatalog writes the AI Catalog of skills in the discovery index. Its addresses are absolute, so it requires the
// URL of the website.
//
// Who operates a website is not always who publishes its packs. The specification then requires identifiers that the
// operator controls: an entry has the address of the skill on the website.
func (s *Site) WriteCatalog(skills []Discovered, w Write) error {
	base := s.options.BaseURL + "/"
	c := aiCatalog{
		SpecVersion: catalogVersion, Entries: make([]catalogEntry, 0, len(skills)),
		Host: catalogHost{DisplayName: s.options.Title, Identifier: base, DocumentationURL: base},
	}
	for i := range skills {
		c.Entries = append(c.Entries, s.catalogEntry(&skills[i]))
	}
	slices.SortFunc(c.Entries, func(a, b catalogEntry) int { return strings.Compare(a.Identifier, b.Identifier) })
	return writeJSON(w, CatalogPath, c)
}

func (s *Site) catalogEntry(d *Discovered) catalogEntry {
	p, base := &s.packs[s.index[d.Pack]], s.options.BaseURL+"/"
	e := catalogEntry{
		Identifier: base + packPath(d.Pack) + "#" + skillAnchor(d.Skill), DisplayName: d.Skill, Version: d.Version,
		Type: "application/agent-skills+gzip", URL: base + d.Artifact(), Description: d.Description, Tags: p.Tags,
		Digest: d.Digest,
	}
	if d.Type == typeFile {
		e.Type = "application/agent-skills+md"
	}
	if i := slices.IndexFunc(p.Versions, func(v Version) bool { return v.Version == d.Version }); i >= 0 {
		_, e.UpdatedAt = date(p.Versions[i].Published)
	}
	return e
}
