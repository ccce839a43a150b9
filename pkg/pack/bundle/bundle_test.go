package bundle_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// demo is the fixed pack of the golden tests. Changing it changes published digests: don't.
func demo() []bundle.Tree {
	script := func(p string) bool { return strings.HasPrefix(p, "scripts/") }
	return []bundle.Tree{
		bundle.MapTree("rollback", map[string][]byte{
			"SKILL.md": []byte("---\nname: rollback\ndescription: Roll a release back.\n---\nRun it.\n"),
		}, nil),
		bundle.MapTree("deploy", map[string][]byte{
			"SKILL.md":             []byte("---\nname: deploy\ndescription: Deploy a release.\n---\nSee references/steps.md.\n"),
			"references/steps.md":  []byte("# Steps\n"),
			"references/caf\u00e9": []byte("NFC\n"),
			"scripts/run.sh":       []byte("#!/bin/sh\necho deployed\n"),
			"a!b":                  []byte("sorts before a/\n"),
			"a/b/c.txt":            {},
		}, script),
	}
}

func archive(t testing.TB, trees []bundle.Tree) ([]byte, string) {
	t.Helper()
	var b bytes.Buffer
	digest, err := bundle.WriteArchive(&b, trees)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), digest
}

func digests(t testing.TB, data []byte, opts bundle.UnpackOptions) map[string]string {
	t.Helper()
	h := bundle.NewHasher(bundle.Limits{})
	if err := bundle.Unpack(io.MultiReader(bytes.NewReader(data)), opts, h); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for name, inv := range h.Inventories() {
		got[name] = inv.Digest()
	}
	return got
}

func TestArchiveRoundTrip(t *testing.T) { // M2, M3
	trees := demo()
	data, _ := archive(t, trees)
	got := digests(t, data, bundle.UnpackOptions{})
	for _, tree := range trees {
		if want := tree.Inventory.Digest(); got[tree.Name] != want {
			t.Errorf("%s: got %s, want %s", tree.Name, got[tree.Name], want)
		}
	}
	only := digests(t, data, bundle.UnpackOptions{Want: func(s string) bool { return s == "deploy" }})
	if len(only) != 1 || only["deploy"] == "" {
		t.Errorf("wanted only deploy, got %v", only)
	}
}
