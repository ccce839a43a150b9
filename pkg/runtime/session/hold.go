package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// holdLimit is the maximum wait for the decision about an activation.
const holdLimit = 30 * time.Second

// Hold makes [Await] in other processes wait until release is called or this process ends: an activation in the session
// is being decided.
func Hold(ctx context.Context, state, id string, now time.Time) (release func() error, err error) {
	path := holdFile(state, id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	release, err = lockWithin(ctx, path)
	if err == nil {
		sweepFiles(filepath.Dir(path), now)
	}
	return release, err
}

// Await waits until no activation in a session is being decided. After an error a tool call must not go ahead, because
// the restrictions are unknown.
func Await(ctx context.Context, state, id string) error {
	path := holdFile(state, id)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, err := lockWithin(ctx, path)
	if err != nil {
		return err
	}
	return release()
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
