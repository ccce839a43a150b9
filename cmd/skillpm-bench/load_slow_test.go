//go:build slow

package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestLoad runs skillpm against an index and registries behind the real nginx with docs/examples/nginx.conf. It checks
// how many requests the commands send, which of them nginx answers from its cache, and that requests with credentials
// bypass the cache.
func TestLoad(t *testing.T) {
	for _, program := range []string{"nginx", "docker-registry"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("SKILLPM_REQUIRE_NGINX") == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	const packs = 3 // with the dependencies
	l := &load{
		bench:     bench{options: options{indexPacks: 50, parent: t.TempDir(), skillpm: copySelf(t)}, sys: testSystem(t, nil), packs: map[string]benchPack{}},
		loadFlags: loadFlags{dependencies: packs - 1, duration: 100 * time.Millisecond, connections: 2},
	}
	defer l.close()
	for _, step := range []func(context.Context) error{
		l.openDirectory, l.startAll, l.publishAll, l.makeIndex, l.countCommands, l.driveServers,
	} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Log("\n" + l.report.tables())
	for _, want := range []struct {
		command             string
		index, current, oci int
	}{
		{"install, empty caches", packs + 1, 0, 2 * packs}, // and the feed of advisories; a manifest and a layer
		{"install again, nothing to do", 0, 0, 0},
		{"outdated", packs, packs, 0},
		{"install in another project, full caches", packs, packs, 0},
		{"install --frozen, empty caches (CI)", 0, 0, 3 * packs}, // and the list of tags
		{"install --frozen, full caches", 0, 0, 0},
		{"search, first", 1, 0, 0},
		{"search, again", 1, 1, 0},
		{"search, after a change of the index", 1, 0, 0},
	} {
		found := false
		for _, c := range l.report.Commands {
			if c.Command != want.command {
				continue
			}
			found = true
			if c.Index.Requests != want.index || c.Index.NotModified != want.current || c.Registry.Requests != want.oci {
				t.Errorf("%s: %+v", want.command, c)
			}
		}
		if !found {
			t.Errorf("%s is not measured", want.command)
		}
	}
	for _, s := range l.report.Servers {
		if s.Errors > 0 || s.Requests == 0 {
			t.Errorf("%+v", s)
		}
		if strings.HasPrefix(s.Server, "nginx: ") && s.Server != "nginx: index" && (s.Hits == 0 || s.Misses > 0 && s.Request != "tag") {
			t.Errorf("%s, %s: %d hits, %d misses", s.Server, s.Request, s.Hits, s.Misses)
		}
		if strings.Contains(s.Request, "304") && s.Bytes > 0 {
			t.Errorf("%s answers %q with %d bytes", s.Server, s.Request, s.Bytes)
		}
	}

	nginx := l.find("nginx: docker-registry")
	status := func(path string, header http.Header) string {
		t.Helper()
		resp, err := get(t.Context(), http.DefaultClient, "http://"+nginx.host+path, header)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return resp.Header.Get("X-Cache-Status")
	}
	accept := http.Header{"Accept": {"application/vnd.oci.image.manifest.v1+json"}}
	manifest := "/v2/" + owner + "/base-1/manifests/"
	_, digest, err := fetchManifest(t.Context(), "http://"+nginx.host+manifest+version, accept)
	if err != nil {
		t.Fatal(err)
	}
	secret := accept.Clone()
	secret.Set("Authorization", "Bearer secret")
	for _, want := range []struct {
		status string
		header http.Header
	}{{"BYPASS", secret}, {"MISS", accept}, {"HIT", accept}, {"BYPASS", secret}} {
		if got := status(manifest+digest, want.header); got != want.status {
			t.Errorf("with %v: %s, want %s", want.header, got, want.status)
		}
	}
	for _, hidden := range []string{"/.gitattributes", "/packs/.gitkeep"} {
		if _, err := get(t.Context(), http.DefaultClient, "http://"+l.find("nginx: index").host+hidden, nil); err == nil {
			t.Errorf("%s is served", hidden)
		}
	}
}
