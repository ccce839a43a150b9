package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// extension is the id of skills over MCP: SEP-2640.
const extension = "io.modelcontextprotocol/skills"

// The limits of the extension. A skill that exceeds one is listed with "dynamic" instead of its files.
const (
	maxEntryFiles = 512
	maxEntryBytes = 16 << 20
)

// entriesPage is the page size of skills/list. Each page needs the digests of all files of its skills.
const entriesPage = 25

// capabilities returns the server's capabilities for clients.
func capabilities() *mcp.ServerCapabilities {
	c := &mcp.ServerCapabilities{
		Tools: &mcp.ToolCapabilities{ListChanged: true}, Prompts: &mcp.PromptCapabilities{ListChanged: true},
		Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
		Completions: &mcp.CompletionCapabilities{},
		Logging:     &mcp.LoggingCapabilities{}, //nolint:staticcheck // for clients of older versions, see log.go
	}
	c.AddExtension(extension, map[string]any{"directoryRead": true})
	return c
}

// complete marks a result as complete, and sets how long it may be cached, for clients that support that.
type complete struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
	TTLMs      *int   `json:"ttlMs,omitempty"`
	CacheScope string `json:"cacheScope,omitempty"`
}

// completed returns the marks of complete for a request.
func (v *serving) completed() complete {
	c := complete{ResultType: "complete"}
	if v.protocol >= stateless {
		c.TTLMs, c.CacheScope = &private.TTLMs, private.CacheScope
	}
	return c
}

// skillEntry is a skill in the extension's format.
type skillEntry struct {
	URI         string         `json:"uri"`
	Frontmatter map[string]any `json:"frontmatter"`
	Resources   any            `json:"resources"` // of entryFile, or "dynamic"
}

type entryFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

type listSkillsParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type uriParams struct {
	mcp.ParamsBase
	URI    string `json:"uri"`
	Cursor string `json:"cursor,omitempty"`
}

type listSkillsResult struct {
	complete
	Skills     []*skillEntry `json:"skills"`
	NextCursor string        `json:"nextCursor,omitempty"`
}

type getSkillResult struct {
	complete
	Skill *skillEntry `json:"skill"`
}

type directoryResult struct {
	complete
	Resources  []*mcp.Resource `json:"resources"`
	NextCursor string          `json:"nextCursor,omitempty"`
}

// extend adds the extension's methods.
func (s *Server) extend() error {
	if err := mcp.AddReceivingCustomMethod(s.sdk, "skills/list", s.listSkills); err != nil {
		return err
	}
	if err := mcp.AddReceivingCustomMethod(s.sdk, "skills/get", s.getSkill); err != nil {
		return err
	}
	return mcp.AddReceivingCustomMethod(s.sdk, "resources/directory/read", s.readDirectory)
}

// custom prepares the answer to a request of the extension. The SDK passes only its parameters.
func (s *Server) custom(ctx context.Context) (*serving, error) {
	req, ok := ctx.Value(requestKey{}).(mcp.Request)
	if !ok {
		return nil, diag.Errorf(diag.Internal, "the request is missing from the context")
	}
	return s.open(ctx, req, "")
}

// customURI is custom for a request with a URI.
func (s *Server) customURI(ctx context.Context, p *uriParams) (*serving, error) {
	if p == nil || p.URI == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "uri is missing"}
	}
	return s.custom(ctx)
}

func (s *Server) listSkills(ctx context.Context, _ *mcp.ServerSession, p *listSkillsParams) (*listSkillsResult, error) {
	v, err := s.custom(ctx)
	if err != nil {
		return nil, err
	}
	v.watched(ctx)
	all, err := v.readable(ctx)
	if err != nil {
		return nil, problem(err)
	}
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	items, next, err := pageOf(all, cursor, entriesPage)
	if err != nil {
		return nil, err
	}
	res := &listSkillsResult{complete: v.completed(), Skills: []*skillEntry{}, NextCursor: next}
	for _, k := range items {
		e, err := v.skillEntry(ctx, k)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // a skill that is unreadable or denied does not hide others
			v.o.Logger.Warn("skipped a skill", "skill", k.Name, "error", err)
			continue
		}
		res.Skills = append(res.Skills, e)
	}
	return res, nil
}

func (s *Server) getSkill(ctx context.Context, _ *mcp.ServerSession, p *uriParams) (*getSkillResult, error) {
	v, err := s.customURI(ctx, p)
	if err != nil {
		return nil, err
	}
	k, file, err := v.resolve(ctx, p.URI)
	if err == nil && !isSkillFile(file) {
		err = diag.Errorf(diag.NotFound, "%s is not a skill", p.URI)
	}
	if err != nil {
		return nil, v.missing(p.URI, err)
	}
	e, err := v.skillEntry(ctx, k)
	if err != nil {
		return nil, v.missing(p.URI, err)
	}
	return &getSkillResult{complete: v.completed(), Skill: e}, nil
}

