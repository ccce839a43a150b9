package selfupdate

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestReleaseFiles updates a program to each archive of a release that goreleaser built and signed. `.ci/run release`
// runs it: SKILLPM_TEST_RELEASE is goreleaser's directory, and SKILLPM_RELEASE_KEYS are the keys of the release.
func TestReleaseFiles(t *testing.T) {
	dist := os.Getenv("SKILLPM_TEST_RELEASE")
	if dist == "" {
		t.Skip("no release")
	}
	archives, err := filepath.Glob(filepath.Join(dist, "skillpm*_*_*_*.*"))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^(skillpm|skillpm-keyless)_([^_]+)_([a-z]+)_([a-z0-9]+)\.(tar\.gz|zip)$`)
	found := 0
	for _, archive := range archives {
		match := name.FindStringSubmatch(filepath.Base(archive))
		if match == nil {
			continue
		}
		found++
		program, version := match[1], match[2]
		t.Run(filepath.Base(archive), func(t *testing.T) {
			prefix := "/download/v" + version + "/"
			server := httptest.NewServer(http.StripPrefix(prefix, http.FileServer(http.Dir(dist))))
			defer server.Close()
			path := filepath.Join(t.TempDir(), "skillpm")
			if err := os.WriteFile(path, []byte("old"), 0o755); err != nil {
				t.Fatal(err)
			}
			u := &Updater{
				Mirror: server.URL, Program: program, Keys: os.Getenv("SKILLPM_RELEASE_KEYS"), Executable: path,
				OS: match[3], Arch: match[4], Client: http.DefaultClient,
			}
			if err := u.Update(t.Context(), version); err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte(version)) {
				t.Errorf("the program does not contain its version (%v)", err)
			}
		})
	}
	if found != 12 {
		t.Errorf("the release has %d archives, want 12", found)
	}
}
