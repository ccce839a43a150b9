package oci

import (
	"encoding/json"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// Release is what is said about a version that is published.
type Release struct {
	ID           pack.ID
	Version      string // strict semver without build metadata; it becomes the tag
	Description  string
	License      string
	Dependencies []pack.Dependency // by name only
	SourceURL    string            // where the pack's source is, "" if it does not say
	Revision     string            // the source's revision, "" if it does not say
	Skills       []SkillMeta       // one for each tree
	Tags         []string          // words that the pack is found by
}

// SkillMeta is what is said about one skill.
type SkillMeta struct {
	Name          string
	Description   string
	License       string
	Compatibility string
	AllowedTools  []string
	Metadata      map[string]string
}

// info checks a release against its trees and describes it.
func (rel *Release) info(trees []bundle.Tree) (packInfo, error) {
	if err := index.CheckVersion(rel.Version); err != nil {
		return packInfo{}, err
	}
	deps, err := index.NewDependencies(rel.Dependencies)
	if err != nil {
		return packInfo{}, err
	}
	info := packInfo{Name: rel.ID.String(), Version: rel.Version, Dependencies: deps, Skills: make(map[string]string, len(trees))}
	for _, t := range trees {
		if err := checkSkillName(t.Name); err != nil {
			return packInfo{}, err
		}
		if _, dup := info.Skills[t.Name]; dup {
			return packInfo{}, diag.Errorf(diag.Invalid, "%s has two skills named %s", rel.ID, t.Name)
		}
		if !slices.ContainsFunc(rel.Skills, func(m SkillMeta) bool { return m.Name == t.Name }) {
			return packInfo{}, diag.Errorf(diag.Internal, "the release says nothing about the skill %s", t.Name)
		}
		info.Skills[t.Name] = t.Inventory.Digest()
	}
	if len(trees) == 0 || len(rel.Skills) != len(trees) {
		return packInfo{}, diag.Errorf(diag.Invalid, "%s has %d skills and describes %d", rel.ID, len(trees), len(rel.Skills))
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
