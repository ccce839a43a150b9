package registry_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// hubs are the schemes of registries with an HTTP API of their own.
func hubs() []string { return []string{"clawhub", "apm"} }

// hubKind returns the kind of registry at a scheme.
func hubKind(scheme string) registrytest.Kind {
	return registrytest.Kind{Make: func(t *testing.T, packs []registrytest.Published) (registry.Registry, registrytest.Fetcher) {
		s := registrytest.NewHub(t, packs...)
		h := registry.NewHub(registry.HubOptions{})
		return open(t, scheme+"+"+s.URL, registry.Deps{Hub: h}), h
	}}
}

func deployID() pack.ID { return pack.ID{Owner: "acme", Name: "deploy"} }

// TestHubPinned checks that a version whose content changed is an error, and what the lockfile records.
func TestHubPinned(t *testing.T) {
	for _, scheme := range hubs() {
		s := registrytest.NewHub(t, registrytest.Pack("acme/deploy", "1.2.0", "deploy"))
		hub := func() *registry.Hub { return registry.NewHub(registry.HubOptions{}) }
		r := open(t, scheme+"+"+s.URL, registry.Deps{Hub: hub()})
		p, err := r.Pack(t.Context(), deployID(), "1.2.0")
		if err != nil {
			t.Fatal(err)
		}
		source := p.Ref.Locked(p.Version)
		if want := scheme + "+" + s.URL + "//acme/deploy"; source != want {
			t.Errorf("locked as %s, want %s", source, want)
		}
		locked := &pack.LockedPack{Version: p.Version, Source: source, Resolved: p.Ref.Digest}
		ref, err := locked.Ref(p.ID)
		if err != nil || ref != p.Ref {
			t.Errorf("%s: the lockfile has %+v, %v; want %+v", scheme, ref, err, p.Ref)
		}
		changed := registrytest.Pack("acme/deploy", "1.2.0", "deploy")
		changed.Trees = registrytest.Pack("acme/deploy", "6.6.6", "deploy").Trees
		s.Replace(changed)
		if _, err := hub().Open(t.Context(), ref); diag.CodeOf(err) != diag.Integrity {
			t.Errorf("%s: changed content: %v", scheme, err)
		}
	}
}

// TestHubLogin checks that the token of a host is sent to it.
func TestHubLogin(t *testing.T) {
	for _, scheme := range hubs() {
		s := registrytest.NewHub(t, registrytest.Pack("acme/deploy", "1.2.0", "deploy"))
		s.RequireToken("t0ken")
		r := open(t, scheme+"+"+s.URL, registry.Deps{Hub: registry.NewHub(registry.HubOptions{})})
		_, err := r.Versions(t.Context(), deployID())
		if diag.CodeOf(err) != diag.Denied || !strings.Contains(diag.HintOf(err), "skillpm login 127.0.0.1") {
			t.Errorf("%s: without a token: %v, hint %q", scheme, err, diag.HintOf(err))
		}
		getenv := func(name string) string {
			if strings.HasPrefix(name, "SKILLPM_TOKEN_127_0_0_1") {
				return "t0ken"
			}
			return ""
		}
		r = open(t, scheme+"+"+s.URL, registry.Deps{Hub: registry.NewHub(registry.HubOptions{Getenv: getenv})})
		if _, err := r.Versions(t.Context(), deployID()); err != nil {
			t.Errorf("%s: with a token: %v", scheme, err)
		}
	}
}

