//go:build slow

package site_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGenerated checks that the generated files match the templates.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	templates, err := filepath.Glob("*.templ")
	if err != nil || len(templates) == 0 {
		t.Fatal("no templates", err)
	}
	for _, name := range templates {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("go", "run", "github.com/a-h/templ/cmd/templ@v0.3.960", "generate", "-path", dir).CombinedOutput()
	if err != nil {
		t.Skipf("no generator: %v\n%s", err, out)
	}
	for _, name := range templates {
		name = name[:len(name)-len(".templ")] + "_templ.go"
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not current: run go generate (%v)", name, err)
		}
	}
}
