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

// memory repeats git's response to a request that is the same in every byte, as long as the references and the
// configuration of the repository are the same. Git starts up to five processes for each request, which are most of
// what a test costs.
type memory struct {
	root string
	git  http.Handler

	mu      sync.Mutex
	answers map[string]*httptest.ResponseRecorder
}

// ServeHTTP serves requests that read a repository from the memory, and all others like git.
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

// requestKey is different for requests that git can tell apart.
func requestKey(r *http.Request, body []byte) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s %d\n", r.Method, r.URL, r.ContentLength)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(hash, "%s: %q\n", name, r.Header[name])
	}
	hash.Write(body)
	return string(hash.Sum(nil))
}

// stateOf is different if a repository has other references or another configuration. A file that cannot be read counts
// as empty, such as those of a repository that does not exist.
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
