package oci_test

import (
	"context"
	"fmt"
	"os"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// Example publishes a pack to a local layout. A registry differs only in the reference: oci://host/acme/greeting.
func Example() {
	dir, err := os.MkdirTemp("", "layout-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	client := oci.New(oci.Options{})
	defer client.Close()

	id := pack.ID{Owner: "acme", Name: "greeting"}
	place := pack.Ref{Kind: pack.KindLayout, URL: dir, ID: id}
	greet := bundle.MapTree("greet", map[string][]byte{
		"SKILL.md": []byte("---\nname: greet\ndescription: Greets a person.\n---\n\nSay hello.\n"),
	}, nil)
	release := oci.Release{ID: id, Version: "1.0.0", Skills: []oci.SkillMeta{{Name: "greet", Description: "Greets a person."}}}
	ctx := context.Background()
	if _, err := client.Push(ctx, place, release, []bundle.Tree{greet}, oci.PushOptions{}); err != nil {
		fmt.Println(err)
		return
	}

	pk, err := client.Open(ctx, place)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pk.ID, pk.Version, pk.Skills[0].Name+":", pk.Skills[0].Description)

	files := bundle.NewHasher(bundle.DefaultLimits())
	if err := client.Fetch(ctx, pk, nil, files); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(files.Inventories()["greet"].Digest() == pk.Skills[0].Tree)
	// Output:
	// acme/greeting 1.0.0 greet: Greets a person.
	// true
}
