package txn

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// kind is what an operation does. Operations are applied in the order of their kinds.
type kind int

const (
	kindRemove kind = iota
	kindDir
	kindLink
	kindFile
)

// op is one operation, in the form of the journal.
type op struct {
	ID       string      `json:"id"` // name in the subdirectories of the journal
	Kind     kind        `json:"kind"`
	Path     string      `json:"path"`
	Inode    uint64      `json:"inode,omitempty"`  // dir: the staged directory's, 0 if unknown
	Target   string      `json:"target,omitempty"` // link
	Data     []byte      `json:"data,omitempty"`   // file
	Mode     fs.FileMode `json:"mode,omitempty"`   // file
	Before   string      `json:"before,omitempty"` // file: digest of the file that it replaces
	Expected string      `json:"want,omitempty"`   // dir, link, remove: fingerprint of what it replaces
}

const journalHeader = "skillpm-journal-v2 "

// minKey is the length of the shortest valid key, in bytes.
const minKey = 32

// processKey is the key if the caller has none. Another process cannot recover the transaction then.
var processKey = sync.OnceValue(func() []byte {
	key := make([]byte, minKey)
	_, _ = rand.Read(key) // never returns an error
	return key
})

func journalKey(key []byte) []byte {
	if len(key) == 0 {
		return processKey()
	}
	return key
}

// mac returns the MAC of a journal's body for this root and key. It resolves the root, so that links above it don't
// matter.
func (s *scopeDir) mac(body []byte) []byte {
	root, err := pathx.ResolveExisting(s.path)
	if err != nil {
		root = filepath.Clean(s.path)
	}
	h := hmac.New(sha256.New, s.key)
	fmt.Fprintf(h, "%s%q\n", journalHeader, root)
	h.Write(body)
	return h.Sum(nil)
}

// writeJournal writes the journal and syncs it. This is the commit point.
func (s *scopeDir) writeJournal(ops []*op) error {
	data, err := json.Marshal(ops)
	if err != nil {
		return err
	}
	data = append([]byte(journalHeader+hex.EncodeToString(s.mac(data))+"\n"), data...)
	draft := s.journalPath(draftName)
	if err := s.create(draft, data, 0o600); err != nil {
		return err
	}
	if err := s.fail("journal written"); err != nil {
		return err
	}
	if err := s.root.Rename(draft, s.journalPath(journalName)); err != nil {
		return err
	}
	if err := s.syncAbove([]*op{{Path: s.journalPath(journalName)}}); err != nil {
		return err
	}
	return s.fail("committed")
}

// create writes a new file and syncs it.
func (s *scopeDir) create(rel string, data []byte, mode fs.FileMode) error {
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

// readJournal returns the operations of an interrupted transaction if this machine wrote the journal.
func (s *scopeDir) readJournal() ([]*op, error) {
	info, err := s.root.Lstat(s.journalPath(journalName))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, s.foreignJournal()
	}
	if info.Size() > maxRead {
		return nil, s.foreignJournal()
	}
	data, err := s.read(s.journalPath(journalName))
	if err != nil {
		return nil, err
	}
	head, body, _ := bytes.Cut(data, []byte("\n"))
	sum, ok := strings.CutPrefix(string(head[:min(len(head), 256)]), journalHeader)
	mac, err := hex.DecodeString(sum)
	if !ok || err != nil || !hmac.Equal(mac, s.mac(body)) {
		return nil, s.foreignJournal()
	}
	var ops []*op
	if err := json.Unmarshal(body, &ops); err != nil {
		return nil, diag.Errorf(diag.Invalid, "cannot read the journal %s: %w", s.abs(s.journalPath(journalName)), err).
			WithHint("delete %s, then install again", s.abs(s.dir))
	}
	for _, o := range ops {
		if clean, err := s.checkPath(o.Path); err != nil {
			return nil, err
		} else if clean != o.Path || !isNumber(o.ID) {
			return nil, s.foreignJournal()
		}
	}
	return ops, nil
}

func isNumber(id string) bool {
	n, err := strconv.Atoi(id)
	return err == nil && strconv.Itoa(n) == id
}

func (s *scopeDir) foreignJournal() error {
	return diag.Errorf(diag.Denied, "cannot use the journal %s of an interrupted installation: "+
		"the journal is damaged, or belongs to another directory or machine", s.abs(s.journalPath(journalName))).
		WithHint("inspect the journal, delete %s, then install again", s.abs(s.dir))
}
