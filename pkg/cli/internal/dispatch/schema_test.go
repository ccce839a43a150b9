package dispatch

import (
	"encoding/json"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// TestD1ProfileTool checks SPEC D1: a model's call that follows the schema of the profile's tool is a valid line.
func TestD1ProfileTool(t *testing.T) {
	p, err := profile.Lookup("dispatch")
	if err != nil {
		t.Fatal(err)
	}
	call := map[string]string{}
	for _, a := range p.Trigger.Skill.Arguments {
		switch {
		case a.Value != "":
			call[a.Name] = a.Value
		case a.Takes == "line":
			call[a.Name] = "run @convert in.md"
		default:
			call[a.Name] = "convert one file"
		}
	}
	line, err := json.Marshal(call)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse(string(line))
	if err != nil || r.Skill != "convert" || len(r.Args) != 1 || r.Description != "convert one file" || r.Model != "convert one file" {
		t.Errorf("%s: got %+v, %v", line, r, err)
	}
}
