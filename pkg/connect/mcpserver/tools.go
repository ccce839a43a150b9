package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// maxEnum is the maximum number of names in a schema. If there are more, the schema allows any string, and the error
// for an unknown name lists the names.
const maxEnum = 100

// alwaysLoad asks clients that load the definitions of tools on demand to always load this one.
const alwaysLoad = "anthropic/alwaysLoad"

// listing returns the listing of the skills for the model, and the tools of the profile.
func (v *serving) listing(ctx context.Context) ([]prompt.Tool, prompt.Listing, error) {
	entries, err := v.host.Entries(ctx)
	if err != nil {
		return nil, prompt.Listing{}, err
	}
	p := *v.view
	if len(entries) > maxEnum {
		p.Trigger.Skill = withoutProfileText(p.Trigger.Skill)
	}
	return prompt.Tools(&p, entries, v.budget())
}

// budget returns the maximum size of a listing.
func (v *serving) budget() prompt.Options {
	return prompt.Options{Budget: v.o.Budget, ContextWindow: v.o.ContextWindow}
}

// withoutProfileText returns a tool without names in its arguments.
func withoutProfileText(t profile.Tool) profile.Tool {
	arguments := make([]profile.Argument, len(t.Arguments))
	for i, a := range t.Arguments {
		a.Enum = false
		arguments[i] = a
	}
	t.Arguments = arguments
	return t
}

// inDescription reports whether the agent of a profile lists the skills in the description of a tool.
func inDescription(p *profile.Profile) bool { return p.Stage1.Place == "tool-description" }

// instruct writes the instructions of the server, with the skills if the profile lists them there. A client waits for
// it when it starts, so it reads nothing else.
func (s *Server) instruct(ctx context.Context, text *string) error {
	h, err := s.o.Open(ctx, Request{})
	if err != nil {
		return problem(err)
	}
	v := &serving{Server: s, host: h, view: s.viewOf(h)}
	if inDescription(v.view) {
		return nil
	}
	entries, err := h.Entries(ctx)
	if err != nil {
		return err
	}
	l, err := prompt.List(v.view, entries, v.budget())
	*text = l.Text
	return err
}

// listTools answers with the tools for the current skills, followed by those of other servers.
func (s *Server) listTools(ctx context.Context, req *mcp.ListToolsRequest, next mcp.MethodHandler) (mcp.Result, error) {
	res, err := next(ctx, "tools/list", req)
	list, ok := res.(*mcp.ListToolsResult)
	if err != nil || !ok {
		return res, err
	}
	others := []*mcp.Tool{}
	for _, t := range list.Tools {
		if t.Name != marker {
			others = append(others, t)
		}
	}
	list.Tools = others
	if req.Params != nil && req.Params.Cursor != "" {
		return list, nil
	}
	v, err := s.open(ctx, req, "")
	if err != nil {
		return nil, err
	}
	v.watched(ctx)
	own, err := v.tools(ctx)
	if err != nil {
		return nil, problem(err)
	}
	list.Tools = append(own, others...)
	return list, nil
}

// tools returns skillpm's own tools.
func (v *serving) tools(ctx context.Context) ([]*mcp.Tool, error) {
	defined, l, err := v.listing(ctx)
	if err != nil {
		return nil, err
	}
	c, err := v.host.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	var out []*mcp.Tool
	for _, t := range defined {
		tool := &mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: json.RawMessage(t.Schema),
			Annotations: reads(t.Name),
		}
		if t.Name == v.view.Trigger.Skill.Name {
			if v.o.AlwaysLoad && !inDescription(v.view) && l.Text != "" {
				tool.Description += "\n\n" + l.Text
			}
			if v.o.AlwaysLoad || inDescription(v.view) {
				tool.Meta = mcp.Meta{alwaysLoad: true}
			}
		}
		out = append(out, tool)
	}
	if len(l.Names)+len(l.Left) == 0 {
		return out, nil
	}
	if v.onlyOwn(v.view) {
		return v.completeSchemas(out, c)
	}
	run := &mcp.Tool{
		Name: v.native.Run.Name, Description: strings.TrimSpace(v.native.Run.Description),
		InputSchema: json.RawMessage(runSchema), Annotations: &mcp.ToolAnnotations{},
	}
	ending := &profile.Profile{Serving: profile.Serving{Trigger: profile.Trigger{Skill: v.native.End}}}
	end, _, err := prompt.Tools(ending, []prompt.Entry{{Name: "-"}}, prompt.Options{})
	if err != nil {
		return nil, err
	}
	out = append(out, run)
	for _, t := range end {
		out = append(out, &mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: json.RawMessage(t.Schema),
			Annotations: reads(t.Name),
		})
	}
	return v.completeSchemas(out, c)
}

// reads are the annotations of tools without side effects.
func reads(title string) *mcp.ToolAnnotations {
	no := false
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, OpenWorldHint: &no}
}

// completeSchemas completes the schemas: with the exact names of shadowed skills if names are listed, and with the
// argument for a session if the connection has none.
func (v *serving) completeSchemas(tools []*mcp.Tool, c *catalog.Catalog) ([]*mcp.Tool, error) {
	var shadowed []any
	for _, e := range c.All() {
		if e.State == catalog.Shadowed && e.Pack != "" && e.ModelInvocable {
			shadowed = append(shadowed, e.Exact())
		}
	}
	if len(shadowed) == 0 && v.ownSession {
		return tools, nil
	}
	for _, t := range tools {
		var schema map[string]any
		text, _ := t.InputSchema.(json.RawMessage)
		if err := json.Unmarshal(text, &schema); err != nil {
			return nil, err
		}
		properties, _ := schema["properties"].(map[string]any)
		for _, p := range properties {
			if property, ok := p.(map[string]any); ok {
				if names, ok := property["enum"].([]any); ok {
					property["enum"] = append(names, shadowed...)
				}
			}
		}
		if !v.ownSession && properties != nil {
			properties[sessionArgument] = map[string]any{
				"type": "string", "maxLength": maxHandle,
				"description": "a name for this conversation: choose a name that is hard to guess, " +
					"and use it in each call; without a name, skillpm does not record active skills",
			}
		}
		t.InputSchema = schema
	}
	return tools, nil
}

// sessionArgument is the argument of every tool with the session of a client without its own connection.
const sessionArgument = "session"
