package bundle_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// The digests of demo. Published packs and lockfiles contain them: a change here is a change of the formats.
const (
	goldenDeploy    = "t1:sha256:2148d0f632fa2d3cc6fafe983659d605637c4ddda48a43bafc8b8b8babdb8386"
	goldenRollback  = "t1:sha256:6aa2783dc33b29273941c1a1b702e2202a8c38f7961f1d987ddc7dcece65f2d6"
	goldenIntegrity = "t1:sha256:6aefe030a29ee32417aba7782f9d893744591652bb2893d58481b13e1297d8fc"
	goldenTar       = "sha256:6a7a244fdba912f1328a99db96ac52231bbd8f6362f2b6803851227bcd11d572"
	goldenArchive   = "sha256:af373e74993bdfafa6c6b14e964d3fd61a14f71732f18126eac7f05cc0fd5ada"
)

const goldenInventory = `skillpm-tree-v1
644 77 72f10c8b388cbd6badd29b6638cf6fb878ffaf5c4c007888344ec8c41f374c13 "SKILL.md"
644 16 860367a7423b40b2f96ff22b535b65be6c14b72df8bd1295eeb0a20817d58c8b "a!b"
644 0 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 "a/b/c.txt"
644 4 588de79d090f57370dc6c6369532c2424fa9f7941f742352ddb38cc60b2c852b "references/café"
644 8 2272fd99391faf35257eba646523d9e16de4eec60f5376ca6ffd5e81a24a69f2 "references/steps.md"
755 24 5c3c219c7eef66e49eae5dfe29f487cd0207fc94141dcd24549597eda396fb11 "scripts/run.sh"
`

func TestGoldenDigests(t *testing.T) { // M2, M3
	trees := demo()
	got := map[string]string{"rollback": trees[0].Inventory.Digest(), "deploy": trees[1].Inventory.Digest()}
	want := map[string]string{"rollback": goldenRollback, "deploy": goldenDeploy}
	if !maps.Equal(got, want) {
		t.Errorf("tree digests are %q, want %q", got, want)
	}
	if got := string(trees[1].Inventory.Encode()); got != goldenInventory {
		t.Errorf("the inventory is\n%s\nwant\n%s", got, goldenInventory)
	}
	if got := bundle.Integrity(got); got != goldenIntegrity {
		t.Errorf("the integrity is %s, want %s", got, goldenIntegrity)
	}
	data, tarDigest := archive(t, trees)
	if tarDigest != goldenTar {
		t.Errorf("the tar is %s, want %s", tarDigest, goldenTar)
	}
	sum := sha256.Sum256(data)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != goldenArchive {
		t.Errorf("the archive is %s, want %s", got, goldenArchive)
	}
	slices.Reverse(trees)
	if again, _ := archive(t, trees); !bytes.Equal(again, data) {
		t.Error("the order of trees matters")
	}
}

func TestParseInventory(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	line := func(path string) string { return "644 1 " + sum + ` "` + path + "\"\n" }
	const head = "skillpm-tree-v1\n"
	tests := []struct {
		name, text string
		want       string // in the error, "" for none
	}{
		{"empty tree", head, ""},
		{"one", head + line("SKILL.md"), ""},
		{"sorted", head + line("A") + line("b!") + line("b/c") + line("b0"), ""},
		{"quote inside", head + line(`a"b`), "line 2"},
		{"nothing", "", "invalid list of files"},
		{"newer", "skillpm-tree-v2\n", "invalid list of files"},
		{"cut off", head + strings.TrimSpace(line("a")), "line 2 of the list of files is truncated"},
		{"unsorted", head + line("b") + line("a"), "line 3 of the list of files is not sorted by path"},
		{"twice", head + line("a") + line("a"), "line 3"},
		{"collision", head + line("A") + line("a"), "collides"},
		{"file and directory", head + line("a") + line("a/b"), "as both a file and a directory"},
		{"unsafe", head + line("../a"), `".." component`},
		{"decomposed", head + line("e\u0301"), "line 2"},
		{"mode", head + "777 1 " + sum + " \"a\"\n", "line 2"},
		{"negative size", head + "644 -1 " + sum + " \"a\"\n", "line 2"},
		{"padded size", head + "644 01 " + sum + " \"a\"\n", "line 2"},
		{"huge size", head + "644 99999999999999999999 " + sum + " \"a\"\n", "line 2"},
		{"uppercase digest", head + "644 1 " + strings.ToUpper(sum) + " \"a\"\n", "line 2"},
		{"short digest", head + "644 1 0a0a \"a\"\n", "line 2"},
		{"two spaces", head + "644  1 " + sum + " \"a\"\n", "line 2"},
		{"no quotes", head + "644 1 " + sum + " a\n", "line 2"},
		{"empty line", head + "\n", "line 2"},
		{"carriage return", head + "644 1 " + sum + " \"a\"\r\n", "line 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inv, err := bundle.ParseInventory([]byte(tt.text))
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want == "" && string(inv.Encode()) != tt.text:
				t.Errorf("encoded again it is %q", inv.Encode())
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.Invalid):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// FuzzParseInventory proves that texts and inventories correspond one to one.
func FuzzParseInventory(f *testing.F) {
	for _, tree := range demo() {
		f.Add(tree.Inventory.Encode())
	}
	f.Add([]byte("skillpm-tree-v1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		inv, err := bundle.ParseInventory(data)
		if err != nil {
			return
		}
		if !bytes.Equal(inv.Encode(), data) {
			t.Errorf("%q becomes %q", data, inv.Encode())
		}
		if inv.Digest() != bundle.DigestOf(data) {
			t.Error("the digests differ")
		}
		if err := inv.Check(inv); err != nil {
			t.Error(err)
		}
	})
}

func TestInventoryCheck(t *testing.T) { // the errors of verify
	inv := demo()[1].Inventory
	change := func(f func(bundle.Inventory) bundle.Inventory) bundle.Inventory { return f(slices.Clone(inv)) }
	tests := []struct {
		name string
		got  bundle.Inventory
		want string
	}{
		{"same", inv, ""},
		{"missing first", inv[1:], `file "SKILL.md" does not match: expected 644`},
		{"missing last", inv[:len(inv)-1], `file "scripts/run.sh" does not match: expected 755`},
		{"nothing", nil, `got no file`},
		{"more", append(slices.Clone(inv), bundle.Entry{Path: "zzz"}), `file "zzz" does not match: expected no file, got 644 0`},
		{"mode", change(func(i bundle.Inventory) bundle.Inventory { i[0].Executable = true; return i }), "expected 644"},
		{"content", change(func(i bundle.Inventory) bundle.Inventory { i[0].SHA256[0]++; return i }), "SKILL.md"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := inv.Check(tt.got)
			var mismatch *bundle.MismatchError
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (!errors.As(err, &mismatch) || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.Integrity):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	plain := change(func(i bundle.Inventory) bundle.Inventory {
		for n := range i {
			i[n].Executable = false
		}
		return i
	})
	if err := inv.Check(plain.WithModes(inv)); err != nil {
		t.Errorf("with the modes of the original: %v", err)
	}
}

func TestCheckDigest(t *testing.T) {
	hexed := strings.Repeat("0f", 32)
	for s, ok := range map[string]bool{
		"t1:sha256:" + hexed: true, "sha256:" + hexed: false, "t1:sha256:" + hexed + "0": false,
		"t1:sha256:" + strings.ToUpper(hexed): false, "": false, "t1:sha256:": false, "t2:sha256:" + hexed: false,
	} {
		if err := bundle.CheckDigest(s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}
