package attach

import (
	"errors"
	"fmt"
	"slices"
)

// document is a configuration file that is being changed.
type document interface {
	values() (map[string]any, error)
	bytes() []byte
	splices() []splice
	empty() bool
}

// open reads a file of a format.
func open(f format, data []byte) (document, error) {
	switch f {
	case formatTOML:
		return newTOML(data)
	case formatYAML:
		return newYAML(data)
	default:
		return newJSON(data)
	}
}

// plan is what has to be in one file of one host.
type plan struct {
	host    Host
	kind    Kind
	place   configFile
	program string // as it is written
	goos    string
	args    []string // what the server is started with beyond what it needs
	closed  bool     // the hooks that are asked about a call deny it if skillpm is not there
	also    string   // a program that is skillpm by what is known of an earlier install
}

// entry is the MCP server that is wanted.
func (p plan) entry() object { return p.host.server(p.program, p.host.serverArgs(p.args)) }

// command is the command line of the hook on an event.
func (p plan) command(event string) string {
	line := hookCommand(p.program, p.goos, event, p.host.ID)
	if p.closed && slices.Contains(p.host.asks, event) {
		line += refuses
	}
	return line
}

// timeout is the time limit of the hook on an event.
func (p plan) timeout(event string) int {
	if n, ok := p.host.shorter[event]; ok {
		return n
	}
	return p.host.timeout
}

// timeoutKey is what a host calls the time limit.
func (p plan) timeoutKey() string {
	if p.host.ID == "copilot" {
		return "timeoutSec"
	}
	return "timeout"
}

// handler is one hook.
func (p plan) handler(event string) object {
	timeout := p.timeout(event)
	switch {
	case p.host.nested:
		return object{{"type", "command"}, {"command", p.command(event)}, {"timeout", timeout}}
	case p.host.ID == "cursor":
		return object{{"command", p.command(event)}, {"timeout", timeout}}
	default:
		return object{{"type", "command"}, {"command", p.command(event)}, {p.timeoutKey(), timeout}}
	}
}

// group is what is put on an event.
func (p plan) group(event string) object {
	if !p.host.nested {
		return p.handler(event)
	}
	return object{{"matcher", "*"}, {"hooks", []any{p.handler(event)}}}
}

// hookEntry is one of our entries in a file.
type hookEntry struct {
	event string
	path  []any  // of the hook itself
	line  string // its command line
	alone bool   // its group has no other

	program string // that it starts
	closed  bool   // it denies without the program
	hasty   bool   // it has less time than it should
}

// hook returns what an entry on an event is if it is one of ours, one without a program otherwise.
func (p plan) hook(event string, entry map[string]any) hookEntry {
	line, _ := entry["command"].(string)
	program, closed := hookProgram(line, p.host.ID)
	if !p.isOurs(program) {
		return hookEntry{}
	}
	limit, said := entry[p.timeoutKey()].(float64)
	return hookEntry{event: event, line: line, program: program, closed: closed, hasty: said && int(limit) < p.timeout(event)}
}

// isOurs reports whether a program is skillpm: it is called that, or is the one that is to be written, or was the last
// time.
func (p plan) isOurs(program string) bool {
	return program != "" && (isNamed(program) || program == p.program || program == p.also)
}

