package connect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// document is a configuration file that can be edited. Paths consist of keys and list indexes. An edit keeps every byte
// outside of the edited value.
type document interface {
	values() (map[string]any, error)
	set(value any, path ...any) error // missing parents are appended
	prune(path ...any) error          // removes an entry, and its parents as long as they are empty
	bytes() []byte
	splices() []splice
	empty() bool // the file has no values and no comments
}

// open parses a file of a format.
func open(f format, data []byte) (document, error) {
	switch f {
	case formatTOML:
		return newTOML(data)
	case formatYAML:
		return newYAML(data)
	case formatJS:
		return newPlugin(data), nil
	default:
		return newJSON(data)
	}
}

// plan is the set of entries that one file of one agent should have.
type plan struct {
	agent            Agent
	kind             Kind
	target           configFile
	program          string // as written into the file
	goos             string
	args             []string // additional arguments of the server
	closed           bool     // the hooks deny calls if skillpm is missing or fails, by what they run
	blocks           bool     // the hooks of blockEvents have the agent's own key for that
	installedProgram string   // the program of an earlier install
}

// server returns the wanted entry of the MCP server.
func (p plan) server() object { return p.agent.server(p.program, p.agent.serverArgs(p.args)) }

// serverPath returns the path of the MCP server's entry.
func (p plan) serverPath() []any { return append(p.target.keys(), ServerName) }

// serverIn returns the entry with skillpm's server name in a file.
func (p plan) serverIn(values map[string]any) (any, bool) { return lookup(values, p.serverPath()...) }

// isOurs reports whether a program is skillpm: by its name, or because it is the one that the plan or an earlier
// install writes.
func (p plan) isOurs(program string) bool {
	return program != "" && (isNamed(program) || program == p.program || program == p.installedProgram)
}

// adopt sets the plan's program to the one in a file, if it has none, and returns it.
func (p *plan) adopt(values map[string]any) string {
	found := ""
	if p.kind == Hook {
		if all := p.find(values); len(all) > 0 {
			found = all[0].program
		}
	} else {
		server, _ := p.serverIn(values)
		if words := serverWords(server); len(words) > 0 {
			found = words[0]
		}
	}
	if p.program == "" && p.isOurs(found) {
		p.program = found
	}
	return found
}

// keepChoices copies the user's choices of an earlier install into the plan, unless the options set them.
func (p *plan) keepChoices(values map[string]any, o Options) {
	switch all := p.find(values); {
	case o.FailClosed != nil:
		p.closed, p.blocks = *o.FailClosed, *o.FailClosed
	case len(all) > 0:
		p.closed = slices.ContainsFunc(all, func(f hookEntry) bool { return f.closed })
		p.blocks = slices.ContainsFunc(all, func(f hookEntry) bool { return f.blocks })
	default:
		p.blocks = true
		p.closed = o.Scope == Enterprise && p.goos != "windows" || p.agent.closedByDefault
	}
	p.args = o.Args
	if server, _ := p.serverIn(values); o.Args == nil && p.isOurServer(server) {
		p.args = p.agent.moreArgs(serverWords(server)[1:])
	}
}

// failsClosed reports whether the agent denies calls if skillpm is missing or fails. An older version of the agent may
// ignore its key for that.
func (p plan) failsClosed() bool {
	return p.kind == Hook && (p.closed || p.blocks && len(p.agent.blockEvents) > 0)
}

// projectChoices names what an MCP server's entry in a project keeps that skillpm does not write, "" for nothing.
// Another person can have written the file: arguments such as --upstream start programs, and variables change what
// runs.
func (p plan) projectChoices(values map[string]any) string {
	if p.kind != MCP || p.target.scope != Project {
		return ""
	}
	var kept []string
	if len(p.args) > 0 {
		kept = append(kept, "the arguments "+strconv.Quote(strings.Join(p.args, " ")))
	}
	entry, _ := p.serverIn(values)
	for _, key := range []string{"env", "environment"} {
		variables, _ := lookup(entry, key)
		m, _ := variables.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			kept = append(kept, "the variable "+strconv.Quote(name))
		}
	}
	if kept == nil {
		return ""
	}
	return fmt.Sprintf("skillpm keeps %s of the project's MCP server %s; check these values before you start the agent",
		textx.And(kept), ServerName)
}

