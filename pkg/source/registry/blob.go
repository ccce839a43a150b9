package registry

import (
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// keep stores a server's answer under the digest of its bytes and returns the digest. Without a writable cache it
// stores nothing, and the next run requests the answer again.
func (c cache) keep(data []byte) (digest string) {
	digest = textx.SHA256(data)
	if c.dir == "" {
		return digest
	}
	if info, err := os.Stat(c.blobPath(digest)); err == nil && info.Size() == int64(len(data)) {
		return digest
	}
	_ = atomicfile.Write(c.blobPath(digest), data, atomicfile.Options{MkdirMode: 0o755})
	return digest
}

// loadBlob returns the cached blob with a digest, if its content still has that digest.
func (c cache) loadBlob(digest string) ([]byte, bool) {
	if c.dir == "" || len(digest) != 64 {
		return nil, false
	}
	data, err := os.ReadFile(c.blobPath(digest))
	if err != nil || textx.SHA256(data) != digest {
		return nil, false
	}
	return data, true
}

// has reports whether the cache has a blob with the digest.
func (c cache) has(digest string) bool {
	info, err := os.Stat(c.blobPath(digest))
	return c.dir != "" && err == nil && info.Mode().IsRegular()
}

func (c cache) blobPath(digest string) string { return filepath.Join(c.dir, digest+".blob") }