// find returns our hooks, in the order of the events and of the file.
func (p plan) find(values map[string]any) []hookEntry {
	var all []hookEntry
	events, _ := lookup(values, keys(p.place.path...)...)
	table, _ := events.(map[string]any)
	names := make([]string, 0, len(table))
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, event := range names {
		list, _ := table[event].([]any)
		for i, e := range list {
			group, _ := e.(map[string]any)
			at := append(keys(p.place.path...), event, i)
			if f := p.hook(event, group); f.program != "" {
				f.path, f.alone = at, true
				all = append(all, f)
			}
			inner, _ := group["hooks"].([]any)
			for j, h := range inner {
				handler, _ := h.(map[string]any)
				if f := p.hook(event, handler); f.program != "" {
					f.path, f.alone = append(slices.Clone(at), "hooks", j), len(inner) == 1
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// adopt makes the plan one for the program that is in a file, if it is for none, and returns that program.
func (p *plan) adopt(values map[string]any) string {
	found := ""
	if p.kind == Hook {
		if all := p.find(values); len(all) > 0 {
			found = all[0].program
		}
	} else {
		entry, _ := lookup(values, keys(append(slices.Clone(p.place.path), ServerName)...)...)
		if words := serverWords(entry); len(words) > 0 {
			found = words[0]
		}
	}
	if p.program == "" && p.isOurs(found) {
		p.program = found
	}
	return found
}

// keep makes the plan one that changes nothing of what somebody chose when it was installed, as far as it is not said
// anew.
func (p *plan) keep(values map[string]any, o Options) {
	switch all := p.find(values); {
	case o.FailClosed != nil:
		p.closed = *o.FailClosed
	case len(all) > 0:
		p.closed = slices.ContainsFunc(all, func(f hookEntry) bool { return f.closed })
	default:
		p.closed = o.Scope == Enterprise && p.goos != "windows"
	}
	p.args = o.Args
	entry, _ := lookup(values, keys(append(slices.Clone(p.place.path), ServerName)...)...)
	if words := serverWords(entry); o.Args == nil && p.isOurServer(entry) {
		p.args = p.host.moreArgs(words[1:])
	}
}

// state says how what is in a file relates to what is wanted.
func (p plan) state(values map[string]any) (s State, why string) {
	if p.kind == Hook {
		return p.hookState(values)
	}
	old, ok := lookup(values, keys(append(slices.Clone(p.place.path), ServerName)...)...)
	if !ok {
		return Missing, ""
	}
	if !p.isOurServer(old) {
		return Foreign, "a server of the name " + ServerName + " is not skillpm's"
	}
	for _, m := range p.entry() {
		if now, _ := lookup(old, m.key); !same(now, m.value) {
			return Stale, fmt.Sprintf("%s is %s", m.key, shownValue(now))
		}
	}
	return Installed, ""
}

func shownValue(v any) string {
	if v == nil {
		return "missing"
	}
	return fmt.Sprint(v)
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

func (p plan) hookState(values map[string]any) (s State, why string) {
	all := p.find(values)
	if len(all) == 0 {
		return Missing, ""
	}
	for _, event := range p.host.Events {
		n := 0
		for _, f := range all {
			if f.event != event {
				continue
			}
			if n++; f.line != p.command(event) {
				return Stale, "it calls " + f.line
			}
			if f.hasty {
				return Stale, "the event " + event + " has less time than it needs"
			}
		}
		switch n {
		case 0:
			return Stale, "the event " + event + " is missing"
		case 1:
		default:
			return Stale, "the event " + event + " is there more than once"
		}
	}
	for _, f := range all {
		if !slices.Contains(p.host.Events, f.event) {
			return Stale, "the event " + f.event + " is not used any more"
		}
	}
	return Installed, ""
}

// install puts what is wanted into a document.
func (p plan) install(d document) error {
	if p.kind == MCP {
		return p.installServer(d)
	}
	j, ok := d.(*jsonFile)
	if !ok {
		return errors.New("hooks are in JSON files only")
	}
	values, err := j.values()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range slices.Backward(p.find(values)) { // the last first, or indexes would change
		if seen[f.event] || !slices.Contains(p.host.Events, f.event) {
			if err := p.drop(j, f); err != nil {
				return err
			}
			continue
		}
		seen[f.event] = true
		if f.line != p.command(f.event) {
			if err := j.set(p.command(f.event), append(slices.Clone(f.path), "command")...); err != nil {
				return err
			}
		}
		if f.hasty {
			if err := j.set(p.timeout(f.event), append(slices.Clone(f.path), p.timeoutKey())...); err != nil {
				return err
			}
		}
	}
	if _, ok := values["version"]; p.host.versions && !ok {
		if err := j.set(1, "version"); err != nil {
			return err
		}
	}
	for _, event := range p.host.Events {
		if seen[event] {
			continue
		}
		list, _ := lookup(values, append(keys(p.place.path...), event)...)
		n, _ := list.([]any)
		if err := j.set(p.group(event), append(keys(p.place.path...), event, len(n))...); err != nil {
			return err
		}
	}
	return nil
}

func (p plan) installServer(d document) error {
	path := append(slices.Clone(p.place.path), ServerName)
	values, err := d.values()
	if err != nil {
		return err
	}
	switch d := d.(type) {
	case *tomlFile:
		return d.set(p.entry(), path...)
	case *yamlFile:
		return d.set(p.entry(), path...)
	case *jsonFile:
		old, ok := lookup(values, keys(path...)...)
		if !ok {
			return d.set(p.entry(), keys(path...)...)
		}
		for _, m := range p.entry() {
			if now, ok := lookup(old, m.key); ok && same(now, m.value) {
				continue
			}
			if err := d.set(m.value, append(keys(path...), m.key)...); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove takes what is ours out of a document.
func (p plan) remove(d document) error {
	if p.kind == MCP {
		path := append(slices.Clone(p.place.path), ServerName)
		switch d := d.(type) {
		case *tomlFile:
			return d.remove(path...)
		case *yamlFile:
			return d.remove(path...)
		case *jsonFile:
			return d.prune(keys(path...)...)
		}
	}
	j, ok := d.(*jsonFile)
	if !ok {
		return errors.New("hooks are in JSON files only")
	}
	values, err := j.values()
	if err != nil {
		return err
	}
	for _, f := range slices.Backward(p.find(values)) {
		if err := p.drop(j, f); err != nil {
			return err
		}
	}
	values, err = j.values()
	if err == nil && p.host.versions && len(values) == 1 && same(values["version"], 1) {
		return j.remove("version")
	}
	return err
}

// drop takes one hook out, and its group if nothing else is in it.
func (p plan) drop(j *jsonFile, f hookEntry) error {
	path := f.path
	if f.alone && len(path) > len(p.place.path)+2 {
		path = path[:len(p.place.path)+2]
	}
	return j.prune(path...)
}
