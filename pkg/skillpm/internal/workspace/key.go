package workspace

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const keySize = 32

// KeyFile is the file with the secret key that authenticates this user's state files and journals.
func (m *Machine) KeyFile() string { return filepath.Join(m.Paths.State, "machine.key") }

// HasKey reports whether there is a secret key, or one could be created.
func (m *Machine) HasKey() bool { return len(m.key()) > 0 }

// key returns the secret key that authenticates this user's state files and journals. The first call creates it. It is
// nil if it can't be saved: then every run hashes all installed files, and an interrupted installation can't be
// finished by the next run.
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

// makeKey writes a new key. If two processes create one at once, the first one's is kept.
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
	defer func() { _ = os.Remove(tmp.Name()) }() // it disappears when it is renamed
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
