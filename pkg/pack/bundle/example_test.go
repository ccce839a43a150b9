package bundle_test

import (
	"bytes"
	"fmt"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

func ExampleSum() {
	fsys := fstest.MapFS{
		"SKILL.md":       {Data: []byte("---\nname: hello\n---\nSay hello.\n"), Mode: 0o644},
		"scripts/run.sh": {Data: []byte("#!/bin/sh\necho hello\n"), Mode: 0o755},
		".DS_Store":      {Data: []byte("litter"), Mode: 0o644},
	}
	inventory, err := bundle.Sum(fsys, ".")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(inventory.Encode()))
	fmt.Println(inventory.Digest())
	// Output:
	// skillpm-tree-v1
	// 644 31 aa0ec9bd59b1df76acdbba3f09d7c114aa94204c3894e1811522c1f619236e73 "SKILL.md"
	// 755 21 bfdeaeb08cffb6a36438bcd12dda25417e3cdd36f1e7e482a2849d539225288b "scripts/run.sh"
	// t1:sha256:bb3ed674e9d9c843eb4f6537fcaeacd5f63caafeeab54087e2b905d68863ab27
}

// ExampleUnpack writes and reads an archive, which keeps its digests.
func ExampleUnpack() {
	hello := bundle.MapTree("hello", map[string][]byte{"SKILL.md": []byte("Say hello.\n")}, nil)
	var archive bytes.Buffer
	if _, err := bundle.WriteArchive(&archive, []bundle.Tree{hello}); err != nil {
		fmt.Println(err)
		return
	}
	hasher := bundle.NewHasher(bundle.DefaultLimits())
	if err := bundle.Unpack(&archive, bundle.UnpackOptions{}, hasher); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(hasher.Inventories()["hello"].Digest() == hello.Inventory.Digest())
	// Output: true
}

func ExampleCheckPath() {
	for _, p := range []string{"references/steps.md", "../secrets", "docs/\u202egpj.exe", "aux.md"} {
		fmt.Println(bundle.CheckPath(p))
	}
	// Output:
	// <nil>
	// entry "../secrets" contains a ".." component
	// entry "docs/\u202egpj.exe" contains an invisible or direction-changing character
	// entry "aux.md" has the name of a Windows device
}
