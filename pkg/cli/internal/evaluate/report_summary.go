package evaluate

import "slices"

// Baseline is the variant of an earlier report: its runs with the skill. Only summaries have it.
const Baseline Variant = "baseline"

// Verdict says whether a difference is more than chance.
type Verdict string

// The verdicts.
const (
	Better  Verdict = "better"  // the whole interval is above zero
	Worse   Verdict = "worse"   // the whole interval is below zero
	Unclear Verdict = "unclear" // the interval contains zero
)

// Document is a report with its summary, as JSON output has it.
type Document struct {
	Report
	Summary Summary `json:"summary"` // what the runs show together
}

// Summary holds what a report shows of all runs together.
type Summary struct {
	Skills []SkillSummary `json:"skills"` // results of each skill, in the order of the report
	Total  Results        `json:"total"`  // results of all skills together
}

// SkillSummary holds the results of one skill.
type SkillSummary struct {
	Name string `json:"name"` // name of the skill
	Dir  string `json:"dir"`  // directory, as in the report
	Results
}

// Results are the measures of each kind and variant, and how the runs with the skill differ from the others.
type Results struct {
	Measures []Measure `json:"measures"` // tasks first, and for each kind the variant "with" first
	Deltas   []Delta   `json:"deltas"`   // differences between runs with the skill and the others
}

// Measure summarizes the runs of one kind and variant. Averages are those of measured runs of tasks, nil if none reports
// the number. Runs of trigger queries end when the skill is activated, so averages would not describe them.
type Measure struct {
	Kind        Kind        `json:"kind"`                  // task or trigger
	Variant     Variant     `json:"variant"`               // with, without, previous, or baseline
	Cases       int         `json:"cases"`                 // cases with runs
	Runs        int         `json:"runs"`                  // runs that measured something
	Errors      int         `json:"errors"`                // runs that measured nothing; they do not count elsewhere
	Timeouts    int         `json:"timeouts"`              // runs that did not end in time; they count as failed
	PassRate    *Proportion `json:"passRate,omitempty"`    // share of the runs that passed
	Precision   *Proportion `json:"precision,omitempty"`   // share of the activations that were right, of trigger queries
	Recall      *Proportion `json:"recall,omitempty"`      // share of the runs that should activate the skill and did
	Tokens      *Average    `json:"tokens,omitempty"`      // input and output tokens of a run
	TimeSeconds *Average    `json:"timeSeconds,omitempty"` // duration of a run
	CostUSD     *Average    `json:"costUsd,omitempty"`     // cost of a run in US dollars
	ToolCalls   *Average    `json:"toolCalls,omitempty"`   // tool calls of a run
	Denials     int         `json:"denials"`               // denied tool calls of all runs
}

// Delta is how runs with the skill differ from those of another variant, on the cases that have measured runs of both.
// Numbers are those with the skill minus the others: means per run, except the pass rate.
type Delta struct {
	Kind        Kind        `json:"kind"`                  // task or trigger
	Against     Variant     `json:"against"`               // without, previous, or baseline
	Cases       int         `json:"cases"`                 // cases that both have
	PassRate    *Difference `json:"passRate,omitempty"`    // difference of the pass rates
	Verdict     Verdict     `json:"verdict,omitempty"`     // better, worse, or unclear
	Tokens      *float64    `json:"tokens,omitempty"`      // difference of the tokens
	TimeSeconds *float64    `json:"timeSeconds,omitempty"` // difference of the durations
	CostUSD     *float64    `json:"costUsd,omitempty"`     // difference of the costs
}

// Summarize summarizes a report, and compares it with an earlier report, which may be nil.
func Summarize(r, base *Report) Summary {
	s := Summary{Skills: []SkillSummary{}}
	var all []observation
	for i := range r.Skills {
		of := observations(i, r, base)
		all = append(all, of...)
		s.Skills = append(s.Skills, SkillSummary{Name: r.Skills[i].Name, Dir: r.Skills[i].Dir, Results: results(of)})
	}
	s.Total = results(all)
	return s
}

// observation is a run with what is known of its case.
type observation struct {
	skill   int // the index in the report
	kind    Kind
	id      string
	variant Variant
	name    string // of the skill
	should  bool   // whether the prompt should activate the skill
	run     *Run
}

// at names the case of an observation in all skills.
type at struct {
	skill int
	id    string
}

func (o observation) at() at { return at{o.skill, o.id} }

// measured reports whether the run measured something.
func (o observation) measured() bool { return o.run.Outcome != Errored }

// activated reports whether the skill was activated in a run of a trigger query, and whether that is known.
func (o observation) activated() (yes, known bool) {
	switch o.run.Outcome {
	case Passed:
		return o.should, true
	case Failed:
		return !o.should, true
	case TimedOut:
		yes = slices.Contains(o.run.Activated, o.name)
		return yes, yes || o.should
	case Errored:
	}
	return false, false
}

