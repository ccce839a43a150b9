package oci_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

const (
	fluxType = "application/vnd.cncf.flux.content.v1.tar+gzip"
	skillMD  = "SKILL.md"
)

func file(text string) sourcetest.File { return sourcetest.File{Data: text} }

// TestForeign opens and fetches artifacts of other tools.
func TestForeign(t *testing.T) {
	greet := sourcetest.Skill("greet", "Greets.")
	for _, tt := range []struct {
		name string
		tag  string
		make func(r registry, tag string)
		want map[string]string // skill -> description
		ver  string
	}{
		{"an Agent Skills artifact", "1.2.0", func(r registry, tag string) {
			l := r.blob("tools/greet", oci.MediaTypeContent, archive(r.t, map[string]sourcetest.File{"greet/" + skillMD: file(greet)}))
			r.manifest("tools/greet", tag, ocispec.MediaTypeImageManifest, manifestOf(oci.MediaTypeSkill, l))
		}, map[string]string{"greet": "Greets."}, "1.2.0"},
		{"with a card beside the content", "v1.2.0", func(r registry, tag string) {
			l := r.blob("tools/greet", oci.MediaTypeContent, archive(r.t, map[string]sourcetest.File{"greet/" + skillMD: file(greet)}))
			card := r.blob("tools/greet", "application/vnd.example.card.v1+yaml", []byte("a: b\n"))
			r.manifest("tools/greet", tag, ocispec.MediaTypeImageManifest, manifestOf(oci.MediaTypeSkill, card, l))
		}, map[string]string{"greet": "Greets."}, "1.2.0"},
		{"Flux, several skills and other files", "latest", func(r registry, tag string) {
			l := r.blob("tools/greet", fluxType, archive(r.t, map[string]sourcetest.File{
				"greet/" + skillMD: file(greet), "wave/" + skillMD: file("---\ndescription: Waves.\n---\n\nWave.\n"),
				"README.md": file("# read me\n"), "docs/a.md": file("x"),
			}))
			m := manifestOf("", l)
			m.Annotations = map[string]string{ocispec.AnnotationVersion: "3.1.0"}
			r.manifest("tools/greet", tag, ocispec.MediaTypeImageManifest, m)
		}, map[string]string{"greet": "Greets.", "wave": "Waves."}, "3.1.0"},
		{"ToolHive: an index for platforms, files at the root", "0.1.0", func(r registry, tag string) {
			l := r.blob("tools/greet", ocispec.MediaTypeImageLayerGzip, archive(r.t, map[string]sourcetest.File{
				skillMD: file(greet), "scripts/hi.sh": {Data: "#!/bin/sh\n", Executable: true}, "LICENSE": file("x"),
			}))
			m := r.manifest("tools/greet", "", ocispec.MediaTypeImageManifest, manifestOf("dev.toolhive.skills.v1", l))
			amd, arm := m, m
			amd.Platform, arm.Platform = &ocispec.Platform{OS: "linux", Architecture: "amd64"}, &ocispec.Platform{OS: "linux", Architecture: "arm64"}
			r.manifest("tools/greet", tag, ocispec.MediaTypeImageIndex, index(amd, arm))
		}, map[string]string{"greet": "Greets."}, "0.1.0"},
		{"a collection", "2.0.0", func(r registry, tag string) {
			idx := index()
			idx.ArtifactType = oci.MediaTypeCollection
			for _, name := range []string{"greet", "wave"} {
				l := r.blob("tools/greet", oci.MediaTypeContent, archive(r.t, map[string]sourcetest.File{
					name + "/" + skillMD: file(sourcetest.Skill(name, "Does "+name+".")),
				}))
				d := r.manifest("tools/greet", "", ocispec.MediaTypeImageManifest, manifestOf(oci.MediaTypeSkill, l))
				d.Annotations = map[string]string{"io.agentskills.skill.name": name}
				idx.Manifests = append(idx.Manifests, d)
			}
			r.manifest("tools/greet", tag, ocispec.MediaTypeImageIndex, idx)
		}, map[string]string{"greet": "Does greet.", "wave": "Does wave."}, "2.0.0"},
		{"skills-oci: a time, no pack, its configuration", "1.0.0", func(r registry, tag string) {
			l := r.blob("tools/greet", oci.MediaTypeContent, archive(r.t, map[string]sourcetest.File{
				"greet/" + skillMD: file(greet), "greet/scripts/hi.sh": {Data: "#!/bin/sh\n", Executable: true},
			}))
			m := manifestOf(oci.MediaTypeSkill, l)
			m.Config = r.blob("tools/greet", oci.MediaTypeSkillConfig, []byte(`{"name":"greet","version":"1.0.0","description":"Greets."}`))
			m.Annotations = map[string]string{
				ocispec.AnnotationCreated: "2026-11-20T10:00:00Z", ocispec.AnnotationTitle: "greet", ocispec.AnnotationVersion: "1.0.0",
				ocispec.AnnotationDescription: "Greets.", "io.agentskills.skill.name": "greet", "io.agentskills.skill.compatibility": "x",
			}
			r.manifest("tools/greet", tag, ocispec.MediaTypeImageManifest, m)
		}, map[string]string{"greet": "Greets."}, "1.0.0"},
		{"a name that is not legal", "1.0.0", func(r registry, tag string) {
			l := r.blob("tools/greet", oci.MediaTypeContent, archive(r.t, map[string]sourcetest.File{
				"Greet_People/" + skillMD: file("---\nname: Greet People!\ndescription: Greets.\n---\n\nx\n"),
			}))
			r.manifest("tools/greet", tag, ocispec.MediaTypeImageManifest, manifestOf(oci.MediaTypeSkill, l))
		}, map[string]string{"greet-people": "Greets."}, "1.0.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ocitest.New(t)
			r := registry{t, s}
			r.blob("tools/greet", ocispec.MediaTypeEmptyJSON, []byte("{}"))
			tt.make(r, tt.tag)
			c := s.Client(t, "")
			p, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("tools/greet"), Rev: tt.tag})
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]string)
			for _, s := range p.Skills {
				got[s.Name] = s.Description
			}
			if !maps.Equal(got, tt.want) || p.Version != tt.ver || p.ID.String() != "tools/greet" {
				t.Errorf("opened %s@%s with %q, want %q", p.ID, p.Version, got, tt.want)
			}
			checkTrees(t, c, p)
			checkTrees(t, s.Client(t, ""), p) // as from a lock, without opening it first
		})
	}
}

