package session

import (
	"context"

	"github.com/skillpm/skillpm/pkg/catalog"
	"github.com/skillpm/skillpm/pkg/sandbox"
)

// Guard decides what the policies have a say in. Notes are what people should know, as what a policy that only observes
// would have refused.
type Guard interface {
	// Activate returns why a skill must not be activated, read from, or have its scripts run; nil where it may.
	Activate(ctx context.Context, l *catalog.Loaded) (notes []string, err error)
	// Confine returns what the scripts, hooks and commands of a skill may do that run in a directory; nil for what the
	// user may. An error means that they must not run.
	Confine(ctx context.Context, l *catalog.Loaded, work string) (rules *sandbox.Rules, notes []string, err error)
	// Err returns why everything is denied, as where a policy can't be read; nil where nothing says so.
	Err() error
	// Standing returns why a skill that is active must not be any more: no tool may be called then.
	Standing(a Active) error
	// Grants reports whether a list of allowed tools grants them, as it does in some hosts, and forbids no others.
	Grants() bool
}
