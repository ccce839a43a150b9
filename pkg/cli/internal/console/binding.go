package console

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

// AcceptsBinding asks the user on a terminal if a command failed because the project binds an owner to another registry
// than the user's settings. It reports whether the user accepts the binding, so that the command can run again: it has
// not changed anything.
func (a *App) AcceptsBinding(ctx context.Context, err error) bool {
	rebound, ok := errors.AsType[*skillpm.ReboundError](err)
	if !ok || !a.CanAsk() || a.asked[*rebound] {
		return false
	}
	if a.asked == nil {
		a.asked = map[skillpm.ReboundError]bool{}
	}
	a.asked[*rebound] = true // if the answer cannot be recorded, the error would come again
	const accept = "project"
	answer, err := a.PickOne(PickList{
		Title: fmt.Sprintf("Which registry has the packs of %s in this project?", rebound.Owner),
		Note:  "The project's skillpm.yaml and your settings differ. The author of the project chose its registry.",
		Choices: []Choice{
			{Value: "mine", Text: rebound.User + " (stop: change skillpm.yaml)"},
			{Value: accept, Text: rebound.Project},
		},
	})
	if err != nil || answer != accept {
		return false
	}
	c, err := a.Client()
	if err != nil {
		return false
	}
	defer c.Close()
	if _, err = c.RegistryAccept(ctx, skillpm.RegistryAcceptOptions{
		Owner: rebound.Owner, Registry: rebound.Project,
	}); err != nil {
		a.Warn("%s", err)
	}
	a.meterOnce = sync.Once{} // the progress display has ended
	a.meter.Store(nil)
	return err == nil
}
