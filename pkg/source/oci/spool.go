package oci

import (
	"io"
	"os"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Layers that nothing describes are read twice, for their skills and then for their files, so they are kept in
// temporary files in between.
const (
	maxSpooled   = 256 << 20 // bytes of a layer that is kept
	maxSpool     = 512 << 20 // bytes of all that are kept; the oldest go first
	maxSpoolSize = 64        // layers that are kept
)

// spool holds layers in temporary files. The files have no names where the system allows it: nobody else can change
// them, and they are gone with the process however it ends.
type spool struct {
	dir string

	mu     sync.Mutex
	layers []*spooled // oldest first
	bytes  int64
}

// spooled is a layer in a file, with as many users as read it and one for the spool.
type spooled struct {
	desc  ocispec.Descriptor
	file  *os.File
	named bool // the file still has a name
	mu    sync.Mutex
	users int
}

// temporary makes a file for a layer. It belongs to its caller alone.
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
	named := os.Remove(f.Name()) != nil // as on Windows, where it stays until it is closed
	return &spooled{desc: d, file: f, named: named, users: 1}, nil
}

// find returns a layer for one more user, or nil.
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

// keep adds a layer, and lets go of the oldest while there are too many.
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

// drop lets go of a layer that turned out to be damaged.
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

// close lets go of all layers.
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

// release ends one user's use; the last one's closes the file.
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

// open returns a reader of the layer for one user, who closes it.
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
