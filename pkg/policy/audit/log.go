package audit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
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

	// Required says that nothing may be done that is not on record: who gets an error of Write or Intend does not do
	// it, or says that it failed. Each record is forced to the disk then. See [Log.Required].
	Required bool

	Machine string // where this is; "" for the name that the system has
	Segment int64  // the size in bytes from which a file of the log is closed and another begun; 0 for 64 MiB
}

// Log is an audit log. A nil Log writes nothing.
type Log struct {
	path string
	o    Options
}

// Open returns the log in the file at path. Where path is a directory, and its name does not end in .jsonl, each user
// has a file in it. Nothing is opened or made before the first record.
func Open(path string, o Options) *Log { return &Log{path: path, o: o} }

// Path returns the file that the log is in, "" for a nil one. Its older parts are beside it, see logFiles.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	return l.file()
}

// Required reports whether what cannot be recorded must not be done. A nil log requires nothing.
func (l *Log) Required() bool { return l != nil && l.o.Required }

// Intend records what is about to be done, with a new id for [Record].ID. The record of how it ended has that id and
// the phase [Outcome]. Where the log is required and there is an error, it must not be done.
func (l *Log) Intend(r Record) (id string, err error) {
	if l == nil {
		return "", nil
	}
	id = rand.Text()
	r.ID, r.Phase, r.Result = id, Intent, Begun
	return id, l.Write(r)
}

// Write appends a record. It returns once the operating system has the line, and the disk as well where Sync asks for
// it. An error says that the record may be missing, never that another was lost.
func (l *Log) Write(r Record) error {
	if l == nil {
		return nil
	}
	path := l.file()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return l.explain(err)
	}
	unlock, err := lock(path)
	if err != nil {
		return l.explain(err)
	}
	return l.explain(errors.Join(l.append(path, r), unlock()))
}

// file returns the file that is written to: in a directory, as an administrator makes one for all users, that of this
// one.
func (l *Log) file() string {
	if strings.HasSuffix(l.path, ext) {
		return l.path
	}
	if info, err := os.Lstat(l.path); err != nil || !info.IsDir() {
		return l.path
	}
	name := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("._-@", r) {
			return r
		}
		return '_'
	}, l.user())
	return filepath.Join(l.path, "user-"+name+ext)
}

// lock takes the kernel's lock beside the log. It is no lock on the log itself, which on Windows would keep readers
// out. Where others may write the log, they may take the lock, too.
func lock(log string) (unlock func() error, err error) {
	path, flags, mode := log+".lock", os.O_RDWR, shared(log)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		flags |= os.O_CREATE
	case !info.Mode().IsRegular():
		return nil, diag.Errorf(diag.Denied, "%s is not a regular file", path)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	lock := flock.New(path, flock.SetFlag(flags), flock.SetPermissions(mode))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, err
	}
	if flags&os.O_CREATE != 0 && mode != private {
		_ = os.Chmod(path, mode) // the mask took bits away; who did not make it cannot, and need not
	}
	return lock.Unlock, nil
}

// private is the mode of a log that nobody made for others.
const private fs.FileMode = 0o600

// shared returns the mode of a log where an administrator made one that others may write, and else that of a private
// one.
func shared(log string) fs.FileMode {
	if info, err := os.Lstat(log); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0 {
		return info.Mode().Perm() & 0o666
	}
	return private
}

// append writes a record at the end of the log, which nobody else writes to now.
func (l *Log) append(path string, r Record) (err error) {
	f, end, err := l.open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
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

// open opens the file that the next record belongs into, and says what is before it.
func (l *Log) open(path string) (*os.File, lastLine, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, lastLine{}, err
	}
	end, err := readEnd(f)
	if err == nil && end == (lastLine{}) {
		end, err = lastSegment(path)
		err = errors.Join(err, l.syncDir(path))
	}
	if err != nil {
		return nil, lastLine{}, errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return nil, lastLine{}, errors.Join(err, f.Close())
	}
	if info.Size() < cmp.Or(l.o.Segment, defaultSegment) {
		return f, end, nil
	}
	return l.rotate(path, f, end)
}

// openRegular opens a log for writing, and makes it where there is none. No link is followed.
func openRegular(path string) (*os.File, error) {
	flags := os.O_RDWR | os.O_APPEND
	before, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		flags |= os.O_CREATE | os.O_EXCL
	case err != nil:
		return nil, err
	case !before.Mode().IsRegular():
		return nil, diag.Errorf(diag.Denied, "%s is not a regular file", path).
			WithHint("move it away: the audit log follows no links")
	}
	f, err := os.OpenFile(path, flags, private)
	if err != nil || before == nil {
		return f, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		return nil, errors.Join(diag.Errorf(diag.Denied, "%s was replaced while it was opened", path), err, f.Close())
	}
	return f, nil
}

// line returns a record as what is appended to the log.
func (l *Log) line(r Record, end lastLine) ([]byte, error) {
	r.Seq, r.Prev, r.Gap = end.seq+1, end.digest, end.torn
	if l.o.Now != nil && r.Time == "" {
		r.Time = l.o.Now().UTC().Format(time.RFC3339Nano)
	}
	r.User = l.user()
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

// user returns who acts.
func (l *Log) user() string {
	if l.o.User != "" {
		return l.o.User
	}
	return userName()
}

// userName returns who the operating system says this process acts for: no variable of the environment changes that.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "uid:" + strconv.Itoa(os.Getuid())
}

// explain names the log in an error.
func (l *Log) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return diag.Errorf(diag.Internal, "the audit log %s is locked by a process that does not let go", l.path).
			WithHint("find it with: fuser %s.lock", l.file())
	case errors.Is(err, fs.ErrPermission):
		return diag.Errorf(diag.Denied, "the audit log cannot be written: %w", err).
			WithHint(
				"make %s readable and writable for you, with %[1]s.lock beside it: docs/audit.md says how a log "+
					"is shared", l.file())
	}
	err = syserr.Explain(err)
	return diag.Errorf(diag.CodeOf(err), "the audit log cannot be written: %w", err).WithHint("%s", diag.HintOf(err))
}
