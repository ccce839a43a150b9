package enforce

import (
	"context"
	"errors"
	"io/fs"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Verdict is the outcome of one rule.
type Verdict string

// The verdicts of a policy.
const (
	Allows        Verdict = "allows"
	Denies        Verdict = "denies"
	Observes      Verdict = "would deny"  // it would deny, and its policy is in observe mode
	NotApplicable Verdict = "not checked" // it needs files that are missing, or does not apply to the skill
)

// Ruling is the verdict of one rule of one policy about a skill or a source.
type Ruling struct {
	Policy  string  `json:"policy"`
	Line    int     `json:"line,omitempty"`
	Level   string  `json:"level"`
	Rule    string  `json:"rule"` // its key, such as "skills.deny"
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
	Hint    string  `json:"hint,omitempty"`
}

// Explain returns the verdict of every rule about a skill, in the order of evaluation: the first denial is the one that
// [Evaluator.Evaluate] returns. If files is nil, rules that need them are not applicable.
func (g *Evaluator) Explain(ctx context.Context, s Skill, files fs.FS) []Ruling {
	st := g.current()
	all := st.unreadable()
	j := &evaluation{ctx: ctx, st: st, skill: s, files: files}
	for _, kind := range rules() {
		for _, p := range st.set {
			if p.Err() != nil || !kind.has(p) {
				continue
			}
			r := Ruling{Policy: p.Path, Line: kind.at(p), Level: p.Level.String(), Rule: kind.key}
			switch {
			case s.Machine && p.Level != policy.MachineLevel:
				r.Verdict, r.Why = NotApplicable, "the policy does not apply to skills that the machine's administrator installed"
			case s.Machine && !kind.machine:
				r.Verdict, r.Why = NotApplicable, "the rule does not apply to skills that the machine's administrator installed"
			case kind.needsFiles && files == nil:
				r.Verdict, r.Why = NotApplicable, "the files of the skill are not available"
			default:
				r.record(p, kind.ask(j, p), func() string { return kind.allows(j, p) })
			}
			all = append(all, r)
		}
	}
	return all
}

// record sets the verdict of a rule.
func (r *Ruling) record(p *policy.Policy, err error, allows func() string) {
	if err == nil {
		r.Verdict, r.Why = Allows, allows()
		return
	}
	r.Verdict, r.Why, r.Hint = Denies, err.Error(), diag.HintOf(err)
	if p.Mode == policy.Observe {
		r.Verdict = Observes
	}
	if refused, ok := errors.AsType[*policy.RefusedError](err); ok {
		r.Line, r.Rule, r.Why = refused.Line, refused.Rule, refused.Subject+" "+refused.Why
	} else if denied, ok := errors.AsType[*policy.DeniedError](err); ok && denied.Line > 0 {
		r.Line = denied.Line
	}
}

// unreadable returns a ruling for each policy that cannot be read.
func (st snapshot) unreadable() (all []Ruling) {
	for _, p := range st.set {
		if err := p.Err(); err != nil {
			all = append(all, Ruling{
				Policy: p.Path, Level: p.Level.String(), Rule: "file", Verdict: Denies,
				Why: err.Error(), Hint: diag.HintOf(err),
			})
		}
	}
	return all
}

// ExplainSource returns the verdict of every rule about a source.
func (g *Evaluator) ExplainSource(text string) []Ruling {
	st := g.current()
	all := st.unreadable()
	for _, p := range st.set {
		if p.Err() != nil || p.Sources.Allow == nil && len(p.Sources.Deny) == 0 {
			continue
		}
		r := Ruling{
			Policy: p.Path, Line: max(p.Line("sources.allow"), p.Line("sources.deny", 0)),
			Level: p.Level.String(), Rule: "sources",
		}
		r.record(p, p.Source(text), func() string { return text + " is allowed" })
		all = append(all, r)
	}
	return all
}
