package pack_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/pack"
)

// lockOf returns a lockfile with packs a/NAME of the given versions.
func lockOf(t rapid.TB, versions map[string]string) *pack.Lock {
	l := pack.NewLock()
	for name, version := range versions {
		id, err := pack.ParseID("a/" + name)
		if err != nil {
			t.Fatal(err)
		}
		l.Packs[id] = &pack.LockedPack{Version: version}
	}
	return l
}

func TestMergeLocks(t *testing.T) {
	for _, test := range []struct {
		name                     string
		base, ours, theirs, want map[string]string
		conflicts                []string
	}{
		{"both add", nil, map[string]string{"x": "1.0.0"}, map[string]string{"y": "1.0.0"}, map[string]string{"x": "1.0.0", "y": "1.0.0"}, nil},
		{"both add the same", nil, map[string]string{"x": "1.0.0"}, map[string]string{"x": "1.0.0"}, map[string]string{"x": "1.0.0"}, nil},
		{"one updates", map[string]string{"x": "1.0.0", "y": "1.0.0"}, map[string]string{"x": "1.0.0", "y": "1.1.0"}, map[string]string{"x": "1.2.0", "y": "1.0.0"}, map[string]string{"x": "1.2.0", "y": "1.1.0"}, nil},
		{"one removes", map[string]string{"x": "1.0.0", "y": "1.0.0"}, map[string]string{"y": "1.0.0"}, map[string]string{"x": "1.0.0", "y": "1.0.0"}, map[string]string{"y": "1.0.0"}, nil},
		{"the other removes", map[string]string{"x": "1.0.0"}, map[string]string{"x": "1.0.0"}, nil, nil, nil},
		{"both update", map[string]string{"x": "1.0.0"}, map[string]string{"x": "1.1.0"}, map[string]string{"x": "1.2.0"}, map[string]string{"x": "1.1.0"}, []string{"a/x"}},
		{"update and remove", map[string]string{"x": "1.0.0"}, map[string]string{"x": "1.1.0"}, nil, map[string]string{"x": "1.1.0"}, []string{"a/x"}},
	} {
		merged, conflicts := pack.MergeLocks(lockOf(t, test.base), lockOf(t, test.ours), lockOf(t, test.theirs))
		if !merged.Equal(lockOf(t, test.want)) || !slices.Equal(conflicts, test.conflicts) {
			t.Errorf("%s: %s, conflicts %q", test.name, merged.Encode(), conflicts)
		}
	}
}

// TestMergeLocksUnknownKeys proves that a merge keeps keys of a later version of skillpm that either side has.
func TestMergeLocksUnknownKeys(t *testing.T) {
	const start = "version: 1\n"
	const noSkills = "t1:sha256:a02b764ad930dfdcd656e6f0b37da16f283b1364369ee4acb1b02856b9e0bc19"
	pack1 := func(name, keys string) string {
		return "  a/" + name + ":\n    version: \"1.0.0\"\n    source: \"oci://r.example/a/" + name + "\"\n" +
			"    resolved: \"sha256:" + strings.Repeat("ab", 32) + "\"\n    integrity: \"" + noSkills + "\"\n" + keys
	}
	locks := make([]*pack.Lock, 3)
	for i, text := range []string{
		start + "old: 1\npacks:\n" + pack1("x", ""),
		start + "old: 1\nours: 2\npacks:\n" + pack1("x", "    mine: 3\n"),
		start + "theirs: 4\npacks:\n" + pack1("x", "") + pack1("y", "    new: 5\n"),
	} {
		var err error
		if locks[i], err = pack.ParseLock(pack.LockName, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // in both directions
		merged, conflicts := pack.MergeLocks(locks[0], locks[1], locks[2])
		text := string(merged.Encode())
		if len(conflicts) > 0 || strings.Contains(text, "old:") {
			t.Errorf("conflicts %q in:\n%s", conflicts, text)
		}
		for _, key := range []string{"\nours: 2\n", "\ntheirs: 4\n", "\n    mine: 3\n", "\n    new: 5\n"} {
			if !strings.Contains(text, key) {
				t.Errorf("%q is missing in:\n%s", key, text)
			}
		}
		locks[1], locks[2] = locks[2], locks[1]
	}
}

// TestMergeLocksProperties proves for any lockfiles that merging an unchanged side returns the other one, and that the
// order of the sides matters only for conflicts.
func TestMergeLocksProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		locks := rapid.MapOf(rapid.SampledFrom([]string{"x", "y", "z"}), rapid.SampledFrom([]string{"1.0.0", "1.1.0", "2.0.0"}))
		base, ours, theirs := lockOf(t, locks.Draw(t, "base")), lockOf(t, locks.Draw(t, "ours")), lockOf(t, locks.Draw(t, "theirs"))
		if merged, conflicts := pack.MergeLocks(base, base, theirs); !merged.Equal(theirs) || conflicts != nil {
			t.Fatalf("%q: %s", conflicts, merged.Encode())
		}
		if merged, conflicts := pack.MergeLocks(base, ours, base); !merged.Equal(ours) || conflicts != nil {
			t.Fatalf("%q: %s", conflicts, merged.Encode())
		}
		one, first := pack.MergeLocks(base, ours, theirs)
		other, second := pack.MergeLocks(base, theirs, ours)
		if !slices.Equal(first, second) || len(first) == 0 && !one.Equal(other) {
			t.Fatalf("%q, %q", first, second)
		}
	})
}
