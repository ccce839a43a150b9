package sign

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// MediaTypeSBOM is the media type of a CycloneDX document in JSON, as an artifact and as its layer.
const MediaTypeSBOM = "application/vnd.cyclonedx+json"

// SBOM lists the contents of a pack.
type SBOM struct {
	Pack        string // owner/name
	Version     string
	Description string
	License     string
	Skills      []SBOMSkill
	Requires    map[string]string // pack -> required version range
}

// SBOMSkill is one skill of a pack.
type SBOMSkill struct {
	Name        string
	Description string
	License     string
	Tree        string // tree digest
	Files       []SBOMFile
}

// SBOMFile is one file of a skill.
type SBOMFile struct {
	Path   string // in the skill, slash-separated
	SHA256 [sha256.Size]byte
}

// The used part of a CycloneDX 1.6 document.
type (
	cdxDocument struct {
		Schema       string          `json:"$schema"`
		Format       string          `json:"bomFormat"`
		Spec         string          `json:"specVersion"`
		Version      int             `json:"version"`
		Metadata     cdxMetadata     `json:"metadata"`
		Components   []cdxComponent  `json:"components"`
		Dependencies []cdxDependency `json:"dependencies"`
	}
	cdxMetadata struct {
		Tools     cdxTools     `json:"tools"`
		Component cdxComponent `json:"component"`
	}
	cdxTools struct {
		Components []cdxComponent `json:"components"`
	}
	cdxComponent struct {
		Type        string         `json:"type"`
		Ref         string         `json:"bom-ref,omitempty"`
		Group       string         `json:"group,omitempty"`
		Name        string         `json:"name"`
		Version     string         `json:"version,omitempty"`
		Description string         `json:"description,omitempty"`
		Hashes      []cdxHash      `json:"hashes,omitempty"`
		Licenses    []cdxLicense   `json:"licenses,omitempty"`
		Properties  []cdxProperty  `json:"properties,omitempty"`
		Components  []cdxComponent `json:"components,omitempty"`
	}
	cdxHash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	cdxLicense struct {
		License cdxLicenseName `json:"license"`
	}
	cdxLicenseName struct {
		Name string `json:"name"`
	}
	cdxProperty struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	cdxDependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn,omitempty"`
	}
)

// Encode returns a CycloneDX 1.6 document: the pack, a component for each skill with its files, and one for each
// required pack. The same pack gives the same bytes: the document has no time, serial number, or version of skillpm.
func (b SBOM) Encode() ([]byte, error) {
	owner, name, _ := strings.Cut(b.Pack, "/")
	pack := cdxComponent{
		Type: "application", Ref: "pack:" + b.Pack + "@" + b.Version, Group: owner, Name: name, Version: b.Version,
		Description: b.Description, Licenses: licenses(b.License),
	}
	doc := cdxDocument{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:   cdxMetadata{cdxTools{[]cdxComponent{{Type: "application", Name: "skillpm"}}}, pack},
		Components: []cdxComponent{},
	}
	depends := cdxDependency{Ref: pack.Ref}
	var rest []cdxDependency
	add := func(c cdxComponent) {
		doc.Components = append(doc.Components, c)
		depends.DependsOn = append(depends.DependsOn, c.Ref)
		rest = append(rest, cdxDependency{Ref: c.Ref})
	}
	for _, s := range slices.SortedFunc(slices.Values(b.Skills),
		func(x, y SBOMSkill) int { return strings.Compare(x.Name, y.Name) }) {
		add(s.component(b.Version))
	}
	for _, id := range slices.Sorted(maps.Keys(b.Requires)) {
		owner, name, _ := strings.Cut(id, "/")
		add(cdxComponent{
			Type: "application", Ref: "requires:" + id, Group: owner, Name: name,
			Properties: []cdxProperty{{"skillpm:range", b.Requires[id]}},
		})
	}
	doc.Dependencies = append([]cdxDependency{depends}, rest...)
	return encodeJSON(doc)
}

func (s SBOMSkill) component(version string) cdxComponent {
	c := cdxComponent{
		Type: "library", Ref: "skill:" + s.Name, Name: s.Name, Version: version, Description: s.Description,
		Licenses: licenses(s.License),
	}
	if s.Tree != "" {
		c.Properties = []cdxProperty{{"skillpm:tree", s.Tree}}
	}
	files := slices.SortedFunc(slices.Values(s.Files),
		func(x, y SBOMFile) int { return strings.Compare(x.Path, y.Path) })
	for _, f := range files {
		c.Components = append(c.Components, cdxComponent{
			Type: "file", Ref: "file:" + s.Name + "/" + f.Path, Name: f.Path,
			Hashes: []cdxHash{{"SHA-256", hex.EncodeToString(f.SHA256[:])}},
		})
	}
	return c
}

// licenses writes a license by name, because it may not be an SPDX identifier.
func licenses(name string) []cdxLicense {
	if name == "" {
		return nil
	}
	return []cdxLicense{{cdxLicenseName{name}}}
}
