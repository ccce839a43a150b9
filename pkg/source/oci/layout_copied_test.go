package oci_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	orasgo "oras.land/oras-go/v2"
	orasoci "oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// copyWithOras copies a tag or digest with its referrers, as "oras cp -r --to-oci-layout" does. An empty name gives the
// copy no tag.
func copyWithOras(t *testing.T, s *ocitest.Server, repository, from, dir, name string) {
	t.Helper()
	store, err := orasoci.NewWithContext(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	source, err := remote.NewRepository(s.Host + "/" + repository)
	if err != nil {
		t.Fatal(err)
	}
	source.PlainHTTP = true
	if name == "" {
		desc, err := source.Resolve(t.Context(), from)
		if err == nil {
			err = orasgo.ExtendedCopyGraph(t.Context(), source, store, desc, orasgo.DefaultExtendedCopyGraphOptions)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, err := orasgo.ExtendedCopy(t.Context(), source, from, store, name, orasgo.DefaultExtendedCopyOptions); err != nil {
		t.Fatal(err)
	}
}

// copiedLayout pushes versions 1.0.0, with provenance, and 1.1.0, a collection, and returns their digests, and a layout
// with copies named by the function.
func copiedLayout(t *testing.T, named func(version string) string) (digests map[string]string, dir string) {
	t.Helper()
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	c, dir := s.Client(t, ""), filepath.Join(t.TempDir(), "copied")
	digests = map[string]string{}
	for version, format := range map[string]string{"1.0.0": oci.FormatPack, "1.1.0": oci.FormatAgentSkills} {
		rel, trees := release(version, "deploy", "rollback")
		pushed, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: format, Provenance: firstCommit})
		if err != nil {
			t.Fatal(err)
		}
		digests[version] = pushed.Digest
		copyWithOras(t, s, "acme/deploy", version, dir, named(version))
	}
	return digests, dir
}

// TestCopiedLayout checks that a layout is read whatever names its versions: a tag, another tag, or none.
func TestCopiedLayout(t *testing.T) {
	for name, named := range map[string]func(string) string{
		"by version": func(v string) string { return v },
		"by v":       func(v string) string { return "v" + v },
		"by name":    func(v string) string { return "release-" + v[:3] },
		"untagged":   func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			digests, dir := copiedLayout(t, named)
			c := oci.New(oci.Options{})
			for _, id := range []pack.ID{{}, deployID} {
				ref := pack.Ref{Kind: pack.KindLayout, URL: dir, ID: id}
				versions, err := c.Versions(t.Context(), ref)
				if err != nil || !slices.Equal(versions, []string{"1.1.0", "1.0.0"}) {
					t.Errorf("%v has the versions %v: %v", id, versions, err)
				}
				for version, digest := range digests {
					ref.Rev = version
					p, err := c.Open(t.Context(), ref)
					if err != nil || p.ID != deployID || p.Ref.ID != deployID || p.Ref.Digest != digest {
						t.Fatalf("%v: opened %+v: %v", id, p, err)
					}
					_, trees := release(version, "deploy", "rollback")
					checkFetched(t, c, p, trees)
					if got := statedProvenance(t, c, p.Ref, digest); len(got) != 1 || got[0] != firstCommit {
						t.Errorf("the referrers of %s state %+v", version, got)
					}
				}
			}
			packs, err := c.Packs(t.Context(), pack.Ref{Kind: pack.KindLayout, URL: dir})
			if err != nil || !slices.Equal(packs, []oci.LayoutPack{{ID: deployID, Named: true}}) {
				t.Errorf("the layout has %+v: %v", packs, err)
			}
			other := pack.Ref{Kind: pack.KindLayout, URL: dir, ID: pack.ID{Owner: "acme", Name: "other"}}
			_, err = c.Open(t.Context(), other)
			wantCode(t, err, diag.NotFound, "does not contain acme/other", "oci-layout:DIR//acme/deploy")
		})
	}
}

