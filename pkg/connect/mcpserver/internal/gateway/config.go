package gateway

import (
	"encoding/json"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Upstream is an MCP server behind the gateway: a program, or a URL.
type Upstream struct {
	Name    string            // the prefix of its tools' names
	Command []string          // started; speaks over standard input and output
	Env     map[string]string // added to the environment of the gateway
	Dir     string            // its working directory; "" for the gateway's
	URL     string            // its streamable HTTP endpoint, instead of a command
	Headers map[string]string // sent to the URL
}

// maxUpstreams is the maximum number of servers of a gateway.
const maxUpstreams = 64

// isName reports whether a string may be the name of an upstream: agents put it between double underscores.
func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return s != "" && len(s) <= 32 && !strings.Contains(s, "__") && !strings.HasSuffix(s, "_")
}

// ParseFlag parses NAME=COMMAND LINE, whose words are split as in a shell, or NAME=URL.
func ParseFlag(text string) (Upstream, error) {
	name, rest, ok := strings.Cut(text, "=")
	if !ok || strings.TrimSpace(rest) == "" {
		return Upstream{}, diag.Errorf(diag.Usage, "invalid upstream %q", text).
			WithHint(
				"use NAME=COMMAND or NAME=URL, for example --upstream 'files=npx -y @modelcontextprotocol/server-filesystem .'")
	}
	u := Upstream{Name: name}
	if strings.HasPrefix(rest, "https://") || strings.HasPrefix(rest, "http://") {
		u.URL = rest
	} else {
		u.Command = skill.SplitArguments(rest)
	}
	return u, u.check(diag.Usage)
}

// serversFile is an agent's file of MCP servers.
type serversFile struct {
	Servers map[string]serverConfig `json:"mcpServers"`
	VSCode  map[string]serverConfig `json:"servers"` // the key of Visual Studio Code
}

type serverConfig struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Dir      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Disabled bool              `json:"disabled"`
}

// ParseConfig parses an agent's file of MCP servers, such as .mcp.json: {"mcpServers": {NAME: {"command", "args",
// "env"} or {"type": "http", "url", "headers"}}}, with comments. ${NAME} and ${NAME:-default} stand for environment
// variables. It leaves out a server called skillpm: that is this one. The result is sorted by name.
func ParseConfig(path string, data []byte, getenv func(string) string) ([]Upstream, error) {
	bad := func(err error) error {
		return diag.Errorf(diag.Invalid, "cannot read %s: %w", path, err).
			WithHint(`use the form {"mcpServers": {"files": {"command": "…", "args": ["…"]}}}`)
	}
	standard, err := hujson.Standardize(data)
	if err != nil {
		return nil, bad(err)
	}
	var f serversFile
	if err := json.Unmarshal(standard, &f); err != nil {
		return nil, bad(err)
	}
	servers := maps.Clone(f.VSCode)
	if servers == nil {
		servers = map[string]serverConfig{}
	}
	maps.Copy(servers, f.Servers)
	var list []Upstream
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		e := servers[name]
		if name == "skillpm" || e.Disabled {
			continue
		}
		u, err := e.upstream(name, getenv)
		if err != nil {
			return nil, diag.Errorf(diag.CodeOf(err), "cannot use server %q in %s: %w", name, path, err).
				WithHint("%s", diag.HintOf(err))
		}
		list = append(list, u)
	}
	return list, nil
}

func (e serverConfig) upstream(name string, getenv func(string) string) (Upstream, error) {
	if e.Type != "" && e.Type != "stdio" && e.Type != "http" && e.Type != "streamable-http" {
		return Upstream{}, diag.Errorf(diag.Invalid, "unsupported type %q", e.Type).WithHint("use stdio or http")
	}
	if (e.Command == "") == (e.URL == "") {
		return Upstream{}, diag.Errorf(diag.Invalid, "it must have either a command or a url")
	}
	var missing error
	variable := regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)
	fill := func(s string) string {
		return variable.ReplaceAllStringFunc(s, func(match string) string {
			part := variable.FindStringSubmatch(match)
			if v := getenv(part[1]); v != "" || part[2] != "" {
				if v == "" {
					return part[3]
				}
				return v
			}
			missing = diag.Errorf(diag.Usage, "the environment variable %s is not set", part[1]).
				WithHint("set %s, or write ${%[1]s:-default}", part[1])
			return ""
		})
	}
	u := Upstream{
		Name: name, Dir: fill(e.Dir), URL: fill(e.URL), Env: filled(e.Env, fill),
		Headers: filled(e.Headers, fill),
	}
	if e.Command != "" {
		u.Command = []string{fill(e.Command)}
		for _, arg := range e.Args {
			u.Command = append(u.Command, fill(arg))
		}
	}
	if missing != nil {
		return Upstream{}, missing
	}
	return u, u.check(diag.Invalid)
}

func filled(values map[string]string, fill func(string) string) map[string]string {
	out := make(map[string]string, len(values))
	for name, value := range values {
		out[name] = fill(value)
	}
	return out
}

// check returns an error for an invalid upstream.
func (u Upstream) check(code diag.Code) error {
	switch {
	case !isName(u.Name):
		return diag.Errorf(code, "invalid upstream name %q", u.Name).
			WithHint("use at most 32 letters, digits, hyphens, and single underscores")
	case u.Name == "skillpm":
		return diag.Errorf(code, "an upstream cannot have the name skillpm")
	case u.URL == "" && (len(u.Command) == 0 || u.Command[0] == ""):
		return diag.Errorf(code, "upstream %s does not have a command", u.Name)
	case u.URL == "":
		return nil
	}
	endpoint, err := url.Parse(u.URL)
	switch {
	case err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && endpoint.Scheme != "http":
		return diag.Errorf(code, "invalid address of upstream %s", u.Name).
			WithHint("use https://HOST/PATH")
	case endpoint.User != nil:
		return diag.Errorf(code, "the address of upstream %s contains a user name", u.Name).
			WithHint(`put credentials into "headers" in a file for --upstream-config`)
	case endpoint.Scheme == "http" && !loopback(endpoint.Hostname()):
		return diag.Errorf(code, "upstream %s uses plain HTTP, which skillpm only allows on this machine", u.Name).
			WithHint("use https")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
