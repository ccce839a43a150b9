package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// maxArguments is the maximum size of the arguments of a call of skillpm's own tools, in bytes.
const maxArguments = 1 << 20

// The keys of a result's _meta, for programs: the model sees the text.
const (
	metaStatus   = "skillpm/status"
	metaSkill    = "skillpm/skill"
	metaTask     = "skillpm/task"
	metaWarnings = "skillpm/warnings"
	metaExit     = "skillpm/exitCode"
	metaHandle   = "skillpm/handle"
)

// arguments are the arguments of one call.
type arguments map[string]json.RawMessage

// call answers a call of one of skillpm's own tools, and forwards other calls.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	args, bad := parse(req.Params.Arguments)
	named, _ := args.text(sessionArgument)
	v, err := s.open(ctx, req, named)
	if err != nil {
		return nil, err
	}
	own := v.tool(req.Params.Name)
	if own == nil {
		return next(context.WithValue(ctx, servingKey{}, v), "tools/call", req)
	}
	params := *req.Params
	params.Name = marker
	res, err := next(answer(ctx, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if bad != nil {
			return v.failed("", bad), nil
		}
		if !v.ownSession {
			delete(args, sessionArgument)
		}
		return own(ctx, args), nil
	}), "tools/call", &mcp.CallToolRequest{Session: req.Session, Params: &params, Extra: req.Extra})
	if called, ok := res.(*mcp.CallToolResult); ok && err == nil {
		return v.asTask(ctx, called)
	}
	return res, err
}

// tool returns the function that answers calls of a tool, nil if the tool is not skillpm's.
func (v *serving) tool(name string) func(context.Context, arguments) *mcp.CallToolResult {
	switch t := v.view.Trigger; name {
	case "":
		return nil
	case t.Skill.Name:
		if v.takesLines(v.view) {
			return v.line
		}
		return v.load
	case t.File.Name:
		return v.file
	case t.Find.Name:
		return v.find
	}
	switch {
	case v.onlyOwn(v.view):
	case name == v.native.Run.Name:
		return v.run
	case name == v.native.End.Name:
		return v.endSkill
	}
	return nil
}

// parse decodes the arguments of a call.
func parse(data json.RawMessage) (arguments, error) {
	if len(data) > maxArguments {
		return nil, diag.Errorf(diag.Usage, "the arguments have %d bytes; the limit is %d", len(data),
			maxArguments)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return arguments{}, nil
	}
	var args arguments
	if err := json.Unmarshal(data, &args); err != nil {
		return nil, diag.Errorf(diag.Usage, "the arguments are not a JSON object")
	}
	return args, nil
}

// text returns a string argument, "" if it is missing or null.
func (a arguments) text(name string) (string, error) {
	raw, ok := a[name]
	if !ok || string(raw) == "null" {
		return "", nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", diag.Errorf(diag.Usage, "argument %s is not a string", name)
	}
	return text, nil
}

// toolArguments returns the names of a tool's arguments by their purpose.
func toolArguments(t profile.Tool, args arguments) (map[string]string, error) {
	values := map[string]string{}
	known := make([]string, 0, len(t.Arguments))
	for _, a := range t.Arguments {
		known = append(known, a.Name)
		text, err := args.text(a.Name)
		if err != nil {
			return nil, err
		}
		if text == "" && !a.Optional {
			return nil, diag.Errorf(diag.Usage, "%s needs the argument %s: %s", t.Name, a.Name, a.Description)
		}
		values[a.Takes] = text
	}
	return values, unknown(t.Name, args, known)
}

// unknown returns the error for an argument that a tool does not have. It lists the tool's arguments.
func unknown(tool string, args arguments, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(known, name) {
			return diag.Errorf(diag.Usage, "%s does not have an argument %q", tool, name).
				WithHint("use only these arguments: %s", strings.Join(known, ", "))
		}
	}
	return nil
}

// load activates a skill, and returns its instructions.
func (v *serving) load(ctx context.Context, args arguments) *mcp.CallToolResult {
	values, err := toolArguments(v.view.Trigger.Skill, args)
	if err != nil {
		return v.failed(values["skill"], err)
	}
	a, err := v.host.Load(ctx, values["skill"], session.Activate{
		Arguments: values["arguments"], Begin: func(k *catalog.Skill) {
			v.tellUser(ctx, prompt.Notice(v.view, prompt.Result{Kind: prompt.Activated, Name: k.Name}))
		},
	})
	if err != nil {
		return v.failed(values["skill"], err)
	}
	if a.TaskID != "" {
		v.follow(a.TaskID)
	}
	r := a.Result()
	if !v.onlyOwn(v.view) {
		r.Restriction = a.Terms("it ends when you call " + v.native.End.Name + ", or load a skill that it does not refer to")
	}
	return v.result(r, a.Warnings)
}

