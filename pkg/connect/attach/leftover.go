package attach

// others returns what a file says without what is ours, and without what would be empty then.
func (p plan) others(values map[string]any) any {
	left, _ := plain(values).(map[string]any)
	if p.kind == MCP {
		at := any(left)
		for _, key := range p.place.path {
			at, _ = lookup(at, key)
		}
		if servers, ok := at.(map[string]any); ok {
			delete(servers, ServerName)
		}
		return emptied(left, p.place.path)
	}
	if p.host.versions && same(left["version"], 1) {
		delete(left, "version")
	}
	at, _ := lookup(left, keys(p.place.path...)...)
	events, _ := at.(map[string]any)
	for event, list := range events {
		groups, ok := list.([]any)
		if !ok {
			continue
		}
		kept := p.otherGroups(groups)
		if len(kept) == 0 {
			delete(events, event)
		} else {
			events[event] = kept
		}
	}
	return emptied(left, p.place.path)
}

func (p plan) otherGroups(groups []any) []any {
	var kept []any
	for _, g := range groups {
		group, _ := g.(map[string]any)
		if p.hook("", group).program != "" {
			continue
		}
		inner, nested := group["hooks"].([]any)
		var handlers []any
		for _, h := range inner {
			handler, _ := h.(map[string]any)
			if p.hook("", handler).program == "" {
				handlers = append(handlers, h)
			}
		}
		if nested && len(handlers) < len(inner) {
			if len(handlers) == 0 {
				continue
			}
			group["hooks"] = handlers
		}
		kept = append(kept, g)
	}
	return kept
}

// emptied removes what a path leads to if it is empty, and what that is in.
func emptied(values map[string]any, path []string) any {
	for n := len(path); n > 0; n-- {
		at, _ := lookup(values, keys(path[:n-1]...)...)
		parent, ok := at.(map[string]any)
		if !ok {
			continue
		}
		if m, ok := parent[path[n-1]].(map[string]any); ok && len(m) == 0 {
			delete(parent, path[n-1])
		}
	}
	return values
}
