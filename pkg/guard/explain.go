package guard

import (
	"context"
	"io/fs"
)

// Verdict is what a rule says.
type Verdict string

// The verdicts.
const (
	Allows   Verdict = "allows"
	Denies   Verdict = "denies"
	Observes Verdict = "would deny" // a policy that only observes
	Silent   Verdict = "says nothing"
)

// Ruling is what one rule of one policy says of a skill or a source.
type Ruling struct {
	Policy  string  `json:"policy"`
	Line    int     `json:"line,omitempty"`
	Level   string  `json:"level"`
	Rule    string  `json:"rule"` // its key, as "skills.deny"
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
	Hint    string  `json:"hint,omitempty"`
}

// Explain returns what every rule says of a skill, in the order in which they decide: the first that denies is the one
// that [Guard.Use] names. Files may be nil, and then what looks at them is left out.
func (g *Guard) Explain(ctx context.Context, s Skill, files fs.FS) []Ruling {
	return g.state().explain(ctx, s, files)
}

// ExplainSource returns what every rule says of a source.
func (g *Guard) ExplainSource(text string) []Ruling { return g.state().explainSource(text) }

func (st state) explain(context.Context, Skill, fs.FS) []Ruling { return nil }

func (st state) explainSource(string) []Ruling { return nil }
