package e2e

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/pack"
)

// TestSearchOnTheWeb checks that the catalog of an index on a web server is fetched once, then revalidated, and is
// searched even if the server is unreachable.
func TestSearchOnTheWeb(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are told of the server's certificate by SSL_CERT_FILE")
	}
	registry := ocitest.New(t)
	dir := t.TempDir()
	place := func(id pack.ID) string { return registry.URL(id.String()) }
	client := registry.Client(t, dir)
	publish := func(packs ...registrytest.Published) {
		registrytest.WriteIndex(t, dir, client, func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindOCI, URL: place(id)} }, place, packs)
		registrytest.WriteCatalog(t, dir)
	}
	publish(registrytest.Pack("globex/teapots", "1.0.0", "pour"))
	var answers []int
	var down atomic.Bool
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		answer := recorded(r, files)
		head(w, answer)
		_, _ = w.Write(answer.Body.Bytes())
		if !strings.HasSuffix(r.URL.Path, "/catalog.ndjson.gz") {
			t.Errorf("a search asks for %s", r.URL.Path)
		}
		answers = append(answers, answer.Code)
	}))
	t.Cleanup(server.Close)
	m := newMachine(t, nil)
	certificate := filepath.Join(m.home, "certificate.pem")
	m.write(certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	m.env = append(m.env, "SSL_CERT_FILE="+certificate)
	m.write(filepath.Join(m.project, "skillpm.yaml"), "registries:\n  - {name: web, url: \""+server.URL+"\"}\n")

	finds := func(want string, args ...string) ended {
		t.Helper()
		e := m.ok(append([]string{"search"}, args...)...)
		if !strings.HasPrefix(e.out, want) {
			t.Errorf("found %s, want %s", e, want)
		}
		return e
	}
	if e := finds("No matches", "--offline", "teapot"); !strings.Contains(e.err, "warning: cannot search the registry ") {
		t.Errorf("what was never seen is said to be searched: %s", e)
	}
	finds("globex/teapots 1.0.0\n", "teapot")
	publish(registrytest.Pack("globex/kettles", "2.0.0", "boil"))
	finds("globex/kettles 2.0.0\n", "kettle")
	if !slices.Equal(answers, []int{http.StatusOK, http.StatusOK}) {
		t.Errorf("the server answered %v", answers)
	}
	finds("globex/kettles 2.0.0\n", "--offline", "kettle")
	if len(answers) != 2 {
		t.Error("somebody was asked offline")
	}
	down.Store(true)
	if e := finds("globex/kettles 2.0.0\n", "kettle"); !strings.Contains(e.err, "warning: searched the cached list of the registry web") {
		t.Errorf("a server that is down is not told: %s", e)
	}
	m.ok("cache", "gc", "--all")
	if e := finds("No matches", "deploy"); !strings.Contains(e.err, "warning: cannot search the registry web") {
		t.Errorf("a server that is down, and was never searched: %s", e)
	}
	m.fails(8, []string{strings.TrimPrefix(server.URL, "https://")}, "search", "--registry", "web", "kettle")
}