// skillEntry describes a skill: its frontmatter as written, and its files with their digests.
func (v *serving) skillEntry(ctx context.Context, k *catalog.Skill) (*skillEntry, error) {
	files, complete, err := v.filesOf(ctx, k)
	if err != nil {
		return nil, err
	}
	all, err := v.host.Session().ReadAll(ctx, k.Exact(), files) // together: the policies look at the whole skill
	if len(all) == 0 {
		return nil, err
	}
	doc, _ := skill.Parse(all[0].Data)
	front, _ := plainYAML(doc.Front, 0).(map[string]any)
	if front == nil {
		front = map[string]any{}
	}
	e := &skillEntry{URI: uriOf(k, skill.File), Frontmatter: front, Resources: "dynamic"}
	if err != nil || !complete { // a file is too large, or was deleted
		return e, nil //nolint:nilerr // see above
	}
	resources := make([]entryFile, 0, len(all))
	for _, f := range all {
		resources = append(resources, fileOf(k, f.Path, f.Data))
	}
	e.Resources = resources
	return e, nil
}

// filesOf returns the files of a skill, SKILL.md first. It returns SKILL.md alone if there are too many for an entry.
func (v *serving) filesOf(ctx context.Context, k *catalog.Skill) (files []string, complete bool, err error) {
	others, err := v.host.Session().Files(ctx, k.Exact())
	if err != nil {
		return nil, false, err
	}
	root, err := os.OpenRoot(k.Dir)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	files = append([]string{skill.File}, others...)
	total := int64(0)
	for _, file := range files {
		size, ok := sizeOf(root, file)
		if total += size; !ok || total > maxEntryBytes || len(files) > maxEntryFiles {
			return files[:1], false, nil
		}
	}
	return files, true, nil
}

func fileOf(k *catalog.Skill, file string, data []byte) entryFile {
	return entryFile{URI: uriOf(k, file), Digest: "sha256:" + textx.SHA256(data), Size: int64(len(data))}
}

// readDirectory answers with the entries of a directory of a skill, without those of its subdirectories.
func (s *Server) readDirectory(ctx context.Context, _ *mcp.ServerSession, p *uriParams) (*directoryResult, error) {
	v, err := s.customURI(ctx, p)
	if err != nil {
		return nil, err
	}
	k, dir, err := v.resolve(ctx, p.URI)
	if err != nil {
		return nil, v.missing(p.URI, err)
	}
	if _, err := v.host.Read(ctx, k.Exact(), skill.File); err != nil { // checks that the skill may be read
		return nil, v.missing(p.URI, err)
	}
	files, err := v.host.Session().Files(ctx, k.Exact())
	if err != nil {
		return nil, problem(err)
	}
	found := children(k, dir, append([]string{skill.File}, files...))
	if len(found) == 0 {
		return nil, invalid(diag.Errorf(diag.Invalid, "%s is not a directory", p.URI))
	}
	items, next, err := page(found, p.Cursor)
	if err != nil {
		return nil, err
	}
	return &directoryResult{complete: v.completed(), Resources: items, NextCursor: next}, nil
}

// children returns the entries of a directory of a skill, sorted by name.
func children(k *catalog.Skill, dir string, files []string) []*mcp.Resource {
	below := ""
	if dir != "." {
		below = dir + "/"
	}
	seen := map[string]bool{}
	var out []*mcp.Resource
	for _, file := range files {
		rest, ok := strings.CutPrefix(file, below)
		if !ok {
			continue
		}
		name, _, isDir := strings.Cut(rest, "/")
		if seen[name] {
			continue
		}
		seen[name] = true
		r := resourceOf(k, below+name)
		if isDir {
			r.MIMEType, r.Size = directoryType, 0
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *mcp.Resource) int { return strings.Compare(a.URI, b.URI) })
	return out
}

// declared returns the name in a skill's frontmatter, or its name in the catalog if there is none.
func declared(k *catalog.Skill) string { return cmp.Or(k.Declared, k.Name) }

func join(dir, file string) string { return filepath.Join(dir, filepath.FromSlash(file)) }

// maxYAML is the maximum nesting of a frontmatter.
const maxYAML = 32

// plainYAML converts YAML to JSON values. A value without a JSON type, such as a date, becomes its source text.
func plainYAML(n *yaml.Node, depth int) any {
	if n == nil || depth > maxYAML {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = plainYAML(n.Content[i+1], depth+1)
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			out = append(out, plainYAML(c, depth+1))
		}
		return out
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil // an alias: nothing needs it, and it could be an alias bomb
}

func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!int", "!!float", "!!bool":
		var value any
		if err := n.Decode(&value); err == nil {
			if _, err := json.Marshal(value); err == nil { // JSON has no infinity
				return value
			}
		}
	}
	return n.Value
}
