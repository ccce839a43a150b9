package publish_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/publish"
)

// TestPackedWithOras checks M3: oras reads what pack wrote, the file unchanged and the directory by the pack's name.
func TestPackedWithOras(t *testing.T) {
	program := os.Getenv("SKILLPM_ORAS")
	if program == "" {
		found, err := exec.LookPath("oras")
		if err != nil && os.Getenv("SKILLPM_REQUIRE_ORAS") == "1" {
			t.Fatal(err)
		}
		if err != nil {
			t.Skip(err)
		}
		program = found
	}
	dir := t.TempDir()
	text := hello + "---\n\nSay hello.\n"
	writeFiles(t, dir, map[string]string{"skillpm.yaml": "name: acme/hello\nversion: \"1.0.0\"\n", "hello/SKILL.md": text})
	c := newClient(t, dir)
	r, err := c.Pack(t.Context(), publish.ReleaseOptions{}, "hello.tar")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pack(t.Context(), publish.ReleaseOptions{}, "layout"); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"file":      {"pull", "--oci-layout", filepath.Join(dir, "hello.tar") + "@" + r.Digest},
		"directory": {"pull", "--oci-layout-path", filepath.Join(dir, "layout"), "acme/hello:1.0.0"},
	} {
		to := t.TempDir()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = to
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("oras %q: %v\n%s", args, err, out)
		}
		if got, err := os.ReadFile(filepath.Join(to, "hello", "SKILL.md")); err != nil || string(got) != text {
			t.Errorf("from a %s oras pulled %q, %v", name, got, err)
		}
	}
}
