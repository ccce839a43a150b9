package attach

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// obstacles says what keeps a host from honouring what its configuration has, as far as other files of it tell.
func (e Env) obstacles(p plan, values map[string]any) []string {
	switch {
	case p.kind == Hook && p.host.ID == "claude-code":
		return e.claudeObstacles(p)
	case p.kind == MCP && p.host.ID == "claude-code":
		return e.claudeServerObstacles(p)
	case p.host.ID == "codex":
		return e.codexObstacles(p, values)
	case p.kind == Hook && p.host.ID == "copilot":
		return e.copilotObstacles(p, values)
	case p.kind == Hook && p.host.ID == "gemini":
		return e.geminiObstacles(p)
	default:
		return nil
	}
}

// settings reads another file of a host, nothing where there is none or it cannot be read: what a file that is broken
// means is the host's to say.
func (e Env) settings(p place) map[string]any {
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

func isTrue(values map[string]any, path ...string) bool {
	on, _ := lookup(values, keys(path...)...)
	return on == true
}

func (e Env) claudeObstacles(p plan) []string {
	var notes []string
	for _, other := range p.host.hooks {
		values := e.settings(other)
		if isTrue(values, "disableAllHooks") {
			notes = append(notes, fmt.Sprintf("%s has disableAllHooks: Claude Code runs no hooks", e.file(other)))
		}
		if other.scope == Enterprise && p.place.scope != Enterprise && isTrue(values, "allowManagedHooksOnly") {
			notes = append(notes, fmt.Sprintf("%s has allowManagedHooksOnly: Claude Code runs hooks of the scope enterprise only", e.file(other)))
		}
	}
	return notes
}

func (e Env) claudeServerObstacles(p plan) []string {
	var notes []string
	for _, other := range p.host.hooks { // the settings are in the files that hooks are in
		off, _ := lookup(e.settings(other), "disabledMcpjsonServers")
		if list, _ := off.([]any); p.place.scope == Project && slices.Contains(list, any(ServerName)) {
			notes = append(notes, fmt.Sprintf("%s has skillpm in disabledMcpjsonServers", e.file(other)))
		}
	}
	managed := place{scope: Enterprise, base: inMachine, files: []string{"claude-code/managed-mcp.json"}}
	if e.OS == "linux" || e.Machine != "" {
		if _, err := os.Stat(e.file(managed)); err == nil {
			notes = append(notes, fmt.Sprintf("%s decides alone which servers Claude Code starts", e.file(managed)))
		}
	}
	return notes
}

// codexObstacles says which hooks Codex has not been told to trust, and whether it reads the project's files.
func (e Env) codexObstacles(p plan, values map[string]any) []string {
	config := e.settings(place{User, inHome, "CODEX_HOME", []string{".codex/config.toml"}, nil})
	var notes []string
	if on, ok := lookup(config, "features", "hooks"); p.kind == Hook && ok && on == false {
		notes = append(notes, "features.hooks is off in Codex's config.toml")
	}
	if p.place.scope == Project {
		level, _ := lookup(config, "projects", e.Project, "trust_level")
		if level != "trusted" {
			notes = append(notes, "Codex reads the files of projects that are trusted: start codex here and say that this one is")
		}
	}
	if p.kind != Hook || p.place.scope == Enterprise {
		return notes
	}
	all := p.find(values)
	untrusted := 0
	for _, f := range all {
		key, sum := codexTrust(e.file(p.place), f, values)
		if hash, _ := lookup(config, "hooks", "state", key, "trusted_hash"); hash != sum {
			untrusted++
		}
	}
	if untrusted > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d hooks are not trusted in Codex, which skips those: start codex and enter /hooks", untrusted, len(all)))
	}
	return notes
}

// codexTrust returns the key under which Codex keeps whether a hook is trusted, and the digest that it was trusted with,
// as Codex 0.169 makes it: of the hook as JSON with sorted keys and all defaults.
func codexTrust(file string, f found, values map[string]any) (key, sum string) {
	event := snake(f.event)
	numbers := make([]int, 0, 2)
	for _, at := range f.path {
		if n, ok := at.(int); ok {
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
	if matcher, ok := lookup(group, "matcher"); ok && event != "user_prompt_submit" && event != "stop" && event != "interrupt" {
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

func (e Env) copilotObstacles(p plan, values map[string]any) []string {
	var notes []string
	config := place{User, inHome, "COPILOT_HOME", []string{".copilot/config.json"}, nil}
	for _, other := range []map[string]any{values, e.settings(config), e.settings(place{User, inHome, "COPILOT_HOME", []string{".copilot/settings.json"}, nil})} {
		if isTrue(other, "disableAllHooks") {
			notes = append(notes, "disableAllHooks is set: Copilot CLI runs no hooks")
		}
	}
	if p.place.scope == Project {
		folders, _ := lookup(e.settings(config), "trustedFolders")
		list, _ := folders.([]any)
		if !slices.ContainsFunc(list, func(f any) bool {
			dir, _ := f.(string)
			rel, err := filepath.Rel(dir, e.Project)
			return err == nil && filepath.IsLocal(rel)
		}) {
			notes = append(notes, "Copilot CLI runs the hooks of folders that are trusted: start copilot here and say that this one is")
		}
	}
	return notes
}

func (e Env) geminiObstacles(p plan) []string {
	var notes []string
	for _, other := range p.host.hooks {
		if on, ok := lookup(e.settings(other), "hooksConfig", "enabled"); ok && on == false {
			notes = append(notes, fmt.Sprintf("hooksConfig.enabled is false in %s: Gemini CLI runs no hooks", e.file(other)))
		}
	}
	return notes
}
