package resolve_test

import (
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

// FuzzRange compares the versions that a range selects with the result of the semver library, and checks that no text
// causes another kind of failure.
func FuzzRange(f *testing.F) {
	f.Add("^1.2 || >=2, <3", "1.2.3")
	f.Add(">1 <=2.1", "2.1.9")
	f.Add("~0.0", "0.0.7-rc.1")
	f.Add("*", "1.0.0+b")
	f.Add("latest", "1.0.0-rc.1")
	f.Add("", "01.0.0")
	f.Add("!=1.0.0", "1048575.4194304.18446744073709551615")
	f.Add("1.x - 2", "2.0.0")
	f.Add("^1,,^2", "1.0.0")
	f.Fuzz(func(t *testing.T, text, version string) {
		r := newRegistry()
		r.add(packSource{id("a"), ""}, resolve.Version{Version: version}, nil)
		r.root = []resolve.Requirement{{Pack: id("a"), Constraint: text}}
		selected, err := r.resolve(t.Context())
		want := text
		if text == "" || text == "latest" {
			want = "*"
		}
		constraint, invalid := semver.NewConstraint(want)
		if invalid != nil {
			if diag.CodeOf(err) != diag.Invalid {
				t.Fatalf("range %q: got %v, want it to be invalid", text, err)
			}
			return
		}
		parsed, notVersion := semver.StrictNewVersion(version)
		matches := notVersion == nil && constraint.Check(parsed)
		if (err == nil) != matches || matches && selected[id("a")].Version != version {
			t.Fatalf("%q in %q: got %v, %v; the library says %t", version, text, selected, err, matches)
		}
	})
}
