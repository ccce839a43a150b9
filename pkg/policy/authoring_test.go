package policy_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// TestO14Allowlist checks the list of allowed skills: only a skill's own name counts, and a denial has precedence.
func TestO14Allowlist(t *testing.T) {
	p := parse(t, "skills: {allow: [\"acme/*\", \"lint@globex/tools\", local-*], deny: [\"deploy@acme/labs\", zeta/bad]}\n")
	for name, allowed := range map[string]bool{
		"deploy@acme/deploy": true, "deploy@acme/labs": false, "lint@globex/tools": true, "other@globex/tools": false,
		"local-notes": true, "local-notes@globex/x": true, "deploy": false, "lint": false, "x@zeta/bad": false,
	} {
		skill, pack, _ := strings.Cut(name, "@")
		_, err := policy.Set{p}.Skill([]string{skill, "alias"}, pack)
		if (err == nil) != allowed || err != nil && diag.CodeOf(err) != diag.Denied {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (policy.Set{p}).Skill([]string{"x", "lint", "local-notes"}, "globex/tools"); err == nil {
		t.Error("another name bypasses the list")
	}
	if _, err := (policy.Set{parse(t, "skills: {allow: []}\n")}).Skill([]string{"x"}, ""); err == nil {
		t.Error("an empty list allows a skill")
	}
	if parse(t, "skills: {allow: [x]}\n").OnlyDenies() || !parse(t, "skills: {deny: [x]}\n").OnlyDenies() {
		t.Error("OnlyDenies is wrong about an allowlist")
	}
}

// TestO14DenyPack checks that a denial of owner/name covers the pack and the owner's skills of that name.
func TestO14DenyPack(t *testing.T) {
	pattern := policy.SkillPattern("acme/deploy")
	for name, want := range map[string]bool{
		"any@acme/deploy": true, "deploy@acme/skills": true, "deploy@zeta/deploy": false, "deploy": false,
		"other@acme/skills": false,
	} {
		skill, pack, _ := strings.Cut(name, "@")
		if got := pattern.Matches([]string{skill}, pack); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestO14Authoring checks who may create skills in a layer, and publish packs of an owner.
func TestO14Authoring(t *testing.T) {
	p := parse(t, `authoring:
  create: {enterprise: ["group:platform"], "*": ["*"]}
  publish:
    acme: [ada, "group:release"]
    "*": []
`)
	ada := policy.User{Name: "ada", Groups: []string{"staff"}}
	bob := policy.User{Name: "bob", Groups: []string{"platform", "release"}}
	for _, test := range []struct {
		err  error
		want string
	}{
		{p.MayCreate("enterprise", ada), "policy.yaml:3: user ada may not create skills in the enterprise layer; ask group:platform, or the owner of policy.yaml"},
		{p.MayCreate("enterprise", bob), ""},
		{p.MayCreate("project", ada), ""},
		{p.MayPublishAs("acme", ada), ""},
		{p.MayPublishAs("acme", bob), ""},
		{p.MayPublishAs("acme", policy.User{Name: "eve"}), "policy.yaml:5: user eve may not publish packs of acme; ask ada or group:release, or the owner of policy.yaml"},
		{p.MayPublishAs("globex", ada), "policy.yaml:6: user ada may not publish packs of globex; ask the owner of policy.yaml"},
		{p.MayPublishAs("acme", policy.User{}), "policy.yaml:5: an unknown user may not publish packs of acme; ask ada or group:release, or the owner of policy.yaml"},
		{parse(t, "mode: enforce\n").MayPublishAs("acme", ada), ""},
	} {
		got := ""
		if test.err != nil {
			got = test.err.Error() + "; " + diag.HintOf(test.err)
		}
		if got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
	if u := policy.CurrentUser(); u.Name == "" {
		t.Errorf("got %+v", u)
	}
}
