package audit

import (
	"bytes"
	"context"
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

// maxLine is the longest line that is looked for at the end of a log: no record is longer.
const maxLine = 64 << 10

// Options say how a log is written.
type Options struct {
	Now  func() time.Time // the clock; without one, records have no time
	User string           // who acts; "" for the user that the system says this process is
	Sync bool             // whether each record is forced to the disk before Write returns
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
	if l.o.Sync {
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
	var b bytes.Buffer
	if end.open {
		b.WriteByte('\n')
	}
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(r.clean())
	return b.Bytes(), err
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
	if err != nil {
		return t, err
	}
	size := info.Size()
	if size == 0 {
		return t, nil
	}
	var text []byte
	for window := int64(4 << 10); ; window *= 4 {
		window = min(window, size, maxLine)
		text = make([]byte, window)
		if _, err := f.ReadAt(text, size-window); err != nil && !errors.Is(err, io.EOF) {
			return t, err
		}
		if window == size || window == maxLine || bytes.Count(text, []byte("\n")) > 2 {
			break
		}
	}
	if t.open = text[len(text)-1] != '\n'; !t.open {
		text = text[:len(text)-1]
	}
	for first := true; len(text) > 0; first = false {
		line := text[bytes.LastIndexByte(text, '\n')+1:]
		if first {
			t.digest = Digest(line)
		}
		if seq, ok := sequence(line); ok {
			t.seq += seq
			t.torn = t.torn || t.open
			return t, nil
		}
		t.torn = true
		t.seq++ // a line that cannot be read counts as a record
		text = bytes.TrimSuffix(text[:len(text)-len(line)], []byte("\n"))
	}
	return t, nil
}

// sequence returns the number of a record.
func sequence(line []byte) (int64, bool) {
	var r struct {
		Seq int64 `json:"seq"`
	}
	return r.Seq, json.Unmarshal(line, &r) == nil && r.Seq > 0
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
