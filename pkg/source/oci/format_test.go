package oci_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// TestFormats publishes in each format, at every kind of location, and resolves and fetches the result like any pack.
func TestFormats(t *testing.T) {
	for _, tt := range targets() {
		for _, format := range oci.Formats() {
			t.Run(tt.name+" "+format, func(t *testing.T) {
				t.Parallel()
				c, ref := tt.open(t)
				skills := []string{"deploy", "rollback"}
				if format == oci.FormatToolHive {
					skills = skills[:1]
				}
				rel, trees := release("1.0.0", skills...)
				rel.Tags = []string{"k8s"}
				pushed, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: format, Moving: true})
				if err != nil {
					t.Fatal(err)
				}
				p, err := c.Open(t.Context(), ref)
				if err != nil {
					t.Fatal(err)
				}
				if p.ID != rel.ID || p.Version != "1.0.0" || p.Ref.Digest != pushed.Digest || len(p.Dependencies) != 1 || !slices.Equal(p.Tags, rel.Tags) {
					t.Errorf("opened %+v", p)
				}
				if len(p.Skills) != len(skills) || p.Skills[0].Description != "Does deploy." {
					t.Errorf("skills %+v", p.Skills)
				}
				checkFetched(t, c, p, trees)
				again, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{}) // in another form, the same
				if err != nil || !again.Existed || again.Digest != pushed.Digest {
					t.Errorf("%+v %v", again, err)
				}
				if got, err := oci.TreesOf(pushed.Manifest); err != nil || len(got) != len(skills) {
					t.Errorf("trees %v %v", got, err)
				}
			})
		}
	}
}

// TestFormatIsOneGET checks that another tool's format needs no additional requests to resolve.
func TestFormatIsOneGET(t *testing.T) {
	s := ocitest.New(t)
	for _, format := range oci.Formats() {
		ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL(format + "/deploy"), Rev: "1.0.0"}
		rel, trees := release("1.0.0", "deploy")
		if _, err := s.Client(t, "").Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: format}); err != nil {
			t.Fatal(err)
		}
		c := s.Client(t, "")
		if _, err := c.Versions(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		s.Requests()
		if _, err := c.Open(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if got := s.Requests(); len(got) != 1 {
			t.Errorf("%s: %q", format, got)
		}
	}
}

// TestBadFormats tries packs that a format cannot express.
func TestBadFormats(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, "")
	rel, trees := release("1.0.0", "deploy", "rollback")
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	_, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: "zip"})
	wantCode(t, err, diag.Usage, "zip", "toolhive")
	_, err = c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: oci.FormatToolHive})
	wantCode(t, err, diag.Invalid, "2", "one skill")
	rel, trees = release("1.0.0", "rollback")
	_, err = c.CheckPush(t.Context(), ref, rel, trees, oci.PushOptions{Format: oci.FormatToolHive})
	wantCode(t, err, diag.Invalid, "rollback", s.URL("acme/rollback"))
}

