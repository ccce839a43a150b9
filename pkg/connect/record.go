package connect

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// record is what install did to one file, so that remove can restore it to the byte.
type record struct {
	After   string   `json:"after"`             // digest of the file as install left it
	Before  string   `json:"before"`            // digest of the file as install found it
	Splices []splice `json:"splices,omitempty"` // the edits
	Created bool     `json:"created,omitempty"` // install created the file
	Dirs    []string `json:"dirs,omitempty"`    // directories that install created for it, the deepest first
	Program string   `json:"program,omitempty"` // the program, if its name is not skillpm
	Agents  []string `json:"agents,omitempty"`  // of a manifest: see [LinkRecord]
	Shared  bool     `json:"shared,omitempty"`
}

// records has the record of each file, by kind and path.
type records struct {
	Version int               `json:"version"`
	Files   map[string]record `json:"files"`
}

// recordKey returns the key of the record of a kind in a file.
func recordKey(kind Kind, file string) string { return string(kind) + " " + file }

func (e Env) recordFile() string { return filepath.Join(e.State, "attached.json") }

// records reads the records. An unreadable file counts as none: records only make a removal exact.
func (e Env) records() records {
	r := records{Version: 1, Files: map[string]record{}}
	data, err := os.ReadFile(e.recordFile())
	var old records
	if err == nil && json.Unmarshal(data, &old) == nil && old.Version == 1 && old.Files != nil {
		r = old
	}
	return r
}

// saveRecords writes the records.
func (e Env) saveRecords(r records) error {
	if len(r.Files) == 0 {
		err := os.Remove(e.recordFile())
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	o := atomicfile.Options{Mode: 0o600, MkdirMode: 0o700, Sync: true}
	return atomicfile.Write(e.recordFile(), append(data, '\n'), o)
}

// original returns the content before install, if the file is unchanged since.
func (r record) original(c fileState) (data []byte, ok bool) {
	if !c.exists || r.After == "" || r.After != textx.SHA256(c.data) {
		return nil, false
	}
	data, ok = undo(c.data, r.Splices)
	return data, ok && textx.SHA256(data) == r.Before
}

// followMove gives a file of the project the record that it had before the directory of the project was moved: the
// record of an unchanged file with the same path in a project that no longer exists.
func (e Env) followMove(all records, kind Kind, c fileState) {
	rel, ok := pathx.Rel(e.Project, c.real)
	if _, known := all.Files[recordKey(kind, c.real)]; known || !ok || e.Project == "" || !c.exists {
		return
	}
	digest := textx.SHA256(c.data)
	for _, key := range slices.Sorted(maps.Keys(all.Files)) {
		r := all.Files[key]
		old, same := strings.CutPrefix(key, recordKey(kind, ""))
		root, inside := strings.CutSuffix(old, string(filepath.Separator)+rel)
		if !same || !inside || r.After != digest {
			continue
		}
		if _, err := os.Lstat(root); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for i, dir := range r.Dirs {
			if at, ok := pathx.Rel(root, dir); ok {
				r.Dirs[i] = filepath.Join(e.Project, at)
			}
		}
		delete(all.Files, key)
		all.Files[recordKey(kind, c.real)] = r
		return
	}
}
