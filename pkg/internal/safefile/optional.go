package safefile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxOptional is the maximum size of a manifest, lockfile, settings file, or state file, in bytes.
const maxOptional = 256 << 20

// ReadOptional returns a file's bytes, or nil if it does not exist. It rejects links and other non-regular files, so
// that a manifest or lockfile cannot lead elsewhere, and files that are too large.
func ReadOptional(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Invalid, "%s is not a regular file", path).
			WithHint("replace the link or directory with a regular file")
	}
	data, err := ReadFile(path, maxOptional)
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}
