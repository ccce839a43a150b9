package sign_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/sign"
)

// TestTestResult checks the statement of an evaluation, and that the parser reads it.
func TestTestResult(t *testing.T) {
	r := sign.TestResult{
		Passed: []string{"deploy/1"}, Warned: []string{"deploy/2"},
		Files: map[string]string{"deploy/evals/evals.json": digestA, "deploy/evals/a.json": digestA},
		TestRun: sign.TestRun{
			Agent: "claude-code", Time: time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC),
			With: &sign.TestRate{Passed: 5, Runs: 6}, Without: &sign.TestRate{Passed: 1, Runs: 6},
		},
	}
	s, err := r.Statement("acme/deploy", digestA)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "_type": "https://in-toto.io/Statement/v1",
 "subject": [
  {
   "name": "acme/deploy",
   "digest": {
    "sha256": "` + digestA[7:] + `"
   }
  }
 ],
 "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
 "predicate": {
  "configuration": [
   {
    "name": "deploy/evals/a.json",
    "digest": {
     "sha256": "` + digestA[7:] + `"
    }
   },
   {
    "name": "deploy/evals/evals.json",
    "digest": {
     "sha256": "` + digestA[7:] + `"
    }
   }
  ],
  "failedTests": [],
  "https://github.com/skillpm/skillpm/test/v1": {
   "agent": "claude-code",
   "time": "2026-11-29T08:00:00Z",
   "with": {
    "passed": 5,
    "runs": 6
   },
   "without": {
    "passed": 1,
    "runs": 6
   }
  },
  "passedTests": [
   "deploy/1"
  ],
  "result": "WARNED",
  "warnedTests": [
   "deploy/2"
  ]
 }
}`
	if got := indented(t, s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c, err := sign.ParseStatement(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sign.ParseTestResult(c.Predicate)
	if err != nil || got.Result != sign.TestsWarned || got.Passed != 1 || got.Warned != 1 || got.Failed != 0 ||
		*got.With != *r.With || *got.Without != *r.Without || !got.Time.Equal(r.Time) || got.Agent != r.Agent {
		t.Errorf("parsed %+v %v", got, err)
	}
	for want, r := range map[string]sign.TestResult{
		sign.TestsPassed: {Passed: []string{"a"}},
		sign.TestsFailed: {Passed: []string{"a"}, Warned: []string{"b"}, Failed: []string{"c"}},
	} {
		if got := r.Result(); got != want {
			t.Errorf("the result is %s, want %s", got, want)
		}
	}
	if _, err := (&sign.TestResult{Files: map[string]string{"a": "sha256:1"}}).Statement("", digestA); err == nil {
		t.Error("a file with a short digest was accepted")
	}
}

// TestParseTestResult checks results of other programs, and those that no program writes.
func TestParseTestResult(t *testing.T) {
	run := func(s string) string {
		return `{"result":"PASSED","configuration":[],"https://github.com/skillpm/skillpm/test/v1":` + s + `}`
	}
	many := `["x"` + strings.Repeat(`,"x"`, 10_000) + `]`
	for _, tt := range []struct{ predicate, want string }{
		{`{"result":"PASSED","configuration":[]}`, ""},
		{`{"result":"FAILED","passedTests":["a"],"failedTests":["b"],"url":"https://ci.example/1"}`, ""},
		{`[]`, "not a JSON object"},
		{`{}`, `the test result is ""`},
		{`{"result":"passed"}`, `"passed"`},
		{`{"result":1}`, "result is not a string"},
		{`{"result":"PASSED","passedTests":"a"}`, "passedTests is not a list"},
		{`{"result":"PASSED","passedTests":` + many + `}`, "the limit is 10000"},
		{run(`{"time":"yesterday"}`), "invalid https://github.com/skillpm/skillpm/test/v1"},
		{run(`{"with":{"passed":2,"runs":1}}`), "2 of 1 runs cannot pass"},
		{run(`{"without":{"passed":0,"runs":0}}`), "0 of 0 runs cannot pass"},
		{run(`{"queries":{"passed":-1,"runs":1}}`), "-1 of 1 runs cannot pass"},
		{run(`{"agent":"` + strings.Repeat("a", 5000) + `"}`), "invalid https://github.com/skillpm/skillpm/test/v1"},
	} {
		_, err := sign.ParseTestResult(json.RawMessage(tt.predicate))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.100s: %v, want %q", tt.predicate, err, tt.want)
		}
	}
	s, err := sign.ParseTestResult(json.RawMessage(run(`{"agent":"a\nb` + strings.Repeat("c", 200) + `"}`)))
	if err != nil || !strings.HasPrefix(s.Agent, "a bc") || len(s.Agent) > 110 {
		t.Errorf("the agent is %q: %v", s.Agent, err)
	}
}

// FuzzParseTestResult checks that parsing never panics, and that accepted rates are shares.
func FuzzParseTestResult(f *testing.F) {
	r := sign.TestResult{Passed: []string{"a"}, TestRun: sign.TestRun{With: &sign.TestRate{Passed: 1, Runs: 2}}}
	s, err := r.Statement("acme/deploy", digestA)
	if err != nil {
		f.Fatal(err)
	}
	c, err := sign.ParseStatement(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(c.Predicate))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sign.ParseTestResult(data)
		if err != nil {
			return
		}
		for _, r := range []*sign.TestRate{s.With, s.Without, s.Queries} {
			if r != nil && (r.Runs < 1 || r.Passed < 0 || r.Passed > r.Runs) {
				t.Errorf("accepted %+v", *r)
			}
		}
	})
}
