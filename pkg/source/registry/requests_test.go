package registry_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// TestContactedRegistries checks which servers learn of a name: a bound or locked name is requested only from its
// registry. If two registries without a binding have it, the error names both, and an unreachable one is an error,
// because it might have the name.
func TestContactedRegistries(t *testing.T) {
	deploy := registrytest.Pack("acme/deploy", "1.0.0", "deploy")
	a, b := webIndex(t, deploy, registrytest.Pack("acme/both", "1.0.0", "both")), webIndex(t, registrytest.Pack("acme/both", "2.0.0", "both"))
	dir := t.TempDir()
	indexWithLayout(t, dir, []registrytest.Published{deploy})
	list := []registry.Named{{Name: "a", URL: "https://a.example"}, {Name: "b", URL: "https://b.example/"}}
	dead := append(slices.Clone(list), registry.Named{Name: "dead", URL: "https://dead.example"})
	for _, tt := range []struct {
		name         string
		config       registry.Config
		offline      bool
		pack         string
		locked       string
		wantRequests string // the hosts
		want         string // the registry's name, or words of the error
		code         diag.Code
	}{
		{"unbound, in one", registry.Config{Registries: list}, false, "acme/deploy", "", "a.example b.example", "a", 0},
		{"unbound, in two", registry.Config{Registries: list}, false, "acme/both", "", "a.example b.example", "acme/both is ambiguous: it is in a and b", diag.Conflict},
		{"unbound, in none, not even embedded", registry.Config{Registries: []registry.Named{{URL: "https://b.example"}}}, false, "acme/deploy", "", "b.example", "no registry contains the pack", diag.NotFound},
		{"unbound, one does not answer", registry.Config{Registries: dead}, false, "acme/deploy", "", "a.example b.example dead.example", "cannot look up acme/deploy in dead", diag.Remote},
		{"unbound, in two, one does not answer", registry.Config{Registries: dead}, false, "acme/both", "", "a.example b.example dead.example", "in dead", diag.Remote},
		{"bound", registry.Config{Registries: dead, Namespaces: map[string]string{"acme": "https://a.example"}}, false, "acme/both", "", "a.example", "a", 0},
		{"bound by address", registry.Config{Registries: dead, Namespaces: map[string]string{"acme": "https://b.example"}}, false, "acme/both", "", "b.example", "b", 0},
		{"bound, not there, and elsewhere", registry.Config{Registries: list, Namespaces: map[string]string{"acme": "https://b.example"}}, false, "acme/deploy", "", "b.example", "b does not contain the pack", diag.NotFound},
		{"bound, not there, and embedded", registry.Config{Namespaces: map[string]string{"acme": "https://b.example"}}, false, "acme/deploy", "", "b.example", "does not contain the pack", diag.NotFound},
		{"bound, does not answer", registry.Config{Registries: dead, Namespaces: map[string]string{"acme": "https://dead.example"}}, false, "acme/both", "", "dead.example", "dead.example", diag.Remote},
		{"bound by the administrator", registry.Config{Registries: dead, Namespaces: map[string]string{"acme": "https://a.example"}, Enforced: map[string]string{"acme": "https://b.example"}}, false, "acme/both", "", "b.example", "b", 0},
		{"bound by the administrator, named otherwise", registry.Config{Registries: list, Override: "https://a.example", Enforced: map[string]string{"acme": "https://b.example"}}, false, "acme/both", "", "", "must come from https://b.example", diag.Denied},
		{"another owner is bound", registry.Config{Registries: list, Namespaces: map[string]string{"globex": "https://b.example"}}, false, "acme/deploy", "", "a.example b.example", "a", 0},
		{"named", registry.Config{Registries: dead, Override: "https://b.example"}, false, "acme/both", "", "b.example", "b", 0},
		{"locked to embedded", registry.Config{Registries: dead}, false, "acme/deploy", "embedded", "", "embedded", 0},
		{"locked and bound", registry.Config{Registries: dead, Namespaces: map[string]string{"acme": "https://a.example"}}, false, "acme/deploy", "oci-layout:elsewhere", "a.example", "oci-layout:elsewhere", 0},
		{"offline", registry.Config{Registries: list}, true, "acme/deploy", "", "", "offline", diag.Remote},
		{"offline and bound", registry.Config{Registries: list, Namespaces: map[string]string{"acme": "https://a.example"}}, true, "acme/deploy", "", "", "offline", diag.Remote},
		{"offline and embedded", registry.Config{}, true, "acme/deploy", "", "", "embedded", 0},
		{"offline and locked to embedded", registry.Config{Registries: dead}, true, "acme/deploy", "embedded", "", "embedded", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &web{dirs: map[string]http.Handler{"a.example": a, "b.example": b}}
				deps := registry.Deps{HTTP: s.client(t), OCI: oci.New(oci.Options{}), Embedded: os.DirFS(dir), Offline: tt.offline}
				r, err := registry.NewSet(tt.config, deps).Find(t.Context(), parseID(t, tt.pack), tt.locked)
				switch {
				case tt.code != 0:
					if diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
						t.Errorf("got %v (%v), want %q (%v)", err, diag.CodeOf(err), tt.want, tt.code)
					}
				case err != nil || r.Name() != tt.want:
					t.Errorf("got %v %v, want %s", r, err, tt.want)
				}
				if got := strings.Join(hosts(s.requests()), " "); got != tt.wantRequests {
					t.Errorf("asked %q, want %q", got, tt.wantRequests)
				}
			})
		})
	}
}

