package evaluate

import "time"

// Variant says which form of the skill a run has.
type Variant string

// The variants of a run.
const (
	With     Variant = "with"     // the skill as it is in its directory
	Without  Variant = "without"  // no skill
	Previous Variant = "previous" // the skill as it was in the version to compare with
)

// Kind says what a case measures.
type Kind string

// The kinds of cases.
const (
	Task    Kind = "task"    // the result of a prompt, decided by graders
	Trigger Kind = "trigger" // whether a prompt activates the skill
)

// Outcome is the result of a run.
type Outcome string

// The outcomes of a run.
const (
	Passed   Outcome = "passed"
	Failed   Outcome = "failed"
	Errored  Outcome = "error"   // the agent or a grader could not run, so that nothing was measured
	TimedOut Outcome = "timeout" // the agent did not end in time; it counts as failed
)

// Report is the result of an evaluation.
type Report struct {
	Agent        string        `json:"agent"`                  // the agent's id, or the command
	AgentVersion string        `json:"agentVersion,omitempty"` // as the agent prints it
	Model        string        `json:"model,omitempty"`        // as the agent reports it
	Started      time.Time     `json:"started"`                // time at which the evaluation began
	Duration     time.Duration `json:"durationNs"`             // in nanoseconds
	Repeats      int           `json:"repeats"`                // runs of each case and variant
	Interrupted  bool          `json:"interrupted,omitempty"`  // runs are missing
	Skills       []Skill       `json:"skills"`
}

// Skill holds the results of one skill.
type Skill struct {
	Name     string `json:"name"`
	Dir      string `json:"dir"`                // as on the command line, with slashes
	Digest   string `json:"digest"`             // of the skill's files
	Previous string `json:"previous,omitempty"` // the version or commit of the previous variant
	Cases    []Case `json:"cases"`              // tasks and trigger queries
}

// Case holds the runs of one case.
type Case struct {
	ID            string `json:"id"`                      // unique in the skill
	Kind          Kind   `json:"kind"`                    // task or trigger
	File          string `json:"file"`                    // slash-separated, relative to the skill
	Prompt        string `json:"prompt"`                  // what the agent was told
	ShouldTrigger *bool  `json:"shouldTrigger,omitempty"` // of a trigger query
	Runs          []Run  `json:"runs"`                    // by variant and number
}

// shouldTrigger reports whether the prompt should activate the skill.
func (c *Case) shouldTrigger() bool { return c.ShouldTrigger == nil || *c.ShouldTrigger }

// Run is one run of an agent.
type Run struct {
	Variant   Variant  `json:"variant"`             // with, without, or previous
	Number    int      `json:"number"`              // from 1, for each variant
	Outcome   Outcome  `json:"outcome"`             // passed, failed, error, or timeout
	Error     string   `json:"error,omitempty"`     // why nothing was measured
	Grades    []Grade  `json:"grades,omitempty"`    // decisions of the graders
	Activated []string `json:"activated,omitempty"` // names of the skills that the agent activated
	ToolCalls int      `json:"toolCalls"`           // number of tool calls
	Denials   int      `json:"denials"`             // tool calls that the skill or a policy denied
	Usage
	Judge    *Usage        `json:"judge,omitempty"`  // what the judge needed, apart from the run; nil if unknown
	Duration time.Duration `json:"durationNs"`       // in nanoseconds
	Output   string        `json:"output,omitempty"` // the agent's final message, shortened
}

// Usage is what an agent needed to answer a prompt, as it reports it.
type Usage struct {
	InputTokens  *int64   `json:"inputTokens,omitempty"`  // tokens, cached ones included; nil if unknown
	OutputTokens *int64   `json:"outputTokens,omitempty"` // tokens; nil if unknown
	CostUSD      *float64 `json:"costUsd,omitempty"`      // nil if unknown
}

// Grade is the decision of one grader.
type Grade struct {
	Grader   string `json:"grader"`             // its type, such as regexp
	Text     string `json:"text"`               // what it checks, in words
	Passed   bool   `json:"passed"`             // whether the result is right
	Evidence string `json:"evidence,omitempty"` // what was found, shortened
	Error    string `json:"error,omitempty"`    // why the grader could not decide
}
