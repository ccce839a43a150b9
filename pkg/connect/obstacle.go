package connect

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// obstacles returns why an agent would ignore the entries in its configuration, as far as its other files show.
func (e Env) obstacles(p plan, values map[string]any) []Obstacle {
	switch {
	case p.kind == Hook && p.agent.ID == "claude-code":
		return e.claudeObstacles(p)
	case p.kind == MCP && p.agent.ID == "claude-code":
		return e.claudeServerObstacles(p)
	case p.agent.ID == "codex":
		return e.codexObstacles(p, values)
	case p.agent.ID == "copilot":
		return e.copilotObstacles(p, values)
	case p.agent.ID == "gemini":
		return e.geminiObstacles(p)
	default:
		return nil
	}
}

// settings decodes another file of an agent. It returns nothing if the file is missing or broken: only the agent knows
// what a broken file means.
func (e Env) settings(p configFile) map[string]any {
	c, err := e.read(p)
	if err != nil || !c.exists {
		return nil
	}
	d, err := open(p.format(), c.data)
	if err != nil {
		return nil
	}
	values, _ := d.values() // as above
	return values
}

// content returns the bytes of a file, nil if it cannot be read.
func (e Env) content(p configFile) []byte {
	c, err := e.read(p)
	if err != nil {
		return nil
	}
	return c.data
}

func isTrue(values map[string]any, path ...any) bool {
	on, _ := lookup(values, path...)
	return on == true
}

func (e Env) claudeObstacles(p plan) []Obstacle {
	var notes []Obstacle
	personal := configFile{User, inProject, "", []string{".claude/settings.local.json"}, nil}
	for _, other := range append(slices.Clone(p.agent.hooks), personal) {
		values := e.settings(other)
		if isTrue(values, "disableAllHooks") {
			notes = append(notes,
				Obstacle{
					fmt.Sprintf("%s sets disableAllHooks, so Claude Code does not run hooks", e.file(other)),
					"remove the setting disableAllHooks",
				})
		}
		if other.scope == Enterprise && p.target.scope != Enterprise && isTrue(values, "allowManagedHooksOnly") {
			notes = append(notes, Obstacle{
				fmt.Sprintf(
					"%s sets allowManagedHooksOnly, so Claude Code runs only the hooks of the machine scope",
					e.file(other)),
				"as the administrator, run \"skillpm connect claude-code --scope machine\"",
			})
		}
	}
	return notes
}

func (e Env) claudeServerObstacles(p plan) []Obstacle {
	var notes []Obstacle
	for _, other := range p.agent.hooks { // the settings are in the files that hooks are in
		off, _ := lookup(e.settings(other), "disabledMcpjsonServers")
		if list, _ := off.([]any); p.target.scope == Project && slices.Contains(list, any(ServerName)) {
			notes = append(notes, Obstacle{
				fmt.Sprintf("%s lists skillpm in disabledMcpjsonServers, so Claude Code does not start the server",
					e.file(other)),
				"remove skillpm from disabledMcpjsonServers",
			})
		}
	}
	managed := configFile{scope: Enterprise, base: inMachine, files: []string{"claude-code/managed-mcp.json"}}
	if e.OS == "linux" || e.Machine != "" {
		if _, err := os.Stat(e.file(managed)); err == nil {
			notes = append(notes,
				Obstacle{
					fmt.Sprintf("Claude Code starts only the MCP servers in %s", e.file(managed)),
					"ask the administrator to add the server skillpm to the file",
				})
		}
	}
	return notes
}

// codexObstacles returns the hooks that Codex does not trust yet, and whether it ignores the project's files.
func (e Env) codexObstacles(p plan, values map[string]any) []Obstacle {
	config := e.settings(configFile{User, inHome, "CODEX_HOME", []string{".codex/config.toml"}, nil})
	var notes []Obstacle
	if on, ok := lookup(config, "features", "hooks"); p.kind == Hook && ok && on == false {
		notes = append(notes, Obstacle{
			"features.hooks is false in Codex's config.toml, so Codex does not run hooks",
			"remove the setting features.hooks",
		})
	}
	if p.target.scope == Project {
		level, _ := lookup(config, "projects", e.Project, "trust_level")
		if level != "trusted" {
			notes = append(notes, Obstacle{
				"Codex reads project files only in trusted projects",
				"start codex in the project, and trust the project",
			})
		}
	}
	if p.kind != Hook || p.target.scope == Enterprise {
		return notes
	}
	all := p.find(values)
	untrusted := 0
	for _, f := range all {
		key, sum := codexTrust(e.file(p.target), f, values)
		if hash, _ := lookup(config, "hooks", "state", key, "trusted_hash"); hash != sum {
			untrusted++
		}
	}
	if untrusted > 0 {
		notes = append(notes,
			Obstacle{
				fmt.Sprintf("Codex skips %d of %d hooks because it does not trust them yet", untrusted, len(all)),
				"start codex, then trust the hooks with /hooks",
			})
	}
	return notes
}

// codexTrust returns the key under which Codex records that a hook is trusted, and the hook's digest. Codex 0.169
// computes it from the hook as JSON with sorted keys and all defaults.
func codexTrust(file string, f hookEntry, values map[string]any) (key, sum string) {
	event := snake(f.event)
	numbers := make([]int, 0, 2)
	for _, key := range f.path {
		if n, ok := key.(int); ok {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) != 2 {
		return "", ""
	}
	key = fmt.Sprintf("%s:%s:%d:%d", file, event, numbers[0], numbers[1])
	group, _ := lookup(values, f.path[:len(f.path)-2]...)
	old, _ := lookup(values, f.path...)
	handler := map[string]any{"async": false, "timeout": float64(600)}
	fields, _ := old.(map[string]any)
	maps.Copy(handler, fields)
	if limit := 3.0; event == "session_end" || event == "interrupt" {
		if n, ok := handler["timeout"].(float64); ok && n > limit {
			handler["timeout"] = limit
		}
	}
	identity := map[string]any{"event_name": event, "hooks": []any{handler}}
	if matcher, ok := lookup(group, "matcher"); ok && event != "user_prompt_submit" && event != "stop" &&
		event != "interrupt" {
		identity["matcher"] = matcher
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(identity) != nil {
		return "", ""
	}
	return key, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.TrimSuffix(b.String(), "\n"))))
}

