// Package firstseen records since when this machine knows a release, by its digest.
//
// Minimum release ages need it: most sources don't prove when something was published, and a tag can be moved to other
// content at any time. The records are in the user's state directory, where projects can't write.
package firstseen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Records are the records of one user.
type Records struct {
	Dir string // "seen" in the user's state directory
	Now func() time.Time
}

// tooFarAhead is how far in the future a record is wrong.
const tooFarAhead = 10 * 365 * 24 * time.Hour

// earliest is before the first release of skillpm: an earlier time is from a clock that was not set.
func earliest() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func (r Records) file(what string) string {
	return filepath.Join(r.Dir, textx.SHA256(what)[:32])
}

// First returns when this machine saw something first: now, if it never did.
func (r Records) First(what string) (time.Time, error) {
	if seen, ok, err := r.Lookup(what); ok || err != nil {
		return seen, err
	}
	now := r.Now().UTC()
	return now, r.Set(what, now)
}

// Lookup returns when this machine saw something first, false if it never did. A record in the future counts, because a
// clock that is set back for a while must not make a release older than it is.
func (r Records) Lookup(what string) (time.Time, bool, error) {
	data, err := os.ReadFile(r.file(what))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, fmt.Errorf("cannot read when skillpm first saw a release: %w", err)
	}
	seen, err := time.Parse(time.RFC3339, strings.TrimSpace(string(data)))
	if err != nil || seen.Before(earliest()) || seen.Sub(r.Now()) >= tooFarAhead {
		return time.Time{}, false, nil
	}
	return seen, true, nil
}

// Set records since when something is known.
func (r Records) Set(what string, since time.Time) error {
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return diag.Errorf(diag.Internal, "cannot record when skillpm first saw a release: %w", err).
			WithHint("make the directory %s writable for your user", r.Dir)
	}
	return atomicfile.Write(r.file(what), []byte(since.Format(time.RFC3339)+"\n"), atomicfile.Options{})
}
