package skillpm_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestEnforcedBinding checks that the administrator's bindings are listed as such, and cannot be changed.
func TestEnforcedBinding(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	getenv := func(string) string { return "" }
	env, err := environ.Environment{
		Paths:  scope.Paths{Home: home, Enterprise: t.TempDir()},
		Getenv: getenv, Now: time.Now, OS: "linux",
	}.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	paths := env.Paths
	for file, text := range map[string]string{
		filepath.Join(paths.Enterprise, "config.yaml"): "namespaces: {acme: \"oci://registry.example/acme\"}\n",
		filepath.Join(dir, "skillpm.yaml"):             "namespaces:\n  acme: embedded\n  globex: local\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := skillpm.New(skillpm.Options{Environment: env})
	t.Cleanup(c.Close)
	list, err := c.Registries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []skillpm.Binding{
		{Owner: "acme", Registry: "oci://registry.example/acme", From: filepath.Join(paths.Enterprise, "config.yaml"), Enforced: true},
		{Owner: "globex", Registry: "local", From: "skillpm.yaml"},
	}
	if !slices.Equal(list.Bindings, want) {
		t.Errorf("got %+v", list.Bindings)
	}
	if !slices.ContainsFunc(list.Registries, func(e skillpm.RegistryEntry) bool {
		return e.URL == "oci://registry.example/acme" && slices.Equal(e.Namespaces, []string{"acme"}) && e.Kind == "packs"
	}) {
		t.Errorf("got %+v", list.Registries)
	}
	_, bind := c.RegistryBind(t.Context(), skillpm.RegistryBindOptions{Owner: "acme", Registry: "local", Project: true})
	_, unbind := c.RegistryUnbind(t.Context(), "acme", true)
	_, add := c.RegistryAdd(t.Context(), skillpm.RegistryAddOptions{Name: "x", URL: "https://x.example", Namespaces: []string{"acme"}, NoCheck: true})
	for _, err := range []error{bind, unbind, add} {
		if diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "administrator") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := os.Stat(paths.ConfigFile()); err == nil {
		t.Error("settings were written")
	}
	if r, err := c.RegistryBind(t.Context(), skillpm.RegistryBindOptions{Owner: "globex", Registry: "embedded", Project: true}); err != nil || !r.Changed {
		t.Errorf("%+v %v", r, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "skillpm.yaml"))
	if err != nil || string(data) != "namespaces:\n  acme: embedded\n  globex: \"embedded\"\n" {
		t.Errorf("%s %v", data, err)
	}
}
