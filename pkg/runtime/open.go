package runtime

import (
	"context"

	"github.com/skillpm/skillpm/pkg/internal/environ"
)

// Option changes the options of a Host.
type Option func(*Options)

// WithSession sets the id of the session, which names one conversation of the agent.
func WithSession(id string) Option { return func(o *Options) { o.Session = id } }

// WithProfile sets the id of the profile, such as claude-code.
func WithProfile(id string) Option { return func(o *Options) { o.Profile = id } }

// WithRunner makes r run the skills that ask for a task, in this process. The function notify is called when a task has
// ended; it may be nil.
func WithRunner(r Runner, notify func(TaskEnd)) Option {
	return func(o *Options) { o.Runner, o.Notify = r, notify }
}

// Open returns a Host for the agent in this process, which works in dir. It takes the paths, the environment, and the
// clock from the operating system, and everything else from the environment and the user's settings. Scripts that a
// policy confines do not run, because confining them needs [Options].Helper.
func Open(ctx context.Context, dir string, options ...Option) (*Host, error) {
	o, err := DefaultOptions(dir)
	if err != nil {
		return nil, err
	}
	for _, set := range options {
		set(&o)
	}
	return New(ctx, o)
}

// DefaultOptions returns the options that [Open] uses for dir, for callers that change some of them before they call
// [New].
func DefaultOptions(dir string) (Options, error) {
	e, err := environ.Default(dir)
	return Options{Environment: e}, err
}
