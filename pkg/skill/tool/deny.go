package tool

import (
	"path"
	"slices"
	"strings"
)

// denies reports whether a list of what is disallowed has something, and by which entry. Where it is not sure, it has.
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

// denial reports how a pattern that disallows speaks of the tool of a use. A tool that writes into a running shell may
// write any command, and one that reads from it or ends it runs none.
func denial(p Pattern, u *use) naming {
	if u.row == nil || u.row.with == "" || Canonical(p.Tool) != u.row.with || everything(p, rows()[u.row.with]) {
		return names(p, u)
	}
	if u.row.whole {
		return whole
	}
	return not
}

// has reports whether any part of a use is what a pattern disallows.
func (u *use) has(c Call, p Pattern) bool {
	some := func(match func(string) bool) bool { return slices.ContainsFunc(u.values, match) }
	switch u.row.kindOf() {
	case shell, powershell:
		return u.hasCommand(readLine(p.Argument))
	case file, search:
		return some(func(v string) bool {
			_, _, refused := c.readPath(v)
			return refused != "" || c.touches(p.Argument, v)
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

// touches reports whether a path, or what it leads to, is in a pattern, also where that can't be told. Case does not
// count: there are file systems on which it makes no difference.
func (c Call) touches(pattern, p string) bool {
	in := func(path, root, home string) bool {
		return matchPath(strings.ToLower(pattern), strings.ToLower(path), strings.ToLower(root), strings.ToLower(home))
	}
	cleaned, raw, _ := c.readPath(p)
	if in(cleaned, c.root(), c.Home) {
		return true
	}
	targets := c.anchored(pattern) // a pattern that is a link is what it leads to, whatever that is called
	return slices.ContainsFunc(c.resolvedPaths(cleaned, raw), func(path string) bool {
		root, home := c.real(c.root()), c.real(c.Home)
		return path == "" || root == "" || home == "" && c.Home != "" || in(path, root, home) ||
			targets != "" && matchPath(strings.ToLower(targets), strings.ToLower(path), "", "")
	})
}

// hasCommand reports whether a command that a pattern disallows stands anywhere in a line: also after another one that
// runs it, as sudo and xargs do, and with the directory of its program.
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

// prefixes reports whether a word is a program that runs the one after it.
func prefixes(w word) bool {
	switch path.Base(w.text) {
	case "sudo", "doas", "env", "nohup", "nice", "time", "command", "exec", "builtin", "xargs":
		return true
	}
	return false
}

// runs reports whether a command reads a command out of one of its words.
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