// TestClawHubModeration checks that blocked skills are refused, and that suspicious ones have a warning.
func TestClawHubModeration(t *testing.T) {
	s := registrytest.NewHub(t, registrytest.Pack("acme/deploy", "1.2.0", "deploy"))
	get := func() (*pack.Pack, error) {
		r := open(t, "clawhub+"+s.URL, registry.Deps{Hub: registry.NewHub(registry.HubOptions{})})
		return r.Pack(t.Context(), deployID(), "1.2.0")
	}
	s.Moderate("acme/deploy", true, false, "It runs code.")
	if p, err := get(); err != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "It runs code.") {
		t.Errorf("suspicious: %+v, %v", p, err)
	}
	s.Moderate("acme/deploy", true, true, "It steals tokens.")
	if _, err := get(); diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "as malware: It steals tokens.") {
		t.Errorf("blocked: %v", err)
	}
	s.Moderate("acme/deploy", false, false, "")
	for name, tt := range map[string]struct {
		path    string
		answer  func(http.ResponseWriter)
		code    diag.Code
		message string
		hint    string
	}{
		"download refused": {"/api/v1/download", func(w http.ResponseWriter) {
			http.Error(w, "Blocked: malware detected", http.StatusForbidden)
		}, diag.Denied, "Blocked: malware detected", ""},
		"files elsewhere": {"/api/v1/download", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"sourceRef":"public-github","repo":"acme/skills","commit":"` +
				strings.Repeat("a", 40) + `","path":"skills/deploy"}`))
		}, diag.Invalid, "does not have the files", "github.com/acme/skills.git//skills/deploy#aaaa"},
		"files elsewhere, with a command": {"/api/v1/download", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"repo":"acme/a$(id)","commit":"x;id","path":"."}`))
		}, diag.Invalid, "does not have the files", "skillpm install 'git+https://github.com/acme/a$%28id%29.git#x;id'"},
		"another publisher": {"/api/v1/skills/deploy", func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"skill":{"slug":"deploy"},"owner":{"handle":"evil"}}`))
		}, diag.NotFound, "acme/deploy", ""},
		"not a zip": {"/api/v1/download", func(w http.ResponseWriter) {
			_, _ = w.Write([]byte("<html>"))
		}, diag.Invalid, "not a valid zip archive", ""},
		"not implemented": {"/api/v1/download", func(w http.ResponseWriter) {
			http.Error(w, "no", http.StatusNotImplemented)
		}, diag.Remote, "501", ""},
		"busy": {"/api/v1/download", func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusTooManyRequests)
		}, diag.Remote, "429", "raise the limit with: skillpm login 127.0.0.1"},
		"overloaded": {"/api/v1/download", func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}, diag.Remote, "503", "ask the operator of 127.0.0.1"},
	} {
		s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != tt.path {
				return false
			}
			tt.answer(w)
			return true
		})
		_, err := get()
		if diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.message) ||
			!strings.Contains(diag.HintOf(err), tt.hint) {
			t.Errorf("%s: %v (%v), hint %q", name, err, diag.CodeOf(err), diag.HintOf(err))
		}
	}
}

// TestClawHubLongVersion checks that pages of long versions, which no pack has, are not kept.
func TestClawHubLongVersion(t *testing.T) {
	long := "1.3.0-" + strings.Repeat("a", 200)
	s := registrytest.NewHub(t, registrytest.Pack("acme/deploy", "1.2.0", "deploy"),
		registrytest.Pack("acme/deploy", long, "deploy"))
	r := open(t, "clawhub+"+s.URL, registry.Deps{Hub: registry.NewHub(registry.HubOptions{})})
	versions, err := r.Versions(t.Context(), deployID())
	if err != nil || len(versions) != 1 || versions[0].Version != "1.2.0" {
		t.Errorf("got %v, %v", versions, err)
	}
}

// TestAPMDigest checks that an archive that differs from its stated digest is refused.
func TestAPMDigest(t *testing.T) {
	s := registrytest.NewHub(t, registrytest.Pack("acme/deploy", "1.2.0", "deploy"))
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/download") {
			return false
		}
		w.Header().Set("Content-Type", "application/zip")
		_, _ = w.Write([]byte("other"))
		return true
	})
	r := open(t, "apm+"+s.URL, registry.Deps{Hub: registry.NewHub(registry.HubOptions{})})
	if _, err := r.Pack(t.Context(), deployID(), "1.2.0"); diag.CodeOf(err) != diag.Integrity {
		t.Errorf("got %v", err)
	}
	var sink bundle.Sink = bundle.NewHasher(bundle.DefaultLimits())
	p := &pack.Pack{ID: deployID(), Ref: pack.Ref{Kind: pack.KindAPM, URL: s.URL, ID: deployID(), Rev: "1.2.0"}}
	if err := registry.NewHub(registry.HubOptions{}).Fetch(t.Context(), p, nil, sink); diag.CodeOf(err) != diag.Integrity {
		t.Errorf("got %v", err)
	}
}

