package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/runtime/task"
	"github.com/skillpm/skillpm/pkg/skill"
)

// runSchema is the schema of skill_run: a skill, or the handle of a pending run.
const runSchema = `{"type":"object","properties":{` +
	`"skill":{"type":"string","description":"the skill: its name, or name@owner/name"},` +
	`"script":{"type":"string","description":"the file to run, relative to the skill, such as scripts/check.sh; ` +
	`default: the skill's own command"},` +
	`"args":{"type":"array","items":{"type":"string"},"description":"the arguments of the script"},` +
	`"handle":{"type":"string","description":"the handle of a pending run or task; ` +
	`replaces skill, script, and args"},` +
	`"stop":{"type":"boolean","description":"true ends the run or task of the handle"}},"additionalProperties":false}`

// How long a call waits for a script, and how often it reports progress. Some clients cancel a request after 60 seconds
// in spite of progress, which would end the script, and nothing in a request identifies them.
const (
	patience = 45 * time.Second
	beat     = 5 * time.Second
)

// maxOutput is the maximum size of each stream of a script for the model, in bytes.
const maxOutput = 48 << 10

// The status of a run that has not ended.
const pending = "pending"

// runRequest are the arguments of skill_run.
type runRequest struct {
	Skill  string   `json:"skill"`
	Script string   `json:"script"`
	Args   []string `json:"args"`
	Handle string   `json:"handle"`
	Stop   bool     `json:"stop"`
}

// run runs a script of a skill, or waits for an earlier run.
func (v *serving) run(ctx context.Context, args arguments) *mcp.CallToolResult {
	w, err := v.runRequest(args)
	if err != nil {
		return failure(err)
	}
	if w.Handle != "" {
		return v.resume(ctx, w)
	}
	j, err := v.jobs.start(v.id, func(ctx context.Context, j *job) (*session.RunResult, error) {
		return v.host.Run(ctx, w.Skill, session.RunOptions{
			Script: w.Script, Args: w.Args, MaxOutput: maxOutput, Stdout: j.out, Stderr: j.out,
			Warn: func(text string) { j.warnings = append(j.warnings, text) },
		})
	})
	if err != nil {
		return failure(err)
	}
	return v.wait(ctx, j)
}

// runRequest decodes the arguments.
func (v *serving) runRequest(args arguments) (w runRequest, err error) {
	name := v.native.Run.Name
	if err := unknown(name, args, []string{"skill", "script", "args", "handle", "stop"}); err != nil {
		return w, err
	}
	data, err := json.Marshal(args)
	if err != nil {
		return w, err
	}
	if err := json.Unmarshal(data, &w); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return w, diag.Errorf(diag.Usage, "argument %s of %s must have the type %s", wrong.Field, name, wrong.Type)
		}
		return w, diag.Errorf(diag.Usage, "the arguments of %s are not valid", name)
	}
	if (w.Skill == "") == (w.Handle == "") {
		return w, diag.Errorf(diag.Usage, "%s needs either a skill or the handle of a pending run", name)
	}
	return w, nil
}

// resume waits for a run or a task that another call started.
func (v *serving) resume(ctx context.Context, w runRequest) *mcp.CallToolResult {
	if j := v.jobs.find(v.id, w.Handle); j != nil {
		if w.Stop {
			j.cancel()
		}
		return v.wait(ctx, j)
	}
	if !task.IsID(w.Handle) {
		return failure(diag.Errorf(diag.NotFound,
			"run %q does not exist; skill_run returns each result only once", w.Handle))
	}
	return v.task(ctx, w)
}

// wait waits until a run ends, the request is cancelled, or the client could time out.
func (v *serving) wait(ctx context.Context, j *job) *mcp.CallToolResult {
	limit := time.NewTimer(v.patience)
	defer limit.Stop()
	beats := time.NewTicker(v.beat)
	defer beats.Stop()
	for {
		select {
		case <-j.done:
			v.jobs.drop(j)
			return v.ran(j)
		case <-ctx.Done():
			j.cancel()
			<-j.done
			v.jobs.drop(j)
			return failure(ctx.Err())
		case <-beats.C:
			v.progress(ctx, j)
		case <-limit.C:
			return pendingResult(j.handle, v.o.Now().Sub(j.began), j.out.String())
		}
	}
}

