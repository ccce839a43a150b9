package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// TestRestock checks that intact installed skills are added to the store, in any order, that edited ones are not, and
// that no other files are left.
func TestRestock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &Workspace{Scope: scope.Scope{Root: t.TempDir()}}
	pk := pack.ID{Owner: "acme", Name: "tools"}
	var trees []Tree
	for n := range 20 {
		tree := bundle.MapTree(fmt.Sprint("s", n), map[string][]byte{"SKILL.md": fmt.Append(nil, n/2)}, nil) // two are alike
		at := w.Scope.PluginSkill(pk, tree.Name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		content := fmt.Append(nil, n/2)
		if n%10 == 6 || n%10 == 7 {
			content = []byte("edited")
		}
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), content, 0o644); err != nil {
			t.Fatal(err)
		}
		trees = append(trees, Tree{Pack: pk, Skill: tree.Name, Digest: tree.Inventory.Digest()})
	}
	trees = append(trees, Tree{Pack: pk, Skill: "absent", Digest: bundle.Inventory{}.Digest()}, trees[0])
	for range 2 {
		if err := w.RestoreStore(s, slices.Values(trees)); err != nil {
			t.Fatal(err)
		}
		for n, tree := range trees[:20] {
			want := n%10 != 6 && n%10 != 7
			if s.Has(tree.Digest) != want {
				t.Errorf("the store has %s: %v, want %v", tree.Skill, !want, want)
			}
			if want && s.Verify(tree.Digest) != nil {
				t.Error(s.Verify(tree.Digest))
			}
		}
		got, err := filepath.Glob(filepath.Join(dir, "t1", "*", "*"))
		left, leftErr := filepath.Glob(filepath.Join(dir, "tmp", "*"))
		if err != nil || leftErr != nil || len(got) != 8 || len(left) != 0 {
			t.Errorf("the store has %d trees, want 8, and left %q", len(got), left)
		}
	}
}