// checkTrees checks that the fetched trees match Open's description, all together and one by one.
func checkTrees(t *testing.T, c *oci.Client, p *pack.Pack) {
	t.Helper()
	all := fetch(t, c, p)
	if len(all) != len(p.Skills) {
		t.Errorf("fetched %d skills of %d", len(all), len(p.Skills))
	}
	for _, s := range p.Skills {
		if all[s.Name].Digest() != s.Tree {
			t.Errorf("%s is %s, Open said %s", s.Name, all[s.Name].Digest(), s.Tree)
		}
		if one := fetch(t, c, p, s.Name); len(one) != 1 || one[s.Name].Digest() != s.Tree {
			t.Errorf("%s alone gave %d skills", s.Name, len(one))
		}
	}
}

// TestCollectionOfOtherRepositories uses a collection in the format of skills-oci, whose skills are in other
// repositories.
func TestCollectionOfOtherRepositories(t *testing.T) {
	s := ocitest.New(t)
	r := registry{t, s}
	r.blob("tools/all", ocispec.MediaTypeEmptyJSON, []byte("{}"))
	l := r.blob("tools/all", oci.MediaTypeContent, archive(t, map[string]sourcetest.File{"greet/" + skillMD: file(sourcetest.Skill("greet", "Greets."))}))
	d := r.manifest("tools/all", "", ocispec.MediaTypeImageManifest, manifestOf(oci.MediaTypeSkill, l))
	d.Annotations = map[string]string{"io.agentskills.skill.name": "greet", "io.agentskills.skill.ref": "registry.example/tools/greet:1.0.0"}
	idx := index(d)
	idx.ArtifactType = oci.MediaTypeCollection
	r.manifest("tools/all", "1.0.0", ocispec.MediaTypeImageIndex, idx)
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/manifests/"+string(d.Digest)) {
			http.NotFound(w, r)
			return true
		}
		return false
	})
	_, err := s.Client(t, "").Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("tools/all"), Rev: "1.0.0"})
	wantCode(t, err, diag.NotFound, "another repository", "registry.example/tools/greet:1.0.0")
}

