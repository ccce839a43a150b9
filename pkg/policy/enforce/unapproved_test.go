package enforce_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// TestO14Unapproved checks which skills on disk need an approval: what was found out about them earlier counts only as
// long as their files stay the same, and each approval and its end count at once.
func TestO14Unapproved(t *testing.T) {
	m := newMachine(t)
	m.o.Paths.Cache = filepath.Join(m.o.Paths.Home, "cache")
	m.say(policy.UserLevel, "approve: [scripts, network-tools]\n")
	dir := filepath.Join(m.project, "tool")
	if err := os.CopyFS(dir, tree()); err != nil {
		t.Fatal(err)
	}
	skill := enforce.Skill{Name: "tool", Pack: "acme/tools", Dir: dir}
	check := func(why string, want bool) {
		t.Helper()
		for range 2 { // the second time with what the first one kept
			g := m.open()
			if err := g.CheckApproved(t.Context(), skill); (err == nil) != want {
				t.Errorf("%s: %v", why, err)
			}
			g.SaveFacts()
		}
	}
	check("not approved", false)
	g := m.open()
	r, err := g.Review(t.Context(), skill, os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	who := enforce.Approver{By: "ada", Reason: "read it", Expires: m.now.AddDate(0, 0, 7)}
	if _, err := g.Approve(t.Context(), policy.UserLevel, who, r); err != nil {
		t.Fatal(err)
	}
	check("approved", true)
	if len(r.Required) != 1 || !r.Required[0].Accepts(policy.MachineLevel) || r.Required[0].Accepts(policy.ProjectLevel) {
		t.Errorf("got %+v", r.Required)
	}
	if err := os.WriteFile(filepath.Join(dir, "scripts", "more.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	check("changed", false)
	if err := os.Remove(filepath.Join(dir, "scripts", "more.sh")); err != nil {
		t.Fatal(err)
	}
	check("as approved", true)
	m.now = m.now.AddDate(0, 0, 8)
	check("expired", false)
	if err := os.WriteFile(filepath.Join(m.o.Paths.Cache, "capabilities.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("damaged cache", false)
	m.say(policy.UserLevel, "mode: audit\napprove: [scripts]\n")
	check("policy that observes", true)
	if m.open().RequiresApprovals() {
		t.Error("a policy that observes requires approvals")
	}
	if err := m.open().CheckApproved(context.Background(), enforce.Skill{Name: "x", Machine: true, Dir: dir}); err != nil {
		t.Error(err)
	}
}
