package curate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
)

// recordName is the file that says what skillpm wrote into a directory.
const recordName = ".skillpm-site.json"

const maxRecord = 256 << 20 // bytes

// output is a directory that is written to, and never outside of it. It replaces and removes only what the record of the
// directory says was written by skillpm.
type output struct {
	dir   string
	shown string
	root  *os.Root
	old   record

	mu                          sync.Mutex
	files                       map[string]string
	made                        map[string]bool // directories
	written, unchanged, removed int
	kept                        []string // warnings about files that are not removed
}

// record is what recordName holds.
type record struct {
	Version    int               `json:"version"`
	Unfinished bool              `json:"unfinished,omitempty"` // files may be there that are not listed
	Files      map[string]string `json:"files"`                // the SHA-256 of each, in hex
}

func openOutput(dir, shown string) (*output, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	o := &output{dir: dir, shown: shown, root: root, files: map[string]string{}, made: map[string]bool{}}
	if err := o.readRecord(); err != nil {
		root.Close()
		return nil, err
	}
	o.old.Unfinished = o.old.Unfinished || len(o.old.Files) == 0 && o.empty()
	unfinished := o.old
	unfinished.Unfinished = true
	if err := o.saveRecord(unfinished); err != nil {
		root.Close()
		return nil, err
	}
	return o, nil
}

func (o *output) close() { o.root.Close() }

// empty reports whether the directory has nothing but what is hidden, as a new git repository has.
func (o *output) empty() bool {
	entries, err := fs.ReadDir(o.root.FS(), ".")
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") })
}

func (o *output) readRecord() error {
	o.old = record{Version: 1}
	info, err := o.root.Lstat(recordName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return diag.Errorf(diag.Invalid, "%s is not a record that skillpm wrote", filepath.Join(o.shown, recordName))
	}
	data, err := o.root.ReadFile(recordName)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &o.old); err != nil || o.old.Version != 1 {
		return diag.Errorf(diag.Invalid, "%s cannot be read: it says what may be replaced and removed", filepath.Join(o.shown, recordName)).
			WithHint("write to an empty directory")
	}
	return nil
}

func (o *output) saveRecord(r record) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return o.replace(recordName, append(data, '\n'), false)
}

// write takes a file of the catalogue.
func (o *output) write(name string, data []byte) error { return o.file(name, data, false) }

// file writes a file where it is not there, or other. A file that skillpm did not write stays and is an error.
func (o *output) file(name string, data []byte, executable bool) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return diag.Errorf(diag.Internal, "%q is not below the directory that is written to", name)
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	o.mu.Lock()
	_, twice := o.files[name]
	o.files[name] = digest
	o.mu.Unlock()
	if twice {
		return diag.Errorf(diag.Internal, "%s is written twice", name)
	}
	old, err := o.root.ReadFile(name)
	if err == nil && string(old) == string(data) {
		o.count(&o.unchanged)
		return nil
	}
	if _, ours := o.old.Files[name]; err == nil && !ours && !o.old.Unfinished {
		return diag.Errorf(diag.Conflict, "%s is in the way: skillpm did not write it", filepath.Join(o.shown, filepath.FromSlash(name))).
			WithHint("write to an empty directory, or move the file away")
	}
	o.count(&o.written)
	return o.replace(name, data, executable)
}

func (o *output) count(n *int) {
	o.mu.Lock()
	*n++
	o.mu.Unlock()
}

// replace writes a file whole or not at all.
func (o *output) replace(name string, data []byte, executable bool) error {
	if err := o.mkdir(path.Dir(name)); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	sum := sha256.Sum256([]byte(name))
	tmp := path.Join(path.Dir(name), ".skillpm-"+hex.EncodeToString(sum[:6])+".tmp")
	_ = o.root.Remove(tmp) // of a run that was killed
	err := o.root.WriteFile(tmp, data, mode)
	if err == nil {
		err = o.root.Rename(tmp, name)
	}
	if err != nil {
		_ = o.root.Remove(tmp)
		return fmt.Errorf("%s: %w", filepath.Join(o.shown, filepath.FromSlash(name)), err)
	}
	return nil
}

func (o *output) mkdir(dir string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if dir == "." || o.made[dir] {
		return nil
	}
	if err := o.root.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(o.shown, filepath.FromSlash(dir)), err)
	}
	o.made[dir] = true
	return nil
}

// finish removes what an earlier run wrote and this one did not, and records what there is. A file that was changed since
// stays, and is said.
func (o *output) finish() error {
	for _, name := range slices.Sorted(maps.Keys(o.old.Files)) {
		if _, still := o.files[name]; still || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		data, err := o.root.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != o.old.Files[name] {
			o.kept = append(o.kept, fmt.Sprintf("%s is not part of the catalogue any more and was changed since it was written: it stays", filepath.Join(o.shown, filepath.FromSlash(name))))
			continue
		}
		if err := o.root.Remove(name); err != nil {
			return err
		}
		o.removed++
		for dir := path.Dir(name); dir != "." && o.root.Remove(dir) == nil; dir = path.Dir(dir) {
			continue // directories that are empty now
		}
	}
	return o.saveRecord(record{Version: 1, Files: o.files})
}
