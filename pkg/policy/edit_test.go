package policy_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// TestDenyEdit adds patterns to policies and removes them again: every other byte stays (O14).
func TestDenyEdit(t *testing.T) {
	for _, tt := range []struct {
		name, before, after string
		back                string // after taking it out again, "" for before
	}{
		{name: "nothing about skills", before: "version: 1 # ours\n", after: "version: 1 # ours\nskills:\n  deny:\n    - \"deploy@evil/*\"\n"},
		{name: "no last line ending", before: "version: 1", after: "version: 1\nskills:\n  deny:\n    - \"deploy@evil/*\""},
		{
			name:   "a list with comments",
			before: "# a\nversion: 1\nskills:\n  # b\n  deny:\n    # c\n    - x@a/b # d\n    # e\nforbid: [hooks]\n",
			after:  "# a\nversion: 1\nskills:\n  # b\n  deny:\n    # c\n    - x@a/b # d\n    - \"deploy@evil/*\"\n    # e\nforbid: [hooks]\n",
		},
		{name: "a list at its key", before: "version: 1\nskills:\n  deny:\n  - x@a/b\n", after: "version: 1\nskills:\n  deny:\n  - x@a/b\n  - \"deploy@evil/*\"\n"},
		{name: "a flow list", before: "version: 1\nskills: {deny: ['x@a/b']} # c\n", after: "version: 1\nskills: {deny: ['x@a/b', \"deploy@evil/*\"]} # c\n"},
		{name: "an empty flow list", before: "version: 1\nskills: {deny: []}\n", after: "version: 1\nskills: {deny: [\"deploy@evil/*\"]}\n"},
		{name: "an empty mapping", before: "version: 1\nskills: {}\n", after: "version: 1\nskills:\n  deny:\n    - \"deploy@evil/*\"\n", back: "version: 1\n"},
		{name: "all in braces", before: "{version: 1}\n", after: "{version: 1, skills: {deny: [\"deploy@evil/*\"]}}\n", back: "{version: 1, skills: {deny: []}}\n"},
		{name: "Windows", before: "version: 1\r\nskills:\r\n  deny:\r\n    - a\r\n", after: "version: 1\r\nskills:\r\n  deny:\r\n    - a\r\n    - \"deploy@evil/*\"\r\n"},
		{name: "with a mark", before: "\ufeffversion: 1\n", after: "\ufeffversion: 1\nskills:\n  deny:\n    - \"deploy@evil/*\"\n"},
		{name: "an empty list with a comment", before: "version: 1\nskills:\n  # b\n  deny: []\n", after: "version: 1\nskills:\n  # b\n  deny: [\"deploy@evil/*\"]\n"},
	} {
		out, added, err := policy.Deny("p", []byte(tt.before), "deploy@evil/*")
		if err != nil || !added || string(out) != tt.after {
			t.Errorf("%s: %v, %v\n%q\n%q", tt.name, added, err, out, tt.after)
			continue
		}
		if again, added, err := policy.Deny("p", out, "deploy@evil/*"); err != nil || added || string(again) != tt.after {
			t.Errorf("%s: a second time: %q, %v", tt.name, again, err)
		}
		want := tt.back
		if want == "" {
			want = tt.before
		}
		if back, removed, err := policy.Undeny("p", out, "deploy@evil/*"); err != nil || !removed || string(back) != want {
			t.Errorf("%s: taken out: %q, %v, want %q", tt.name, back, err, want)
		}
	}
	if out, added, err := policy.Deny("p", nil, "deploy"); err != nil || !added || string(out) != "version: 1\ndowngrade: allow # same as without a policy\nskills:\n  deny:\n    - \"deploy\"\n" {
		t.Errorf("no file: %q, %v", out, err)
	}
	if _, _, err := policy.Deny("p", nil, "evil/x/y"); diag.CodeOf(err) != diag.Usage {
		t.Errorf("no pattern: %v", err)
	}
	if _, _, err := policy.Deny("p", []byte("version: 2\n"), "x"); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("no policy: %v", err)
	}
}

// FuzzDenyEdit checks that adding and removing a denial never changes the rest of a policy.
func FuzzDenyEdit(f *testing.F) {
	for _, s := range []string{"version: 1\n", "version: 1\nskills: {deny: [a, 'b', \"c\"]}\n", "version: 1\nskills:\n  deny:\n  - a # x\n", full} {
		f.Add(s, "deploy@evil/*")
	}
	f.Fuzz(func(t *testing.T, text, pattern string) {
		out, added, err := policy.Deny("p", []byte(text), policy.SkillPattern(pattern))
		if err != nil || !added {
			return
		}
		p, err := policy.Parse("p", out)
		if err != nil || !strings.Contains(string(out), pattern) && !strings.ContainsAny(pattern, `"\`) {
			t.Fatalf("%q: %v", out, err)
		}
		back, removed, err := policy.Undeny("p", out, policy.SkillPattern(pattern))
		if err != nil || !removed {
			t.Fatalf("%q: %v", out, err)
		}
		q, err := policy.Parse("p", back)
		if err != nil || len(q.Skills.Deny) != len(p.Skills.Deny)-1 {
			t.Fatalf("%q: %v", back, err)
		}
	})
}
