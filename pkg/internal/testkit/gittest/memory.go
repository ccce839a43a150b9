package gittest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// memory caches git's responses to identical requests while the references and the configuration of the repository stay
// the same. Git starts up to five processes for each request, which take most of the time of a test.
type memory struct {
	root string
	git  http.Handler

	mu      sync.Mutex
	answers map[string]*httptest.ResponseRecorder
}

// ServeHTTP answers requests that read a repository from the cache, and passes all others to git.
func (m *memory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	repository, fetches := strings.CutSuffix(r.URL.Path, "/git-upload-pack")
	if !fetches && r.URL.RawQuery == "service=git-upload-pack" {
		repository, fetches = strings.CutSuffix(r.URL.Path, "/info/refs")
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || !fetches {
		m.git.ServeHTTP(w, r)
		return
	}
	key := requestKey(r, body) + stateOf(filepath.Join(m.root, filepath.FromSlash(repository)))
	m.mu.Lock()
	answer := m.answers[key]
	m.mu.Unlock()
	if answer == nil {
		answer = httptest.NewRecorder()
		m.git.ServeHTTP(answer, r)
		m.mu.Lock()
		m.answers[key] = answer
		m.mu.Unlock()
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// requestKey returns different keys for requests that git can distinguish.
func requestKey(r *http.Request, body []byte) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s %d\n", r.Method, r.URL, r.ContentLength)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(hash, "%s: %q\n", name, r.Header[name])
	}
	hash.Write(body)
	return string(hash.Sum(nil))
}

// stateOf returns a hash that changes with the references and the configuration of a repository. An unreadable file
// counts as empty, such as the files of a repository that does not exist.
func stateOf(repository string) string {
	hash := sha256.New()
	add := func(name string) {
		data, _ := os.ReadFile(name)
		fmt.Fprintf(hash, "%s %q\n", name, data)
	}
	for _, name := range []string{"HEAD", "config", "packed-refs", "shallow"} {
		add(filepath.Join(repository, name))
	}
	_ = filepath.WalkDir(filepath.Join(repository, "refs"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			add(name)
		}
		return nil
	})
	return string(hash.Sum(nil))
}
