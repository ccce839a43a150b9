package mcpserver

import (
	"cmp"
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/task"
)

// tasksExtension is the id of tasks over MCP, SEP-2663:
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/2026-07-28/tasks.md
//
// The SDK does not have the extension; its custom methods and results are enough for all of it except task
// notifications, because the SDK reads no other fields of subscriptions/listen than its own. Clients poll instead, as
// the extension allows.
const tasksExtension = "io.modelcontextprotocol/tasks"

// codeMissingCapability is the error code for a request that needs a capability of the client.
const codeMissingCapability = -32021

// taskPoll is the pause between two requests for the state of a task that clients are advised to keep.
const taskPoll = 2 * time.Second

// The states of a task in the extension.
const (
	taskWorking   = "working"
	taskCompleted = "completed"
	taskCancelled = "cancelled"
)

// wireTask is a task in the extension's format.
type wireTask struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`

	ID      string    `json:"taskId"`
	Status  string    `json:"status"`
	Message string    `json:"statusMessage,omitempty"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	TTLMs   *int64    `json:"ttlMs"` // null: skillpm keeps tasks until they are removed
	PollMs  int64     `json:"pollIntervalMs"`

	Result *mcp.CallToolResult `json:"result,omitempty"`
}

type taskParams struct {
	mcp.ParamsBase
	ID        string         `json:"taskId"`
	Responses map[string]any `json:"inputResponses,omitempty"` // no task of skillpm asks for input
}

// acknowledged is an empty result.
type acknowledged struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

const completeResult = "complete"

// extendTasks adds the extension's methods.
func (s *Server) extendTasks() error {
	if err := mcp.AddReceivingCustomMethod(s.sdk, "tasks/get", s.getTask); err != nil {
		return err
	}
	if err := mcp.AddReceivingCustomMethod(s.sdk, "tasks/cancel", s.cancelTask); err != nil {
		return err
	}
	return mcp.AddReceivingCustomMethod(s.sdk, "tasks/update", s.updateTask)
}

// takesTasks reports whether the client declared the extension in this request.
func (v *serving) takesTasks() bool {
	capabilities, _ := v.meta[mcp.MetaKeyClientCapabilities].(map[string]any)
	extensions, _ := capabilities["extensions"].(map[string]any)
	_, ok := extensions[tasksExtension]
	return ok
}

// asTask replaces the result of a call that started a task by the task, for a client that takes tasks.
func (v *serving) asTask(ctx context.Context, res *mcp.CallToolResult) (mcp.Result, error) {
	id, _ := res.Meta[metaTask].(string)
	if id == "" || res.Meta[metaStatus] != "spawned" || !v.takesTasks() {
		return res, nil
	}
	t, err := v.host.Tasks().Find(ctx, id)
	if err != nil {
		return nil, err
	}
	w, err := v.wireTask(t)
	if err != nil {
		return nil, err
	}
	w.ResultType, w.Result = "task", nil
	return w, nil
}

// wireTask returns a task in the extension's format, with the result of the call that started it if it has ended. A
// command that failed is a completed task whose result is an error.
func (v *serving) wireTask(t *task.Task) (*wireTask, error) {
	w := &wireTask{
		ResultType: completeResult, ID: t.ID, Status: taskWorking, Message: cmp.Or(t.Reason, string(t.State)),
		Created: t.Created.UTC(), Updated: t.Created.UTC(), PollMs: taskPoll.Milliseconds(),
	}
	for _, at := range []*time.Time{t.Started, t.Ended} {
		if at != nil {
			w.Updated = at.UTC()
		}
	}
	switch {
	case t.State == task.Cancelled:
		w.Status = taskCancelled
	case t.State.Ended():
		output, err := v.host.Tasks().Output(t.ID)
		if err != nil {
			return nil, err
		}
		w.Status, w.Result = taskCompleted, taskResult(t, output)
	}
	return w, nil
}

// taskRequest prepares the answer to a request about a task.
func (s *Server) taskRequest(ctx context.Context, p *taskParams) (*serving, *task.Task, error) {
	v, err := s.custom(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !v.takesTasks() {
		return nil, nil, &jsonrpc.Error{
			Code: codeMissingCapability, Message: "the request does not declare the client's capability " + tasksExtension,
			Data: []byte(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
		}
	}
	id := ""
	if p != nil {
		id = p.ID
	}
	missing := invalid(diag.Errorf(diag.NotFound, "task %.80q does not exist", id))
	if !task.IsID(id) {
		return nil, nil, missing
	}
	t, err := v.host.Tasks().Find(ctx, id)
	if err != nil {
		return nil, nil, missing
	}
	return v, t, nil
}

func (s *Server) getTask(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (*wireTask, error) {
	v, t, err := s.taskRequest(ctx, p)
	if err != nil {
		return nil, err
	}
	return v.wireTask(t)
}

func (s *Server) cancelTask(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (*acknowledged, error) {
	v, t, err := s.taskRequest(ctx, p)
	if err != nil {
		return nil, err
	}
	if !t.State.Ended() {
		if _, err := v.host.Tasks().Cancel(ctx, t.ID); err != nil {
			return nil, problem(err)
		}
	}
	return &acknowledged{ResultType: completeResult}, nil
}

// updateTask acknowledges the answers to questions that no task asks.
func (s *Server) updateTask(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (*acknowledged, error) {
	if _, _, err := s.taskRequest(ctx, p); err != nil {
		return nil, err
	}
	return &acknowledged{ResultType: completeResult}, nil
}