// TestNoSkill uses artifacts of other kinds, which are not packs.
func TestNoSkill(t *testing.T) {
	s := ocitest.New(t)
	r := registry{t, s}
	r.blob("x/y", ocispec.MediaTypeEmptyJSON, []byte("{}"))
	l := r.blob("x/y", ocispec.MediaTypeImageLayerGzip, archive(t, map[string]sourcetest.File{"bin/sh": file("elf")}))
	r.manifest("x/y", "1.0.0", ocispec.MediaTypeImageManifest, manifestOf("", l))
	_, err := s.Client(t, "").Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("x/y")})
	wantCode(t, err, diag.Invalid, skillMD)
}

// TestHighest checks the version that a reference without a version selects.
func TestHighest(t *testing.T) {
	for _, tt := range []struct {
		tags []string
		want string
	}{
		{[]string{"v1.0.0", "1.2.0", "1.10.0-rc.1", "latest", "1", "20261120", "sha256-" + fmt.Sprintf("%064d", 0)}, "1.2.0"},
		{[]string{"latest", "edge", "1.0.0-rc.1"}, "latest"},
		{[]string{"edge", "1.0.0-rc.1", "1.0.0-rc.2"}, "1.0.0-rc.2"},
		{[]string{"edge", "1.4"}, ""},
	} {
		s := ocitest.New(t)
		r := registry{t, s}
		r.blob("x/y", ocispec.MediaTypeEmptyJSON, []byte("{}"))
		l := r.blob("x/y", oci.MediaTypeContent, archive(t, map[string]sourcetest.File{"a/" + skillMD: file(sourcetest.Skill("a", "A."))}))
		for _, tag := range tt.tags {
			r.manifest("x/y", tag, ocispec.MediaTypeImageManifest, manifestOf(oci.MediaTypeSkill, l))
		}
		p, err := s.Client(t, "").Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("x/y")})
		if tt.want == "" {
			wantCode(t, err, diag.NotFound, "does not have versions", "use one of its 2 tags")
			continue
		}
		if err != nil || p.Ref.Rev != tt.want {
			t.Errorf("%q: %+v %v, want %s", tt.tags, p, err, tt.want)
		}
	}
}

func FuzzParseArtifact(f *testing.F) {
	d := `{"mediaType":"m","digest":"sha256:` + fmt.Sprintf("%064d", 0) + `","size":1}`
	f.Add([]byte(`{"schemaVersion":2,"mediaType":"` + ocispec.MediaTypeImageManifest + `","config":` + d + `,"layers":[` + d + `]}`))
	f.Add([]byte(`{"schemaVersion":2,"mediaType":"` + ocispec.MediaTypeImageIndex + `","manifests":[` + d + `]}`))
	f.Add([]byte(`{"schemaVersion":1}`))
	f.Add([]byte(`{"schemaVersion":2,"layers":null,"annotations":{"io.skillpm.pack.v1":"{}"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := oci.ParseArtifact(raw); err != nil && diag.CodeOf(err) == diag.Internal {
			t.Errorf("%q: %v has no code", raw, err)
		}
	})
}

func FuzzPackInfo(f *testing.F) {
	f.Add(`{"name":"a/b","version":"1.0.0","dependencies":{"a/c":"^1","a/d":{"version":"*","skills":["x"]}},"skills":{"x":"t1:sha256:` + fmt.Sprintf("%064d", 0) + `"}}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, text string) {
		if again, err := oci.PackInfoRoundTrip(text); err == nil && again != text {
			t.Errorf("%q becomes %q", text, again)
		}
	})
}