// observations returns the runs of a skill, and those of the baseline for the same cases.
func observations(skill int, r, base *Report) (all []observation) {
	k := &r.Skills[skill]
	before := baselineOf(k, r, base)
	for i := range k.Cases {
		c := &k.Cases[i]
		o := observation{
			skill: skill, kind: c.Kind, id: c.ID, name: k.Name, should: c.shouldTrigger(),
		}
		for j := range c.Runs {
			o.variant, o.run = c.Runs[j].Variant, &c.Runs[j]
			all = append(all, o)
		}
		o.variant = Baseline
		for j := range before {
			if !sameCase(c, &before[j]) {
				continue
			}
			for n := range before[j].Runs {
				if o.run = &before[j].Runs[n]; o.run.Variant == With {
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// sameCase reports whether the results of two cases can be compared.
func sameCase(a, b *Case) bool {
	return a.ID == b.ID && a.Kind == b.Kind && a.Prompt == b.Prompt && a.shouldTrigger() == b.shouldTrigger()
}

// baselineOf returns the cases of a skill in an earlier report. If several skills have its name, the directory decides.
func baselineOf(k *Skill, r, base *Report) []Case {
	if base == nil {
		return nil
	}
	named := func(all []Skill) (same []Skill) {
		for _, s := range all {
			if s.Name == k.Name {
				same = append(same, s)
			}
		}
		return same
	}
	before := named(base.Skills)
	if len(before) == 1 && len(named(r.Skills)) == 1 {
		return before[0].Cases
	}
	for _, s := range before {
		if s.Dir == k.Dir {
			return s.Cases
		}
	}
	return nil
}

// results summarizes observations.
func results(all []observation) Results {
	r := Results{Measures: []Measure{}, Deltas: []Delta{}}
	for _, kind := range []Kind{Task, Trigger} {
		for _, variant := range []Variant{With, Without, Previous, Baseline} {
			of := filter(all, kind, variant)
			if len(of) == 0 {
				continue
			}
			r.Measures = append(r.Measures, newMeasure(kind, variant, of))
			if d, ok := newDelta(kind, variant, filter(all, kind, With), of); ok {
				r.Deltas = append(r.Deltas, d)
			}
		}
	}
	return r
}

func filter(all []observation, kind Kind, variant Variant) (of []observation) {
	for _, o := range all {
		if o.kind == kind && o.variant == variant {
			of = append(of, o)
		}
	}
	return of
}

func newMeasure(kind Kind, variant Variant, of []observation) Measure {
	m := Measure{Kind: kind, Variant: variant}
	cases := map[at]bool{}
	passed, right, activated, should := 0, 0, 0, 0
	for _, o := range of {
		cases[o.at()] = true
		if !o.measured() {
			m.Errors++
			continue
		}
		m.Runs++
		m.Denials += o.run.Denials
		switch o.run.Outcome {
		case Passed:
			passed++
		case TimedOut:
			m.Timeouts++
		case Failed, Errored:
		}
		yes, known := o.activated()
		if known && o.should {
			should++
		}
		if known && yes {
			activated++
			if o.should {
				right++
			}
		}
	}
	m.Cases = len(cases)
	m.PassRate = newProportion(passed, m.Runs)
	if kind == Trigger {
		m.Precision, m.Recall = newProportion(right, activated), newProportion(right, should)
		return m
	}
	m.Tokens, m.TimeSeconds = average(of, tokens), average(of, seconds)
	m.CostUSD, m.ToolCalls = average(of, cost), average(of, toolCalls)
	return m
}

// newDelta compares runs with the skill with those of another variant. Without common cases it returns false.
func newDelta(kind Kind, against Variant, with, others []observation) (Delta, bool) {
	if against == With {
		return Delta{}, false
	}
	both := map[at]int{}
	for bit, of := range [][]observation{with, others} {
		for _, o := range of {
			if o.measured() {
				both[o.at()] |= 1 << bit
			}
		}
	}
	unshared := func(o observation) bool { return both[o.at()] != 3 }
	with = slices.DeleteFunc(slices.Clone(with), unshared)
	others = slices.DeleteFunc(slices.Clone(others), unshared)
	if len(with) == 0 {
		return Delta{}, false
	}
	a, b := newMeasure(kind, With, with), newMeasure(kind, against, others)
	d := Delta{Kind: kind, Against: against, Cases: a.Cases, PassRate: newDifference(a.PassRate, b.PassRate)}
	d.Verdict = d.PassRate.verdict()
	d.Tokens, d.TimeSeconds = difference(a.Tokens, b.Tokens), difference(a.TimeSeconds, b.TimeSeconds)
	d.CostUSD = difference(a.CostUSD, b.CostUSD)
	return d, true
}

// difference returns the difference of two means, nil if one of them is unknown.
func difference(a, b *Average) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := a.Mean - b.Mean
	return &d
}

// average returns the average of a number over the measured runs that report it.
func average(of []observation, value func(*Run) (float64, bool)) *Average {
	var values []float64
	for _, o := range of {
		if v, ok := value(o.run); ok && o.measured() {
			values = append(values, v)
		}
	}
	return newAverage(values)
}

// tokens returns all tokens, false if the agent does not report both numbers.
func (u *Usage) tokens() (float64, bool) {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return 0, false
	}
	return float64(*u.InputTokens) + float64(*u.OutputTokens), true
}

func (u *Usage) cost() (float64, bool) { return orZero(u.CostUSD), u.CostUSD != nil }

func tokens(r *Run) (float64, bool) { return r.tokens() }

func cost(r *Run) (float64, bool) { return r.cost() }

func seconds(r *Run) (float64, bool) { return r.Duration.Seconds(), true }

func toolCalls(r *Run) (float64, bool) { return float64(r.ToolCalls), true }
