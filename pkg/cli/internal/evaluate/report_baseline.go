package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// maxReport limits a report that is read, in bytes.
const maxReport = 64 << 20

// Limits of the numbers of a run, so that sums stay exact.
const (
	maxCount   = 1e12
	maxCostUSD = 1e9
)

// reportHint is how to write a report.
const reportHint = "write a report with: skillpm test --agent AGENT --output FILE"

// ReadBaseline reads a report that an earlier evaluation wrote as JSON. It ignores the summary, and fields that it does
// not know.
func ReadBaseline(file string) (*Report, error) {
	data, err := safefile.ReadFile(file, maxReport)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "%s does not exist", file).WithHint("%s", reportHint)
	}
	if err != nil {
		return nil, err
	}
	r, err := parseReport(data)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s is not a report of an evaluation: %w", file, err).
			WithHint("%s", reportHint)
	}
	return r, nil
}

// parseReport decodes and checks a report: a document of its own, or the evaluation in the output of "test --json".
func parseReport(data []byte) (*Report, error) {
	var d struct {
		SchemaVersion int             `json:"schemaVersion"`
		Evaluation    json.RawMessage `json:"evaluation"`
	}
	if err := jsonx.Decode(data, &d, jsonx.Options{MaxBytes: maxReport}); err != nil {
		return nil, err
	}
	if d.SchemaVersion != console.SchemaVersion {
		return nil, fmt.Errorf("schemaVersion is %d; the version that this skillpm reads is %d", d.SchemaVersion,
			console.SchemaVersion)
	}
	if d.Evaluation != nil {
		data = d.Evaluation
	}
	var r Report
	if err := jsonx.Decode(data, &r, jsonx.Options{}); err != nil {
		return nil, err
	}
	if r.Agent == "" || r.Skills == nil {
		return nil, errors.New("it does not have an agent and skills")
	}
	seen := map[[2]string]bool{}
	for _, s := range r.Skills {
		key := [2]string{s.Name, s.Dir}
		if s.Name == "" || seen[key] {
			return nil, fmt.Errorf("the skill %q in %q does not have a name, or is duplicated", s.Name, s.Dir)
		}
		seen[key] = true
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("skill %q: %w", s.Name, err)
		}
	}
	return &r, nil
}

func (s *Skill) check() error {
	seen := map[string]bool{}
	for _, c := range s.Cases {
		if c.ID == "" || seen[c.ID] {
			return fmt.Errorf("the case %q does not have an id, or is duplicated", c.ID)
		}
		seen[c.ID] = true
		if c.Kind != Task && c.Kind != Trigger {
			return fmt.Errorf("case %q has the unknown kind %q", c.ID, c.Kind)
		}
		for i := range c.Runs {
			if err := c.Runs[i].check(); err != nil {
				return fmt.Errorf("case %q: run %d %w", c.ID, i+1, err)
			}
		}
	}
	return nil
}

func (r *Run) check() error {
	switch r.Variant {
	case With, Without, Previous:
	case Baseline: // only summaries have it
		return fmt.Errorf("has the variant %q", r.Variant)
	default:
		return fmt.Errorf("has the unknown variant %q", r.Variant)
	}
	switch r.Outcome {
	case Passed, Failed, Errored, TimedOut:
	default:
		return fmt.Errorf("has the unknown outcome %q", r.Outcome)
	}
	for _, n := range []int64{int64(r.Number), int64(r.Duration), int64(r.ToolCalls), int64(r.Denials)} {
		if n < 0 {
			return fmt.Errorf("has the negative number %d", n)
		}
	}
	if r.Judge != nil {
		if err := r.Judge.check(); err != nil {
			return err
		}
	}
	return r.Usage.check()
}

func (u *Usage) check() error {
	for _, n := range []int64{orZero(u.InputTokens), orZero(u.OutputTokens)} {
		if n < 0 {
			return fmt.Errorf("has the negative number %d", n)
		}
		if n > maxCount {
			return fmt.Errorf("has more than %d tokens", int64(maxCount))
		}
	}
	if c := orZero(u.CostUSD); c < 0 || c > maxCostUSD {
		return fmt.Errorf("costs %g US dollars; a cost is between 0 and %d", c, int64(maxCostUSD))
	}
	return nil
}

// orZero returns the number, or 0 if it is unknown.
func orZero[T int64 | float64](n *T) T {
	if n == nil {
		return 0
	}
	return *n
}
