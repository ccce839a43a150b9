package evaluate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/page"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// none is shown for what is unknown.
const none = "–"

// percent formats a share as a whole number of percent. It rounds neither to 0% nor to 100% what is not.
func percent(f float64) string {
	n := math.Round(100 * f)
	switch {
	case n == 0 && f > 0:
		n = 1
	case n == 100 && f < 1:
		n = 99
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + "%"
}

// bounds formats the interval of a share, such as "55–95%".
func (p *Proportion) bounds() string {
	return fmt.Sprintf("%.0f–%.0f%%", 100*p.Low, 100*p.High)
}

// String formats a share with its interval, such as "83% (55–95)".
func (p *Proportion) String() string {
	if p == nil {
		return none
	}
	return percent(p.Rate) + " (" + strings.TrimSuffix(p.bounds(), "%") + ")"
}

// points formats a difference of shares in percentage points, with its sign.
func points(f float64) string { return signed(fmt.Sprintf("%.0f", 100*f)) }

// signed returns a number with its sign; zero does not have one.
func signed(number string) string {
	switch {
	case number == "-0" || number == "0":
		return "0"
	case number[0] == '-':
		return "−" + number[1:]
	}
	return "+" + number
}

// String formats a difference with its interval, such as "+42 points (+3 to +67)".
func (d *Difference) String() string {
	if d == nil {
		return none
	}
	return points(d.Value) + " points (" + points(d.Low) + " to " + points(d.High) + ")"
}

// text describes a verdict about the difference to a variant.
func (v Verdict) text() string {
	switch v {
	case Better:
		return "better, more than chance"
	case Worse:
		return "worse, more than chance"
	case Unclear:
		return "may be chance"
	}
	return ""
}

// against begins a sentence about the difference to a variant.
func (v Verdict) against(other Variant) string {
	if v == Unclear {
		return "not clearly different from runs " + other.than()
	}
	return string(v) + " than " + other.than()
}

// than ends a comparison with the runs of a variant.
func (v Variant) than() string {
	return map[Variant]string{
		Without: "without the skill", Previous: "with the previous version", Baseline: "in the baseline",
	}[v]
}

// text names a variant in a report.
func (v Variant) text() string {
	switch v {
	case With:
		return "with skill"
	case Without:
		return "without skill"
	case Previous:
		return "previous version"
	case Baseline:
	}
	return string(v)
}

// origin is where a skill comes from, and the version that it is compared with.
func (s *Skill) origin() string {
	if s.Previous == "" {
		return s.Dir
	}
	return s.Dir + ", previous version " + s.Previous
}

// text names a kind of cases.
func (k Kind) text() string {
	if k == Trigger {
		return "Trigger queries"
	}
	return "Tasks"
}

// quantity is a number that each run can have, with its format.
type quantity struct {
	name   string
	short  string // for a narrow column
	of     func(Measure) *Average
	value  func(*Run) (float64, bool)
	format func(float64) string
}

func (q quantity) mean(m Measure) string {
	if a := q.of(m); a != nil {
		return q.format(a.Mean)
	}
	return none
}

// quantities returns the numbers that a report shows.
func quantities() []quantity {
	return []quantity{
		{"Tokens", "tokens", func(m Measure) *Average { return m.Tokens }, tokens, wholeNumber},
		{"Time", "time", func(m Measure) *Average { return m.TimeSeconds }, seconds, duration},
		{"Cost", "cost", func(m Measure) *Average { return m.CostUSD }, cost, dollars},
		{"Tool calls", "calls", func(m Measure) *Average { return m.ToolCalls }, toolCalls, oneDecimal},
	}
}

func wholeNumber(f float64) string { return textx.Thousands(int64(math.Round(f))) }

func duration(s float64) string { return page.Duration(int64(math.Round(s * 1000))) }

// dollars formats a cost with two digits that count.
func dollars(f float64) string {
	if f >= 1000 {
		return "$" + wholeNumber(f)
	}
	digits := 2
	for limit := 0.1; f > 0 && f < limit && digits < 6; limit /= 10 {
		digits++
	}
	return "$" + strconv.FormatFloat(f, 'f', digits, 64)
}

func oneDecimal(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
