//go:build slow

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/index"
)

// TestRenovate runs Renovate with the preset on a project: it finds every requirement, and from the file of a pack in
// an index it proposes the newest version that is not yanked.
func TestRenovate(t *testing.T) {
	t.Parallel()
	if os.Getenv("SKILLPM_RENOVATE") == "" && os.Getenv("SKILLPM_REQUIRE_INTEROP") == "" {
		t.Skip("SKILLPM_RENOVATE does not name the program, which .ci/run interop installs")
	}
	program := npmProgram(t, "SKILLPM_RENOVATE")
	dir := t.TempDir()
	file := filepath.Join(dir, "deploy.ndjson")
	data := readFile(t, "../../../../registry-index/packs/a5/0a/acme/deploy.ndjson")
	data = append(data, bytes.ReplaceAll(data[bytes.LastIndexByte(bytes.TrimSpace(data), '\n')+1:], []byte("1.4.0"), []byte("1.5.0"))...)
	data, err := index.AppendYank(file, data, "1.5.0", "breaks")
	if err != nil {
		t.Fatal(err)
	}
	_, preset := readRenovatePreset(t)
	var config map[string]any
	if err := json.Unmarshal(preset, &config); err != nil {
		t.Fatal(err)
	}
	config["enabledManagers"] = []string{"custom.regex"}
	config["packageRules"] = []map[string]any{
		{"matchPackageNames": []string{"!acme/deploy"}, "enabled": false}, // nothing is asked on the network
		{
			"matchDatasources": []string{"custom.skillpm"}, "matchPackageNames": []string{"acme/deploy"},
			"registryUrls": []string{"file://" + filepath.ToSlash(file)},
		},
	}
	settings, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"skillpm.yaml": []byte(renovateManifest), "renovate.json": settings, "deploy.ndjson": data,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, dir, "git", "init", "-q")
	execute(t, dir, "git", "add", "-A")
	execute(t, dir, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "start")
	cmd := exec.CommandContext(t.Context(), program[0], append(program[1:], "--platform=local", "--dry-run=lookup")...)
	cmd.Dir = dir
	cmd.Env = []string{
		"HOME=" + t.TempDir(), "PATH=" + filepath.Dir(program[0]) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"LOG_LEVEL=debug", "LOG_FORMAT=json", "RENOVATE_BASE_DIR=" + t.TempDir(), "RENOVATE_X_IGNORE_RE2=1",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found, proposed := renovateResult(t, out)
	if !slices.Equal(found, renovateDependencies) {
		t.Errorf("Renovate found\n%s\n%s", strings.Join(found, "\n"), out)
	}
	if want := []string{"acme/deploy ~1.4.0"}; !slices.Equal(proposed, want) {
		t.Errorf("Renovate proposes %q, want %q", proposed, want)
	}
}

// renovateResult reads the requirements that Renovate has found, and the updates that it proposes, from its log.
func renovateResult(t *testing.T, log []byte) (found, proposed []string) {
	t.Helper()
	for line := range bytes.Lines(log) {
		var record struct {
			Msg    string
			Config struct {
				Regex []struct {
					Deps []struct {
						DepName, PackageName, Datasource, CurrentValue string
						Updates                                        []struct{ NewValue string }
					}
				}
			}
		}
		if json.Unmarshal(line, &record) != nil || record.Msg != "packageFiles with updates" {
			continue
		}
		for _, file := range record.Config.Regex {
			for _, d := range file.Deps {
				found = append(found, fmt.Sprintf("%s %s %s %s", d.Datasource, d.DepName, d.PackageName, d.CurrentValue))
				for _, u := range d.Updates {
					proposed = append(proposed, d.DepName+" "+u.NewValue)
				}
			}
		}
	}
	slices.Sort(found)
	return found, proposed
}
