package policy_test

import (
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// TestPresets checks that every preset is a valid policy, and that strict confines all scripts, allows them no network,
// and requires an approval of whatever a skill can run (O13, O22).
func TestPresets(t *testing.T) {
	for _, name := range policy.Presets() {
		text, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policy.Parse(name, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, _ := policy.Preset("strict")
	p, err := policy.Parse("strict", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	set := policy.Set{p}
	if set.Confines() == nil || set.Unconfined() || p.Execution.NetworkBound() == nil || len(p.Execution.Network) > 0 {
		t.Errorf("scripts are not confined: %+v", p.Execution)
	}
	for _, c := range policy.Capabilities() {
		if !slices.Contains(p.Approve, c) && !slices.Contains(p.Forbid, c) {
			t.Errorf("skills with %s need no approval", c)
		}
	}
	if _, err := policy.Preset("../strict"); diag.CodeOf(err) != diag.Usage {
		t.Errorf("an unknown preset: %v", err)
	}
}
