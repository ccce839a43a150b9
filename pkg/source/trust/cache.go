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

// evidence is what proves who signed a manifest: the manifest, which its digest names, and the bundles.
type evidence struct {
	Manifest []byte   `json:"manifest"`
	Bundles  [][]byte `json:"bundles"`
}

// Bounds of the cache.
const (
	maxEntry    = 32 << 20 // bytes of an entry
	maxPerShard = 64       // entries of each of the 256 directories
)

// cachedEvidence returns what the cache has for a manifest. An entry that is damaged is none.
func (k *Verifier) cachedEvidence(digest string) (*evidence, error) {
	var e evidence
	if err := k.load(strings.TrimPrefix(digest, "sha256:"), &e); err != nil {
		return nil, err
	}
	if "sha256:"+textx.SHA256(e.Manifest) != digest {
		return nil, diag.Errorf(diag.Integrity, "the cached manifest is not %s", digest)
	}
	return &e, nil
}

// cacheEvidence stores an entry in the cache. It ignores errors, because a missing entry is fetched again.
func (k *Verifier) cacheEvidence(digest string, e *evidence) {
	if "sha256:"+textx.SHA256(e.Manifest) == digest {
		k.save(strings.TrimPrefix(digest, "sha256:"), e)
	}
}

// entryFile returns the file of the entry with a name of hexadecimal digits.
func entryFile(dir, name string) (string, error) {
	if dir == "" || len(name) != 64 || strings.Trim(name, "0123456789abcdef") != "" {
		return "", fs.ErrNotExist
	}
	return filepath.Join(dir, name[:2], name[2:]+".json"), nil
}

// load reads the entry of a name.
func (k *Verifier) load(name string, v any) error {
	file, err := entryFile(k.options.Dir, name)
	if err != nil {
		return err
	}
	return readJSON(file, v)
}

// save writes the entry of a name, and drops the oldest ones of its directory where there are too many.
func (k *Verifier) save(name string, v any) {
	file, err := entryFile(k.options.Dir, name)
	if err != nil || writeJSON(file, v) != nil {
		return
	}
	prune(filepath.Dir(file))
}

// readJSON reads a file of bounded size. What is not a plain file is none.
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

// writeJSON replaces a file in one step.
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
		_ = os.Remove(filepath.Join(dir, info.Name())) // another process may have
	}
}
