package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// LineReply is the reply to a line of an agent that loads skills by lines of text.
type LineReply struct {
	Text   string          // for the model
	JSON   json.RawMessage // the same as structured data
	Failed bool
}

// Line executes a line: the arguments of the agent's tool as a JSON object. It calls begin once a skill may run.
type Line func(ctx context.Context, h *runtime.Host, line string, begin func(*catalog.Skill)) (LineReply, error)

// takesLines reports whether the server executes the lines of an agent's tool.
func (s *Server) takesLines(p *profile.Profile) bool {
	return s.o.Line != nil && p.Trigger.Skill.Takes("line") != ""
}

// line answers a call of a tool that takes lines. The line's own checks report wrong arguments, in the agent's form.
func (v *serving) line(ctx context.Context, args arguments) *mcp.CallToolResult {
	known := make([]string, 0, len(v.view.Trigger.Skill.Arguments))
	for _, a := range v.view.Trigger.Skill.Arguments {
		known = append(known, a.Name)
	}
	if err := unknown(v.view.Trigger.Skill.Name, args, known); err != nil {
		return v.failed("", err)
	}
	text, err := json.Marshal(args)
	if err != nil {
		return v.failed("", fmt.Errorf("cannot read the arguments: %w", err))
	}
	reply, err := v.o.Line(ctx, v.host, string(text), func(k *catalog.Skill) {
		v.tellUser(ctx, prompt.Notice(v.view, prompt.Result{Kind: prompt.Activated, Name: k.Name}))
	})
	if err != nil {
		return v.failed("", err)
	}
	status := prompt.Activated
	if reply.Failed {
		status = prompt.Failed
	}
	res := textResult(status, reply.Text)
	res.IsError, res.StructuredContent = reply.Failed, reply.JSON
	return res
}