// TestAPMDependencies checks that a package of apm requires what its apm.yml takes from the registry, and that others
// are reported.
func TestAPMDependencies(t *testing.T) {
	for name, tt := range map[string]struct {
		manifest string
		want     string
		warning  string
	}{
		"by the default registry": {`name: deploy
registries: {corp: {url: "https://registry.example"}, default: corp}
dependencies:
  apm:
    - acme/base#^1.2.0
    - {registry: corp, id: acme/tools, version: ~2.1}
    - acme/unversioned
    - acme/branch#main
    - {registry: other, id: acme/elsewhere, version: 1.0.0}
    - {git: "https://git.example/x.git", ref: v1}
    - {id: acme/file, version: 1.0.0, path: prompts/a.prompt.md}
  mcp: [tracker]
`, "acme/base ^1.2.0, acme/tools ~2.1", "acme/unversioned, acme/branch#main, acme/elsewhere, https://git.example/x.git"},
		"from GitHub":        {"dependencies: {apm: [acme/base#^1.2.0]}\n", "", "acme/base#^1.2.0"},
		"without a registry": {"dependencies: {apm: [{id: acme/base, version: ^1.0.0}]}\n", "", "acme/base"},
		"none":               {"name: deploy\n", "", ""},
		"not YAML":           {"dependencies: [\n", "", "apm.yml"},
		"odd entries":        {"registries: {default: x}\ndependencies: {apm: [[a], {id: {b: c}}, {}, \"x#^1\"]}\n", "", "a dependency"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := zip.NewWriter(&b)
			for name, text := range map[string]string{
				"apm.yml": tt.manifest, ".apm/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploys.\n---\n",
			} {
				f, err := w.Create(name)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = f.Write([]byte(text))
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			s := registrytest.NewHub(t)
			s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, "/download") {
					w.Header().Set("Content-Type", "application/zip")
					_, _ = w.Write(b.Bytes())
					return true
				}
				_, _ = fmt.Fprintf(w, `{"versions":[{"version":"1.0.0","digest":"sha256:%x"}]}`, sha256.Sum256(b.Bytes()))
				return true
			})
			r := open(t, "apm+"+s.URL, registry.Deps{Hub: registry.NewHub(registry.HubOptions{})})
			p, err := r.Pack(t.Context(), deployID(), "1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			var deps []string
			for _, d := range p.Dependencies {
				deps = append(deps, d.ID.String()+" "+pack.FormatRequirement(d))
			}
			if got := strings.Join(deps, ", "); got != tt.want {
				t.Errorf("requires %q, want %q", got, tt.want)
			}
			warnings := strings.Join(p.Warnings, "\n")
			if !strings.Contains(warnings, tt.warning) || (warnings == "") != (tt.warning == "") {
				t.Errorf("warnings %q, want %q", warnings, tt.warning)
			}
		})
	}
}

// TestHubKeepsFew checks that opened archives do not stay in memory without a limit: what was dropped is downloaded
// again.
func TestHubKeepsFew(t *testing.T) {
	packs := []registrytest.Published{}
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0"} {
		packs = append(packs, registrytest.Pack("acme/deploy", version, "deploy"))
	}
	s := registrytest.NewHub(t, packs...)
	downloads := 0
	s.Meddle(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/versions/1.0.0/download") {
			downloads++
		}
		return false
	})
	limits := bundle.Limits{TotalBytes: 2 << 10}
	h := registry.NewHub(registry.HubOptions{Limits: limits})
	r := open(t, "apm+"+s.URL, registry.Deps{Hub: h})
	var first *pack.Pack
	for _, p := range packs {
		opened, err := r.Pack(t.Context(), deployID(), p.Release.Version)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = opened
		}
	}
	if err := h.Fetch(t.Context(), first, nil, bundle.NewHasher(limits)); err != nil || downloads != 2 {
		t.Errorf("%d downloads, %v", downloads, err)
	}
}

// TestHubTarLimits checks the limits of archives that must be unpacked to be read.
func TestHubTarLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		headers []tar.Header
		limits  bundle.Limits
		message string
	}{
		"entries": {
			[]tar.Header{{Name: "a/", Typeflag: tar.TypeDir}, {Name: "b/", Typeflag: tar.TypeDir}, {Name: "c/", Typeflag: tar.TypeDir}},
			bundle.Limits{Files: 2},
			"more than 2 entries",
		},
		"headers": {
			[]tar.Header{{Name: "a/", Typeflag: tar.TypeDir, PAXRecords: map[string]string{"A.a": strings.Repeat("a", 100<<10)}}},
			bundle.Limits{TotalBytes: 10 << 10},
			"larger than 10240 bytes",
		},
		"link": {[]tar.Header{{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/"}}, bundle.Limits{}, "neither a file nor a directory"},
	} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for _, h := range tt.headers {
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
		s := registrytest.NewHub(t)
		s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/download") {
				_, _ = w.Write(b.Bytes())
			} else {
				_, _ = fmt.Fprintf(w, `{"versions":[{"version":"1.2.0","digest":"sha256:%s"}]}`, textx.SHA256(b.Bytes()))
			}
			return true
		})
		r := open(t, "apm+"+s.URL, registry.Deps{Hub: registry.NewHub(registry.HubOptions{Limits: tt.limits})})
		_, err := r.Pack(t.Context(), deployID(), "1.2.0")
		if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
