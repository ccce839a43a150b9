package lint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/schema"
)

// profileSchema is a profile with its compiled schema.
type profileSchema struct {
	*profile.Profile
	schema *yamlschema.Schema
}

func newProfileSchema(p *profile.Profile) (*profileSchema, error) {
	s, err := readSchema(p.Schema)
	if err != nil {
		return nil, err
	}
	return &profileSchema{p, s}, nil
}

func readSchema(name string) (*yamlschema.Schema, error) {
	text, err := schema.Read(name)
	if err != nil {
		return nil, err
	}
	return yamlschema.New(name, text)
}

// fields returns all fields that some agent knows, sorted.
func (l *Linter) fields() []string { return slices.Sorted(maps.Keys(l.agentFields())) }

// loadAgentFields returns, for every field that some profile knows, the profiles that know it.
func loadAgentFields() map[string][]string {
	agents := map[string][]string{}
	all, _ := profile.Agents() // embedded: a test reads them all
	for _, p := range all {
		s, err := readSchema(p.Schema)
		if err != nil {
			continue
		}
		for _, name := range yamlschema.FieldNames(s.Raw) {
			agents[name] = append(agents[name], p.ID)
		}
	}
	return agents
}

// checkNameIsDirectory compares the name with the directory's. The name of a whole pack's skill comes from its
// frontmatter, and an illegal name that would match once fixed is reported elsewhere.
func (u *skillCheck) checkNameIsDirectory(j *profileSchema) {
	_, node := u.doc.Lookup("name")
	name, dir := u.doc.Name(), path.Base(u.dir)
	if j.NameIsDirectory == nil || name == "" || name == dir || dir == "." || dir == "/" || u.doc.Recovered(node) {
		return
	}
	if u.tree.isFile("skillpm.yaml") || !skill.LegalName(name) {
		return
	}
	fix := fmt.Sprintf("rename the directory to %s", name)
	var edits func() []diag.Edit
	if skill.LegalName(dir) && !keepsName(name, dir) {
		fix = fmt.Sprintf("write name: %s, or rename the directory to %s", dir, name)
		edits = u.rename(dir)
	}
	u.atNode(node, finding{
		rule: rule.NameDirectory, severity: j.NameIsDirectory, profile: j.ID, fix: fix, edits: edits,
		suggest: true,
		message: fmt.Sprintf("the name is %q, but the directory is %q", name, dir),
	})
}

func (u *skillCheck) checkRecommended(j *profileSchema) {
	for _, name := range j.Recommended {
		if key, _ := u.doc.Lookup(name); key != nil || u.broken() {
			continue
		}
		f := finding{
			rule: rule.Recommended, message: name + " is missing", profile: j.ID,
			src: u.src, line: u.doc.FrontLine - 1, column: 1, width: 3, fix: "add a line " + name + ": …",
		}
		if j.Defaults[name] == "first-paragraph" {
			f.message += ", so " + j.Title + " uses the first paragraph of the skill"
		}
		u.add(f)
	}
}

// checkListing warns when fields that are shown together are longer than the space for them.
func (u *skillCheck) checkListing(j *profileSchema) {
	if j.Listing == nil {
		return
	}
	total := 0
	var last *yaml.Node
	for _, name := range j.Listing.Fields {
		if _, v := u.doc.Lookup(name); v != nil && v.Kind == yaml.ScalarNode {
			total += length(v)
			last = v
		}
	}
	if total > j.Listing.Limit {
		u.atNode(last, finding{
			rule: rule.Listing, profile: j.ID,
			message: fmt.Sprintf("%s together have %d characters, but %s shows only the first %d",
				strings.Join(j.Listing.Fields, " and "), total, j.Title, j.Listing.Limit),
		})
	}
}
