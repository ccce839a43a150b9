package txn

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// kind is what an operation does. Operations are carried out in the order of their kinds.
type kind int

const (
	kindRemove kind = iota
	kindDir
	kindLink
	kindFile
)

// op is one operation, as the journal has it.
type op struct {
	ID     string      `json:"id"` // its name in the directories of the journal
	Kind   kind        `json:"kind"`
	Path   string      `json:"path"`
	Inode  uint64      `json:"inode,omitempty"`  // dir: the staged directory's, 0 where that is not known
	Target string      `json:"target,omitempty"` // link
	Data   []byte      `json:"data,omitempty"`   // file
	Mode   fs.FileMode `json:"mode,omitempty"`   // file
	Before string      `json:"before,omitempty"` // file: digest of what it replaces
}

const journalHeader = "skillpm-journal-v1 "

// writeJournal writes the journal and forces it to the disk: the commit point.
func (s *site) writeJournal(ops []*op) error {
	data, err := json.Marshal(ops)
	if err != nil {
		return err
	}
	data = append([]byte(journalHeader+sumOf(data)+"\n"), data...)
	draft := s.in(draftName)
	if err := s.create(draft, data, 0o600); err != nil {
		return err
	}
	if err := s.fail("journal written"); err != nil {
		return err
	}
	if err := s.root.Rename(draft, s.in(journalName)); err != nil {
		return err
	}
	if err := syncDir(s.abs(s.dir)); err != nil {
		return err
	}
	return s.fail("committed")
}

// create writes a new file and forces it to the disk.
func (s *site) create(rel string, data []byte, mode fs.FileMode) error {
	f, err := s.root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (s *site) readJournal() ([]*op, error) {
	data, err := s.root.ReadFile(s.in(journalName))
	if err != nil {
		return nil, err
	}
	head, body, _ := strings.Cut(string(data), "\n")
	sum, ok := strings.CutPrefix(head, journalHeader)
	if !ok || sum != sumOf([]byte(body)) {
		return nil, s.badJournal()
	}
	var ops []*op
	if err := json.Unmarshal([]byte(body), &ops); err != nil {
		return nil, s.badJournal()
	}
	for _, o := range ops {
		if clean, err := s.check(o.Path); err != nil || clean != o.Path {
			return nil, s.badJournal()
		}
	}
	return ops, nil
}

func (s *site) badJournal() error {
	return diag.Errorf(diag.Invalid, "the journal of an interrupted installation, %s, is damaged or from a newer skillpm", s.abs(s.in(journalName))).
		WithHint("delete %s and install again", s.abs(s.dir))
}
