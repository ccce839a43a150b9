package lint

import (
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/schema"
)

// judge holds frontmatter against one profile's schema.
type judge struct {
	*profile.Profile
	schema *yamlschema.Schema
}

func newJudge(p *profile.Profile) (*judge, error) {
	s, err := readSchema(p.Schema)
	if err != nil {
		return nil, err
	}
	return &judge{p, s}, nil
}

func readSchema(name string) (*yamlschema.Schema, error) {
	text, err := schema.Read(name)
	if err != nil {
		return nil, err
	}
	return yamlschema.New(name, text)
}

// fields returns the fields that some host knows, in order.
func (l *Linter) fields() []string { return slices.Sorted(maps.Keys(l.hosts())) }

// hostFields returns, for every field that some profile knows, the profiles that know it.
func hostFields() map[string][]string {
	hosts := map[string][]string{}
	all, _ := profile.Hosts() // embedded: a test reads them all
	for _, p := range all {
		s, err := readSchema(p.Schema)
		if err != nil {
			continue
		}
		for _, name := range yamlschema.FieldNames(s.Raw) {
			hosts[name] = append(hosts[name], p.ID)
		}
	}
	return hosts
}
