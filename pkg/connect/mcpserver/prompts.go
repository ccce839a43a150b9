package mcpserver

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill"
)

// argumentsName is the argument of a prompt whose skill declares none.
const argumentsName = "arguments"

// listPrompts answers with the skills that a user may start.
func (s *Server) listPrompts(ctx context.Context, req *mcp.ListPromptsRequest) (mcp.Result, error) {
	v, err := s.open(ctx, req, "")
	if err != nil {
		return nil, err
	}
	v.watched(ctx)
	all, err := v.prompts(ctx)
	if err != nil {
		return nil, problem(err)
	}
	res := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, Cacheable: private}
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	items, next, err := page(all, cursor)
	if err != nil {
		return nil, err
	}
	for _, k := range items {
		res.Prompts = append(res.Prompts, &mcp.Prompt{
			Name: k.Name, Title: k.Name, Description: k.Description,
			Arguments: promptArguments(k),
		})
	}
	res.NextCursor = next
	return res, nil
}

// prompts returns the skills that a user may start with a prompt: those that the agent does not offer itself, and whose
// restrictions apply. An agent's hooks do not know a skill that a prompt activates, so for an agent these are the skills
// that restrict no tools.
func (v *serving) prompts(ctx context.Context) ([]*catalog.Skill, error) {
	all, err := v.host.UserInvocable(ctx)
	if err != nil || v.peer == nil {
		return all, err
	}
	own, err := v.owned(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(k *catalog.Skill) bool { return !v.mayPrompt(own, k) }), nil
}

// mayPrompt reports whether a skill is a prompt for the agent of this client.
func (v *serving) mayPrompt(own *owned, k *catalog.Skill) bool {
	if own.has(k.Name, k.Description, k.Dir) {
		return false
	}
	l, err := k.Load()
	return err != nil || !l.Front.Restricts && len(l.Front.DisallowedTools) == 0
}

// hinted matches one argument in a hint: <required> or [optional].
var hinted = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^(?:<([\pL\pN_. -]+)>|\[([\pL\pN_. -]+)\])\s*`) })

// promptArguments returns the arguments in a skill's argument-hint, or one argument for the whole line if it has none.
func promptArguments(k *catalog.Skill) []*mcp.PromptArgument {
	var out []*mcp.PromptArgument
	for rest := strings.TrimSpace(k.ArgumentHint); rest != ""; {
		m := hinted().FindStringSubmatch(rest)
		if m == nil {
			out = nil
			break
		}
		name, required := m[1], true
		if name == "" {
			name, required = m[2], false
		}
		name = strings.Join(strings.Fields(name), "-")
		if name == "" || slices.ContainsFunc(out, func(a *mcp.PromptArgument) bool { return a.Name == name }) {
			out = nil
			break
		}
		out = append(out, &mcp.PromptArgument{Name: name, Required: required})
		rest = rest[len(m[0]):]
	}
	if out == nil {
		out = []*mcp.PromptArgument{{Name: argumentsName, Description: k.ArgumentHint}}
	}
	return out
}

// getPrompt activates a skill for a user, and answers with the message for the model.
func (s *Server) getPrompt(ctx context.Context, req *mcp.GetPromptRequest, next mcp.MethodHandler) (mcp.Result, error) {
	v, err := s.open(ctx, req, "")
	if err != nil {
		return nil, err
	}
	params, name := *req.Params, req.Params.Name
	params.Name = marker
	return next(answer(ctx, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return v.prompt(ctx, name, req.Params.Arguments)
	}), "prompts/get", &mcp.GetPromptRequest{Session: req.Session, Params: &params, Extra: req.Extra})
}

// prompt activates a skill for a user.
func (v *serving) prompt(ctx context.Context, name string, arguments map[string]string) (*mcp.GetPromptResult, error) {
	k, err := v.host.Lookup(ctx, name)
	if err != nil {
		return nil, unknownPrompt(name, err)
	}
	if v.peer != nil {
		own, err := v.owned(ctx)
		if err != nil {
			return nil, problem(err)
		}
		if !v.mayPrompt(own, k) {
			return nil, noPrompt(name)
		}
	}
	line, err := lineOf(k, arguments)
	if err != nil {
		return nil, invalid(err)
	}
	a, err := v.host.Load(ctx, name, session.Activate{Trigger: session.User, Arguments: line})
	if err != nil {
		return nil, problem(v.rewordError(err))
	}
	if a.TaskID != "" {
		v.follow(a.TaskID)
	}
	return &mcp.GetPromptResult{
		Meta:        mcp.Meta{metaStatus: a.Result().Kind, metaSkill: a.Skill.Name},
		Description: a.Skill.Description,
		Messages: []*mcp.PromptMessage{{
			Role:    "user",
			Content: &mcp.TextContent{Text: prompt.Message(v.view, v.askable(a.Result()))},
		}},
	}, nil
}

// unknownPrompt returns the error for a name that is not a skill which users may start.
func unknownPrompt(name string, err error) error {
	if u, ok := errors.AsType[*catalog.UnknownError](err); ok && !u.Denied && !u.Invalid {
		return noPrompt(name)
	}
	return problem(err)
}

func noPrompt(name string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown prompt " + skill.QuoteArgument(name)}
}

// lineOf returns the arguments of a prompt as one line, as a user types them.
func lineOf(k *catalog.Skill, values map[string]string) (string, error) {
	var words []string
	rest := maps.Clone(values)
	missed := ""
	for _, a := range promptArguments(k) {
		value, ok := rest[a.Name]
		delete(rest, a.Name)
		switch {
		case ok && a.Name == argumentsName && !a.Required:
			words = append(words, value)
		case ok && missed != "":
			return "", diag.Errorf(diag.Usage,
				"argument %s needs a value because the later argument %s has one", missed, a.Name)
		case ok:
			words = append(words, skill.QuoteArgument(value))
		case a.Required:
			return "", diag.Errorf(diag.Usage, "prompt %s needs the argument %s", k.Name, a.Name)
		default:
			missed = a.Name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		return "", diag.Errorf(diag.Usage, "prompt %s does not have an argument %q", k.Name, name)
	}
	return strings.Join(words, " "), nil
}