// progress reports that a script is still running.
func (v *serving) progress(ctx context.Context, j *job) {
	if v.token == nil {
		return
	}
	j.beats++
	text := fmt.Sprintf("running for %s", v.o.Now().Sub(j.began).Round(time.Second))
	if line := j.out.String(); line != "" {
		text += ": " + line
	}
	// a client that is gone needs no progress
	_ = v.ss.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: v.token, Progress: float64(j.beats),
		Message: text,
	})
}

// pendingResult returns the result for a run that has not ended, with the handle to resume it.
func pendingResult(handle string, since time.Duration, line string) *mcp.CallToolResult {
	text := fmt.Sprintf(
		"pending: running for %s. Call skill_run with handle: %q for the result; add stop: true to end the run.",
		since.Round(time.Second), handle)
	if line != "" {
		text += "\nLast line of output: " + line
	}
	res := textResult(pending, text)
	res.Meta[metaHandle] = handle
	return res
}

// ran returns the result of a run: its output and its exit status.
func (v *serving) ran(j *job) *mcp.CallToolResult {
	if j.result == nil {
		return failure(v.rewordError(j.err))
	}
	r := j.result
	var b strings.Builder
	fmt.Fprintf(&b, "$ %s\n", skill.JoinArguments(r.Argv))
	stream(&b, "", r.Stdout, r.StdoutSize)
	stream(&b, "stderr:\n", r.Stderr, r.StderrSize)
	switch {
	case r.TimedOut:
		fmt.Fprintf(&b, "stopped at the time limit, after %s", r.Duration.Round(time.Millisecond))
	case r.Signal != "":
		fmt.Fprintf(&b, "stopped by signal %s", r.Signal)
	default:
		fmt.Fprintf(&b, "exit code %d", r.ExitCode)
	}
	if j.err != nil {
		fmt.Fprintf(&b, "\n%s", j.err)
	}
	for _, w := range j.warnings {
		fmt.Fprintf(&b, "\nwarning: %s", w)
	}
	res := textResult("ran", b.String())
	res.Meta[metaExit], res.IsError = r.ExitCode, r.ExitCode != 0 || r.TimedOut || j.err != nil
	if len(j.warnings) > 0 {
		res.Meta[metaWarnings] = j.warnings
	}
	return res
}

// stream formats the kept part of a stream. It omits binary output.
func stream(b *strings.Builder, heading string, data []byte, size int64) {
	if len(data) == 0 {
		return
	}
	text := string(data)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	b.WriteString(heading)
	b.WriteString(text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteString("\n")
	}
	if more := size - int64(len(data)); more > 0 {
		fmt.Fprintf(b, "(%d more bytes)\n", more)
	}
}

// task waits for a task, and returns its output.
func (v *serving) task(ctx context.Context, w runRequest) *mcp.CallToolResult {
	tasks := v.host.Tasks()
	if w.Stop {
		if _, err := tasks.Cancel(ctx, w.Handle); err != nil {
			return failure(err)
		}
	}
	limited, cancel := context.WithTimeout(ctx, v.patience)
	defer cancel()
	t, err := tasks.Wait(limited, w.Handle)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		now, err := tasks.Find(ctx, w.Handle)
		if err != nil {
			return failure(err)
		}
		return pendingResult(w.Handle, v.o.Now().Sub(now.Created), "")
	case errors.Is(err, fs.ErrNotExist):
		return failure(diag.Errorf(diag.NotFound, "task %q does not exist", w.Handle))
	case err != nil:
		return failure(err)
	}
	output, err := tasks.Output(w.Handle)
	if err != nil {
		return failure(err)
	}
	return taskResult(t, output)
}

// taskResult returns the result of a task that has ended.
func taskResult(t *task.Task, output []byte) *mcp.CallToolResult {
	var b strings.Builder
	fmt.Fprintf(&b, "task %s of skill %s: %s\n", t.ID, t.Skill, t.State)
	stream(&b, "", output[:min(len(output), maxOutput)], t.OutputBytes)
	if t.Reason != "" {
		b.WriteString(t.Reason)
	}
	res := textResult(string(t.State), b.String())
	res.Meta[metaTask], res.IsError = t.ID, t.State != task.Succeeded
	return res
}
