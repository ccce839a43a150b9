package registrytest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Hub is a server with the ClawHub HTTP API v1 (github.com/openclaw/clawhub, docs/http-api.md and
// packages/clawhub/src/schema/schemas.ts) and the HTTP API v1 of apm registries (github.com/microsoft/apm,
// docs/src/content/docs/reference/registry-http-api.md), as far as clients that only read use them.
type Hub struct {
	URL string

	mu         sync.Mutex
	packs      []Published
	moderation map[string]map[string]any // by owner/name
	token      string
	meddle     func(http.ResponseWriter, *http.Request) bool
}

// NewHub starts a server that has packs.
func NewHub(t testing.TB, packs ...Published) *Hub {
	h := &Hub{packs: packs, moderation: map[string]map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/skills/{slug}", h.skill)
	mux.HandleFunc("GET /api/v1/skills/{slug}/versions", h.skillVersions)
	mux.HandleFunc("GET /api/v1/download", h.skillArchive)
	mux.HandleFunc("GET /v1/packages/{owner}/{repo}/versions", h.packageVersions)
	mux.HandleFunc("GET /v1/packages/{owner}/{repo}/versions/{version}/download", h.packageArchive)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.token != "" && r.Header.Get("Authorization") != "Bearer "+h.token {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		if h.meddle == nil || !h.meddle(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	h.URL = s.URL
	return h
}

// Moderate sets the moderation state of a skill.
func (h *Hub) Moderate(id string, suspicious, blocked bool, summary string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moderation[id] = map[string]any{
		"isSuspicious": suspicious, "isMalwareBlocked": blocked, "summary": summary, "reasonCodes": []string{},
	}
}

// RequireToken makes the server refuse requests without a bearer token.
func (h *Hub) RequireToken(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.token = token
}

// Meddle calls do before each request. If do returns true, it has answered.
func (h *Hub) Meddle(do func(http.ResponseWriter, *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.meddle = do
}

// Replace replaces the packs.
func (h *Hub) Replace(packs ...Published) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.packs = packs
}

// find returns the versions of a pack.
func (h *Hub) find(owner, name string) []Published {
	return slices.DeleteFunc(slices.Clone(h.packs), func(p Published) bool {
		return p.Release.ID.Owner != owner || p.Release.ID.Name != name
	})
}

// slug returns the skill that a request is about: a slug, and the handle of its publisher if several have it.
func (h *Hub) slug(w http.ResponseWriter, r *http.Request, slug string) []Published {
	owner := r.URL.Query().Get("ownerHandle")
	found := h.find(owner, slug)
	if len(found) == 0 {
		http.Error(w, "Skill not found", http.StatusNotFound)
	}
	return found
}

func (h *Hub) skill(w http.ResponseWriter, r *http.Request) {
	found := h.slug(w, r, r.PathValue("slug"))
	if len(found) == 0 {
		return
	}
	p := found[len(found)-1].Release
	answer := map[string]any{
		"skill": map[string]any{
			"slug": p.ID.Name, "displayName": p.ID.Name, "tags": map[string]any{}, "stats": nil,
		},
		"latestVersion": map[string]any{"version": p.Version, "createdAt": 0, "changelog": ""},
		"metadata":      nil,
		"owner":         map[string]any{"handle": p.ID.Owner, "displayName": nil, "image": nil},
	}
	if m := h.moderation[p.ID.String()]; m != nil {
		answer["moderation"] = m
	}
	writeAnswer(w, answer)
}

// skillVersions lists two versions a page.
func (h *Hub) skillVersions(w http.ResponseWriter, r *http.Request) {
	found := h.slug(w, r, r.PathValue("slug"))
	if len(found) == 0 {
		return
	}
	start := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("cursor"), &start)
	end := min(start+2, len(found))
	items := []map[string]any{}
	for _, p := range found[min(start, end):end] {
		items = append(items, map[string]any{"version": p.Release.Version, "createdAt": 0, "changelog": ""})
	}
	answer := map[string]any{"items": items, "nextCursor": nil}
	if end < len(found) {
		answer["nextCursor"] = fmt.Sprint(end)
	}
	writeAnswer(w, answer)
}

func (h *Hub) skillArchive(w http.ResponseWriter, r *http.Request) {
	for _, p := range h.slug(w, r, r.URL.Query().Get("slug")) {
		if p.Release.Version == r.URL.Query().Get("version") {
			w.Header().Set("Content-Type", "application/zip")
			_, _ = w.Write(zipOf(p))
			return
		}
	}
	http.Error(w, "Version not found", http.StatusNotFound)
}

func (h *Hub) packageVersions(w http.ResponseWriter, r *http.Request) {
	found := h.find(r.PathValue("owner"), r.PathValue("repo"))
	if len(found) == 0 {
		writeProblem(w, "Package not found")
		return
	}
	versions := []map[string]any{{"version": "main", "digest": "sha256:" + strings.Repeat("0", 64)}}
	for _, p := range found {
		data, _ := packageOf(p)
		versions = append(versions, map[string]any{
			"version": p.Release.Version, "digest": "sha256:" + textx.SHA256(data), "published_at": p.At,
			"size_bytes": len(data),
		})
	}
	writeAnswer(w, map[string]any{"package": found[0].Release.ID.String(), "versions": versions})
}

func (h *Hub) packageArchive(w http.ResponseWriter, r *http.Request) {
	for _, p := range h.find(r.PathValue("owner"), r.PathValue("repo")) {
		if p.Release.Version == r.PathValue("version") {
			data, mediaType := packageOf(p)
			w.Header().Set("Content-Type", mediaType)
			_, _ = w.Write(data)
			return
		}
	}
	writeProblem(w, "Version not found")
}

func writeAnswer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v)
}

func writeProblem(w http.ResponseWriter, title string) {
	w.Header().Set("Content-Type", "application/problem+json; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(map[string]any{"title": title, "status": http.StatusNotFound})
}

// packFile is a file in the archive of a pack.
type packFile struct {
	name string
	mode fs.FileMode
	data []byte
}

// filesOf returns the files of a pack: a manifest, and a directory for each skill.
func filesOf(p Published) []packFile {
	manifest := fmt.Appendf(nil, "name: %s\nversion: %q\ndescription: %s\n", p.Release.ID, p.Release.Version,
		p.Release.Description)
	for _, d := range p.Release.Dependencies {
		manifest = fmt.Appendf(manifest, "dependencies: {%s: %q}\n", d.ID, d.Constraint)
	}
	files := []packFile{{"skillpm.yaml", 0o644, manifest}}
	for _, tree := range p.Trees {
		for _, e := range tree.Inventory {
			f := packFile{name: tree.Name + "/" + e.Path, mode: 0o644}
			if e.Executable {
				f.mode = 0o755
			}
			if r, err := tree.Open(e.Path); err == nil {
				f.data, _ = io.ReadAll(r)
				_ = r.Close()
			}
			files = append(files, f)
		}
	}
	return files
}

func zipOf(p Published) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range filesOf(p) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode)
		if entry, err := w.CreateHeader(h); err == nil {
			_, _ = entry.Write(f.data)
		}
	}
	_ = w.Close()
	return b.Bytes()
}

// packageOf returns a package of apm: as zip, which it publishes, and for versions below 1 as tar.gz, which older
// clients published.
func packageOf(p Published) (data []byte, mediaType string) {
	if !strings.HasPrefix(p.Release.Version, "0.") {
		return zipOf(p), "application/zip"
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range filesOf(p) {
		_ = w.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data))})
		_, _ = w.Write(f.data)
	}
	_ = w.Close()
	_ = z.Close()
	return b.Bytes(), "application/gzip"
}
