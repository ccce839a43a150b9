package connect

import (
	"context"
	"encoding/json"

	"github.com/skillpm/skillpm/pkg/cli/internal/dispatch"
	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// dispatchLine executes a line of the dispatch protocol for a model.
func (a *app) dispatchLine(ctx context.Context, h *runtime.Host, line string,
	begin func(*catalog.Skill),
) (mcpserver.LineReply, error) {
	r, err := dispatch.Execute(ctx, h, line, dispatch.Options{Now: a.Now, Begin: begin})
	if err != nil {
		return mcpserver.LineReply{}, err
	}
	data, err := json.Marshal(r)
	return mcpserver.LineReply{
		Text: r.Text(), JSON: data, Failed: r.State == dispatch.Failed || r.State == dispatch.Timeout,
	}, err
}
