package policy_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// TestCheckIncrease checks updates with more capabilities: each policy must allow them, and a denial precedes the
// question (O14).
func TestCheckIncrease(t *testing.T) {
	policies := map[string]*policy.Policy{
		"none": parse(t, "mode: enforce\n"),
		"ask":  parse(t, "updates: {capability-increase: ask}\n"),
		"deny": parse(t, "updates: {capability-increase: deny}\n"),
		"seen": parse(t, "mode: audit\nupdates: {capability-increase: deny}\n"),
		"bad":  policy.Broken("bad.yaml", os.ErrPermission),
	}
	for _, tt := range []struct {
		set      string
		approved bool
		want     string // of the error, "" for none
		ask      bool
		notes    int
	}{
		{set: "none"},
		{set: "ask", want: "policy.yaml:2: acme/x adds capabilities, which the policy does not allow without consent: runs x", ask: true},
		{set: "ask", approved: true},
		{set: "deny", want: "policy.yaml:2: acme/x adds capabilities, which the policy denies: runs x"},
		{set: "deny", approved: true, want: "which the policy denies"},
		{set: "ask deny", want: "which the policy denies"},
		{set: "deny ask", approved: true, want: "which the policy denies"},
		{set: "none ask", want: "without consent", ask: true},
		{set: "seen", notes: 1},
		{set: "seen ask", want: "without consent", ask: true, notes: 1},
		{set: "bad ask", want: "skillpm denies everything"},
	} {
		var set policy.Set
		for name := range strings.FieldsSeq(tt.set) {
			set = append(set, policies[name])
		}
		notes, err := set.CheckIncrease("acme/x", "runs x", func(*policy.Policy) bool { return tt.approved })
		increase, _ := errors.AsType[*policy.IncreaseError](err)
		switch {
		case (err == nil) != (tt.want == ""), err != nil && !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %v, want %q", tt.set, err, tt.want)
		case len(notes) != tt.notes, err != nil && diag.CodeOf(err) != diag.Denied:
			t.Errorf("%s: notes %q, code %v", tt.set, notes, diag.CodeOf(err))
		case tt.ask != (increase != nil && increase.Ask):
			t.Errorf("%s: the user may accept: %v", tt.set, !tt.ask)
		}
	}
}
