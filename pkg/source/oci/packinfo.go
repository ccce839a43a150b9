package oci

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skill"
)

// packInfo is the value of [AnnotationPack]. Two releases have the same content if its JSON is equal.
type packInfo struct {
	Name         string             `json:"name"`
	Version      string             `json:"version"`
	Dependencies index.Dependencies `json:"dependencies"`
	Skills       map[string]string  `json:"skills"` // skill -> tree digest
	Requires     skill.Requirements `json:"requires,omitzero"`
}

// encode returns the canonical JSON: these fields in this order, maps sorted by key, no spaces, and no optional
// escapes.
func (p packInfo) encode() string {
	if p.Dependencies == nil {
		p.Dependencies = index.Dependencies{}
	}
	return canonical(p)
}

func canonical(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings and maps of them always encode
	return strings.TrimSuffix(buf.String(), "\n")
}

// maxDescriptions limits [AnnotationSkills], so that a manifest with many skills stays below the limits of registries.
const maxDescriptions = 1 << 20

// describeSkills returns the value of [AnnotationSkills] for the skills of info, or "" if there are no descriptions or
// too many.
func (rel *Release) describeSkills(info packInfo) string {
	texts := make(map[string]string)
	for _, m := range rel.Skills {
		if _, ok := info.Skills[m.Name]; ok && m.Description != "" {
			texts[m.Name] = m.Description
		}
	}
	if text := canonical(texts); len(texts) > 0 && len(text) <= maxDescriptions {
		return text
	}
	return ""
}

// addDescriptions adds the descriptions of [AnnotationSkills] to a pack's skills. They are only displayed, so invalid
// ones are ignored.
func addDescriptions(pk *pack.Pack, text string) {
	var texts map[string]string
	if text == "" || len(text) > maxDescriptions || json.Unmarshal([]byte(text), &texts) != nil {
		return
	}
	for i, s := range pk.Skills {
		pk.Skills[i].Description = oneLine(texts[s.Name])
	}
}

// Limits of a pack's search terms.
const (
	maxTagsOfPack = 32
	maxTagOfPack  = 64 // bytes
)

// describeTags returns the value of [AnnotationTags].
func (rel *Release) describeTags() string {
	if len(rel.Tags) == 0 {
		return ""
	}
	return canonical(rel.Tags)
}

// tagsOf reads [AnnotationTags]. They are only search terms, so invalid ones are ignored.
func tagsOf(text string) []string {
	var all, tags []string
	if text == "" || len(text) > maxTagsOfPack*maxTagOfPack*2 || json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	for _, tag := range all[:min(len(all), maxTagsOfPack)] {
		if tag = oneLine(tag); tag != "" && len(tag) <= maxTagOfPack {
			tags = append(tags, tag)
		}
	}
	return tags
}

// parsePackInfo parses the annotation. It rejects JSON that is not canonical, so that the signed and compared bytes are
// the ones in use.
func parsePackInfo(text string) (*packInfo, error) {
	var p packInfo
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil, diag.Errorf(diag.Invalid, "annotation %s: %v", AnnotationPack, err)
	}
	if p.encode() != text {
		return nil, diag.Errorf(diag.Invalid, "annotation %s is not canonical JSON", AnnotationPack)
	}
	if err := index.CheckVersion(p.Version); err != nil {
		return nil, diag.Errorf(diag.Invalid, "annotation %s: %w", AnnotationPack, err)
	}
	if len(p.Skills) == 0 {
		return nil, diag.Errorf(diag.Invalid, "annotation %s does not contain skills", AnnotationPack)
	}
	for name, tree := range p.Skills {
		if err := checkSkillName(name); err != nil {
			return nil, err
		}
		if err := checkTree(tree); err != nil {
			return nil, diag.Errorf(diag.Invalid, "annotation %s: skill %s: %w", AnnotationPack, name, err)
		}
	}
	return &p, nil
}

// describe copies the annotation's fields into a pack.
func (p *packInfo) describe(pk *pack.Pack) error {
	id, err := pack.ParseID(p.Name)
	if err != nil {
		return diag.Errorf(diag.Invalid, "annotation %s: %w", AnnotationPack, err)
	}
	deps, err := p.Dependencies.List()
	if err != nil {
		return diag.Errorf(diag.Invalid, "annotation %s: %w", AnnotationPack, err)
	}
	pk.ID, pk.Version, pk.Dependencies = id, p.Version, deps
	pk.Integrity = bundle.Integrity(p.Skills)
	pk.Requires = skill.ParseRequirements(p.Requires.Table())
	pk.Skills = nil
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		pk.Skills = append(pk.Skills, pack.Skill{Name: name, Tree: p.Skills[name]})
	}
	return nil
}

// Release describes a version to publish.
type Release struct {
	ID           pack.ID
	Version      string // strict semver without build metadata; it becomes the tag
	Description  string
	License      string
	Dependencies []pack.Dependency  // by name only
	Skills       []SkillMeta        // one for each tree
	Tags         []string           // search terms
	Requires     skill.Requirements // what the skills need on a machine
}

// SkillMeta describes one skill.
type SkillMeta struct {
	Name          string
	Description   string
	License       string
	Compatibility string
	AllowedTools  []string
	Metadata      map[string]string
}

// info validates a release against its trees and returns its annotation.
func (rel *Release) info(trees []bundle.Tree) (packInfo, error) {
	if err := index.CheckVersion(rel.Version); err != nil {
		return packInfo{}, err
	}
	deps, err := index.NewDependencies(rel.Dependencies)
	if err != nil {
		return packInfo{}, err
	}
	info := packInfo{
		Name: rel.ID.String(), Version: rel.Version, Dependencies: deps,
		Skills: make(map[string]string, len(trees)), Requires: rel.Requires,
	}
	for _, t := range trees {
		if err := checkSkillName(t.Name); err != nil {
			return packInfo{}, err
		}
		if _, dup := info.Skills[t.Name]; dup {
			return packInfo{}, diag.Errorf(diag.Invalid, "%s has two skills named %s", rel.ID, t.Name)
		}
		if !slices.ContainsFunc(rel.Skills, func(m SkillMeta) bool { return m.Name == t.Name }) {
			return packInfo{}, diag.Errorf(diag.Internal, "the release does not list the skill %s", t.Name)
		}
		info.Skills[t.Name] = t.Inventory.Digest()
	}
	switch {
	case len(trees) == 0:
		return packInfo{}, diag.Errorf(diag.Invalid, "%s does not contain skills", rel.ID)
	case len(rel.Skills) != len(trees):
		return packInfo{}, diag.Errorf(diag.Invalid, "%s contains %d skills, but the release describes %d", rel.ID,
			len(trees), len(rel.Skills))
	}
	return info, nil
}

func (rel *Release) meta(name string) SkillMeta {
	i := slices.IndexFunc(rel.Skills, func(m SkillMeta) bool { return m.Name == name })
	return rel.Skills[i]
}

// skillConfig is the configuration of the Agent Skills artifact.
func skillConfig(m SkillMeta, rel Release) ([]byte, error) {
	return json.Marshal(struct {
		SchemaVersion string            `json:"schemaVersion"`
		Name          string            `json:"name"`
		Version       string            `json:"version"`
		Description   string            `json:"description,omitempty"`
		License       string            `json:"license,omitempty"`
		Compatibility string            `json:"compatibility,omitempty"`
		AllowedTools  []string          `json:"allowedTools,omitempty"`
		Metadata      map[string]string `json:"metadata,omitempty"`
	}{"1", m.Name, rel.Version, m.Description, m.License, m.Compatibility, m.AllowedTools, m.Metadata})
}
