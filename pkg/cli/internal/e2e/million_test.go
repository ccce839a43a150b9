//go:build slow

package e2e

import (
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// million is an index of a million packs on a web server that generates the file of a pack on request. The files of dir
// belong to installable packs. It records the requests and the number of bytes that it sends.
type million struct {
	dir string

	mu       sync.Mutex
	requests []string
	bytes    int
}

var millionPath = regexp.MustCompile(`^packs/../../owner-(\d{7})/pack\.ndjson$`)

func (m *million) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	data := m.file(path)
	m.mu.Lock()
	m.requests, m.bytes = append(m.requests, r.Method+" "+path), m.bytes+len(data)
	m.mu.Unlock()
	if data == nil {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

// file returns a file of the index, or nil if it does not exist.
func (m *million) file(path string) []byte {
	if !fs.ValidPath(path) {
		return nil
	}
	if data, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(path))); err == nil {
		return data
	}
	found := millionPath.FindStringSubmatch(path)
	if found == nil {
		return nil
	}
	number, _ := strconv.Atoi(found[1])
	id := pack.ID{Owner: fmt.Sprintf("owner-%07d", number), Name: "pack"}
	if number >= 1_000_000 || index.Path(id) != path {
		return nil
	}
	line := index.Line{
		Name: id.String(), Version: "1.0.0", Published: "2026-11-20T10:00:00Z", Source: "oci://registry.example/" + id.String(),
		Digest: "sha256:" + strings.Repeat("0", 64), Integrity: "t1:sha256:" + strings.Repeat("0", 64),
		Skills: []index.Skill{{Name: "work", Description: "Does the work of number " + found[1] + ".", Tree: "t1:sha256:" + strings.Repeat("0", 64)}},
	}
	return line.Encode()
}

// takeRequests returns the requests since the last call, and the number of bytes of the answers.
func (m *million) takeRequests() ([]string, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	requests, n := m.requests, m.bytes
	m.requests, m.bytes = nil, 0
	return requests, n
}

// TestMillionPacks checks that an installation from an index of a million packs reads one small file for each pack that
// it needs, and only these packs from the registry.
func TestMillionPacks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are told of the server's certificate by SSL_CERT_FILE")
	}
	registry := ocitest.New(t)
	packs := []registrytest.Published{registrytest.Pack("owner-0777777/pack", "1.0.0", "work")}
	packs[0].Release.Dependencies = []pack.Dependency{{ID: pack.ID{Owner: "owner-0123456", Name: "pack"}, Constraint: "^1.0.0"}}
	packs = append(packs, registrytest.Pack("owner-0123456/pack", "1.0.0", "help"))
	packs[1].Release.Dependencies = nil
	index := &million{dir: t.TempDir()}
	place := func(id pack.ID) string { return registry.URL(id.String()) }
	registrytest.WriteIndex(t, index.dir, registry.Client(t, index.dir),
		func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindOCI, URL: place(id)} }, place, packs)
	server := httptest.NewTLSServer(index)
	t.Cleanup(server.Close)
	m := newMachine(t, nil)
	certificate := filepath.Join(m.home, "certificate.pem")
	m.write(certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	m.env = append(m.env, "SSL_CERT_FILE="+certificate)
	m.write(filepath.Join(m.project, "skillpm.yaml"), "registries:\n  - {name: all, url: \""+server.URL+"\"}\n")
	registry.Requests()

	requests := func(what string, want ...string) {
		t.Helper()
		got, bytes := index.takeRequests()
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s asks the index for %q, want %q", what, got, want)
		}
		if bytes > 2048*len(want) {
			t.Errorf("%s reads %d bytes of the index", what, bytes)
		}
		t.Logf("%s: %d requests and %d bytes of the index", what, len(got), bytes)
	}
	m.ok("install", "owner-0777777/pack")
	requests("install", "GET packs/5d/6a/owner-0777777/pack.ndjson", "GET packs/43/af/owner-0123456/pack.ndjson",
		"GET advisories/feed.ndjson")
	if fetched := registry.Requests(); len(fetched) != 4 {
		t.Errorf("the registry is asked for %q, want a manifest and a layer for each of two packs", fetched)
	}
	m.ok("info", "owner-0999999/pack")
	requests("info", "GET "+pathOf("owner-0999999"))
	m.ok("install", "--frozen")
	requests("install --frozen")
	if fetched := registry.Requests(); len(fetched) != 0 {
		t.Errorf("install --frozen asks the registry for %q", fetched)
	}
	m.fails(4, []string{"owner-1000000/pack"}, "info", "owner-1000000/pack")
	requests("info of a pack that there is not", "GET "+pathOf("owner-1000000"), "GET config.json")
}

func pathOf(owner string) string { return index.Path(pack.ID{Owner: owner, Name: "pack"}) }
