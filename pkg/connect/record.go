package connect

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// record is what install did to one file, so that remove can make it what it was, to the byte.
type record struct {
	After   string   `json:"after"`             // digest of the file as install left it
	Before  string   `json:"before"`            // digest of the file as install found it
	Splices []splice `json:"splices,omitempty"` // what was done in between
	Created bool     `json:"created,omitempty"` // there was no file
	Dirs    []string `json:"dirs,omitempty"`    // directories that were made for it, the deepest first
	Program string   `json:"program,omitempty"` // that was written, if it is not called skillpm
}

// records are those of all files, by kind and path.
type records struct {
	Version int               `json:"version"`
	Files   map[string]record `json:"files"`
}

// recordKey is what the record of a kind in a file is kept under.
func recordKey(kind Kind, file string) string { return string(kind) + " " + file }

func (e Env) recordFile() string { return filepath.Join(e.State, "attached.json") }

// records reads what was done. One that cannot be read is as good as none: it only makes a removal exact.
func (e Env) records() records {
	r := records{Version: 1, Files: map[string]record{}}
	data, err := os.ReadFile(e.recordFile())
	var old records
	if err == nil && json.Unmarshal(data, &old) == nil && old.Version == 1 && old.Files != nil {
		r = old
	}
	return r
}

// saveRecords writes what was done.
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
	return atomicfile.Write(e.recordFile(), append(data, '\n'), atomicfile.Options{Mode: 0o600, MkdirMode: 0o700})
}

// original returns a file as it was before install, if it is as install left it.
func (r record) original(c fileState) (data []byte, ok bool) {
	if !c.exists || r.After == "" || r.After != textx.SHA256(c.data) {
		return nil, false
	}
	data, ok = undo(c.data, r.Splices)
	return data, ok && textx.SHA256(data) == r.Before
}