// snake writes SubagentStart as subagent_start.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (e Env) copilotObstacles(p plan, values map[string]any) []Obstacle {
	var notes []Obstacle
	config := configFile{User, inHome, "COPILOT_HOME", []string{".copilot/config.json"}, nil}
	for _, other := range []map[string]any{
		values, e.settings(config),
		e.settings(configFile{User, inHome, "COPILOT_HOME", []string{".copilot/settings.json"}, nil}),
	} {
		if p.kind == Hook && isTrue(other, "disableAllHooks") {
			notes = append(notes, Obstacle{
				"disableAllHooks is set, so Copilot CLI does not run hooks",
				"remove disableAllHooks from Copilot's hooks file, config.json, and settings.json",
			})
		}
	}
	if p.target.scope == Project {
		folders, _ := lookup(e.settings(config), "trustedFolders")
		list, _ := folders.([]any)
		if !slices.ContainsFunc(list, func(f any) bool {
			dir, _ := f.(string)
			return isIn(dir, e.Project)
		}) {
			what := map[Kind]string{Hook: "runs hooks", MCP: "starts MCP servers"}[p.kind]
			notes = append(notes, Obstacle{
				"Copilot CLI " + what + " only in trusted directories",
				"start copilot in the project, and trust the directory",
			})
		}
	}
	return notes
}

// isIn reports whether a path is a directory or below it, before or after links are resolved.
func isIn(dir, path string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	in, err := pathx.ContainsResolved(dir, path)
	return err == nil && in || pathx.Contains(dir, path)
}

func (e Env) geminiObstacles(p plan) []Obstacle {
	var notes []Obstacle
	for _, other := range p.agent.hooks {
		if on, ok := lookup(e.settings(other), "hooksConfig", "enabled"); p.kind == Hook && ok && on == false {
			notes = append(notes,
				Obstacle{fmt.Sprintf("hooksConfig.enabled is false in %s, so Gemini CLI does not run hooks",
					e.file(other)), "remove the setting hooksConfig.enabled"})
		}
	}
	if e.Project != "" && (p.target.scope == Project || p.kind == MCP) && !e.geminiTrusts(p) {
		what := map[Kind]string{
			Hook: "runs hooks",
			MCP:  "starts MCP servers",
		}[p.kind]
		notes = append(notes, Obstacle{
			"Gemini CLI " + what + " only in trusted directories",
			"start gemini in the project, and trust the directory",
		})
	}
	return notes
}

// geminiTrusts reports whether Gemini CLI trusts the project's directory: by the environment, because trust is switched
// off, or by the longest of its rules.
func (e Env) geminiTrusts(p plan) bool {
	switch trusted := e.Getenv("GEMINI_CLI_TRUST_WORKSPACE"); {
	case e.Getenv("GEMINI_RESTRICTED_MODE") == "true" || trusted == "false":
		return false
	case trusted == "true":
		return true
	}
	for _, other := range p.agent.hooks {
		if on, ok := lookup(e.settings(other), "security", "folderTrust", "enabled"); other.scope != Project && ok &&
			on == false {
			return true
		}
	}
	rules := configFile{User, inOtherHome, "GEMINI_CLI_HOME", []string{".gemini/trustedFolders.json"}, nil}
	if file := e.Getenv("GEMINI_CLI_TRUSTED_FOLDERS_PATH"); filepath.IsAbs(file) {
		rules = configFile{User, inOtherHome, "GEMINI_CLI_TRUSTED_FOLDERS_PATH", []string{"."}, nil}
	}
	length, trust := -1, any(nil)
	for dir, level := range e.settings(rules) {
		top := dir
		if level == "TRUST_PARENT" {
			top = filepath.Dir(dir)
		}
		if isIn(top, e.Project) && len(dir) > length {
			length, trust = len(dir), level
		}
	}
	return trust == "TRUST_FOLDER" || trust == "TRUST_PARENT"
}

// duplicateScopes reports that an agent has the same entries in another scope.
func (e Env) duplicateScopes(p plan) []string {
	var scopes []string
	for _, other := range p.agent.configFiles(p.kind) {
		q := p
		q.target = other
		if other.scope == p.target.scope || e.file(other) != e.file(p.target) && e.has(q) {
			scopes = append(scopes, string(other.scope))
		}
	}
	if len(scopes) < 2 {
		return nil
	}
	list := strings.Join(scopes, " and ")
	if p.kind == Hook {
		return []string{fmt.Sprintf("skillpm's hooks are in the scopes %s, so %s runs each hook more than once", list,
			p.agent.Title)}
	}
	return []string{fmt.Sprintf("skillpm's MCP server is in the scopes %s, but %s uses only one of them", list,
		p.agent.Title)}
}

// has reports whether a plan's file has skillpm's entries, for any program.
func (e Env) has(p plan) bool {
	values := e.settings(p.target)
	if p.kind == Hook {
		return len(p.find(values)) > 0
	}
	server, ok := p.serverIn(values)
	return ok && p.isOurServer(server)
}
