package attach

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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
	place   place
	program string // as it is written
	goos    string
}

// entry is the MCP server that is wanted.
func (p plan) entry() object { return p.host.server(p.program, serverArgs(p.host.ID)) }

// command is the command line of the hook on an event.
func (p plan) command(event string) string { return hookCommand(p.program, p.goos, event, p.host.ID) }

// handler is one hook.
func (p plan) handler(event string) object {
	timeout := p.host.timeout
	if n, ok := p.host.shorter[event]; ok {
		timeout = n
	}
	switch {
	case p.host.nested:
		return object{{"type", "command"}, {"command", p.command(event)}, {"timeout", timeout}}
	case p.host.ID == "cursor":
		return object{{"command", p.command(event)}, {"timeout", timeout}}
	default:
		return object{{"type", "command"}, {"command", p.command(event)}, {"timeoutSec", timeout}}
	}
}

// group is what is put on an event.
func (p plan) group(event string) object {
	if !p.host.nested {
		return p.handler(event)
	}
	return object{{"matcher", "*"}, {"hooks", []any{p.handler(event)}}}
}

// found is one of our entries in a file.
type found struct {
	event string
	path  []any  // of the hook itself
	line  string // its command line
	alone bool   // its group has no other
}

// find returns our hooks, in the order of the events and of the file.
func (p plan) find(values map[string]any) []found {
	var all []found
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
			if line := group["command"]; isOurHook(line, p.host.ID) {
				all = append(all, found{event, at, line.(string), true})
			}
			inner, _ := group["hooks"].([]any)
			for j, h := range inner {
				handler, _ := h.(map[string]any)
				if line := handler["command"]; isOurHook(line, p.host.ID) {
					all = append(all, found{event, append(slices.Clone(at), "hooks", j), line.(string), len(inner) == 1})
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
			word, _, _ := strings.Cut(all[0].line, " hook "+all[0].event+" ")
			found = shellPlain(word)
		}
	} else {
		entry, _ := lookup(values, keys(append(slices.Clone(p.place.path), ServerName)...)...)
		if words := serverWords(entry); len(words) > 0 {
			found = words[0]
		}
	}
	if p.program == "" {
		p.program = found
	}
	return found
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
	if !ours(old) {
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

// ours reports whether an MCP server's entry starts skillpm.
func ours(entry any) bool {
	words := serverWords(entry)
	return len(words) > 1 && isOurServer(words[0], words[1:])
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
func (p plan) drop(j *jsonFile, f found) error {
	path := f.path
	if f.alone && len(path) > len(p.place.path)+2 {
		path = path[:len(p.place.path)+2]
	}
	return j.prune(path...)
}
