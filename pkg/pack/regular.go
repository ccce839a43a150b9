package pack

import (
	"io/fs"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// readRegular reads a file of a pack. What is no regular file, a link among them, or is too large is refused unopened:
// opening a pipe would wait for ever.
func readRegular(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Invalid, "it is not a regular file")
	}
	return safefile.ReadIn(fsys, name, maxFile)
}
