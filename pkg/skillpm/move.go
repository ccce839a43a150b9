package skillpm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// moveSources prepares to move packs that are required by name: to the registry of the call, or to the one that their
// owners are bound to now. It returns those that stay because that registry can't be reached, or does not have them.
func (in *installer) moveSources(
	ctx context.Context, ids []pack.ID, queries map[pack.ID]pack.Dependency,
) (unreachable, missing map[pack.ID]error, err error) {
	unreachable, missing = map[pack.ID]error{}, map[pack.ID]error{}
	var named []pack.ID
	for _, id := range ids {
		if d, ok := queries[id]; ok && d.Ref == nil && in.Lock.Packs[id] != nil &&
			!slices.Contains(in.request.edited, id) {
			named = append(named, id)
		}
	}
	if in.request.Registry != "" {
		for _, id := range named {
			in.Backend.Move(id)
		}
		return unreachable, missing, nil
	}
	for id, err := range in.Backend.MoveRebound(ctx, named) {
		_, lacksPack := errors.AsType[*registry.NotFoundError](err)
		switch code := diag.CodeOf(err); {
		case lacksPack:
			missing[id] = err
		case code == diag.Remote && (in.request.skipUnreachable || in.request.Offline) && ctx.Err() == nil:
			unreachable[id] = err
		default:
			return nil, nil, err
		}
		in.Backend.Hold(id)
	}
	return unreachable, missing, nil
}

// stayWarnings returns a warning for each pack that the registry of its owner does not contain.
func (in *installer) stayWarnings(missing map[pack.ID]error) []string {
	warnings := []string{}
	for _, id := range sortedIDs(missing) {
		warnings = append(warnings, fmt.Sprintf("%s stays at %s: %v", id, in.lockedVersion(id), missing[id]))
	}
	return warnings
}
