package evaluate

import (
	"fmt"
	"strconv"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Shortfall is why the results of a skill are not good enough.
type Shortfall struct {
	Skill   string  `json:"skill"` // name
	Dir     string  `json:"dir"`   // as in the report
	Kind    Kind    `json:"kind"`
	Against Variant `json:"against,omitempty"` // of a regression: previous or baseline
	Reason  string  `json:"reason"`            // without the name of the skill
}

// CheckThreshold returns the skills that a summary shows to be not good enough, in the order of the summary: those
//
//   - whose pass rate with the skill is less than failBelow percent, of tasks or of trigger cases,
//   - of which no run with the skill was measured, because each of them is an error, and
//   - whose pass rate is lower than in the baseline or with the previous version, by more than chance.
//
// Tasks and trigger cases are checked separately, so that many easy prompts do not hide a failed task.
func CheckThreshold(s Summary, failBelow float64) (all []Shortfall) {
	for _, k := range s.Skills {
		short := func(kind Kind, against Variant, format string, args ...any) {
			all = append(all, Shortfall{
				Skill: k.Name, Dir: k.Dir, Kind: kind, Against: against, Reason: fmt.Sprintf(format, args...),
			})
		}
		for _, m := range k.Measures {
			if m.Variant != With {
				continue
			}
			switch p := m.PassRate; {
			case p == nil:
				short(m.Kind, "", "no %s run was measured: %s failed to run", m.Kind, textx.Count(m.Errors, "run"))
			case float64(p.Count)*100 < failBelow*float64(p.Of):
				short(m.Kind, "", "%d of %d %s runs passed (%.1f %%); the minimum is %s %%", p.Count, p.Of, m.Kind,
					100*p.Rate, strconv.FormatFloat(failBelow, 'f', -1, 64))
			}
		}
		for _, d := range k.Deltas {
			if d.Verdict == Worse && d.Against != Without {
				short(d.Kind, d.Against, "the %s pass rate is %.0f points lower than %s, more than by chance", d.Kind,
					-100*d.PassRate.Value, map[Variant]string{
						Baseline: "in the baseline", Previous: "with the previous version",
					}[d.Against])
			}
		}
	}
	return all
}
