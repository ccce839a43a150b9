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
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	secrets "github.com/skillpm/skillpm/pkg/internal/secret"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
)

// Name is the default file name of a log.
const Name = "audit.jsonl"

// A writer retries the lock every lockPoll, and gives up after lockLimit, because the lock is only held to write a
// line.
const (
	lockPoll  = time.Millisecond
	lockLimit = 30 * time.Second
)

// Records longer than maxRecord bytes are not written, and lines longer than maxLine are not read. At the end of a log,
// up to maxTorn lines that are not records are skipped.
const (
	maxRecord = 192 << 10
	maxLine   = 256 << 10
	maxTorn   = 1000
)

// maxSeq is the highest valid number of a record: the highest integer that all JSON parsers represent exactly.
const maxSeq = 1 << 53

// Options configure a [Log].
type Options struct {
	Now  func() time.Time // clock; nil omits the time of records
	User string           // user's name; "" for the user of this process
	Sync bool             // flush each record to disk before Write returns

	// Required means that operations that cannot be recorded must not be done: after an error of Write or Intend, the
	// caller cancels the operation or reports a failure. It implies Sync. See [Log.Required].
	Required bool

	// Output keeps the outputs of scripts, without secrets and with at most 32 KiB of each. Otherwise a record only has
	// the digest and the size of the output.
	Output bool

	Secrets *secrets.Set // credentials that records leave out; nil for none
	Machine string       // name of this machine; "" for the system's
	Team    string       // recorded as [Record].Team
	Segment int64        // size in bytes at which a file of the log is closed and a new one starts; 0 for 64 MiB
}

// Log is an audit log. A nil Log writes nothing.
type Log struct {
	path string
	o    Options
}

// Open returns the log in the file at path. If path is a directory, and its name does not end in .jsonl, each user has
// a file in it. Open creates no file; the first record does.
func Open(path string, o Options) *Log { return &Log{path: path, o: o} }

// Path returns the path of the log, "" for a nil Log. Closed files are in the same directory, see logFiles.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	return l.file()
}

// Required reports whether operations that cannot be recorded must not be done. It is false for a nil Log.
func (l *Log) Required() bool { return l != nil && l.o.Required }

// Intend records an operation before it starts, and returns a new id for [Record].ID. The record of the outcome has
// that id and the phase [Outcome]. If the log is required, the operation must not start after an error.
func (l *Log) Intend(r Record) (id string, err error) {
	if l == nil {
		return "", nil
	}
	id = rand.Text()
	r.ID, r.Phase, r.Result = id, Intent, Begun
	return id, l.Write(r)
}

// Write appends a record. It returns after the operating system, or with Sync the disk, has the line. After an error
// the record may be missing, but no other record is lost.
func (l *Log) Write(r Record) error {
	if l == nil {
		return nil
	}
	path := l.file()
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700, l.o.Sync || l.o.Required); err != nil {
		return l.explain(err)
	}
	unlock, err := lock(path)
	if err != nil {
		return l.explain(err)
	}
	return l.explain(errors.Join(l.append(path, r), unlock()))
}

// file returns the path that is written to: in a directory, which administrators create for all users, this user's
// file.
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

// lock takes a kernel lock on a file beside the log. A lock on the log itself would block readers on Windows. Everybody
// who may write the log may take the lock.
func lock(log string) (unlock func() error, err error) {
	path, flags, mode := log+".lock", os.O_RDWR, fileMode(log)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		flags |= os.O_CREATE
	case !info.Mode().IsRegular():
		return nil, diag.Errorf(diag.Denied, "%s is not a regular file", path).
			WithHint("delete the file, because skillpm creates a new lock file")
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	lock := flock.New(path, flock.SetFlag(flags), flock.SetPermissions(mode))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, err
	}
	if flags&os.O_CREATE != 0 && mode != privateMode {
		_ = os.Chmod(path, mode) // undo the umask; only the owner can and must
	}
	return lock.Unlock, nil
}

// privateMode is the mode of a log that only its owner uses.
const privateMode fs.FileMode = 0o600

// fileMode returns the mode of new files beside a log: that of an existing log that others may write, or else private.
func fileMode(log string) fs.FileMode {
	if info, err := os.Lstat(log); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0 {
		return info.Mode().Perm() & 0o666
	}
	return privateMode
}

// append writes a record at the end of the log. The caller holds the lock.
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

// open opens the file for the next record, and returns the state of the log before it.
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

// openRegular opens or creates a log for writing. It follows no links.
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
			WithHint("move the file to another path, because skillpm does not follow links to an audit log")
	}
	f, err := os.OpenFile(path, flags, privateMode)
	if err != nil || before == nil {
		return f, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		return nil, errors.Join(diag.Errorf(diag.Denied, "another process replaced %s", path).
			WithHint("run the command again"), err, f.Close())
	}
	return f, nil
}

// line encodes a record as the next line of the log.
func (l *Log) line(r Record, end lastLine) ([]byte, error) {
	r.Seq, r.Prev, r.Gap = end.seq+1, end.digest, end.torn
	if l.o.Now != nil && r.Time == "" {
		r.Time = l.o.Now().UTC().Format(time.RFC3339Nano)
	}
	r.User, r.Team = l.user(), l.o.Team
	if !l.o.Output {
		r.Stdout, r.Stderr = "", ""
	}
	if r.Machine = l.o.Machine; r.Machine == "" {
		r.Machine, _ = os.Hostname() // a record without it is better than none
	}
	for most := maxText; ; most /= 2 { // JSON may take six bytes for one byte of text
		var b bytes.Buffer
		if end.open {
			b.WriteByte('\n')
		}
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(r.clean(most, l.o.Secrets)); err != nil || b.Len() <= maxRecord {
			return b.Bytes(), err
		}
	}
}

// user returns the name of the acting user.
func (l *Log) user() string {
	if l.o.User != "" {
		return l.o.User
	}
	return userName()
}

// userName returns the name of this process's user from the operating system, which no environment variable changes.
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
		return diag.Errorf(diag.Internal, "another process has locked the audit log %s and does not release it", l.path).
			WithHint("find the process with: fuser %s.lock", l.file())
	case errors.Is(err, fs.ErrPermission):
		return diag.Errorf(diag.Denied, "cannot write the audit log: %w", err).
			WithHint("grant yourself read and write access to %s and %[1]s.lock; "+
				"docs/reference/formats.md describes shared logs", l.file())
	}
	err = syserr.Explain(err)
	return diag.Errorf(diag.CodeOf(err), "cannot write the audit log: %w", err).WithHint("%s", diag.HintOf(err))
}
