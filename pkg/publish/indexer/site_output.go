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

// recordName is the file that lists what skillpm wrote into a directory.
const recordName = ".skillpm-site.json"

// journalName lists, one per line, the files that a run has begun to write and that the record does not have yet. It
// exists only while skillpm writes, or after it was killed.
const journalName = ".skillpm-site.journal"

const maxRecord = 256 << 20 // bytes

// output writes to a directory, never outside it and never through a link. It replaces and removes only files that the
// directory's record lists. The record may come from a repository, so it counts only for paths that skillpm writes to;
// an entry for .git, for example, is ignored.
type output struct {
	dir     string
	display string
	root    *os.Root
	owns    func(path string) bool
	old     record
	log     *os.File // the journal

	mu                          sync.Mutex
	files                       map[string]string
	packs                       map[string]lastPack
	dirs                        map[string]bool // created directories
	written, unchanged, removed int
	unowned                     []string // warnings about files that were not removed
}

// record is the content of recordName.
type record struct {
	Version int               `json:"version"`
	Files   map[string]string `json:"files"` // the SHA-256 of each file, in hex
	// Packs are the packs that could be read, by name, and what was written of each.
	Packs map[string]lastPack `json:"packs,omitempty"`
}

// openOutput opens a directory for files with owned paths.
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
		packs: map[string]lastPack{}, dirs: map[string]bool{},
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

// close ends a run. An incomplete run leaves its journal, so that the next one may replace its files.
func (o *output) close() {
	o.log.Close()
	o.root.Close()
}

// readJournal adds the files of an incomplete run to the record, with unknown content.
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

// readOwn reads one of skillpm's own files, or returns nil if it does not exist.
func (o *output) readOwn(name string) ([]byte, error) {
	info, err := o.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return nil, diag.Errorf(diag.Invalid, "%s is not a file that skillpm created", filepath.Join(o.display, name)).
			WithHint("use an empty directory, or move the file away")
	}
	return o.root.ReadFile(name)
}

func (o *output) readRecord() error {
	o.old = record{Version: 1}
	data, err := o.readOwn(recordName)
	if err == nil && data != nil {
		if wrong := json.Unmarshal(data, &o.old); wrong != nil || o.old.Version != 1 {
			return diag.Errorf(diag.Invalid, "the list of files that skillpm created, %s, is damaged or has an unknown version",
				filepath.Join(o.display, recordName)).
				WithHint("use an empty directory")
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

// write writes a file of the website.
func (o *output) write(name string, data []byte) error { return o.file(name, data, false) }

// file writes a file if it is missing or different. A file that skillpm did not create is an error.
func (o *output) file(name string, data []byte, executable bool) error {
	if !o.owns(name) {
		return diag.Errorf(diag.Internal, "invalid path %q in the output %s", name, o.display)
	}
	digest := textx.SHA256(data)
	o.mu.Lock()
	_, twice := o.files[name]
	o.files[name] = digest
	o.mu.Unlock()
	if twice {
		return diag.Errorf(diag.Internal, "two pages have the path %s", name)
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
		return diag.Errorf(diag.Conflict, "%s already exists, and skillpm did not create it",
			filepath.Join(o.display, filepath.FromSlash(name))).
			WithHint("use an empty directory, or move the file away")
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

// replace writes a file atomically.
func (o *output) replace(name string, data []byte, executable bool) error {
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	tmp := path.Join(path.Dir(name), ".skillpm-"+textx.SHA256(name)[:12]+".tmp")
	_ = o.root.Remove(tmp) // of a killed run
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
		return diag.Errorf(diag.Conflict, "%s already exists and is a link",
			filepath.Join(o.display, filepath.FromSlash(link))).
			WithHint("use an empty directory, or remove the link")
	}
	if err := o.root.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(o.display, filepath.FromSlash(dir)), err)
	}
	o.dirs[dir] = true
	return nil
}

// link returns the first link on the path to a directory, or "".
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

// finish removes the files that only an earlier run wrote, and writes the record. It keeps files that were changed
// meanwhile, and warns about them.
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
				"skillpm kept %s, which was edited and is no longer part of the website",
				filepath.Join(o.display, filepath.FromSlash(name))))
			continue
		}
		if err := o.root.Remove(name); err != nil {
			return err
		}
		o.removed++
		for dir := path.Dir(name); dir != "." && o.root.Remove(dir) == nil; dir = path.Dir(dir) {
			continue // empty directories
		}
	}
	if err := o.saveRecord(record{Version: 1, Files: o.files, Packs: o.packs}); err != nil {
		return err
	}
	o.log.Close()
	return o.root.Remove(journalName)
}
