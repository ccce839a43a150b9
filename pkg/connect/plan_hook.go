package connect

import (
	"maps"
	"slices"
)

// command returns the command line of the hook on an event.
func (p plan) command(event string) string {
	line := hookCommand(p.program, p.goos, event, p.agent.ID)
	if p.closed && slices.Contains(p.agent.decisionEvents, event) {
		line += refuses
	}
	return line
}

// timeout returns the time limit of the hook on an event.
func (p plan) timeout(event string) int {
	if n, ok := p.agent.shortTimeouts[event]; ok {
		return n
	}
	return p.agent.timeout
}

// timeoutKey returns the agent's key of the time limit.
func (p plan) timeoutKey() string {
	if p.agent.ID == "copilot" {
		return "timeoutSec"
	}
	return "timeout"
}

// onFailure is Claude Code's key of a hook. With the value "block", a hook that is missing, slow, or crashes denies what
// it was asked about, from version 2.1.330 on; 2.1.197 ignores the key.
const onFailure = "onFailure"

// blocksOn reports whether the hook on an event has that key.
func (p plan) blocksOn(event string) bool {
	return p.blocks && slices.Contains(p.agent.blockEvents, event)
}

// handler returns the entry of one hook.
func (p plan) handler(event string) object {
	timeout := p.timeout(event)
	switch {
	case p.agent.nested:
		entry := object{{"type", "command"}, {"command", p.command(event)}, {"timeout", timeout}}
		if p.blocksOn(event) {
			entry = append(entry, member{onFailure, "block"})
		}
		return entry
	case p.agent.ID == "cursor":
		return object{{"command", p.command(event)}, {"timeout", timeout}}
	default:
		return object{{"type", "command"}, {"command", p.command(event)}, {p.timeoutKey(), timeout}}
	}
}

// group returns the entry of an event.
func (p plan) group(event string) object {
	if !p.agent.nested {
		return p.handler(event)
	}
	return object{{"matcher", "*"}, {"hooks", []any{p.handler(event)}}}
}

// hookEntry is a hook of skillpm in a file.
type hookEntry struct {
	event  string
	path   []any  // of the hook itself
	line   string // its command line
	isOnly bool   // its group has no other hook

	program   string // that it starts
	closed    bool   // it denies calls if the program is missing or fails
	blocks    bool   // it has the agent's own key for that
	shortTime bool   // its time limit is too short
}

// hook parses an entry on an event. The program is "" if the hook is not skillpm's.
func (p plan) hook(event string, entry map[string]any) hookEntry {
	line, _ := entry["command"].(string)
	program, closed := hookProgram(line, p.agent.ID)
	if !p.isOurs(program) {
		return hookEntry{}
	}
	limit, ok := entry[p.timeoutKey()].(float64)
	return hookEntry{
		event: event, line: line, program: program, closed: closed, blocks: entry[onFailure] == "block",
		shortTime: ok && int(limit) < p.timeout(event),
	}
}

// find returns skillpm's hooks, in the order of the events and of the file.
func (p plan) find(values map[string]any) []hookEntry {
	var all []hookEntry
	if p.agent.plugin {
		if f := p.pluginHook(values); f.program != "" {
			all = append(all, f)
		}
		return all
	}
	events, _ := lookup(values, p.target.keys()...)
	table, _ := events.(map[string]any)
	for _, event := range slices.Sorted(maps.Keys(table)) {
		list, _ := table[event].([]any)
		for i, e := range list {
			group, _ := e.(map[string]any)
			path := append(p.target.keys(), event, i)
			if f := p.hook(event, group); f.program != "" {
				f.path, f.isOnly = path, true
				all = append(all, f)
			}
			inner, _ := group["hooks"].([]any)
			for j, h := range inner {
				handler, _ := h.(map[string]any)
				if f := p.hook(event, handler); f.program != "" {
					f.path, f.isOnly = append(slices.Clone(path), "hooks", j), len(inner) == 1
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// hookState is state for hooks.
func (p plan) hookState(values map[string]any) (s State, why string) {
	if p.agent.plugin {
		return p.pluginState(values)
	}
	all := p.find(values)
	if len(all) == 0 {
		return Missing, ""
	}
	for _, event := range p.agent.Events {
		n := 0
		for _, f := range all {
			if f.event != event {
				continue
			}
			if n++; f.line != p.command(event) {
				return Stale, "the hook runs " + f.line
			}
			if f.blocks != p.blocksOn(event) {
				return Stale, "the key onFailure of the hook for " + event + " differs"
			}
			if f.shortTime {
				return Stale, "the timeout of the hook for " + event + " is too short"
			}
		}
		switch n {
		case 0:
			return Stale, "the hook for " + event + " is missing"
		case 1:
		default:
			return Stale, "the hook for " + event + " is duplicated"
		}
	}
	for _, f := range all {
		if !slices.Contains(p.agent.Events, f.event) {
			return Stale, "skillpm no longer uses the hook for " + f.event
		}
	}
	return Installed, ""
}

// installHooks is install for hooks.
func (p plan) installHooks(d document, values map[string]any) error {
	if p.agent.plugin {
		return d.set(p.plugin(), pluginText)
	}
	seen := map[string]bool{}
	for _, f := range slices.Backward(p.find(values)) { // the last first, because removing one changes later indexes
		if seen[f.event] || !slices.Contains(p.agent.Events, f.event) {
			if err := d.prune(p.owned(f)...); err != nil {
				return err
			}
			continue
		}
		seen[f.event] = true
		if f.line != p.command(f.event) {
			if err := d.set(p.command(f.event), append(slices.Clone(f.path), "command")...); err != nil {
				return err
			}
		}
		if path := append(slices.Clone(f.path), onFailure); f.blocks != p.blocksOn(f.event) {
			change := func() error { return d.prune(path...) }
			if p.blocksOn(f.event) {
				change = func() error { return d.set("block", path...) }
			}
			if err := change(); err != nil {
				return err
			}
		}
		if f.shortTime {
			if err := d.set(p.timeout(f.event), append(slices.Clone(f.path), p.timeoutKey())...); err != nil {
				return err
			}
		}
	}
	if _, ok := values["version"]; p.agent.versioned && !ok {
		if err := d.set(1, "version"); err != nil {
			return err
		}
	}
	for _, event := range p.agent.Events {
		if seen[event] {
			continue
		}
		path := append(p.target.keys(), event)
		list, _ := lookup(values, path...)
		n, _ := list.([]any)
		if err := d.set(p.group(event), append(path, len(n))...); err != nil {
			return err
		}
	}
	return nil
}

// owned returns the path of a hook, or of its group if it has no other hook.
func (p plan) owned(f hookEntry) []any {
	if group := len(p.target.path) + 2; !p.agent.plugin && f.isOnly && len(f.path) > group {
		return f.path[:group]
	}
	return f.path
}
