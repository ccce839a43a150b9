package e2e

import (
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/pack"
)

// TestSiteCommandsRun runs the commands of a website's copy buttons on machines without settings.
func TestSiteCommandsRun(t *testing.T) {
	registry := ocitest.New(t)
	dir := t.TempDir()
	place := func(id pack.ID) string { return registry.URL(id.String()) }
	base := registrytest.Pack("acme/base", "1.0.0", "base")
	base.Release.Dependencies = nil
	pre := registrytest.Pack("globex/next", "2.0.0-rc.1", "next")
	registrytest.WriteIndex(t, dir, registry.Client(t, dir), func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindOCI, URL: place(id)} }, place,
		[]registrytest.Published{base, registrytest.Pack("acme/deploy", "1.0.0", "deploy"), pre})
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	out := filepath.Join(t.TempDir(), "out")
	for _, tt := range []struct {
		page    string
		options []string
		want    string // pack that is installed then; "" for none
	}{
		{"packs/acme/deploy.html", []string{"--registry-url", server.URL}, "acme/deploy"},
		{"packs/globex/next.html", []string{"--registry-url", server.URL}, "globex/next"},
		{"index.html", []string{"--registry-url", server.URL, "--title", "Acme's packs"}, ""},
		{"packs/acme/base.html", nil, "acme/base"}, // from its source
	} {
		newMachine(t, nil).prepare(append([]string{"index", "site", dir, "--output", out}, tt.options...)...)
		m := newMachine(t, nil)
		for _, command := range copied(t, filepath.Join(out, filepath.FromSlash(tt.page))) {
			sh := &commandShell{dir: m.project, env: m.command(t.Context()).Env}
			if code, text := sh.run(t, "set -e\n"+command); code != 0 {
				t.Errorf("%s: %s: exit %d\n%s", tt.page, command, code, text)
			}
		}
		if tt.want != "" {
			if e := m.ok("list"); !strings.Contains(e.out, tt.want) {
				t.Errorf("%s: %s is not installed: %s", tt.page, tt.want, e)
			}
		} else if e := m.ok("registry", "list"); !strings.Contains(e.out, "acme-s-packs") || !strings.Contains(e.out, server.URL) {
			t.Errorf("the registry is not in use: %s", e)
		}
	}
}

// copied returns what the copy buttons of a page copy.
func copied(t *testing.T, page string) (commands []string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`data-copy="([^"]*)"`).FindAllStringSubmatch(string(data), -1) {
		commands = append(commands, html.UnescapeString(m[1]))
	}
	if len(commands) != 1 {
		t.Fatalf("the page has %d copy buttons, want 1", len(commands))
	}
	return commands
}
