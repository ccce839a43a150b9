package registry

import (
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// keep stores what a server answered under the digest of its bytes, and returns that. Where nothing can be kept,
// nothing is: the server is asked again.
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

// loadBlob returns what was kept under a digest, if it still is what it was.
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

// has reports whether something is kept under a digest.
func (c cache) has(digest string) bool {
	info, err := os.Stat(c.blobPath(digest))
	return c.dir != "" && err == nil && info.Mode().IsRegular()
}

func (c cache) blobPath(digest string) string { return filepath.Join(c.dir, digest+".blob") }
