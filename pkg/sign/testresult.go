package sign

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// PredicateTests is the predicate type of test results: https://github.com/in-toto/attestation, test-result 0.1.
const PredicateTests = "https://in-toto.io/attestation/test-result/v0.1"

// MediaTypeStatement is the media type of a statement that is not signed, as an artifact and as its layer.
const MediaTypeStatement = payloadType

// testRun is the name of the field that the predicate's schema allows tools to add; docs/reference/formats.md describes
// its value.
const testRun = "https://github.com/skillpm/skillpm/test/v1"

// Results of a test run.
const (
	TestsPassed = "PASSED"
	TestsWarned = "WARNED" // a test passed only in some runs
	TestsFailed = "FAILED"
)

// TestResult is the result of one run of the tests of a pack's skills: the offline tests, or an evaluation with an
// agent. It is only as trustworthy as its signer.
type TestResult struct {
	Passed, Warned, Failed []string          // names of tests
	Files                  map[string]string // the files with the tests, by path in the pack, with their digests
	URL                    string            // of the CI run; "" if none
	TestRun
}

// TestRun describes how tests were run.
type TestRun struct {
	Skillpm string `json:"skillpm,omitempty"` // version

	// Of an evaluation with an agent. Offline tests do not have a time, so that the same pack gives the same statement.
	Agent   string    `json:"agent,omitempty"`
	Model   string    `json:"model,omitempty"`
	Time    time.Time `json:"time,omitzero"`     // of the start
	With    *TestRate `json:"with,omitempty"`    // tasks with the skill
	Without *TestRate `json:"without,omitempty"` // tasks without the skill
	Queries *TestRate `json:"queries,omitempty"` // trigger queries
}

// TestRate is how many runs of an evaluation passed.
type TestRate struct {
	Passed int `json:"passed"`
	Runs   int `json:"runs"`
}

// Add returns the sum of both, nil if there are no runs.
func (r *TestRate) Add(more TestRate) *TestRate {
	if r != nil {
		more.Passed += r.Passed
		more.Runs += r.Runs
	}
	if more.Runs == 0 {
		return nil
	}
	return &more
}

// Result returns the result of all tests, one of the constants.
func (r *TestResult) Result() string {
	switch {
	case len(r.Failed) > 0:
		return TestsFailed
	case len(r.Warned) > 0:
		return TestsWarned
	}
	return TestsPassed
}

// Statement returns the statement that a pack's manifest has this test result.
func (r *TestResult) Statement(pack, digest string) ([]byte, error) {
	type descriptor struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	}
	files := []descriptor{}
	for name, sum := range r.Files {
		hex, err := hexOf(sum)
		if err != nil {
			return nil, err
		}
		files = append(files, descriptor{name, map[string]string{"sha256": hex}})
	}
	slices.SortFunc(files, func(a, b descriptor) int { return strings.Compare(a.Name, b.Name) })
	predicate := map[string]any{
		"result": r.Result(), "configuration": files, "passedTests": texts(r.Passed), "warnedTests": texts(r.Warned),
		"failedTests": texts(r.Failed), testRun: r.TestRun,
	}
	if r.URL != "" {
		predicate["url"] = r.URL
	}
	return Statement(pack, digest, PredicateTests, predicate)
}

// texts returns a list that is encoded as a list even if it is empty.
func texts(list []string) []string { return append([]string{}, list...) }

// Limits of parsed results.
const (
	maxTests    = 10_000  // with the same outcome
	maxTestRun  = 4 << 10 // bytes of the description of the run
	maxTestText = 100     // bytes of a text of that description; the rest is cut off
)

// TestSummary is what a statement states about tests. Its texts come from the publisher and can contain anything.
type TestSummary struct {
	Result                 string
	Passed, Warned, Failed int
	TestRun                // the zero value if another program made the statement
}

// ParseTestResult parses the predicate of a statement with test results.
func ParseTestResult(predicate json.RawMessage) (*TestSummary, error) {
	o, err := parseObject(predicate, "the test result")
	if err != nil {
		return nil, err
	}
	s := &TestSummary{}
	if s.Result, err = o.text("result"); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{TestsPassed, TestsWarned, TestsFailed}, s.Result) {
		return nil, diag.Errorf(diag.Invalid, "the test result is %q instead of PASSED, WARNED, or FAILED", s.Result)
	}
	for key, n := range map[string]*int{"passedTests": &s.Passed, "warnedTests": &s.Warned, "failedTests": &s.Failed} {
		list, err := o.list(key, maxTests)
		if err != nil {
			return nil, err
		}
		*n = len(list)
	}
	if !o.has(testRun) {
		return s, nil
	}
	if err := jsonx.Decode(o[testRun], &s.TestRun, jsonx.Options{MaxBytes: maxTestRun}); err != nil {
		return nil, diag.Errorf(diag.Invalid, "invalid %s: %w", testRun, err)
	}
	for _, r := range []*TestRate{s.With, s.Without, s.Queries} {
		if r != nil && (r.Passed < 0 || r.Runs < r.Passed || r.Runs == 0) {
			return nil, diag.Errorf(diag.Invalid, "%d of %d runs cannot pass", r.Passed, r.Runs)
		}
	}
	for _, text := range []*string{&s.Skillpm, &s.Agent, &s.Model} {
		*text = textx.Truncate(textx.OneLine(*text), maxTestText)
	}
	return s, nil
}
