package oci_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// largePack is a pack of n skills: SKILL.md of 4 KB, three references of 8 KB and a script each. Its words come from a
// fixed sequence, so that it compresses as text does.
func largePack(n int) (oci.Release, []bundle.Tree) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(size int) []byte {
		var b []byte
		for len(b) < size {
			b = fmt.Appendf(b, "word%d ", random.IntN(5000))
		}
		return b[:size]
	}
	rel := oci.Release{ID: pack.ID{Owner: "acme", Name: "many"}, Version: "1.0.0"}
	var trees []bundle.Tree
	for i := range n {
		name := fmt.Sprintf("skill-%04d", i)
		trees = append(trees, bundle.MapTree(name, map[string][]byte{
			"SKILL.md":        append([]byte("---\nname: "+name+"\ndescription: Does things.\n---\n\n"), text(4<<10)...),
			"references/a.md": text(8 << 10),
			"references/b.md": text(8 << 10),
			"references/c.md": text(8 << 10),
			"scripts/run.sh":  []byte("#!/bin/sh\necho " + name + "\n"),
		}, func(p string) bool { return p == "scripts/run.sh" }))
		rel.Skills = append(rel.Skills, oci.SkillMeta{Name: name, Description: "Does things."})
	}
	return rel, trees
}

// BenchmarkFetch streams a pack from a registry and discards it. That leaves the network, gzip, tar, and SHA-256.
func BenchmarkFetch(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("skills=%d", n), func(b *testing.B) {
			s := ocitest.New(b)
			c := s.Client(b, "")
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/many")}
			rel, trees := largePack(n)
			if _, err := c.Push(b.Context(), ref, rel, trees, oci.PushOptions{}); err != nil {
				b.Fatal(err)
			}
			var size int64
			for _, t := range trees {
				size += t.Inventory.Size()
			}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				p, err := c.Open(b.Context(), ref)
				if err != nil {
					b.Fatal(err)
				}
				sink := &devNull{}
				if err := c.Fetch(b.Context(), p, nil, sink); err != nil || sink.n != size {
					b.Fatal(err, sink.n)
				}
			}
		})
	}
}

// BenchmarkOpen resolves a version of a large pack.
func BenchmarkOpen(b *testing.B) {
	s := ocitest.New(b)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/many"), Rev: "1.0.0"}
	rel, trees := largePack(1000)
	c := s.Client(b, "")
	if _, err := c.Push(b.Context(), ref, rel, trees, oci.PushOptions{}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Open(b.Context(), ref); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPush publishes a pack to a layout.
func BenchmarkPush(b *testing.B) {
	rel, trees := largePack(100)
	for b.Loop() {
		c := oci.New(oci.Options{Base: b.TempDir()})
		if _, err := c.Push(b.Context(), pack.Ref{Kind: pack.KindLayout, URL: "out", ID: rel.ID}, rel, trees, oci.PushOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReferrers lists the referrers of a version: of a registry, and of a layout with two hundred versions.
func BenchmarkReferrers(b *testing.B) {
	inProcess := ocitest.New(b)
	registry := pack.Ref{Kind: pack.KindOCI, URL: inProcess.URL("acme/deploy")}
	dir := b.TempDir()
	layout := pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID}
	for name, tt := range map[string]struct {
		open func() *oci.Client
		ref  pack.Ref
		n    int
	}{
		"registry": {func() *oci.Client { return inProcess.Client(b, "") }, registry, 1},
		"layout":   {func() *oci.Client { return oci.New(oci.Options{Base: dir}) }, layout, 200},
	} {
		b.Run(name, func(b *testing.B) {
			c := tt.open()
			for i := range tt.n {
				tt.ref.Digest = push(b, c, tt.ref, fmt.Sprintf("1.0.%d", i), "deploy").Digest
				a := note("x")
				a.Subject = tt.ref.Digest
				if _, err := c.PutArtifact(b.Context(), tt.ref, a); err != nil {
					b.Fatal(err)
				}
			}
			c = tt.open()
			for b.Loop() {
				if list, err := c.Referrers(b.Context(), tt.ref, noteType); err != nil || len(list) != 1 {
					b.Fatal(list, err)
				}
			}
		})
	}
}
