package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
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

// definitions returns the tools of the profile for the skills that only this server offers, and their listing.
func (v *serving) definitions(served, own []prompt.Entry) ([]prompt.Tool, prompt.Listing, error) {
	p := *v.view
	if len(served) > maxEnum {
		p.Trigger.Skill = withoutNames(p.Trigger.Skill)
	}
	if len(own) > 0 { // their files are served, too, and a client that lists tools once may need to load a new skill
		p.Trigger.Skill.OmitEmpty, p.Trigger.File.OmitEmpty, p.Trigger.Find.OmitEmpty = false, false, false
		p.Stage1.Empty = ""
	}
	return prompt.Tools(&p, served, v.budget())
}

// budget returns the maximum size of a listing: what the client reads, less the text before the listing.
func (v *serving) budget() prompt.Options {
	o := prompt.Options{Budget: v.o.Budget, ContextWindow: v.o.ContextWindow, Most: v.limits().Instructions}
	if v.inDescription() {
		o.Most = v.limits().Description
	}
	if o.Most > 0 && v.inDescription() && !listsInDescription(v.view) {
		o.Most = max(1, o.Most-len(v.view.Trigger.Skill.Description)-len(paragraph))
	}
	return o
}

// paragraph separates the parts of a text.
const paragraph = "\n\n"

// withoutNames returns a tool without names in its arguments.
func withoutNames(t profile.Tool) profile.Tool {
	arguments := make([]profile.Argument, len(t.Arguments))
	for i, a := range t.Arguments {
		a.Enum = false
		arguments[i] = a
	}
	t.Arguments = arguments
	return t
}

// listsInDescription reports whether the agent of a profile lists the skills in the description of a tool.
func listsInDescription(p *profile.Profile) bool { return p.Stage1.Place == "tool-description" }

// inDescription reports whether the skills are listed in the description of a tool, and not in the instructions.
func (v *serving) inDescription() bool { return v.o.AlwaysLoad || listsInDescription(v.view) }

// instruct writes the instructions of the server, with the skills if they are listed there. A client waits for it when
// it starts, so it reads nothing else.
func (s *Server) instruct(ctx context.Context, req mcp.Request, text *string) error {
	h, err := s.o.Open(ctx, Request{})
	if err != nil {
		return problem(err)
	}
	v := &serving{Server: s, host: h, view: s.viewOf(h)}
	if ss, ok := req.GetSession().(*mcp.ServerSession); ok && ss.InitializeParams() != nil {
		v.client = ss.InitializeParams().ClientInfo
	}
	v.peer = s.peerOf(v.client)
	if v.inDescription() && v.peer == nil {
		return nil
	}
	*text, _, err = v.instructions(ctx)
	return err
}

// instructions returns the instructions of the server, and the listing in them.
func (v *serving) instructions(ctx context.Context) (text string, l prompt.Listing, err error) {
	served, own, err := v.split(ctx)
	if err != nil {
		return "", l, err
	}
	if len(own) > 0 {
		text = v.ownText()
	}
	if v.inDescription() || len(served) == 0 {
		return text, l, nil
	}
	o := v.budget()
	if o.Most > 0 {
		o.Most = max(1, o.Most-len(text)-len(paragraph))
	}
	l, err = prompt.List(v.view, served, o)
	v.warnCut(l)
	if text != "" && l.Text != "" {
		text += paragraph
	}
	return text + l.Text, l, err
}

// warnCut logs that a listing is not complete.
func (v *serving) warnCut(l prompt.Listing) {
	if len(l.Left) > 0 {
		v.o.Logger.Warn("the list of skills leaves out skills", "limit", l.Limit, "left", len(l.Left))
	}
}

// ownText tells the model what this server does for the skills that the agent reads itself.
func (v *serving) ownText() string {
	t := v.view.Trigger
	if v.tool(v.native.Run.Name) == nil { // the server offers only the agent's tools
		return ""
	}
	return fmt.Sprintf("Load your own skills as usual. For these skills, too, `%s` searches by task, `%s` reads files, "+
		"`%s` runs scripts, and `%s` deactivates.", t.Find.Name, t.File.Name, v.native.Run.Name, v.native.End.Name)
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
	own, _, err := v.tools(ctx)
	if err != nil {
		return nil, problem(err)
	}
	list.Tools = append(own, others...)
	return list, nil
}

// tools returns skillpm's own tools, and the listing in their descriptions.
func (v *serving) tools(ctx context.Context) (out []*mcp.Tool, l prompt.Listing, err error) {
	served, own, err := v.split(ctx)
	if err != nil {
		return nil, l, err
	}
	defined, l, err := v.definitions(served, own)
	if err != nil {
		return nil, l, err
	}
	c, err := v.host.Catalog(ctx)
	if err != nil {
		return nil, l, err
	}
	for _, t := range defined {
		tool := v.wireTool(t)
		if t.Name == v.view.Trigger.Skill.Name && v.inDescription() {
			v.warnCut(l)
			if !listsInDescription(v.view) && l.Text != "" {
				tool.Description += paragraph + l.Text
			}
			tool.Meta = mcp.Meta{alwaysLoad: true}
		}
		out = append(out, tool)
	}
	if len(served)+len(own) == 0 {
		return out, l, nil
	}
	if v.onlyOwn(v.view) {
		return out, l, v.completeSchemas(out, c)
	}
	ending := &profile.Profile{Serving: profile.Serving{Trigger: profile.Trigger{Skill: v.native.End}}}
	end, _, err := prompt.Tools(ending, []prompt.Entry{{Name: "-"}}, prompt.Options{})
	if err != nil {
		return nil, l, err
	}
	out = append(out, v.wireTool(prompt.Tool{
		Name: v.native.Run.Name, Description: strings.TrimSpace(v.native.Run.Description), Schema: []byte(runSchema),
	}))
	for _, t := range end {
		out = append(out, v.wireTool(t))
	}
	return out, l, v.completeSchemas(out, c)
}

// wireTool returns a tool in the protocol's form. Only the tools that read files and search are without side effects:
// loading a skill can run a hook or start a task, and ending one lifts its restrictions.
func (v *serving) wireTool(t prompt.Tool) *mcp.Tool {
	no := false
	out := &mcp.Tool{
		Name: t.Name, Description: t.Description, InputSchema: json.RawMessage(t.Schema),
		Annotations: &mcp.ToolAnnotations{Title: t.Name},
	}
	switch t.Name {
	case v.view.Trigger.File.Name, v.view.Trigger.Find.Name:
		out.Annotations.ReadOnlyHint, out.Annotations.OpenWorldHint = true, &no
	}
	return out
}

// completeSchemas completes the schemas: with the exact names of shadowed skills if names are listed, and with the
// argument for a session if the connection has none.
func (v *serving) completeSchemas(tools []*mcp.Tool, c *catalog.Catalog) error {
	var shadowed []any
	for _, e := range c.All() {
		if e.State == catalog.Shadowed && e.Refusal() == nil && e.Pack != "" && e.ModelInvocable {
			shadowed = append(shadowed, e.Exact())
		}
	}
	if len(shadowed) == 0 && v.ownSession {
		return nil
	}
	for _, t := range tools {
		var schema map[string]any
		text, _ := t.InputSchema.(json.RawMessage)
		if err := json.Unmarshal(text, &schema); err != nil {
			return err
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
	return nil
}

// sessionArgument is the argument of every tool with the session of a client without its own connection.
const sessionArgument = "session"
