package skillpm

import (
	"context"
	"time"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// Tests are the results of tests that a statement attached to a published version states. Everybody who can push to the
// repository can attach one; only a verified statement is evidence.
type Tests struct {
	Result   string    `json:"result"`            // PASSED, WARNED, or FAILED
	Passed   int       `json:"passed"`            // number of passed tests
	Warned   int       `json:"warned"`            // passed only in some runs
	Failed   int       `json:"failed"`            // number of failed tests
	Skillpm  string    `json:"skillpm,omitempty"` // the version that ran offline tests
	Agent    string    `json:"agent,omitempty"`   // of an evaluation; absent for offline tests
	Model    string    `json:"model,omitempty"`   // of the agent
	Time     time.Time `json:"time,omitzero"`     // of the evaluation
	With     *TestRate `json:"with,omitempty"`    // tasks with the skill
	Without  *TestRate `json:"without,omitempty"` // tasks without the skill
	Queries  *TestRate `json:"queries,omitempty"` // trigger queries
	Signed   bool      `json:"signed"`            // the statement has a signature
	Verified bool      `json:"verified"`          // a trusted signer made the statement about this version
	Signer   string    `json:"signer,omitempty"`  // the signer as in a lockfile; absent if not verified
}

// TestRate is how many runs of an evaluation passed.
type TestRate struct {
	Passed int `json:"passed"` // number of passed runs
	Runs   int `json:"runs"`   // number of runs that measured something
}

// TestsOf returns the test results of a statement.
func TestsOf(f trust.Found) Tests {
	s := f.Tests
	rate := func(r *sign.TestRate) *TestRate {
		if r == nil {
			return nil
		}
		return &TestRate{r.Passed, r.Runs}
	}
	return Tests{
		Result: s.Result, Passed: s.Passed, Warned: s.Warned, Failed: s.Failed, Skillpm: s.Skillpm, Agent: s.Agent,
		Model: s.Model, Time: s.Time, With: rate(s.With), Without: rate(s.Without), Queries: rate(s.Queries),
		Signed: f.PredicateType != "", Verified: f.Verified, Signer: f.Key + f.Identity,
	}
}

// testsTimeout is how long a slow registry may delay a description.
const testsTimeout = 5 * time.Second

// testsOf returns the test results attached to a version, none if they cannot be read: they do not hide the other facts
// about a pack.
func (c *Client) testsOf(ctx context.Context, ref pack.Ref) []Tests {
	switch ref.Kind {
	case pack.KindOCI, pack.KindLayout, pack.KindLocal:
	default:
		return nil
	}
	w, err := c.TrustedSigners(nil)
	if err != nil || !pack.IsDigest(ref.Digest) {
		return nil
	}
	sources, err := c.UserSources()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, testsTimeout)
	defer cancel()
	found, err := sources.Verifier(false).FindTests(ctx, ref, w.Keys, w.Identities)
	if err != nil {
		return nil
	}
	var all []Tests
	for _, f := range found {
		if f.Tests != nil {
			all = append(all, TestsOf(f))
		}
	}
	return all
}
