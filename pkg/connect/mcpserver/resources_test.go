package mcpserver_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// library is a place whose skills have files.
func library(t *testing.T) *place {
	t.Helper()
	p := newPlace(t, map[string]string{
		project + "pdf/SKILL.md":            skillText("pdf", "metadata: {since: 2026-01-02, version: 1.10}\n", "Read [it](references/guide.md)."),
		project + "pdf/references/guide.md": "The guide.\n",
		project + "pdf/scripts/run.sh":      "#!/bin/sh\n",
		project + "pdf/logo.png":            "\x89PNG\r\n\x1a\n\x00",
		project + "pdf/a b.md":              "A name with a space.\n",
		project + "other/SKILL.md":          skillText("other", "", "x"),
		project + "pdf/.hidden":             "x",
		project + "pdf/.git/config":         "x",
		"secret":                            "SECRET",
	})
	if err := os.Symlink(filepath.Join(p.root, "secret"), filepath.Join(p.root, project, "pdf", "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.root, project, "pdf", "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

type listed struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
	Skills     []struct {
		URI         string         `json:"uri"`
		Frontmatter map[string]any `json:"frontmatter"`
		Resources   any            `json:"resources"`
	} `json:"skills"`
	Resources []*mcp.Resource `json:"resources"`
	Next      string          `json:"nextCursor"`
	TTL       *int            `json:"ttlMs"`
}

type resourceParams struct {
	mcp.ParamsBase
	URI    string `json:"uri,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// extended connects a client that supports the extension.
func extended(p *place) func(method string, a resourceParams) (*listed, error) {
	c := p.connect()
	return func(method string, a resourceParams) (*listed, error) {
		return mcp.CallCustomMethod[*resourceParams, *listed](p.t.Context(), c, method, &a)
	}
}

// TestResources checks resources: the instructions are listed, every readable file can be read, and nothing else.
func TestResources(t *testing.T) {
	p := library(t)
	c := p.connect()
	list, err := c.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, r := range list.Resources {
		uris = append(uris, r.URI+" "+r.MIMEType)
	}
	if want := []string{"skill://project/other/SKILL.md text/markdown", "skill://project/pdf/SKILL.md text/markdown"}; !slices.Equal(uris, want) {
		t.Errorf("%q", uris)
	}
	for uri, want := range map[string]string{
		"skill://project/pdf/references/guide.md": "The guide.\n", "skill://project/pdf/a%20b.md": "A name with a space.\n",
		"skill://project/pdf/references/%67uide.md": "The guide.\n",
	} {
		got, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || got.Contents[0].Text != want || got.Contents[0].URI != uri {
			t.Errorf("%s: %+v, %v", uri, got, err)
		}
	}
	got, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://project/pdf/logo.png"})
	if err != nil || len(got.Contents[0].Blob) != 9 || got.Contents[0].MIMEType != "image/png" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, uri := range []string{
		"skill://project/pdf/../../../../secret", "skill://project/pdf/%2e%2e/other/SKILL.md", "skill://project/pdf/..%2f..%2fsecret",
		"skill://project/pdf/%2fetc%2fpasswd", "skill://project/pdf//etc/passwd", "skill://project/pdf/a%00.md", "skill://project/pdf/..%5cother",
		"skill://project/pdf/link.md", "skill://project/pdf/none.md", "skill://project/pdf", "skill://project/pdf/references", "skill://project",
		"skill://", "skill:///", "skill://project/none/SKILL.md", "file:///etc/passwd", "skill://project/pdf/SKILL.md?x", "skill://project/pdf/SKILL.md#x",
		"skill://project/pdf/%zz", "skill://project/./pdf/SKILL.md", "task://none", "task://../../x", "skill://skillpm-marker", "",
		"skill://project/pdf/scripts/run.sh", "skill://project/pdf/" + strings.Repeat("a", 10_000),
	} {
		got, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		wire, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%.100s: %v, %v", uri, got, err)
		}
		if strings.Contains(fmt.Sprint(err), "SECRET") {
			t.Errorf("%s shows it", uri)
		}
	}
}

// TestP9UserOnly checks SPEC P9: a skill that models may not activate is not a resource, and is in no list for models.
func TestP9UserOnly(t *testing.T) {
	p := newPlace(t, nil)
	p.profile = "claude-code"
	p.write("home/project/.claude/skills/user/SKILL.md", skillText("user", "disable-model-invocation: true\n", "x"))
	p.write("home/project/.claude/skills/model/SKILL.md", skillText("model", "user-invocable: false\n", "x"))
	c := p.connect()
	resources, err := c.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) != 1 || !strings.HasSuffix(resources.Resources[0].URI, "/model/SKILL.md") {
		t.Errorf("%+v, %v", resources, err)
	}
	prompts, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Name != "user" {
		t.Errorf("%+v, %v", prompts, err)
	}
	if res, text := call(t, c, "skill", map[string]any{"name": "user"}); !res.IsError || !strings.Contains(text, "its frontmatter has disable-model-invocation: true") {
		t.Errorf("%q", text)
	}
	if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "model"}); err == nil {
		t.Error("a user started a skill for models")
	}
}

// TestExtension checks SEP-2640: skills/list has the unchanged frontmatter, and each file with its digest, also a script
// that the profile does not let a model read. Directories list the same files.
func TestExtension(t *testing.T) {
	p := library(t)
	ask := extended(p)
	got, err := ask("skills/list", resourceParams{})
	if err != nil || len(got.Skills) != 2 || got.ResultType != "complete" {
		t.Fatalf("%+v, %v", got, err)
	}
	pdf := got.Skills[1]
	if want := map[string]any{"since": "2026-01-02", "version": 1.1}; pdf.URI != "skill://project/pdf/SKILL.md" || pdf.Frontmatter["name"] != "pdf" || !maps.Equal(pdf.Frontmatter["metadata"].(map[string]any), want) {
		t.Errorf("%+v", pdf)
	}
	files := map[string]string{}
	for _, r := range pdf.Resources.([]any) {
		file := r.(map[string]any)
		files[strings.TrimPrefix(file["uri"].(string), "skill://project/pdf/")] = fmt.Sprint(file["digest"], file["size"])
	}
	sum := sha256.Sum256([]byte("The guide.\n"))
	if files["references/guide.md"] != "sha256:"+hex.EncodeToString(sum[:])+"11" {
		t.Errorf("%v", files)
	}
	if names := slices.Sorted(maps.Keys(files)); !slices.Equal(names, []string{".hidden", "SKILL.md", "a%20b.md", "logo.png", "references/guide.md", "scripts/run.sh"}) {
		t.Errorf("%v: a file is missing, or a link that leads out is listed", names)
	}
	script := sha256.Sum256([]byte("#!/bin/sh\n"))
	if files["scripts/run.sh"] != "sha256:"+hex.EncodeToString(script[:])+"10" {
		t.Errorf("%v", files)
	}
	dir, err := ask("resources/directory/read", resourceParams{URI: "skill://project/pdf"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range dir.Resources {
		names = append(names, r.Name+" "+r.MIMEType)
	}
	if want := []string{".hidden text/plain", "pdf text/markdown", "a b.md text/markdown", "empty inode/directory", "logo.png image/png", "references inode/directory", "scripts inode/directory"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	for uri, want := range map[string]string{"skill://project/pdf/scripts": "scripts/run.sh", "skill://project/pdf/empty": ""} {
		dir, err := ask("resources/directory/read", resourceParams{URI: uri})
		if err != nil || len(dir.Resources) != len(strings.Fields(want)) || want != "" && dir.Resources[0].Name != want {
			t.Errorf("%s: %+v, %v", uri, dir, err)
		}
	}
	for _, uri := range []string{"skill://project/pdf/SKILL.md", "skill://project/pdf/none", "skill://project", "skill://project/pdf/..", "", "skill://project/pdf/link.md"} {
		if _, err := ask("resources/directory/read", resourceParams{URI: uri}); !invalidParams(err) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	for _, uri := range []string{"skill://project/pdf", "skill://project/pdf/references/guide.md", "skill://project/none/SKILL.md", ""} {
		if _, err := ask("skills/get", resourceParams{URI: uri}); !invalidParams(err) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if _, err := ask("skills/list", resourceParams{Cursor: "nonsense"}); !invalidParams(err) {
		t.Errorf("%v", err)
	}
}

// TestExtensionName checks SEP-2640: a skill without a name in its frontmatter, which a host must refuse, is not an entry.
func TestExtensionName(t *testing.T) {
	p := newPlace(t, map[string]string{
		"home/project/.claude/skills/bare/SKILL.md":  "---\ndescription: Has no name.\n---\nx\n",
		"home/project/.claude/skills/named/SKILL.md": skillText("named", "version: 1.2.0\n", "x"),
	})
	p.profile = "claude-code"
	ask := extended(p)
	got, err := ask("skills/list", resourceParams{})
	if err != nil || len(got.Skills) != 1 || got.Skills[0].Frontmatter["version"] != "1.2.0" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ask("skills/get", resourceParams{URI: "skill://project/bare/SKILL.md"}); !invalidParams(err) {
		t.Errorf("%v", err)
	}
}

func invalidParams(err error) bool {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && wire.Code == jsonrpc.CodeInvalidParams
}

// TestPages checks that many skills come in pages, each once, and that a skill with too many files reports that they
// are not listed.
func TestPages(t *testing.T) {
	p := newPlace(t, nil)
	for i := range 130 {
		name := fmt.Sprintf("skill-%03d", i)
		p.write(project+name+"/SKILL.md", skillText(name, "", "x"))
	}
	for i := range 512 {
		p.write(fmt.Sprintf("%sskill-000/references/%03d.md", project, i), "x")
	}
	ask := extended(p)
	seen := map[string]bool{}
	for cursor, pages := "", 0; ; pages++ {
		got, err := ask("skills/list", resourceParams{Cursor: cursor})
		if err != nil || pages > 10 {
			t.Fatal(pages, err)
		}
		for _, k := range got.Skills {
			if seen[k.URI] {
				t.Errorf("%s is duplicated", k.URI)
			}
			seen[k.URI] = true
			if strings.Contains(k.URI, "skill-000") != (k.Resources == "dynamic") {
				t.Errorf("%s: %v", k.URI, k.Resources)
			}
		}
		if cursor = got.Next; cursor == "" {
			break
		}
	}
	if len(seen) != 130 {
		t.Errorf("%d skills", len(seen))
	}
	c := p.connect()
	n := 0
	for _, err := range c.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	for _, err := range c.Prompts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 260 {
		t.Errorf("%d resources and prompts", n)
	}
	if schema, _ := json.Marshal(toolNames(t, c)["skill"].InputSchema); strings.Contains(string(schema), "enum") {
		t.Errorf("a schema of 130 names: %d bytes", len(schema))
	}
	done, err := c.Complete(t.Context(), &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/resource", URI: "skill://{+path}"}, Argument: mcp.CompleteParamsArgument{Name: "path", Value: "project/skill-1"},
	})
	if err != nil || done.Completion.Total != 30 || done.Completion.Values[0] != "project/skill-100/SKILL.md" {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestListChanged checks that clients are notified when skills change, once for simultaneous changes.
func TestListChanged(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
	changed := make(chan string, 100)
	p.client = &mcp.ClientOptions{
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { changed <- "tools" },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { changed <- "prompts" },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { changed <- "resources" },
	}
	c := p.connect()
	if schema, _ := json.Marshal(toolNames(t, c)["skill"].InputSchema); !strings.Contains(string(schema), `["a"]`) {
		t.Errorf("%s", schema)
	}
	p.write(project+"b/SKILL.md", skillText("b", "", "x"))
	got := map[string]bool{}
	for len(got) < 3 {
		got[<-changed] = true
	}
	if schema, _ := json.Marshal(toolNames(t, c)["skill"].InputSchema); !strings.Contains(string(schema), `["a","b"]`) {
		t.Errorf("%s", schema)
	}
}

// TestPrompts checks that prompts have the arguments that the hint names, and pass them on like a user's input.
func TestPrompts(t *testing.T) {
	p := newPlace(t, map[string]string{
		project + "plain/SKILL.md":  skillText("plain", "", "Plain $ARGUMENTS."),
		project + "named/SKILL.md":  skillText("named", "argument-hint: \"<service> [target env]\"\n", "To $0 in $1."),
		project + "phrase/SKILL.md": skillText("phrase", "argument-hint: what to do\n", "Do $ARGUMENTS."),
	})
	p.profile = "claude-code"
	for _, name := range []string{"plain", "named", "phrase"} {
		data, err := os.ReadFile(filepath.Join(p.root, project, name, "SKILL.md"))
		if err != nil {
			t.Fatal(err)
		}
		p.write("home/project/.claude/skills/"+name+"/SKILL.md", string(data))
	}
	c := p.connect()
	list, err := c.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pr := range list.Prompts {
		for _, a := range pr.Arguments {
			got = append(got, fmt.Sprint(pr.Name, ".", a.Name, " ", a.Required))
		}
	}
	if want := []string{"named.service true", "named.target-env false", "phrase.arguments false", "plain.arguments false"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, tt := range []struct {
		name string
		args map[string]string
		want string
	}{
		{"named", map[string]string{"service": "my shop", "target-env": "prod"}, "To my shop in prod."},
		{"plain", map[string]string{"arguments": "a 'b c'"}, "Plain a 'b c'."},
		{"phrase", nil, "Do ."},
	} {
		res, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: tt.name, Arguments: tt.args})
		if err != nil || !strings.Contains(res.Messages[0].Content.(*mcp.TextContent).Text, tt.want) {
			t.Errorf("%s: %+v, %v", tt.name, res, err)
		}
	}
	for _, params := range []*mcp.GetPromptParams{
		{Name: "none"}, {Name: "named"}, {Name: "plain", Arguments: map[string]string{"other": "x"}}, {Name: "skillpm-marker"}, {Name: ""},
	} {
		if _, err := c.GetPrompt(t.Context(), params); !invalidParams(err) {
			t.Errorf("%+v: %v", params, err)
		}
	}
	if !strings.Contains(p.records(), `"trigger":"user"`) {
		t.Error("that a user asked is not on record")
	}
}
