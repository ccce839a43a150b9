package prompt

import (
	"encoding/json"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Tool is the definition of a tool in the Model Context Protocol. Other interfaces only use another name for its
// schema.
type Tool struct {
	Name        string
	Description string
	Schema      []byte // JSON Schema of its arguments, on one line
}

// MarshalJSON writes the definition with its keys in the usual order.
func (t Tool) MarshalJSON() ([]byte, error) {
	return object{
		{"name", t.Name},
		{"description", t.Description},
		{"inputSchema", json.RawMessage(t.Schema)},
	}.MarshalJSON()
}

// Tools returns the tools with which a model uses skills under a profile. Some agents show the listing in the
// description of the first tool; it then contains it. Tools returns none if the profile has none or there are no
// skills.
func Tools(p *profile.Profile, entries []Entry, o Options) ([]Tool, Listing, error) {
	l, err := List(p, entries, o)
	if err != nil {
		return nil, Listing{}, err
	}
	var out []Tool
	for _, t := range []profile.Tool{p.Trigger.Skill, p.Trigger.File, p.Trigger.Find} {
		if t.Name == "" || t.OmitEmpty && len(entries) == 0 {
			continue
		}
		tool, err := define(p, t, l)
		if err != nil {
			return nil, Listing{}, err
		}
		if t.Name == p.Trigger.Skill.Name && p.Stage1.Place == "tool-description" && l.Text != "" {
			tool.Description = l.Text
		}
		out = append(out, tool)
	}
	return out, l, nil
}

// define writes the definition of a tool. It names the values of an argument only if the listing has all of them.
func define(p *profile.Profile, t profile.Tool, l Listing) (Tool, error) {
	names := l.Names
	description, err := template(t.Description)
	if err != nil {
		return Tool{}, err
	}
	properties, required := object{}, []string{}
	for _, a := range t.Arguments {
		property := object{{"type", "string"}}
		about, err := template(a.Description)
		if err != nil {
			return Tool{}, err
		}
		if a.Description != "" {
			property = append(property, member{"description", expand(about, "", frame(p, len(names)))})
		}
		if a.Value != "" {
			property = append(property, member{"const", a.Value})
		}
		if a.Enum && len(names) > 0 && len(l.Left) == 0 {
			property = append(property, member{"enum", slices.Clone(names)})
		}
		properties = append(properties, member{a.Name, property})
		if !a.Optional {
			required = append(required, a.Name)
		}
	}
	schema, err := jsonx.Marshal(object{
		{"type", "object"},
		{"properties", properties},
		{"required", required},
		{"additionalProperties", false},
	})
	return Tool{Name: t.Name, Description: expand(description, "", frame(p, len(names))), Schema: schema}, err
}
