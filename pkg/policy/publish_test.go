package policy_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// TestMayPublish checks that a policy decides who may publish, by destination and by signature (O14).
func TestMayPublish(t *testing.T) {
	for _, tt := range []struct {
		policy, place string
		signed        bool
		want          string // "" for what may be
	}{
		{"", "oci://registry.example/acme/deploy", false, ""},
		{"publish: {}", "local", false, ""},
		{"publish: {allow: ['oci://registry.example/acme/**']}", "oci://registry.example/acme/deploy", false, ""},
		{"publish: {allow: ['oci://registry.example/acme/**']}", "oci://Registry.Example:443/acme/deploy", false, ""},
		{"publish: {allow: ['oci://registry.example/acme/**']}", "oci://registry.example/evil/deploy", false, "p:2: oci://registry.example/evil/deploy is not an allowed destination"},
		{"publish: {allow: ['oci://registry.example/acme/**']}", "oci://registry.example:8443/acme/deploy", false, "is not an allowed destination"},
		{"publish: {allow: ['oci://registry.example/acme/**']}", "local", false, "local is not an allowed destination"},
		{"publish: {allow: []}", "oci-layout", true, "is not an allowed destination"},
		{"publish: {allow: [local]}", "what", false, "could not be checked against the policy"},
		{"publish: {allow: [local],\n sign: required}", "local", false, "p:3: published packs must be signed"},
		{"publish: {allow: [local], sign: required}", "local", true, ""},
		{"publish: {allow: [local], sign: optional}", "local", false, ""},
	} {
		p, err := policy.Parse("p", []byte("version: 1\n"+tt.policy+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		notes, err := policy.Set{p}.MayPublish(tt.place, tt.signed)
		switch {
		case tt.want == "" && err == nil:
			continue
		case err == nil || tt.want == "" || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.Denied || diag.HintOf(err) == "":
			t.Errorf("%s for %s: %v (%q), want %q", tt.policy, tt.place, err, diag.HintOf(err), tt.want)
		case len(notes) > 0:
			t.Errorf("%s: notes %q", tt.policy, notes)
		}
		p.Mode = policy.Observe
		if notes, err := (policy.Set{p}).MayPublish(tt.place, tt.signed); err != nil || len(notes) != 1 {
			t.Errorf("one that only observes: %v, %q", err, notes)
		}
	}
	for _, wrong := range []string{"publish: {sign: yes}", "publish: {deny: [local]}", "publish: {allow: local}", "publish: []", "publish: {allow: [nowhere]}"} {
		if p, err := policy.Parse("p", []byte("version: 1\n"+wrong+"\n")); err == nil {
			t.Errorf("%s is taken: %+v", wrong, p.Publish)
		}
	}
}
