package registry

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// cache caches the answers of HTTPS indexes, one file for each address. A file that cannot be read or written is a
// miss, never an error.
type cache struct {
	dir string // "" for none
}

// cached is one cached answer.
type cached struct {
	URL     string `json:"url"`
	ETag    string `json:"etag,omitempty"`
	Missing bool   `json:"missing,omitempty"`
	Body    []byte `json:"body,omitempty"`
	Sum     string `json:"sum"` // of the body, to detect a damaged file
}

func (c cached) answer() ([]byte, error) {
	if c.Missing {
		return nil, fs.ErrNotExist
	}
	return c.Body, nil
}

func (c cache) path(url string) string {
	return filepath.Join(c.dir, textx.SHA256(url)+".json")
}

func (c cache) load(url string) (cached, bool) {
	if c.dir == "" {
		return cached{}, false
	}
	data, err := os.ReadFile(c.path(url))
	if err != nil {
		return cached{}, false
	}
	var stored cached
	if json.Unmarshal(data, &stored) != nil || stored.URL != url || stored.Sum != textx.SHA256(stored.Body) {
		return cached{}, false
	}
	return stored, true
}

// store writes a temporary file and renames it, so that concurrent processes never mix their answers.
func (c cache) store(url string, answer cached) {
	if c.dir == "" {
		return
	}
	answer.URL, answer.Sum = url, textx.SHA256(answer.Body)
	data, err := json.Marshal(answer)
	if err == nil {
		// without a writable cache, the next run requests the answer again
		_ = atomicfile.Write(c.path(url), data, atomicfile.Options{MkdirMode: 0o755})
	}
}
