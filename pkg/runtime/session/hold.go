package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// The limits of waiting for other calls of one message.
const (
	holdLimit = 30 * time.Second        // for the decision about an activation
	slice     = 10 * time.Millisecond   // of watching for other calls
	quiet     = 6                       // slices without another call
	maxQuiet  = 1500 * time.Millisecond // for those slices, on a machine without time for them
)

// Hold makes [Await] in other processes wait until release is called or this process ends: an activation in the session
// is being decided.
func Hold(ctx context.Context, state, id string, now time.Time) (release func() error, err error) {
	path := holdFile(state, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	release, err = lockWithin(ctx, path)
	if err == nil {
		announce(path)
		sweepFiles(filepath.Dir(path), now)
	}
	return release, err
}

// Await waits until no activation in a session is being decided. Agents start the hooks of calls in one message at about
// the same time, in any order, and none knows of the others. So Await first waits until, for a moment, no other call is
// announced and no process is about to announce one; a moment in which this process did not get the processor does not
// count. After an error a tool call must not go ahead, because the restrictions are unknown.
func Await(ctx context.Context, state, id string) error {
	path := holdFile(state, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	announce(path)
	announced := announcements(path)
	for began, still := time.Now(), 0; still < quiet && time.Since(began) < maxQuiet; { //nolint:forbidigo // measures a wait
		at := time.Now() //nolint:forbidigo // measures a wait
		select {
		case <-time.After(slice):
		case <-ctx.Done():
			return ctx.Err()
		}
		switch calls := announcements(path); {
		case !bytes.Equal(calls, announced):
			announced, still = calls, 0
		case isAnotherExpected(announced):
			still = 0
		case time.Since(at) < 2*slice:
			still++
		}
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, err := lockWithin(ctx, path)
	if err != nil {
		return err
	}
	return release()
}

// announce tells other processes that this one decides about a call.
func announce(path string) {
	f, err := os.OpenFile(path+".calls", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = f.WriteString(strconv.Itoa(os.Getpid()) + "\n") // without it, others only wait in another way
		_ = f.Close()
	}
}

// maxCalls is the size in bytes of the last announcements, which are those of the calls in one message.
const maxCalls = 4 << 10

// announcements returns the last announcements in a session.
func announcements(path string) []byte {
	f, err := os.Open(path + ".calls")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > maxCalls {
		_, _ = f.Seek(info.Size()-maxCalls, io.SeekStart)
	}
	data, _ := io.ReadAll(io.LimitReader(f, maxCalls))
	return data
}

// isAnotherExpected reports whether another process of the agent that answers a hook, or is about to, has not announced
// its call.
func isAnotherExpected(announced []byte) bool {
	known := strings.Fields(string(announced))
	return slices.ContainsFunc(siblings(), func(pid int) bool { return !slices.Contains(known, strconv.Itoa(pid)) })
}

func lockWithin(ctx context.Context, path string) (release func() error, err error) {
	waiting, cancel := context.WithTimeout(ctx, holdLimit)
	defer cancel()
	release, err = txn.Lock(waiting, path)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, diag.Errorf(diag.Denied, "skillpm is still deciding about the activation of a skill in this session").
			WithHint("repeat the call when the skill is loaded")
	}
	return release, err
}

func holdFile(state, id string) string { return filepath.Join(Dir(state), "holds", fileName(id)) }
