package audit

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Name is the name of the log in its directory.
const Name = "audit.jsonl"

// The lock is tried again after lockPoll, and given up after lockLimit: who holds it only writes a line.
const (
	lockPoll  = time.Millisecond
	lockLimit = 30 * time.Second
)

// The limits of lines. No record is written that is longer than maxRecord bytes, and none is read that is longer than
// maxLine. Before the end of a log at most maxTorn lines are passed over that are no records.
const (
	maxRecord = 48 << 10
	maxLine   = 64 << 10
	maxTorn   = 1000
)

// maxSeq is the highest number that a record is believed to have: the highest that all readers of JSON tell apart.
const maxSeq = 1 << 53

// Options say how a log is written.
type Options struct {
	Now  func() time.Time // the clock; without one, records have no time
	User string           // who acts; "" for the user that the system says this process is
	Sync bool             // whether each record is forced to the disk before Write returns

	// Required says that nothing may be done that is not on record: who gets an error of Write or Intend does not do it, or
	// says that it failed. Each record is forced to the disk then. See [Log.Required].
	Required bool

	Machine string // where this is; "" for the name that the system has
	Segment int64  // the size in bytes from which a file of the log is closed and another begun; 0 for 64 MiB
}

// Log is an audit log. A nil Log writes nothing.
type Log struct {
	path string
	o    Options
}

// Open returns the log in the file at path. Nothing is opened or made before the first record.
func Open(path string, o Options) *Log { return &Log{path: path, o: o} }

// Path returns where the log is, "" for a nil one.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	return l.path
}

// Required reports whether what cannot be recorded must not be done. A nil log requires nothing.
func (l *Log) Required() bool { return l != nil && l.o.Required }

// Intend records what is about to be done, with a new id for [Record].ID. The record of how it ended has that id and the
// phase [Outcome]. Where the log is required and there is an error, it must not be done.
func (l *Log) Intend(r Record) (id string, err error) {
	if l == nil {
		return "", nil
	}
	id = rand.Text()
	r.ID, r.Phase, r.Result = id, Intent, Begun
	return id, l.Write(r)
}

// Write appends a record. It returns once the operating system has the line, and the disk as well where Sync asks for it.
// An error says that the record may be missing, never that another was lost.
func (l *Log) Write(r Record) error {
	if l == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return l.explain(err)
	}
	unlock, err := l.lock()
	if err != nil {
		return l.explain(err)
	}
	return l.explain(errors.Join(l.append(r), unlock()))
}

// lock takes the kernel's lock beside the log. It is no lock on the log itself, which on Windows would keep readers out.
func (l *Log) lock() (unlock func() error, err error) {
	path := l.path + ".lock"
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Denied, "%s is not a regular file", path)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}

// append writes a record at the end of the log, which nobody else writes to now.
func (l *Log) append(r Record) (err error) {
	if info, err := os.Lstat(l.path); err == nil && !info.Mode().IsRegular() {
		return diag.Errorf(diag.Denied, "%s is not a regular file", l.path).WithHint("move it away: the audit log follows no links")
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := readEnd(f)
	if err != nil {
		return err
	}
	line, err := l.line(r, end)
	if err != nil {
		return err
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	if l.o.Sync || l.o.Required {
		return f.Sync()
	}
	return nil
}

// line returns a record as what is appended to the log.
func (l *Log) line(r Record, end tail) ([]byte, error) {
	r.Seq, r.Prev, r.Gap = end.seq+1, end.digest, end.torn
	if l.o.Now != nil && r.Time == "" {
		r.Time = l.o.Now().UTC().Format(time.RFC3339Nano)
	}
	if r.User = l.o.User; r.User == "" {
		r.User = userName()
	}
	if r.Machine = l.o.Machine; r.Machine == "" {
		r.Machine, _ = os.Hostname() // a record without it is better than none
	}
	for most := maxText; ; most /= 2 { // a character may have six times its bytes in JSON
		var b bytes.Buffer
		if end.open {
			b.WriteByte('\n')
		}
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(r.clean(most)); err != nil || b.Len() <= maxRecord {
			return b.Bytes(), err
		}
	}
}

// userName returns who the operating system says this process acts for: no variable of the environment changes that.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "uid:" + strconv.Itoa(os.Getuid())
}

// tail is what a new record has to know of the log.
type tail struct {
	seq    int64  // of the last record
	digest string // of the last line
	open   bool   // the last line has no end
	torn   bool   // the last line is no record
}

// readEnd reads the last lines of a log.
func readEnd(f *os.File) (t tail, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return t, err
	}
	end := info.Size()
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, end-1); err != nil {
		return t, err
	}
	if t.open = last[0] != '\n'; !t.open {
		end--
	}
	for n := 0; end >= 0 && n < maxTorn; n++ {
		start, err := lineStart(f, end)
		if err != nil {
			return t, err
		}
		if n == 0 {
			if t.digest, err = digestOf(io.NewSectionReader(f, start, end-start)); err != nil {
				return t, err
			}
		}
		seq, ok, err := sequence(f, start, end)
		if err != nil {
			return t, err
		}
		if ok {
			t.seq += seq
			t.torn = t.torn || t.open
			return t, nil
		}
		t.torn = true
		t.seq++ // a line that cannot be read counts as a record
		end = start - 1
	}
	return t, nil
}

// lineStart returns where the line begins that ends at end.
func lineStart(f io.ReaderAt, end int64) (int64, error) {
	buffer := make([]byte, 4<<10)
	for end > 0 {
		part := buffer[:min(end, int64(len(buffer)))]
		end -= int64(len(part))
		if _, err := f.ReadAt(part, end); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
	}
	return 0, nil
}

// sequence returns the number of the record between two places of a log.
func sequence(f io.ReaderAt, start, end int64) (seq int64, ok bool, err error) {
	if end-start > maxLine {
		return 0, false, nil
	}
	line := make([]byte, end-start)
	if _, err := f.ReadAt(line, start); err != nil && !errors.Is(err, io.EOF) {
		return 0, false, err
	}
	var r struct {
		Seq int64 `json:"seq"`
	}
	ok = json.Unmarshal(line, &r) == nil && 0 < r.Seq && r.Seq < maxSeq
	return r.Seq, ok, nil
}

// explain names the log in an error.
func (l *Log) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return diag.Errorf(diag.Internal, "the audit log %s is locked by a process that does not let go", l.path).
			WithHint("find it with: fuser %s.lock", l.path)
	case errors.Is(err, fs.ErrPermission):
		return diag.Errorf(diag.Denied, "the audit log cannot be written: %w", err).WithHint("make %s writable for you", filepath.Dir(l.path))
	}
	return diag.Errorf(diag.CodeOf(err), "the audit log cannot be written: %w", err).WithHint("%s", diag.HintOf(err))
}
