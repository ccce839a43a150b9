package evaluate

import (
	"fmt"
	"strconv"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Shortfall is why the results of a skill are not good enough.
type Shortfall struct {
	Skill   string  `json:"skill"`             // name of the skill
	Dir     string  `json:"dir"`               // directory, as in the report
	Kind    Kind    `json:"kind"`              // kind of the cases: task or trigger
	Case    string  `json:"case,omitempty"`    // id of the case; "" for all cases of the kind
	Against Variant `json:"against,omitempty"` // what a regression is against: previous or baseline
	Reason  string  `json:"reason"`            // sentence without the names of the skill and the case
}

// String returns a sentence that names the skill, and the case.
func (f Shortfall) String() string {
	if f.Case != "" {
		return f.Skill + ": " + f.Case + ": " + f.Reason
	}
	return f.Skill + ": " + f.Reason
}

// CheckThreshold returns which results of a report are not good enough, in its order. base may be nil. They are
//
//   - the skills whose pass rate is less than failBelow percent, of tasks or of trigger queries, or, if failBelow is 0,
//     the cases of which fewer than half of the runs passed, or exactly half if the prompt should not activate the skill,
//   - the cases of which no run was measured, because each of them is an error, and
//   - the skills whose pass rate is lower than in the baseline or with the previous version, by more than chance.
//
// Only runs with the skill count. Tasks and trigger queries are checked separately, so that many easy prompts do not hide
// a failed task.
func CheckThreshold(r, base *Report, failBelow float64) (all []Shortfall) {
	s := Summarize(r, base)
	for i := range r.Skills {
		k := &r.Skills[i]
		short := func(f Shortfall, format string, args ...any) {
			f.Skill, f.Dir, f.Reason = k.Name, k.Dir, fmt.Sprintf(format, args...)
			all = append(all, f)
		}
		for j := range k.Cases {
			c := &k.Cases[j]
			switch t := c.tally(With); {
			case t.runs == 0 && t.errors > 0:
				short(Shortfall{Kind: c.Kind, Case: c.ID}, "no run was measured: %s", textx.Count(t.errors, "error"))
			case failBelow == 0 && 2*t.passed < t.runs:
				short(Shortfall{Kind: c.Kind, Case: c.ID}, "%s; at least half must pass", t)
			case failBelow == 0 && t.runs > 0 && 2*t.passed == t.runs && !c.shouldTrigger():
				short(Shortfall{Kind: c.Kind, Case: c.ID}, "%s; more than half must pass", t)
			}
		}
		for _, m := range s.Skills[i].Measures {
			if p := m.PassRate; p != nil && m.Variant == With && float64(p.Count)*100 < failBelow*float64(p.Of) {
				short(Shortfall{Kind: m.Kind}, "%d of %d %s runs passed (%.1f%%); the minimum is %s%%", p.Count, p.Of,
					m.Kind, 100*p.Rate, strconv.FormatFloat(failBelow, 'f', -1, 64))
			}
		}
		for _, d := range s.Skills[i].Deltas {
			if d.Verdict == Worse && d.Against != Without {
				short(Shortfall{Kind: d.Kind, Against: d.Against},
					"the %s pass rate is %.0f points lower than %s, more than chance", d.Kind, -100*d.PassRate.Value,
					d.Against.than())
			}
		}
	}
	return all
}
