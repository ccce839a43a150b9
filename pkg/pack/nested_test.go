package pack_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/pack"
)

// TestDescribeNested checks that a pack below a named pack is not part of it, and that a source without a manifest
// includes everything.
func TestDescribeNested(t *testing.T) {
	skillFile := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: D.\n---\n")}
	}
	tree := fstest.MapFS{
		"a/SKILL.md":              skillFile("a"),
		"packs/b/skillpm.yaml":    {Data: []byte("name: acme/b\nversion: \"1.0.0\"\n")},
		"packs/b/skills/SKILL.md": skillFile("b"),
	}
	ref := pack.Ref{Kind: pack.KindPath, URL: "./x"}
	names := func() []string {
		t.Helper()
		c, err := pack.Describe(tree, ref)
		if err != nil {
			t.Fatal(err)
		}
		return c.Pack(ref).SkillNames()
	}
	if got := names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("without a manifest: %v, want a and b", got)
	}
	tree["skillpm.yaml"] = &fstest.MapFile{Data: []byte("name: acme/a\nversion: \"1.0.0\"\n")}
	if got := names(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("with a manifest: %v, want a", got)
	}
}
