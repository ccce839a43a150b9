package indexer

import (
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
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// recordName is the file that says what skillpm wrote into a directory.
const recordName = ".skillpm-site.json"

// journalName lists, one a line, the files that a run has begun to write and that the record does not have. It is there
// only while skillpm writes, or after it was killed.
const journalName = ".skillpm-site.journal"

const maxRecord = 256 << 20 // bytes

// output is a directory that is written to, and never outside of it nor through a link. It replaces and removes only
// what the record of the directory says was written by skillpm. The record may come with a repository, so it counts
// only for paths that skillpm writes to: what it says of a .git, for one, is passed over.
type output struct {
	dir     string
	display string
	root    *os.Root
	owns    func(path string) bool
	old     record
	log     *os.File // the journal

	mu                          sync.Mutex
	files                       map[string]string
	dirs                        map[string]bool // directories
	written, unchanged, removed int
	unowned                     []string // warnings about files that are not removed
}

// record is what recordName holds.
type record struct {
	Version int               `json:"version"`
	Files   map[string]string `json:"files"` // the SHA-256 of each, in hex
}

// openOutput opens a directory for files of the paths that are owned.
func openOutput(dir, display string, owns func(path string) bool) (*output, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	o := &output{
		dir: dir, display: display, root: root, owns: owns, files: map[string]string{},
		dirs: map[string]bool{},
	}
	err = o.readRecord()
	if err == nil {
		err = o.readJournal()
	}
	if err == nil {
		o.log, err = root.OpenFile(journalName, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return o, nil
}

// close ends a run. One that was not finished leaves its journal, so that the next may replace what it wrote.
func (o *output) close() {
	o.log.Close()
	o.root.Close()
}

// readJournal takes what a run wrote that did not end for skillpm's. With what content is not known.
func (o *output) readJournal() error {
	data, err := o.readOwn(journalName)
	for line := range strings.Lines(string(data)) {
		name := strings.TrimSuffix(line, "\n")
		if _, known := o.old.Files[name]; !known && name != line && o.owns(name) {
			o.old.Files[name] = ""
		}
	}
	return err
}

// readOwn reads one of skillpm's own files, nil where there is none.
func (o *output) readOwn(name string) ([]byte, error) {
	info, err := o.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return nil, diag.Errorf(diag.Invalid, "%s is not a file that skillpm wrote", filepath.Join(o.display, name))
	}
	return o.root.ReadFile(name)
}

func (o *output) readRecord() error {
	o.old = record{Version: 1}
	data, err := o.readOwn(recordName)
	if err == nil && data != nil {
		if wrong := json.Unmarshal(data, &o.old); wrong != nil || o.old.Version != 1 {
			return diag.Errorf(diag.Invalid, "%s cannot be read: it says what may be replaced and removed",
				filepath.Join(o.display, recordName)).
				WithHint("write to an empty directory")
		}
	}
	if o.old.Files == nil {
		o.old.Files = map[string]string{}
	}
	maps.DeleteFunc(o.old.Files, func(name, _ string) bool { return !o.owns(name) })
	return err
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
	if !o.owns(name) {
		return diag.Errorf(diag.Internal, "%q is no path of what is written to %s", name, o.display)
	}
	digest := textx.SHA256(data)
	o.mu.Lock()
	_, twice := o.files[name]
	o.files[name] = digest
	o.mu.Unlock()
	if twice {
		return diag.Errorf(diag.Internal, "%s is written twice", name)
	}
	if err := o.mkdir(path.Dir(name)); err != nil {
		return err
	}
	old, err := o.root.ReadFile(name)
	if err == nil && string(old) == string(data) {
		o.count(&o.unchanged)
		return nil
	}
	_, ours := o.old.Files[name]
	if err == nil && !ours {
		return diag.Errorf(diag.Conflict, "%s is in the way: skillpm did not write it",
			filepath.Join(o.display, filepath.FromSlash(name))).
			WithHint("write to an empty directory, or move the file away")
	}
	if !ours {
		if _, err := o.log.WriteString(name + "\n"); err != nil {
			return err
		}
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
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	tmp := path.Join(path.Dir(name), ".skillpm-"+textx.SHA256(name)[:12]+".tmp")
	_ = o.root.Remove(tmp) // of a run that was killed
	err := o.root.WriteFile(tmp, data, mode)
	if err == nil {
		err = o.root.Rename(tmp, name)
	}
	if err != nil {
		_ = o.root.Remove(tmp)
		return fmt.Errorf("%s: %w", filepath.Join(o.display, filepath.FromSlash(name)), err)
	}
	return nil
}

func (o *output) mkdir(dir string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if dir == "." || o.dirs[dir] {
		return nil
	}
	if link := o.link(dir); link != "" {
		return diag.Errorf(diag.Conflict, "%s is in the way: it is a link",
			filepath.Join(o.display, filepath.FromSlash(link))).
			WithHint("write to an empty directory, or remove the link")
	}
	if err := o.root.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(o.display, filepath.FromSlash(dir)), err)
	}
	o.dirs[dir] = true
	return nil
}

// link returns the link that is on the way to a directory, "" for none.
func (o *output) link(dir string) string {
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		if info, err := o.root.Lstat(dir[:i]); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return dir[:i]
		}
	}
	return ""
}

// finish removes what an earlier run wrote and this one did not, and records what there is. A file that was changed
// since stays, and is said.
func (o *output) finish() error {
	for _, name := range slices.Sorted(maps.Keys(o.old.Files)) {
		if _, current := o.files[name]; current || o.link(path.Dir(name)) != "" {
			continue
		}
		data, err := o.root.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || textx.SHA256(data) != o.old.Files[name] {
			o.unowned = append(o.unowned, fmt.Sprintf(
				"%s is not part of the catalogue any more and was changed since it was written: it stays",
				filepath.Join(o.display, filepath.FromSlash(name))))
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
	if err := o.saveRecord(record{Version: 1, Files: o.files}); err != nil {
		return err
	}
	o.log.Close()
	return o.root.Remove(journalName)
}
