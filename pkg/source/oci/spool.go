package oci

import (
	"io"
	"os"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Layers without a description are read twice, for their skills and then for their files. The spool keeps them in
// temporary files in between.
const (
	maxSpooled   = 256 << 20 // bytes of a layer
	maxSpool     = 512 << 20 // bytes of all layers; the oldest are removed first
	maxSpoolSize = 64        // number of layers
)

// spool keeps layers in temporary files. If the system allows it, the files have no names, so that other processes
// cannot change them and they disappear when the process ends.
type spool struct {
	dir string

	mu     sync.Mutex
	layers []*spooled // oldest first
	bytes  int64
}

// spooled is a layer in a file. It counts its readers, and the spool as one.
type spooled struct {
	desc  ocispec.Descriptor
	file  *os.File
	named bool // the file still has a name
	mu    sync.Mutex
	users int
}

// temporary creates a file for a layer. The caller owns it.
func (s *spool) temporary(d ocispec.Descriptor) (*spooled, error) {
	if s.dir != "" {
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(s.dir, "skillpm-layer-")
	if err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	named := os.Remove(f.Name()) != nil // fails on Windows, which removes it when it is closed
	return &spooled{desc: d, file: f, named: named, users: 1}, nil
}

// find returns a layer for one more reader, or nil.
func (s *spool) find(d ocispec.Descriptor) *spooled {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.layers {
		if k.desc.Digest == d.Digest && k.desc.Size == d.Size {
			k.use()
			return k
		}
	}
	return nil
}

// keep adds a layer, and releases the oldest ones above the limits.
func (s *spool) keep(k *spooled) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.use()
	s.layers = append(s.layers, k)
	s.bytes += k.desc.Size
	for len(s.layers) > 1 && (s.bytes > maxSpool || len(s.layers) > maxSpoolSize) {
		s.dropLocked(s.layers[0])
	}
}

// drop releases a damaged layer.
func (s *spool) drop(k *spooled) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(k)
}

func (s *spool) dropLocked(k *spooled) {
	for i, other := range s.layers {
		if other == k {
			s.layers = append(s.layers[:i:i], s.layers[i+1:]...)
			s.bytes -= k.desc.Size
			k.release()
			return
		}
	}
}

// close releases all layers.
func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.layers) > 0 {
		s.dropLocked(s.layers[0])
	}
}

func (k *spooled) use() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.users++
}

// release ends one reader's use. The last one closes the file.
func (k *spooled) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users--; k.users == 0 {
		_ = k.file.Close()
		if k.named {
			_ = os.Remove(k.file.Name())
		}
	}
}

// open returns a reader of the layer. The caller closes it.
func (k *spooled) open() io.ReadSeekCloser {
	return struct {
		io.ReadSeeker
		io.Closer
	}{io.NewSectionReader(k.file, 0, k.desc.Size), closer(k.release)}
}

type closer func()

func (c closer) Close() error {
	c()
	return nil
}
