package oci_test

import (
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// TestContract runs the contract of every kind of location, with handmade artifacts: with skillpm's annotation and
// without, in a registry and in layouts.
func TestContract(t *testing.T) {
	t.Run("registry", func(t *testing.T) {
		sourcetest.Run(t, func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
			s := ocitest.New(t)
			handMade(t, s, "acme/pack", files, true)
			return s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/pack")}
		})
	})
	t.Run("registry, made by another tool", func(t *testing.T) {
		sourcetest.Run(t, func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
			s := ocitest.New(t)
			handMade(t, s, "acme/pack", files, false)
			return s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/pack")}
		})
	})
	layouts := map[string]func(dir string) (oci.Options, pack.Ref){
		"layout": func(dir string) (oci.Options, pack.Ref) {
			return oci.Options{Base: dir}, pack.Ref{Kind: pack.KindLayout, URL: ".", ID: deployID}
		},
		"local": func(dir string) (oci.Options, pack.Ref) {
			return oci.Options{Local: dir}, pack.Ref{Kind: pack.KindLocal, ID: deployID}
		},
	}
	for name, place := range layouts {
		t.Run(name, func(t *testing.T) {
			sourcetest.Run(t, func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
				s := ocitest.New(t)
				handMade(t, s, "acme/deploy", files, true)
				options, ref := place(t.TempDir())
				c := oci.New(options)
				copyToLayout(t, s, c, ref)
				return c, ref
			})
		})
	}
}

// handMade stores a pack, hostile or not, as version 1.0.0.
func handMade(t *testing.T, s *ocitest.Server, repo string, files map[string]sourcetest.File, annotated bool) {
	t.Helper()
	r := registry{t, s}
	data := archive(t, below(files, "skills"))
	m := manifestOf(oci.MediaTypePack, r.blob(repo, oci.MediaTypeContent, data))
	r.blob(repo, ocispec.MediaTypeEmptyJSON, []byte("{}"))
	if annotated {
		m.Annotations = annotations(t, files)
	}
	r.manifest(repo, "1.0.0", ocispec.MediaTypeImageManifest, m)
}

// annotations describes the skills of files like Push would, based on a safe pack of the same skills.
func annotations(t *testing.T, files map[string]sourcetest.File) map[string]string {
	t.Helper()
	safe := make(map[string]map[string][]byte)
	executable := make(map[string]bool)
	for _, skill := range []string{"deploy", "rollback"} {
		for name, f := range below(files, "skills/"+skill) {
			if bundle.CheckPath(name) != nil || bundle.Ignored(name, false) || f.Link != "" {
				continue
			}
			if safe[skill] == nil {
				safe[skill] = make(map[string][]byte)
			}
			safe[skill][bundle.Normal(name)] = []byte(f.Data)
			executable[skill+"/"+bundle.Normal(name)] = f.Executable
		}
	}
	var trees []bundle.Tree
	rel := oci.Release{ID: deployID, Version: "1.0.0"}
	for skill, files := range safe {
		trees = append(trees, bundle.MapTree(skill, files, func(p string) bool { return executable[skill+"/"+p] }))
		text := map[string]string{"deploy": "Deploys the thing.", "rollback": "Takes it back."}[skill]
		rel.Skills = append(rel.Skills, oci.SkillMeta{Name: skill, Description: text})
	}
	return oci.Annotations(t, rel, trees)
}

func copyToLayout(t *testing.T, s *ocitest.Server, c *oci.Client, ref pack.Ref) {
	t.Helper()
	from := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	if err := oci.CopyVersion(t.Context(), s.Client(t, ""), from, c, ref, "1.0.0"); err != nil {
		t.Fatal(err)
	}
}
