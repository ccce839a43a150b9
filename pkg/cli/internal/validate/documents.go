package validate

import (
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// rulesDocument is the output of "explain --json".
type rulesDocument struct {
	Rules []rule.Rule `json:"rules"` // all validation rules, or the rules that arguments name
}

// catalogRulesDocument is the output of "explain CA --json".
type catalogRulesDocument struct {
	Rules []catalog.Rule `json:"rules"` // rules of "skillpm skills"
}

// schemasDocument is the output of "schema --json".
type schemasDocument struct {
	Schemas []string `json:"schemas"` // names of the schemas
}

// Documents returns what the commands print with --json.
func Documents() []console.Document {
	return []console.Document{
		{Command: "validate", Types: []any{render.JSONReport{}, publish.BaselineReport{}}},
		{Command: "explain", Types: []any{rulesDocument{}, catalogRulesDocument{}}},
		{Command: "schema", Types: []any{schemasDocument{}}},
	}
}