// TestCopiedLayoutOfSeveral checks that a layout with several packs requires the name of one, and that two artifacts of
// one version are never chosen from.
func TestCopiedLayoutOfSeveral(t *testing.T) {
	s := ocitest.New(t)
	c, dir := s.Client(t, ""), filepath.Join(t.TempDir(), "copied")
	for tag, skills := range map[string][]string{"a": {"deploy"}, "b": {"deploy", "rollback"}} {
		ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/" + tag)}
		push(t, c, ref, "1.0.0", skills...)
		copyWithOras(t, s, "acme/"+tag, "1.0.0", dir, tag)
	}
	ref := pack.Ref{Kind: pack.KindLayout, URL: dir, ID: deployID, Rev: "1.0.0"}
	_, err := c.Open(t.Context(), ref)
	wantCode(t, err, diag.Conflict, "contains two artifacts of acme/deploy 1.0.0", "acme/deploy@DIGEST")

	rel, trees := release("1.0.0", "deploy")
	rel.ID = pack.ID{Owner: "acme", Name: "other"}
	other := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/other")}
	if _, err := c.Push(t.Context(), other, rel, trees, oci.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	copyWithOras(t, s, "acme/other", "1.0.0", dir, "c")
	_, err = c.Open(t.Context(), pack.Ref{Kind: pack.KindLayout, URL: dir})
	wantCode(t, err, diag.NotFound, "contains several packs: acme/deploy, acme/other", "oci-layout:DIR//acme/deploy")
	ref.ID = rel.ID
	if p, err := c.Open(t.Context(), ref); err != nil || p.ID != rel.ID {
		t.Errorf("opened %+v: %v", p, err)
	}
}

// TestForeignLayout checks that an artifact without skillpm's annotation is the pack of its directory, and answers for
// no other name, so that a layout that is used as a registry cannot claim one.
func TestForeignLayout(t *testing.T) {
	s := ocitest.New(t)
	c, dir := s.Client(t, ""), filepath.Join(t.TempDir(), "copied")
	from := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	pushed := push(t, c, from, "1.0.0", "deploy")
	raw := withoutPackAnnotation(t, pushed.Manifest)
	registry{t, s}.manifest("acme/deploy", "2.0.0", ocispec.MediaTypeImageManifest, raw)
	copyWithOras(t, s, "acme/deploy", "2.0.0", dir, "2.0.0")
	local := pack.ID{Owner: "local", Name: "copied"}
	for _, id := range []pack.ID{{}, local} {
		p, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindLayout, URL: dir, ID: id})
		if err != nil || p.ID != local || p.Version != "2.0.0" {
			t.Fatalf("%v: opened %+v: %v", id, p, err)
		}
		_, trees := release("2.0.0", "deploy")
		checkFetched(t, oci.New(oci.Options{}), p, trees)
	}
	_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindLayout, URL: dir, ID: deployID})
	wantCode(t, err, diag.NotFound, "does not contain acme/deploy", "oci-layout:DIR//local/copied")
}

func withoutPackAnnotation(t *testing.T, manifest []byte) []byte {
	t.Helper()
	var m ocispec.Manifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		t.Fatal(err)
	}
	delete(m.Annotations, oci.AnnotationPack)
	m.MediaType = "" // which the specification allows
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestDamagedCopiedLayout checks that entries that cannot be read do not hide the others.
func TestDamagedCopiedLayout(t *testing.T) {
	digests, dir := copiedLayout(t, func(v string) string { return v })
	blob := filepath.Join(dir, "blobs", "sha256", digests["1.1.0"][len("sha256:"):])
	if err := os.Chmod(blob, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blob, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := oci.New(oci.Options{})
	ref := pack.Ref{Kind: pack.KindLayout, URL: dir, ID: deployID, Rev: "1.0.0"}
	if p, err := c.Open(t.Context(), ref); err != nil || p.Version != "1.0.0" {
		t.Errorf("opened %+v: %v", p, err)
	}
}
