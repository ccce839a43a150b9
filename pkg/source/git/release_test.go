package git_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// TestBadReleases checks that a range leaves out tags that do not contain their version, and that an exact version does
// not.
func TestBadReleases(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	commit := func(manifest string) string {
		return r.Commit(gittest.Text(map[string]string{
			"skillpm.yaml": manifest, "skills/a/SKILL.md": gittest.Skill("a", "A."),
		}))
	}
	r.Tag("v1.0.0", commit("name: o/r\nversion: \"1.0.0\"\n"))
	r.Tag("v1.0.1", commit("name: o/r\nversion: \"1.0.0\"\ndescription: x\n"))
	r.Tag("v1.0.2", commit("name: [\n"))
	r.Tag("v2.0.0", commit("name: o/r\nversion: \"3.0.0\"\n"))
	url := "git+" + gittest.Serve(t, dir) + "/o/r.git"
	for constraint, want := range map[string]string{
		"":       "1.0.0 after v2.0.0 v1.0.2 v1.0.1",
		"^1":     "1.0.0 after v1.0.2 v1.0.1",
		"1.0.0":  "1.0.0 after",
		"=1.0.1": "tag v1.0.1 of",
		"1.0.2":  "skillpm.yaml",
		"^2":     "tag v2.0.0 of",
	} {
		ref := parse(t, url)
		ref.Constraint = constraint
		p, err := newClient(t, git.Options{}).Open(t.Context(), ref)
		var got string
		if err != nil {
			release, ok := errors.AsType[*git.ReleaseError](err)
			if !ok || diag.CodeOf(err) != diag.Invalid || release.URL != ref.URL {
				t.Errorf("%q: %v (%v)", constraint, err, diag.CodeOf(err))
			}
			got = err.Error()
		} else {
			got = p.Version + " after"
			for _, w := range p.Warnings {
				_, tag, _ := strings.Cut(w, "tag ")
				got += " " + tag[:len("v1.0.0")]
			}
		}
		if err == nil && got != want || !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", constraint, got, want)
		}
	}
	if p, err := newClient(t, git.Options{}).Open(t.Context(), parse(t, url+"#v1.0.1")); err != nil || p.Version != "1.0.0" {
		t.Errorf("a tag by its name: %+v, %v", p, err)
	}
}