// file returns one file of a skill.
func (v *serving) file(ctx context.Context, args arguments) *mcp.CallToolResult {
	values, err := toolArguments(v.view.Trigger.File, args)
	if err != nil {
		return v.failed(values["skill"], err)
	}
	f, err := v.host.Read(ctx, values["skill"], values["path"])
	if err != nil {
		return v.failed(values["skill"], err)
	}
	if !f.IsDir && !utf8.Valid(f.Data) {
		return &mcp.CallToolResult{
			Meta: mcp.Meta{metaStatus: prompt.Read, metaSkill: f.Skill.Name},
			Content: []mcp.Content{
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
					URI:      uriOf(f.Skill, f.Path),
					MIMEType: mimeType(f.Path, f.Data), Blob: f.Data,
				}},
			},
		}
	}
	return v.result(f.Result(), nil)
}

// endSkill ends a skill that is active.
func (v *serving) endSkill(ctx context.Context, args arguments) *mcp.CallToolResult {
	values, err := toolArguments(v.native.End, args)
	if err != nil {
		return v.failed(values["skill"], err)
	}
	if v.id == "" {
		return v.failed(values["skill"], diag.Errorf(diag.Usage, "cannot deactivate a skill without a session").
			WithHint("pass the name of this conversation in the argument %s", sessionArgument))
	}
	ended, err := v.host.Session().Deactivate(ctx, values["skill"], session.Model)
	if diag.CodeOf(err) == diag.NotFound && v.peer != nil { // its hooks end a skill that it loaded itself
		return textResult("ended", "no such skill is active in this server's session; "+
			"a skill that "+v.peer.Title+" loaded itself ends with this call if its hooks are connected")
	}
	if len(ended) == 0 && err != nil {
		return v.failed(values["skill"], err)
	}
	text := "deactivated " + strings.Join(ended, ", ")
	if err != nil { // a hook's error does not change the result
		text += "; " + err.Error()
	}
	return textResult("ended", text)
}

// result returns a skill's result as text and, if the agent has a structured format, as structured data. Both have the
// instructions.
func (v *serving) result(r prompt.Result, warnings []string) *mcp.CallToolResult {
	r = v.askable(r)
	res := textResult(r.Kind, prompt.Text(v.view, r))
	res.Meta[metaSkill], res.IsError = r.Name, r.Kind == prompt.Failed || r.Kind == prompt.Unknown
	if r.TaskID != "" {
		res.Meta[metaTask] = r.TaskID
	}
	if len(warnings) > 0 {
		res.Meta[metaWarnings] = warnings
	}
	if data, err := prompt.JSON(v.view, r); err == nil {
		res.StructuredContent = json.RawMessage(data)
	}
	return res
}

// askable adds to a result how the model asks for the result of the skill's task.
func (v *serving) askable(r prompt.Result) prompt.Result {
	switch {
	case r.Kind != prompt.Spawned:
	case v.tool(v.native.Run.Name) != nil:
		r.Ask = fmt.Sprintf("call %s with handle: %q", v.native.Run.Name, r.TaskID)
	default:
		r.Ask = "read the resource " + taskScheme + r.TaskID
	}
	return r
}

// failed returns an error in the profile's format.
func (v *serving) failed(name string, err error) *mcp.CallToolResult {
	return v.result(v.host.Failed(name, v.rewordError(err)), nil)
}

// rewordError replaces an error's hint by one that names this server's tools: the model cannot run skillpm's commands.
func (v *serving) rewordError(err error) error {
	end, hint := v.native.End.Name, diag.HintOf(err)
	if v.onlyOwn(v.view) && strings.Contains(hint, "skillpm ") {
		return &rewordError{err, v.ownHint(err)}
	}
	_, denied := errors.AsType[*session.DeniedError](err)
	switch {
	case denied || strings.Contains(hint, "when its work is done"):
		return &rewordError{
			err,
			strings.TrimSuffix(hint, "; the restriction ends with the skill") +
				"; when the skill's instructions are complete, call " + end + " with the name of the skill to end it",
		}
	case strings.Contains(hint, "skillpm run"):
		return &rewordError{err, "call " + v.native.Run.Name + " to run the script"}
	case strings.Contains(hint, "skillpm load"):
		return &rewordError{err, "call " + v.view.Trigger.Skill.Name + " to load the instructions of the skill"}
	case strings.Contains(hint, "skillpm skills"):
		return &rewordError{err, "call " + v.view.Trigger.Find.Name + " to find skills"}
	case strings.Contains(hint, "skillpm "):
		return diag.Errorf(diag.CodeOf(err), "%s", err.Error()) // without the hint
	}
	return err
}

// rewordError is an error with a replaced hint.
type rewordError struct {
	error
	hint string
}

func (w *rewordError) Hint() string              { return w.hint }
func (w *rewordError) ModelHint() (string, bool) { return w.hint, true }
func (w *rewordError) Unwrap() error             { return w.error }

// failure returns an error as the result of a call.
func failure(err error) *mcp.CallToolResult {
	res := textResult(prompt.Failed, diag.ModelTextOf(err))
	res.IsError = true
	return res
}

// textResult returns text as the result of a call.
func textResult(status, text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Meta: mcp.Meta{metaStatus: status}, Content: []mcp.Content{&mcp.TextContent{Text: text}},
	}
}
