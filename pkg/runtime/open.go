package runtime

import (
	"context"

	"github.com/skillpm/skillpm/pkg/internal/environ"
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
	e, err := environ.Default(dir)
	return Options{Environment: e}, err
}
