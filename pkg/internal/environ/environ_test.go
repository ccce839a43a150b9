package environ_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

func TestAt(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	admin := filepath.Join(home, "enterprise")
	process := environ.Environment{Paths: scope.Paths{Home: home, Enterprise: admin}, OS: runtime.GOOS, Dir: home}
	e, err := process.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	if e.Dir != dir || e.Paths.Home != home || e.Paths.Enterprise != admin || !filepath.IsAbs(e.Paths.Cache) {
		t.Errorf("At(%s) = %+v", dir, e)
	}
	if process.Dir != home || process.Paths.Cache != "" {
		t.Error("At changed the environment that it was called for")
	}
	if got, want := e.Abs("a"), filepath.Join(dir, "a"); got != want {
		t.Errorf("Abs(a) = %s, want %s", got, want)
	}
	if _, err := (environ.Environment{}).At(dir); err == nil {
		t.Error("an environment without a home directory has paths")
	}
}