// state compares the entries in a file with the wanted ones.
func (p plan) state(values map[string]any) (s State, why string) {
	if p.kind == Hook {
		return p.hookState(values)
	}
	old, ok := p.serverIn(values)
	if !ok {
		return Missing, ""
	}
	if !p.isOurServer(old) {
		return Foreign, "an MCP server with the name " + ServerName + " exists, but skillpm did not create it"
	}
	for _, m := range p.server() {
		if now, _ := lookup(old, m.key); !same(now, m.value) {
			if now == nil {
				now = "missing"
			}
			return Stale, fmt.Sprintf("the key %s is %v", m.key, now)
		}
	}
	return Installed, ""
}

// isOurServer reports whether an MCP server's entry starts skillpm.
func (p plan) isOurServer(entry any) bool {
	words := serverWords(entry)
	return len(words) > 1 && words[1] == "mcp" && p.isOurs(words[0])
}

// serverWords returns the command of an MCP server's entry, with its arguments.
func serverWords(entry any) []string {
	m, _ := entry.(map[string]any)
	var words []string
	for _, key := range []string{"command", "cmd", "args"} {
		switch v := m[key].(type) {
		case string:
			words = append(words, v)
		case []any:
			for _, w := range v {
				s, _ := w.(string)
				words = append(words, s)
			}
		}
	}
	return words
}

// install adds the wanted entries to a document.
func (p plan) install(d document) error {
	values, err := d.values()
	if err != nil {
		return err
	}
	if p.kind == Hook {
		return p.installHooks(d, values)
	}
	old, ok := p.serverIn(values)
	if !ok {
		return d.set(p.server(), p.serverPath()...)
	}
	for _, m := range p.server() {
		if now, ok := lookup(old, m.key); ok && same(now, m.value) {
			continue
		}
		if err := d.set(m.value, append(p.serverPath(), m.key)...); err != nil {
			return err
		}
	}
	return nil
}

// ours returns the paths of skillpm's entries in a file, the last first.
func (p plan) ours(values map[string]any) (paths [][]any) {
	if p.kind == MCP {
		return [][]any{p.serverPath()}
	}
	for _, f := range slices.Backward(p.find(values)) {
		paths = append(paths, p.owned(f))
	}
	return paths
}

// remove removes skillpm's entries from a document.
func (p plan) remove(d document) error {
	values, err := d.values()
	if err != nil {
		return err
	}
	for _, path := range p.ours(values) {
		if err := d.prune(path...); err != nil {
			return err
		}
	}
	values, err = d.values()
	if err == nil && p.kind == Hook && p.agent.versioned && len(values) == 1 && same(values["version"], 1) {
		return d.prune("version")
	}
	return err
}

// others returns the decoded file without skillpm's entries and without parents that are empty then.
func (p plan) others(values map[string]any) any {
	if p.kind == Hook && p.agent.plugin {
		return nil // the file is only skillpm's, or only another program's
	}
	rest, _ := toPlain(values).(map[string]any)
	for _, path := range p.ours(rest) {
		deleteAt(rest, path)
	}
	if p.kind == Hook && p.agent.versioned && same(rest["version"], 1) {
		delete(rest, "version")
	}
	first := p.target.path[0]
	if rest[first] = withoutEmpty(rest[first]); rest[first] == nil {
		delete(rest, first)
	}
	return rest
}

// deleteAt deletes what is at a path of a plain value, and returns the value.
func deleteAt(value any, path []any) any {
	switch v := value.(type) {
	case map[string]any:
		key, _ := path[0].(string)
		if len(path) == 1 {
			delete(v, key)
		} else if _, ok := v[key]; ok {
			v[key] = deleteAt(v[key], path[1:])
		}
	case []any:
		i, _ := path[0].(int)
		if len(path) == 1 {
			return slices.Delete(v, i, i+1)
		}
		v[i] = deleteAt(v[i], path[1:])
	}
	return value
}

// withoutEmpty returns a value without empty objects and lists, such as a group without hooks, or nil if it is empty.
func withoutEmpty(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if hooks, ok := v["hooks"].([]any); ok && len(hooks) == 0 {
			return nil
		}
		for key, inner := range v {
			if v[key] = withoutEmpty(inner); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		var others []any
		for _, inner := range v {
			if inner = withoutEmpty(inner); inner != nil {
				others = append(others, inner)
			}
		}
		if others == nil {
			return nil
		}
		return others
	}
	return value
}
