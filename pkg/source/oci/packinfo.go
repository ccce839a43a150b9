package oci

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/index"
	"github.com/skillpm/skillpm/pkg/source"
)

// packInfo is the value of [AnnotationPack]. Two releases have the same content when its JSON is equal.
type packInfo struct {
	Name         string             `json:"name"`
	Version      string             `json:"version"`
	Dependencies index.Dependencies `json:"dependencies"`
	Skills       map[string]string  `json:"skills"` // skill -> tree digest
}

// encode returns the canonical JSON: these fields in this order, maps sorted by key, no spaces, nothing escaped that
// JSON does not ask for.
func (p packInfo) encode() string {
	if p.Dependencies == nil {
		p.Dependencies = index.Dependencies{}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil { // strings always encode
		panic(err)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// parsePackInfo reads the annotation. Text that is not canonical is refused, so that what was signed or compared is
// what is used.
func parsePackInfo(text string) (*packInfo, error) {
	var p packInfo
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil, diag.Errorf(diag.Invalid, "annotation %s: %v", AnnotationPack, err)
	}
	if p.encode() != text {
		return nil, diag.Errorf(diag.Invalid, "annotation %s is not canonical", AnnotationPack)
	}
	if err := index.CheckVersion(p.Version); err != nil {
		return nil, diag.Errorf(diag.Invalid, "annotation %s: %w", AnnotationPack, err)
	}
	if len(p.Skills) == 0 {
		return nil, diag.Errorf(diag.Invalid, "annotation %s has no skills", AnnotationPack)
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

// describe fills in what the annotation says about a pack.
func (p *packInfo) describe(pack *source.Pack) error {
	id, err := source.ParseID(p.Name)
	if err != nil {
		return diag.Errorf(diag.Invalid, "annotation %s: %w", AnnotationPack, err)
	}
	deps, err := p.Dependencies.List()
	if err != nil {
		return diag.Errorf(diag.Invalid, "annotation %s: %w", AnnotationPack, err)
	}
	pack.ID, pack.Version, pack.Dependencies = id, p.Version, deps
	pack.Integrity = bundle.Integrity(p.Skills)
	pack.Skills = nil
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		pack.Skills = append(pack.Skills, source.Skill{Name: name, Tree: p.Skills[name]})
	}
	return nil
}
