package runtime_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// ExampleOpen loads a skill of the project for an agent.
func ExampleOpen() {
	ctx := context.Background()
	h, err := runtime.Open(ctx, ".")
	if err != nil {
		log.Fatal(err)
	}
	a, err := h.Load(ctx, "review", session.Activate{Arguments: "main"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prompt.Text(h.Profile(), a.Result()))
}

// TestOpenDefaults checks that Open takes home, paths, and settings from the process environment.
func TestOpenDefaults(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "AppData", "LocalAppData", "SKILLPM_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("SKILLPM_PROFILE", "pegasus")
	t.Setenv("SKILLPM_SESSION", "s1")
	dir := filepath.Join(home, "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(home)
	h, err := runtime.Open(t.Context(), "project")
	if err != nil {
		t.Fatal(err)
	}
	if h.Dir() != dir || h.Paths().Home != home || h.Profile().ID != "pegasus" || h.Session().ID() != "s1" {
		t.Errorf("Open: dir %s, home %s, profile %s, session %s", h.Dir(), h.Paths().Home, h.Profile().ID, h.Session().ID())
	}
}
