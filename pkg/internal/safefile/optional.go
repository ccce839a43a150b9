package safefile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxOptional is the size in bytes above which no manifest, lockfile, settings or state file is read.
const maxOptional = 256 << 20

// ReadOptional returns a file's bytes, or nil if it does not exist. It refuses links and what is not a file, so that a
// manifest or lock can't lead elsewhere, and what is larger than any of these can be.
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
			WithHint("replace the link or directory with the file itself")
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
