package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// Accepted are the bindings of projects that the user accepted although they differ from the user's own: a file for
// each one. They are in the user's state directory, where projects can't write.
type Accepted struct {
	Dir string // "bindings" in the user's state directory
}

// AcceptedBinding is a binding that the user accepts. If the project or the user changes the binding, or if the project
// is moved, it is another one.
type AcceptedBinding struct {
	Root string // the project's directory
	registry.ReboundError
}

// record returns the file of a binding and its content.
func (a Accepted) record(b AcceptedBinding) (file string, content []byte, err error) {
	root, err := pathx.Resolve(b.Root)
	if err != nil {
		return "", nil, err
	}
	content = fmt.Appendf(nil, "project: %q\nowner: %q\nregistry: %q\ninstead-of: %q\n", root, b.Owner, b.Project,
		b.User)
	return filepath.Join(a.Dir, textx.SHA256(content)[:32]+".yaml"), content, nil
}

// Has reports whether the user accepted a binding.
func (a Accepted) Has(b AcceptedBinding) (bool, error) {
	file, content, err := a.record(b)
	if err != nil {
		return false, err
	}
	data, err := safefile.ReadOptional(file)
	return err == nil && bytes.Equal(data, content), err
}

// Add accepts a binding, and returns the file that records it.
func (a Accepted) Add(b AcceptedBinding) (file string, err error) {
	file, content, err := a.record(b)
	if err != nil {
		return "", err
	}
	return file, atomicfile.Write(file, content, atomicfile.Options{Mode: 0o600, MkdirMode: 0o700, Sync: true})
}

// Remove takes Add back. It reports whether the binding was accepted.
func (a Accepted) Remove(b AcceptedBinding) (file string, found bool, err error) {
	if file, _, err = a.record(b); err != nil {
		return "", false, err
	}
	if err = os.Remove(file); errors.Is(err, fs.ErrNotExist) {
		return file, false, nil
	}
	return file, err == nil, err
}
