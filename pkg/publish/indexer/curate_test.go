package indexer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// layoutIndex creates an index with a layout of packs in a directory.
func layoutIndex(t *testing.T, packs ...registrytest.Published) string {
	t.Helper()
	dir := t.TempDir()
	c := oci.New(oci.Options{Base: dir})
	t.Cleanup(c.Close)
	registrytest.WriteIndex(t, dir, c, func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindLayout, URL: "layout", ID: id} },
		func(pack.ID) string { return "oci-layout:layout" }, packs)
	return dir
}

// change replaces a text in a pack's file.
func change(t *testing.T, dir string, id pack.ID, pairs ...string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(index.Path(id)))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if !bytes.Contains(data, []byte(pairs[i])) {
			t.Fatalf("no %s in %s", pairs[i], data)
		}
		data = bytes.ReplaceAll(data, []byte(pairs[i]), []byte(pairs[i+1]))
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestInitLinks checks that creating an index does not write through the links of a clone, and works without them.
func TestInitLinks(t *testing.T) {
	for _, link := range []string{"packs -> .", "config.json -> .", "config.json -> missing", ".gitattributes -> ."} {
		dir, outside := t.TempDir(), t.TempDir()
		name, target, _ := strings.Cut(link, " -> ")
		if err := os.Symlink(filepath.Join(outside, target), filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
		_, err := client(t, dir).Init(t.Context(), indexer.InitOptions{})
		if files, _ := os.ReadDir(outside); len(files) > 0 {
			t.Errorf("%s: %v was written, %v", name, files, err)
		}
		if err == nil {
			if name == index.ConfigPath {
				t.Errorf("%s is an index", link)
			}
			continue
		}
		if files, _ := os.ReadDir(dir); name == index.ConfigPath && len(files) > 1 {
			t.Errorf("%s: %v was written before the error", link, files)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if r, err := client(t, dir).Init(t.Context(), indexer.InitOptions{}); err != nil {
			t.Errorf("%s, without the link: %v, %v", name, r, err)
		}
	}
}

// TestCheckContent checks that every difference between a line and the published content is found.
func TestCheckContent(t *testing.T) {
	id := pack.ID{Owner: "acme", Name: "deploy"}
	for _, tt := range []struct {
		name  string
		pairs []string
		code  diag.Code
		want  string
	}{
		{name: "right", code: diag.OK},
		{name: "another version", pairs: []string{`"version":"1.0.0"`, `"version":"1.0.1"`}, code: diag.Integrity, want: "has the version 1.0.0"},
		{name: "another requirement", pairs: []string{`>=1 <3`, `>=1 <4`}, code: diag.Integrity, want: "requires acme/base >=1 <3, but the index does not contain exactly this dependency"},
		{name: "a requirement of the machine", pairs: []string{`"version":"1.0.0"`, `"version":"1.0.0","requires":{"bins":["kubectl"]}`}, code: diag.Integrity, want: "requires of the machine: nothing; the index has: bins kubectl"},
		{name: "no requirement", pairs: []string{`,"dependencies":{"acme/base":">=1 <3"}`, ""}, code: diag.Integrity, want: "requires acme/base"},
		{name: "another digest", pairs: []string{`"digest":"sha256:`, `"digest":"sha256:0`, `","integrity"`, `","integrity"`}, code: diag.Invalid, want: "digest"},
		{name: "a metadata server", pairs: []string{"oci-layout:layout", "oci://169.254.169.254/acme/deploy"}, code: diag.Remote, want: "localhost sends requests to 169.254.169.254"},
		{name: "a metadata server, as a number", pairs: []string{"oci-layout:layout", "oci://2852039166/acme/deploy"}, code: diag.Remote, want: "sends requests to 2852039166"},
		{name: "outside", pairs: []string{"oci-layout:layout", "oci-layout:../x"}, code: diag.Invalid, want: "is outside its index"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := layoutIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy"))
			change(t, dir, id, tt.pairs...)
			r, err := client(t, dir).Check(t.Context(), indexer.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Code() != tt.code || r.OK != (tt.code == diag.OK) {
				t.Errorf("code %v, findings %+v", r.Code(), r.Findings)
			}
			if tt.want != "" && !slices.ContainsFunc(r.Findings, func(f diag.Finding) bool { return strings.Contains(f.Message, tt.want) }) {
				t.Errorf("got %+v, want %q", r.Findings, tt.want)
			}
		})
	}
}

// TestCheckTrees checks that a tree that differs from the published one is found even if integrity and trees agree with
// each other.
func TestCheckTrees(t *testing.T) {
	dir := layoutIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy"))
	other := layoutIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy", "rollback"))
	id := pack.ID{Owner: "acme", Name: "deploy"}
	read := func(dir string) index.Line {
		entry, err := index.ReadEntry(os.DirFS(dir), index.File{ID: id, Path: index.Path(id)})
		if err != nil {
			t.Fatal(err)
		}
		return entry.Versions[0]
	}
	l := read(dir)
	mixed := read(other)
	mixed.Digest = l.Digest
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(index.Path(id))), mixed.Encode(), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := client(t, dir).Check(t.Context(), indexer.CheckOptions{})
	if err != nil || r.Code() != diag.Integrity || !strings.Contains(r.Findings[0].Message, "has the integrity") || r.Findings[0].Line != 1 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestAddLayout checks that a layout in the index has a relative path, and that one outside is rejected.
func TestAddLayout(t *testing.T) {
	dir := layoutIndex(t, registrytest.Pack("acme/deploy", "1.0.0", "deploy"))
	file := filepath.Join(dir, filepath.FromSlash(index.Path(pack.ID{Owner: "acme", Name: "deploy"})))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	c := client(t, dir)
	r, err := c.Add(t.Context(), indexer.AddOptions{References: []string{"oci-layout:layout//acme/deploy:1.0.0", "oci-layout:./layout//acme/deploy:1.0.0"}})
	if err != nil || len(r.Packs) != 2 || !r.Packs[0].Added || r.Packs[1].Added || r.Packs[0].Source != "oci-layout:layout" {
		t.Fatalf("%+v %v", r, err)
	}
	data, err := os.ReadFile(file)
	if err != nil || bytes.Count(data, []byte("\n")) != 1 || !bytes.Contains(data, []byte(`"published":"2026-11-22T10:00:00Z"`)) {
		t.Errorf("%s %v", data, err)
	}
	elsewhere := layoutIndex(t, registrytest.Pack("acme/other", "1.0.0", "deploy"))
	_, err = c.Add(t.Context(), indexer.AddOptions{References: []string{"oci-layout:" + filepath.ToSlash(elsewhere) + "/layout//acme/other:1.0.0"}})
	if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "in the directory of the index") {
		t.Errorf("got %v", err)
	}
}

// TestArtifact checks that the same packs give the same bytes in any order, and that each is in its shard.
func TestArtifact(t *testing.T) {
	var packs []registrytest.Published
	for i := range 20 {
		packs = append(packs, registrytest.Pack(fmt.Sprintf("acme/pack-%d", i), "1.0.0", "deploy"))
	}
	first, n, err := indexer.Artifact(os.DirFS(layoutIndex(t, packs...)))
	if err != nil || n != 20 {
		t.Fatal(n, err)
	}
	slices.Reverse(packs)
	second, _, err := indexer.Artifact(os.DirFS(layoutIndex(t, packs...)))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, b := range first.Blobs {
		if !bytes.Equal(b.Data, second.Blobs[i].Data) {
			t.Errorf("%s differs", b.Annotations["org.opencontainers.image.title"])
		}
		if b.MediaType != index.MediaTypeShard {
			continue
		}
		prefix := b.Annotations[index.AnnotationPrefix]
		if len(prefix) != index.ShardBits(20) {
			t.Errorf("prefix %q", prefix)
		}
		for _, p := range packs {
			_, err := index.ReadShard(bytes.NewReader(b.Data), index.Path(p.Release.ID))
			if here := strings.HasPrefix(index.Prefix(p.Release.ID, 16), prefix); here != (err == nil) {
				t.Errorf("%s in %q: %v", p.Release.ID, prefix, err)
			} else if here {
				found++
			}
		}
	}
	if found != 20 {
		t.Errorf("%d packs are in shards", found)
	}
	for packs, want := range map[int]int{0: 0, 1: 0, 2: 1, 100: 4, 10_000: 7, 1_000_000: 10, 1 << 40: 12} {
		if got := index.ShardBits(packs); got != want {
			t.Errorf("%d packs: %d bits, want %d", packs, got, want)
		}
	}
}
