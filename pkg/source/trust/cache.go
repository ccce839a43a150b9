package trust

import (
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// evidence proves who signed a manifest: the manifest, which is identified by its digest, and the bundles.
type evidence struct {
	Manifest []byte   `json:"manifest"`
	Bundles  [][]byte `json:"bundles"`
}

// Limits of the cache.
const (
	maxEntry    = 32 << 20 // bytes of an entry
	maxPerShard = 64       // entries of each of the 256 directories
)

// cachedEvidence returns the cache's entry for a manifest. A damaged entry is a miss.
func (k *Verifier) cachedEvidence(digest string) (*evidence, error) {
	var e evidence
	if err := k.load(strings.TrimPrefix(digest, "sha256:"), &e); err != nil {
		return nil, err
	}
	if "sha256:"+textx.SHA256(e.Manifest) != digest {
		return nil, diag.Errorf(diag.Integrity, "the cached OCI manifest does not match %s", digest)
	}
	return &e, nil
}

// cacheEvidence stores an entry in the cache. It ignores errors, because a missing entry is fetched again.
func (k *Verifier) cacheEvidence(digest string, e *evidence) {
	if "sha256:"+textx.SHA256(e.Manifest) == digest {
		k.save(strings.TrimPrefix(digest, "sha256:"), e)
	}
}

// entryFile returns the file of the entry with a hexadecimal name.
func entryFile(dir, name string) (string, error) {
	if dir == "" || len(name) != 64 || strings.Trim(name, "0123456789abcdef") != "" {
		return "", fs.ErrNotExist
	}
	return filepath.Join(dir, name[:2], name[2:]+".json"), nil
}

// load reads the entry with a name.
func (k *Verifier) load(name string, v any) error {
	file, err := entryFile(k.options.Dir, name)
	if err != nil {
		return err
	}
	return readJSON(file, v)
}

// save writes the entry with a name, and prunes its directory.
func (k *Verifier) save(name string, v any) {
	file, err := entryFile(k.options.Dir, name)
	if err != nil || writeJSON(file, v) != nil {
		return
	}
	prune(filepath.Dir(file))
}

// readJSON reads a regular file of bounded size.
func readJSON(file string, v any) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxEntry {
		return fs.ErrInvalid
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEntry))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// writeJSON replaces a file atomically.
func writeJSON(file string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Write(file, data, atomicfile.Options{MkdirMode: 0o755})
}

// prune removes the oldest files of a directory that has too many.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= maxPerShard {
		return
	}
	infos := make([]fs.FileInfo, 0, len(entries))
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range infos[:max(0, len(infos)-maxPerShard)] {
		_ = os.Remove(filepath.Join(dir, info.Name())) // another process may have removed it
	}
}
