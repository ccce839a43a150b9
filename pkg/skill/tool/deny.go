package tool

import (
	"path"
	"slices"
	"strings"
)

// deniesAny reports whether a list of disallowed patterns matches a use or one of its readings, and which one.
func (l list) deniesAny(c Call, u *use, readings []use) (Pattern, bool) {
	if p, found := l.denies(c, u); found {
		return p, true
	}
	for i := range readings {
		for _, as := range readings[i].asTools() {
			if p, found := l.denies(c, &as); found {
				return p, true
			}
		}
	}
	return Pattern{}, false
}

// denies reports whether a list of disallowed patterns matches, and which one. If uncertain, it matches.
func (l list) denies(c Call, u *use) (Pattern, bool) {
	for _, p := range l.patterns {
		switch denial(p, u) {
		case whole:
			return p, true
		case byArgument:
			if u.doubt != "" || u.has(c, p) {
				return p, true
			}
		}
	}
	return Pattern{}, false
}

// denial returns how a disallowing pattern relates to a tool. A tool that writes to a running shell can run any
// command; one that reads from it or ends it runs none.
func denial(p Pattern, u *use) naming {
	if u.row == nil && !p.HasArgument && mayBeOfServer(p.Tool, u.tool) {
		return whole
	}
	if u.row == nil || u.row.with == "" || Canonical(p.Tool) != u.row.with || everything(p, rows()[u.row.with]) {
		return names(p, u)
	}
	if u.row.whole {
		return whole
	}
	return not
}

// mayBeOfServer reports whether an agent may mean the MCP tools of a pattern by a name that is not in the table.
// mcp__a__b__c is a tool of the server a or a__b. Agents also write SERVER_TOOL, mcp_SERVER_TOOL, SERVER-TOOL, and
// SERVER/TOOL, and Cursor MCP:TOOL.
func mayBeOfServer(pattern, name string) bool {
	prefix, mcp := strings.CutPrefix(pattern, "mcp__")
	prefix, wild := strings.CutSuffix(prefix, "*")
	_, called, two := strings.Cut(prefix, "__")
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		return mcp && strings.HasPrefix(rest, prefix) && (wild || strings.HasPrefix(rest, prefix+"__"))
	}
	if rest, ok := strings.CutPrefix(name, "MCP:"); ok {
		rest = strings.TrimPrefix(rest, prefix[:len(prefix)-len(called)]) // behind skillpm: SERVER__TOOL
		return mcp && (!two || rest == called || wild && strings.HasPrefix(rest, called))
	}
	plain := func(s string) string {
		return strings.NewReplacer("-", "_", "/", "_", ".", "_", "__", "_").Replace(s)
	}
	name, prefix = strings.TrimPrefix(plain(name), "mcp_"), plain(prefix)
	return mcp && (name == prefix && two || wild && strings.HasPrefix(name, prefix) ||
		!two && strings.HasPrefix(name, prefix+"_"))
}

// has reports whether a disallowing pattern matches any part of a use.
func (u *use) has(c Call, p Pattern) bool {
	some := func(match func(string) bool) bool { return slices.ContainsFunc(u.values, match) }
	switch u.row.kindOf() {
	case shell, powershell:
		return u.hasCommand(readLine(p.Argument))
	case file, search:
		return some(func(v string) bool {
			locations, refused := u.locations(c, v)
			return refused != "" || slices.ContainsFunc(locations, func(l location) bool {
				return c.touches(p.Argument, l) || u.readsTree() && c.reaches(p.Argument, l)
			})
		})
	case address:
		return some(func(v string) bool {
			_, refused := readAddress(v)
			return refused != "" || allowsAddress(p.Argument, v)
		})
	case name:
		return some(func(v string) bool { return wildcard(p.Argument, v, '*') })
	}
	return true
}

// readsTree reports whether a use reads all files below its paths, or those that match a pattern.
func (u *use) readsTree() bool {
	return u.wholeTree || u.tool == "Grep" && !u.exact || u.called == "read_many_files"
}

// reaches reports whether a file below a location may match a pattern.
func (c Call) reaches(pattern string, l location) bool {
	base, fixed, _ := c.prefix(pattern)
	start := folded(path.Join(base, fixed))
	return slices.ContainsFunc(append(c.resolvedPaths(l), l.cleaned), func(p string) bool {
		if i := strings.IndexAny(p, wildcards); i >= 0 {
			p = p[:max(1, strings.LastIndexByte(p[:i], '/'))]
		}
		return p == "" || below(start, folded(p)) || below(folded(p), start)
	})
}

// touches reports whether a pattern matches a location or its target, or may match if the target is unknown. It ignores
// case and Unicode forms, because some file systems do.
func (c Call) touches(pattern string, l location) bool {
	in := func(path, root, home string) bool {
		return matchPath(folded(pattern), folded(path), folded(root), folded(home))
	}
	if in(l.cleaned, c.root(), c.Home) {
		return true
	}
	targets := c.anchored(pattern) // a pattern that names a link also matches its target
	return slices.ContainsFunc(c.resolvedPaths(l), func(path string) bool {
		root, home := c.real(c.root()), c.real(c.Home)
		return path == "" || root == "" || home == "" && c.Home != "" || in(path, root, home) ||
			targets != "" && matchPath(folded(targets), folded(path), "", "")
	})
}

// hasCommand reports whether a disallowed command occurs anywhere in a line, also behind a command that runs it, such
// as sudo and xargs, and with a directory.
func (u *use) hasCommand(l line) bool {
	commands, refused := u.commandsOf()
	if refused != "" || l.items == nil {
		return true
	}
	for _, c := range commands {
		for i, w := range c.words {
			if (w.loose || w.globs) && (i == 0 || prefixes(c.words[i-1])) || strings.ContainsAny(w.text, " \t\n;|&") &&
				runs(c.words[:i]) {
				return true
			}
			rest := slices.Clone(c.words[i:])
			rest[0].text = path.Base(w.text)
			if l.fits(command{words: rest}) || l.fits(command{words: c.words[i:]}) {
				return true
			}
		}
	}
	return false
}

// prefixes reports whether a program runs the word after it.
func prefixes(w word) bool {
	switch path.Base(w.text) {
	case "sudo", "doas", "env", "nohup", "nice", "time", "command", "exec", "builtin", "xargs":
		return true
	}
	return false
}

// runs reports whether a command parses a command from one of its words.
func runs(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		switch path.Base(w.text) {
		case "bash", "sh", "zsh", "dash", "eval", "ssh", "env", "xargs", "python", "python3", "perl", "ruby", "node",
			"watch", "su", "find":
			return true
		}
		return false
	})
}
