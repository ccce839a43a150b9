package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/task"
	"github.com/skillpm/skillpm/pkg/skill"
)

// pageSize is the maximum number of items in one answer.
const pageSize = 100

// private marks an answer as specific to one user and as not cacheable, because policies and files apply as they are at
// each request.
var private = mcp.Cacheable{TTLMs: 0, CacheScope: "private"}

func setCacheable(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { *c = private }

// page returns the page at a cursor, and the cursor of the next page.
func page[T any](all []T, cursor string) (items []T, next string, err error) {
	return pageOf(all, cursor, pageSize)
}

func pageOf[T any](all []T, cursor string, size int) (items []T, next string, err error) {
	start := 0
	if cursor != "" {
		data, err := base64.RawURLEncoding.DecodeString(cursor)
		if err == nil {
			start, err = strconv.Atoi(string(data))
		}
		if err != nil || start <= 0 {
			return nil, "", &jsonrpc.Error{
				Code:    jsonrpc.CodeInvalidParams,
				Message: "invalid cursor",
			}
		}
	}
	start = min(start, len(all)) // the list may be shorter now
	end := min(start+size, len(all))
	if end < len(all) {
		next = base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(end)))
	}
	return all[start:end], next, nil
}

// listResources answers with the instructions of the skills that a model may start. They lead to the other files.
func (s *Server) listResources(ctx context.Context, req *mcp.ListResourcesRequest) (mcp.Result, error) {
	v, err := s.open(ctx, req, "")
	if err != nil {
		return nil, err
	}
	v.watched(ctx)
	all, err := v.readable(ctx)
	if err != nil {
		return nil, problem(err)
	}
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	listed, next, err := page(all, cursor)
	if err != nil {
		return nil, err
	}
	res := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, NextCursor: next, Cacheable: private}
	for _, k := range listed {
		res.Resources = append(res.Resources, resourceOf(k, skill.File))
	}
	return res, nil
}

// resourceOf describes a file of a skill.
func resourceOf(k *catalog.Skill, file string) *mcp.Resource {
	r := &mcp.Resource{URI: uriOf(k, file), Name: file, MIMEType: mimeType(file, nil)}
	if isSkillFile(file) {
		r.Name, r.Title, r.Description = declared(k), k.Name, k.Description
	}
	if info, err := os.Stat(join(k.Dir, file)); err == nil {
		r.Size = info.Size()
	}
	return r
}

func listTemplates() *mcp.ListResourceTemplatesResult {
	return &mcp.ListResourceTemplatesResult{Cacheable: private, ResourceTemplates: []*mcp.ResourceTemplate{
		{
			URITemplate: skillScheme + "{+path}", Name: "skill-file",
			Description: "A file of a skill. The path starts with the skill's pack or layer.",
		},
		{
			URITemplate: taskScheme + "{id}", Name: "task",
			Description: "The status and output of a task that runs a skill.", MIMEType: jsonType,
		},
	}}
}

// readResource answers with a file of a skill, or with a task.
func (s *Server) readResource(
	ctx context.Context, req *mcp.ReadResourceRequest, next mcp.MethodHandler,
) (mcp.Result, error) {
	v, err := s.open(ctx, req, "")
	if err != nil {
		return nil, err
	}
	params, uri := *req.Params, req.Params.URI
	params.URI = markerURI
	return next(answer(ctx, func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return v.resource(ctx, uri)
	}), "resources/read", &mcp.ReadResourceRequest{Session: req.Session, Params: &params, Extra: req.Extra})
}

// resource returns the content of a URI.
func (v *serving) resource(ctx context.Context, uri string) (*mcp.ReadResourceResult, error) {
	if id, ok := strings.CutPrefix(uri, taskScheme); ok {
		return v.readTask(ctx, uri, id)
	}
	data, file, err := v.read(ctx, uri)
	if err != nil {
		return nil, v.missing(uri, err)
	}
	c := &mcp.ResourceContents{URI: uri, MIMEType: mimeType(file, data)}
	if isText(data) {
		c.Text = string(data)
	} else {
		c.Blob = data
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}, Cacheable: private}, nil
}

// read returns the bytes of a resource. Like every read of a skill, it goes through the session.
func (v *serving) read(ctx context.Context, uri string) (data []byte, file string, err error) {
	k, file, err := v.resolve(ctx, uri)
	if err != nil {
		return nil, "", err
	}
	if file == "." {
		return nil, "", diag.Errorf(diag.Invalid, "%s is a directory", uri)
	}
	f, err := v.host.Read(ctx, k.Exact(), file)
	if err != nil {
		return nil, "", err
	}
	if f.IsDir {
		return nil, "", diag.Errorf(diag.Invalid, "%s is a directory", uri)
	}
	return f.Data, file, nil
}

// missing returns the error for a resource that cannot be read: the protocol's own error if it does not exist.
func (v *serving) missing(uri string, err error) error {
	if diag.CodeOf(err) == diag.NotFound {
		return mcp.ResourceNotFoundError(uri)
	}
	return problem(err)
}

// readTask answers with the state of a task.
func (v *serving) readTask(ctx context.Context, uri, id string) (*mcp.ReadResourceResult, error) {
	if !task.IsID(id) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	t, err := v.host.Tasks().Find(ctx, id)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	var body any = t
	if t.State.Ended() {
		if body, err = v.host.Tasks().Notification(t); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	contents := []*mcp.ResourceContents{{URI: uri, MIMEType: jsonType, Text: string(data)}}
	return &mcp.ReadResourceResult{Contents: contents, Cacheable: private}, nil
}

// maxValues is the maximum number of values of a completion.
const maxValues = 100

// complete completes the URI of a skill's resource. Arguments of skills are free text and have no completion.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	v, err := s.open(ctx, req, "")
	if err != nil {
		return nil, err
	}
	if req.Params.Ref.Type != "ref/resource" || req.Params.Argument.Name != "path" {
		return res, nil
	}
	all, err := v.readable(ctx)
	if err != nil {
		return nil, problem(err)
	}
	for _, k := range all {
		rest := strings.TrimPrefix(uriOf(k, skill.File), skillScheme)
		if !strings.HasPrefix(rest, req.Params.Argument.Value) {
			continue
		}
		if res.Completion.Total++; len(res.Completion.Values) < maxValues {
			res.Completion.Values = append(res.Completion.Values, rest)
		}
	}
	res.Completion.HasMore = res.Completion.Total > len(res.Completion.Values)
	return res, nil
}