// TestForms checks the types by which other tools recognize their artifacts.
func TestForms(t *testing.T) {
	c := oci.New(oci.Options{Base: t.TempDir()})
	rel, trees := release("1.0.0", "deploy")
	for format, want := range map[string][]string{
		oci.FormatFlux:     {ocispec.MediaTypeImageManifest, "", "application/vnd.cncf.flux.config.v1+json", fluxType},
		oci.FormatToolHive: {ocispec.MediaTypeImageIndex, "dev.toolhive.skills.v1", "", ""},
		oci.FormatImage:    {ocispec.MediaTypeImageIndex, "", "", ""},
	} {
		pushed, err := c.CheckPush(t.Context(), pack.Ref{Kind: pack.KindLayout, URL: "x", ID: deployID}, rel, trees, oci.PushOptions{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			MediaType, ArtifactType string
			Config                  struct{ MediaType string }
			Layers                  []struct{ MediaType string }
		}
		if err := json.Unmarshal(pushed.Manifest, &m); err != nil {
			t.Fatal(err)
		}
		got := []string{m.MediaType, m.ArtifactType, m.Config.MediaType, ""}
		if len(m.Layers) > 0 {
			got[3] = m.Layers[0].MediaType
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
		if got := oci.FormatOf(pushed.Manifest); got != format {
			t.Errorf("%s has the format %q", format, got)
		}
	}
}

// TestImageLayer checks that an image has the layer of skillpm's own format, so that a registry stores it once, and
// that its configuration is complete for every platform.
func TestImageLayer(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, "")
	rel, trees := release("1.0.0", "deploy", "rollback")
	var own struct{ Layers []ocispec.Descriptor }
	pushed, err := c.Push(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/own")}, rel, trees, oci.PushOptions{})
	if err == nil {
		err = json.Unmarshal(pushed.Manifest, &own)
	}
	if err != nil {
		t.Fatal(err)
	}
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/image")}
	pushed, err = c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: oci.FormatImage})
	var idx ocispec.Index
	if err == nil {
		err = json.Unmarshal(pushed.Manifest, &idx)
	}
	if err != nil || len(idx.Manifests) < 2 {
		t.Fatalf("%v\n%s", err, pushed.Manifest)
	}
	for _, member := range idx.Manifests {
		ref.Digest = string(member.Digest)
		raw, _, err := c.Manifest(t.Context(), ref)
		var m ocispec.Manifest
		if err == nil {
			err = json.Unmarshal(raw, &m)
		}
		if err != nil || len(m.Layers) != 1 || m.Layers[0].Digest != own.Layers[0].Digest ||
			m.Layers[0].MediaType != ocispec.MediaTypeImageLayerGzip || m.Config.MediaType != ocispec.MediaTypeImageConfig {
			t.Fatalf("%v\n%s", err, raw)
		}
		data, err := c.ReadBlob(t.Context(), ref, oci.Blob{Digest: string(m.Config.Digest), Size: m.Config.Size}, 1<<20)
		var config ocispec.Image
		if err == nil {
			err = json.Unmarshal(data, &config)
		}
		if err != nil || config.OS != "linux" || config.Architecture != member.Platform.Architecture ||
			!slices.Equal(config.RootFS.DiffIDs, []digest.Digest{digest.Digest(own.Layers[0].Annotations["io.deis.oras.content.digest"])}) ||
			config.Config.Labels[ocispec.AnnotationVersion] != "1.0.0" {
			t.Errorf("%v\n%s", err, data)
		}
	}
}

// TestHostileSingle uses an artifact that claims ToolHive's format but lists two skills.
func TestHostileSingle(t *testing.T) {
	s := ocitest.New(t)
	r := registry{t, s}
	r.blob("x/y", ocispec.MediaTypeEmptyJSON, []byte("{}"))
	l := r.blob("x/y", ocispec.MediaTypeImageLayerGzip, archive(t, map[string]sourcetest.File{skillMD: file(sourcetest.Skill("a", "A."))}))
	m := manifestOf("dev.toolhive.skills.v1", l)
	tree := "t1:sha256:" + strings.Repeat("0", 64)
	m.Annotations = map[string]string{oci.AnnotationPack: `{"name":"x/y","version":"1.0.0","dependencies":{},"skills":{"a":"` + tree + `","b":"` + tree + `"}}`}
	r.manifest("x/y", "1.0.0", ocispec.MediaTypeImageManifest, m)
	err := get(t, s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("x/y")})
	wantCode(t, err, diag.Invalid, "2 skills")
}

// TestLayerTypes uses the layer types of further tools.
func TestLayerTypes(t *testing.T) {
	s := ocitest.New(t)
	r := registry{t, s}
	for mediaType, ok := range map[string]bool{
		"application/vnd.redhat.agentskill.layer.v1.tar+gzip": true, "application/vnd.redhat.agentskill.layer.v1+tar": true,
		"application/vnd.cncf.skill.layer.v1.tar": true, "application/vnd.cncf.skill.layer.v1.tar+gzip": true,
		"application/vnd.cncf.skill.manifest.v1+json": false, "application/vnd.example.skill.v1.tar": false,
	} {
		r.blob("x/greet", ocispec.MediaTypeEmptyJSON, []byte("{}"))
		l := r.blob("x/greet", mediaType, archive(t, map[string]sourcetest.File{skillMD: file(sourcetest.Skill("greet", "Greets."))}))
		r.manifest("x/greet", "1.0.0", ocispec.MediaTypeImageManifest, manifestOf("", l))
		p, err := s.Client(t, "").Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("x/greet"), Rev: "1.0.0"})
		if (err == nil) != ok {
			t.Errorf("%s: %v", mediaType, err)
		}
		if ok {
			checkTrees(t, s.Client(t, ""), p)
		}
	}
}
