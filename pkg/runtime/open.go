package runtime

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// Open returns a Host for the agent in this process, which works in dir. It takes the paths, the environment, and the
// clock from the operating system, and everything else from the environment and the user's settings. Scripts that a
// policy confines do not run, because confining them needs [Options].Helper.
func Open(ctx context.Context, dir string) (*Host, error) {
	o, err := DefaultOptions(dir)
	if err != nil {
		return nil, err
	}
	return New(ctx, o)
}

// DefaultOptions returns the options that [Open] uses for dir, for callers that change some of them before they call
// [New].
func DefaultOptions(dir string) (Options, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Options{}, err
	}
	//nolint:forbidigo // these are the operating system's defaults
	getenv, now := os.Getenv, time.Now
	paths, err := scope.New(scope.Env{Dir: dir, Getenv: getenv, OS: runtime.GOOS})
	if err != nil {
		return Options{}, err
	}
	return Options{Paths: paths, Dir: dir, OS: runtime.GOOS, Getenv: getenv, Now: now}, nil
}