// hosts returns the hosts that received requests.
func hosts(requests []string) []string {
	for i, r := range requests {
		requests[i], _, _ = strings.Cut(r, "/")
	}
	return slices.Compact(requests)
}

// TestOffline checks that skillpm offline contacts no remote registry of any kind, and that local ones answer.
func TestOffline(t *testing.T) {
	s := ocitest.New(t)
	dir := t.TempDir()
	packs := []registrytest.Published{registrytest.Pack("acme/deploy", "1.0.0", "deploy")}
	indexWithLayout(t, filepath.Join(dir, "idx"), packs)
	client := oci.New(oci.Options{Base: dir, Local: filepath.Join(dir, "idx", "layout"), Transport: s.Transport(t), Retries: -1})
	deps := registry.Deps{OCI: client, Git: gitTrees{nil}, Base: dir, Embedded: os.DirFS(filepath.Join(dir, "idx")), Offline: true}
	for url, words := range map[string]string{
		s.URL("acme"):                       "skillpm is offline",
		"git+https://git.example/index.git": "skillpm is offline",
		"https://index.example":             "is not cached, and skillpm is offline",
		"idx":                               "",
		"oci-layout:idx/layout":             "",
		"idx/layout":                        "",
		"local":                             "",
		"embedded":                          "",
	} {
		id := parseID(t, "acme/deploy")
		r := open(t, url, deps)
		versions, errVersions := r.Versions(t.Context(), id)
		pack, errPack := r.Pack(t.Context(), id, "1.0.0")
		for _, err := range []error{errVersions, errPack} {
			if words == "" && err != nil || words != "" && (diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), words)) {
				t.Errorf("%s: %v (%v), want %q", url, err, diag.CodeOf(err), words)
			}
		}
		if words == "" && (len(versions) != 1 || pack.Version != "1.0.0") {
			t.Errorf("%s: %+v %+v", url, versions, pack)
		}
	}
	locked := registry.NewSet(registry.Config{}, deps)
	r, err := locked.Find(t.Context(), parseID(t, "acme/deploy"), s.URL("acme/deploy"))
	if err == nil {
		_, err = r.Pack(t.Context(), parseID(t, "acme/deploy"), "1.0.0")
	}
	if diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), "offline") {
		t.Errorf("locked to a registry: %v", err)
	}
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("asked %q", got)
	}
}

// TestSetAtOnce requests everything from one set in many goroutines.
func TestSetAtOnce(t *testing.T) {
	w := newFixture(t)
	prefix := w.server.URL("ns")
	set := registry.NewSet(registry.Config{
		Registries: []registry.Named{{Name: "first", URL: "one"}, {URL: "two"}},
		Namespaces: map[string]string{"corp": prefix},
	}, w.deps)
	var group sync.WaitGroup
	for range 4 {
		for pack, want := range map[string]string{
			"acme/one": "first", "globex/two": "two", "corp/tool": prefix, "me/mine": "", "demo/embedded": "", "acme/both": "", "no/where": "",
		} {
			group.Go(func() {
				id := parseID(t, pack)
				r, err := set.Find(t.Context(), id, "")
				if (err == nil) != (want != "") || err == nil && r.Name() != want {
					t.Errorf("%s: %v %v, want %s", pack, r, err, want)
					return
				}
				if err != nil {
					return
				}
				versions, err := r.Versions(t.Context(), id)
				if err != nil {
					t.Error(err)
					return
				}
				p, err := r.Pack(t.Context(), id, versions[0].Version)
				if err != nil || p.ID != id {
					t.Error(p, err)
					return
				}
				at, err := set.Find(t.Context(), id, p.Ref.Source())
				if err == nil {
					_, err = at.Pack(t.Context(), id, p.Version)
				}
				if err != nil {
					t.Errorf("%s, locked: %v", pack, err)
				}
			})
		}
	}
	group.Wait()
}
