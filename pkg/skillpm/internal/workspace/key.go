package workspace

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const keySize = 32

// KeyFile is where the secret is kept that this user's state files and journals are authenticated with.
func (m *Machine) KeyFile() string { return filepath.Join(m.Paths.State, "machine.key") }

// HasKey reports whether there is such a secret: it is made if it can be kept.
func (m *Machine) HasKey() bool { return len(m.key()) > 0 }

// key returns the secret that this user's state files and journals are authenticated with. It is made when it is
// first needed. Where it can't be kept it is nil: then every run finds everything again by hashing, and an interrupted
// install can't be finished by the next.
func (m *Machine) key() []byte {
	m.keyOnce.Do(func() {
		path := m.KeyFile()
		if m.secret = readKey(path); m.secret == nil {
			m.secret = makeKey(path)
		}
	})
	return m.secret
}

func readKey(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != keySize {
		return nil
	}
	key, err := os.ReadFile(path)
	if err != nil || len(key) != keySize {
		return nil
	}
	return key
}

// makeKey writes a new key. Of two processes that do so at once the first one's counts.
func makeKey(path string) []byte {
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return nil
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // it is gone where it was renamed
	_, err = tmp.Write(key)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil
	}
	if err := os.Link(tmp.Name(), path); errors.Is(err, fs.ErrExist) {
		return readKey(path)
	} else if err != nil && os.Rename(tmp.Name(), path) != nil { // a file system without hard links
		return nil
	}
	return key
}
