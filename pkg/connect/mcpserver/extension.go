package mcpserver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
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
	c.AddExtension(tasksExtension, map[string]any{})
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
	c := complete{ResultType: completeResult}
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
	if err := mcp.AddReceivingCustomMethod(s.sdk, "resources/directory/read", s.readDirectory); err != nil {
		return err
	}
	return s.extendTasks()
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

// skillEntry describes a skill: its frontmatter as written, which includes a version if there is one, and all its files
// with their digests, also those that the profile does not let a model read. The text is that of
// https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx of September 2026, whose
// entries have no other fields.
func (v *serving) skillEntry(ctx context.Context, k *catalog.Skill) (*skillEntry, error) {
	text, err := v.host.Read(ctx, k.Exact(), skill.File) // checks that the skill may be read
	if err != nil {
		return nil, err
	}
	doc, _ := skill.Parse(text.Data)
	front, _ := plainYAML(doc.Front, 0).(map[string]any)
	for _, field := range []string{"name", "description"} { // hosts must refuse an entry without them
		if text, _ := front[field].(string); text == "" {
			return nil, diag.Errorf(diag.NotFound, "the frontmatter of skill %q does not have a %s", k.Name, field)
		}
	}
	e := &skillEntry{URI: uriOf(k, skill.File), Frontmatter: front, Resources: "dynamic"}
	root, err := os.OpenRoot(k.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, ok := filesIn(root)
	if !ok {
		return e, nil
	}
	resources := []entryFile{{uriOf(k, skill.File), digestOf(textx.SHA256(text.Data)), int64(len(text.Data))}}
	total := resources[0].Size
	for _, file := range files {
		if isSkillFile(file) {
			continue
		}
		sum, size, err := hashFile(ctx, root, file, maxEntryBytes-total)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if total += size; err != nil { // the file is unreadable, or was deleted, or the skill is too large
			return e, nil //nolint:nilerr // see above
		}
		resources = append(resources, entryFile{uriOf(k, file), digestOf(sum), size})
	}
	e.Resources = resources
	return e, nil
}

func digestOf(sum string) string { return "sha256:" + sum }

// gitDir is not a part of a skill.
const gitDir = ".git"

// filesIn returns the sorted paths of all files of a skill, and whether they are within the limits of an entry.
func filesIn(root *os.Root) (files []string, ok bool) {
	seen := 0
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch seen++; {
		case err != nil:
			return err
		case seen > maxWalked || len(files) > maxEntryFiles:
			return errTooMany
		case d.IsDir() && d.Name() == gitDir:
			return fs.SkipDir
		case !d.IsDir() && isFile(root, name, d):
			files = append(files, name)
		}
		return nil
	})
	return files, err == nil && len(files) <= maxEntryFiles
}

// maxWalked is the maximum number of directory entries of a skill that are looked at.
const maxWalked = 10_000

var errTooMany = errors.New("too many files")

// isFile reports whether a directory entry is a regular file, or a link to one inside the skill.
func isFile(root *os.Root, name string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	info, err := root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// hashFile returns the digest and the size of a file of at most a number of bytes.
func hashFile(ctx context.Context, root *os.Root, name string, most int64) (sum string, size int64, err error) {
	if err := ctx.Err(); err != nil {
		return "", 0, err
	}
	info, err := root.Stat(name)
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() || info.Size() > most { // opening a pipe would block
		return "", 0, errTooMany
	}
	f, err := root.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, io.LimitReader(f, most+1))
	if err == nil && size > most {
		err = errTooMany
	}
	return hex.EncodeToString(h.Sum(nil)), size, err
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
	found, err := children(k, dir)
	if err != nil {
		return nil, invalid(diag.Errorf(diag.Invalid, "%s is not a directory", p.URI))
	}
	items, next, err := page(found, p.Cursor)
	if err != nil {
		return nil, err
	}
	return &directoryResult{complete: v.completed(), Resources: items, NextCursor: next}, nil
}

// children returns the entries of a directory of a skill, sorted by URI.
func children(k *catalog.Skill, dir string) ([]*mcp.Resource, error) {
	root, err := os.OpenRoot(k.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return nil, err
	}
	out := []*mcp.Resource{}
	for _, d := range entries {
		name := path.Join(dir, d.Name())
		switch {
		case d.IsDir() && d.Name() != gitDir:
			r := resourceOf(k, name)
			r.MIMEType, r.Size = directoryType, 0
			out = append(out, r)
		case !d.IsDir() && isFile(root, name, d):
			out = append(out, resourceOf(k, name))
		}
	}
	slices.SortFunc(out, func(a, b *mcp.Resource) int { return strings.Compare(a.URI, b.URI) })
	return out, nil
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
