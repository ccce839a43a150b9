package mcpserver

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/task"
)

// watchRetry is the pause before watching is tried again.
const watchRetry = 5 * time.Second

// watched notifies the clients of every change since the skills that this request is answered from.
func (v *serving) watched(ctx context.Context) {
	c, err := v.host.Catalog(ctx)
	if err != nil {
		return // which is the answer
	}
	v.watch.Do(func() { v.background.Go(func() { v.watching(c) }) })
}

// watching notifies the clients until the server ends.
func (s *Server) watching(c *catalog.Catalog) {
	for {
		err := c.Watch(s.life, func(*catalog.Catalog) { s.mark() })
		if s.life.Err() != nil {
			return
		}
		s.o.Logger.Warn("cannot watch the skills for changes; trying again", "error", err)
		select {
		case <-s.life.Done():
			return
		case <-time.After(watchRetry):
		}
	}
}

// follow notifies the client at the end of a task that runs a skill for it.
func (v *serving) follow(id string) {
	ss, sdk := v.ss, v.sdk
	v.host.Tasks().OnEnd(v.life, id, func(t *task.Task, err error) {
		if err != nil {
			v.o.Logger.Warn("cannot wait for a task", "task", id, "error", err)
			return
		}
		notification, err := v.host.Tasks().Notification(t)
		if err != nil {
			v.o.Logger.Warn("cannot read the result of a task", "task", id, "error", err)
			return
		}
		tell(v.life, ss, t.State != task.Succeeded, serverName+"/task", notification)
		_ = sdk.ResourceUpdated(v.life, &mcp.ResourceUpdatedNotificationParams{URI: taskScheme + id})
	})
}
