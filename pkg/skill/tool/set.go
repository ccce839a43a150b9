package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Set is the intersection of the restrictions of all active skills. The zero Set allows everything. A Set is immutable:
// And and Without return new ones.
type Set struct {
	allow []list
	deny  []list
}

// list is the restriction of one skill.
type list struct {
	skill    string
	patterns []Pattern
}

// Verdict is the decision about a call.
type Verdict struct {
	Allowed bool   `json:"allowed"`
	Skill   string `json:"skill,omitempty"`  // the skill whose list denies it
	Tool    string `json:"tool"`             // the agent's name
	Reason  string `json:"reason,omitempty"` // why it is denied: a clause without a full stop
}

// Of returns the set that allows only the given patterns and skillpm's own tools.
func Of(patterns []Pattern) Set { return Set{}.And("", patterns) }

// And returns the intersection of s and a skill's list. An empty list allows only skillpm's own tools; a skill without
// a list does not restrict anything and must not be added.
func (s Set) And(skill string, patterns []Pattern) Set {
	return Set{allow: append(slices.Clone(s.allow), list{skill, slices.Clone(patterns)}), deny: s.deny}
}

// Without returns s without the given patterns. A line that cannot be parsed is denied, because it may hide a
// disallowed command. Only an allow list stops a determined attacker.
func (s Set) Without(skill string, patterns []Pattern) Set {
	if len(patterns) == 0 {
		return s
	}
	return Set{allow: s.allow, deny: append(slices.Clone(s.deny), list{skill, slices.Clone(patterns)})}
}

// Restricts reports whether the set denies any call.
func (s Set) Restricts() bool { return len(s.allow)+len(s.deny) > 0 }

// Lists reports whether only listed tools are allowed.
func (s Set) Lists() bool { return len(s.allow) > 0 }

// Allow decides about a call.
func (s Set) Allow(c Call) Verdict {
	v := Verdict{Allowed: true, Tool: c.Tool}
	if !s.Restricts() || Own(c.Tool) {
		return v
	}
	c.work = new(work)
	uses := c.uses()
	readings := make([][]use, len(uses))
	for i := range uses {
		readings[i] = c.readings(&uses[i])
	}
	for _, l := range s.deny {
		for i := range uses {
			if p, found := l.deniesAny(c, &uses[i], readings[i]); found {
				return Verdict{Tool: c.Tool, Skill: l.skill, Reason: fmt.Sprintf("%s disallows %s", l.who(), p)}
			}
		}
	}
	if unrestricted(c.Tool) {
		return v
	}
	for _, l := range s.allow {
		for i := range uses {
			if reason := l.refusesAll(c, &uses[i], readings[i]); reason != "" {
				return Verdict{Tool: c.Tool, Skill: l.skill, Reason: reason}
			}
		}
	}
	for i := range uses {
		if command := uses[i].ownRefused(c); command != "" {
			l, because := append(slices.Clone(s.allow), s.deny...)[0], ""
			if !strings.Contains(strings.ToLower(command), "skillpm") {
				because = ", because it could run skillpm"
			}
			return Verdict{Tool: c.Tool, Skill: l.skill, Reason: fmt.Sprintf(
				"while %s restricts tools, only users may run %s%s", l.who(), quoted(command), because)}
		}
	}
	return v
}

func (l list) who() string {
	if l.skill == "" {
		return "the tool list"
	}
	return "skill " + l.skill
}

// refusesAll returns why a list allows neither a use nor all of its readings, or "".
func (l list) refusesAll(c Call, u *use, readings []use) string {
	reason := l.refuses(c, u)
	if reason == "" || len(readings) == 0 {
		return reason
	}
	switch why, named := l.refusesReadings(c, readings); {
	case why == "":
		return ""
	case named:
		return why
	}
	return reason
}

// refuses returns why a list does not allow a use, or "".
func (l list) refuses(c Call, u *use) string {
	if u.own(c) {
		return ""
	}
	var with []Pattern
	for _, p := range l.patterns {
		switch names(p, u) {
		case whole:
			return ""
		case byArgument:
			with = append(with, p)
		}
	}
	if len(with) == 0 {
		return fmt.Sprintf("%s allows %s, but not %s", l.who(), l.entries(), c.named(u))
	}
	if u.doubt != "" {
		return fmt.Sprintf("%s allows %s, but the target of this call is unclear: %s", l.who(), join(with), u.doubt)
	}
	if why := u.outside(c, with); why != "" {
		return fmt.Sprintf("%s allows %s, but %s", l.who(), join(with), why)
	}
	return ""
}

// named returns the tool of a use by the agent's name, and its common name.
func (c Call) named(u *use) string {
	if u.tool == c.Tool {
		return c.Tool
	}
	return fmt.Sprintf("%s (%s)", c.Tool, u.tool)
}

func (l list) entries() string {
	if len(l.patterns) == 0 {
		return "no tools"
	}
	return join(l.patterns)
}

// join lists patterns for messages, truncated if there are many.
func join(patterns []Pattern) string {
	const limit = 12
	var out []string
	for _, p := range patterns[:min(len(patterns), limit)] {
		out = append(out, p.String())
	}
	if more := len(patterns) - limit; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// naming is how a pattern relates to a tool.
type naming int

const (
	not        naming = iota // another tool
	whole                    // allowed with any arguments
	byArgument               // depends on the arguments
)

// names returns how a pattern relates to the tool of a use.
func names(p Pattern, u *use) naming {
	if !p.HasArgument && (p.Tool == "*" || ofServer(p.Tool, u.tool) || ofServer(p.Tool, u.called)) {
		return whole
	}
	tool := Canonical(p.Tool)
	if p.Tool == u.called {
		tool = u.tool // a tool with several functions, such as a patch
	}
	switch {
	case tool != u.tool && (u.row == nil || u.row.with == "" || u.row.with != tool):
		return not
	case tool != u.tool: // a companion of the pattern's tool
		if u.row.whole && !everything(p, rows()[tool]) {
			return not
		}
		return whole
	case everything(p, u.row):
		return whole
	}
	return byArgument
}

// everything reports whether a pattern allows all calls of a tool.
func everything(p Pattern, r *row) bool {
	if !p.HasArgument {
		return true
	}
	if r == nil {
		return p.Argument == "*"
	}
	switch r.kind {
	case shell, powershell:
		return wholeLine(p.Argument)
	case address:
		return p.Argument == "*" || p.Argument == "domain:*"
	case plain, name:
		return p.Argument == "*"
	}
	return false // Read(**) is limited to the project
}

// ofServer reports whether a pattern matches an MCP tool: mcp__server and mcp__server__* match all tools of the server,
// mcp__server__get_* those with a prefix, and mcp__* those of all servers. If a tool's server is ambiguous, only its
// exact name and mcp__* match.
func ofServer(pattern, tool string) bool {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok || !strings.HasPrefix(pattern, "mcp__") {
		return false
	}
	if pattern == "mcp__*" {
		return true
	}
	server, called, ok := strings.Cut(rest, "__")
	if !ok || strings.Contains(called, "__") {
		return false
	}
	wantServer, wantCalled, ok := strings.Cut(strings.TrimPrefix(pattern, "mcp__"), "__")
	if wantServer != server {
		return false
	}
	prefix, wild := strings.CutSuffix(wantCalled, "*")
	return !ok || wild && !strings.Contains(prefix, "*") && strings.HasPrefix(called, prefix)
}

// outside names the part of a use that no pattern allows, or returns "".
func (u *use) outside(c Call, patterns []Pattern) string {
	switch u.row.kindOf() {
	case shell, powershell:
		return u.commandOutside(patterns)
	case file, search:
		for _, v := range u.values {
			locations, refused := u.locations(c, v)
			if refused != "" {
				return fmt.Sprintf("the path %s %s", quoted(v), refused)
			}
			for _, l := range locations {
				allows := func(p Pattern) bool { return c.allowsPath(p.Argument, l, u.wholeTree) }
				if !slices.ContainsFunc(patterns, allows) {
					return "not " + quoted(v)
				}
			}
		}
		return ""
	case address:
		for _, v := range u.values {
			if _, refused := readAddress(v); refused != "" {
				return fmt.Sprintf("%s %s", quoted(v), refused)
			}
			if !slices.ContainsFunc(patterns, func(p Pattern) bool { return allowsAddress(p.Argument, v) }) {
				return "not " + quoted(v)
			}
		}
		return ""
	case name:
		for _, v := range u.values {
			if !slices.ContainsFunc(patterns, func(p Pattern) bool { return wildcard(p.Argument, v, '*') }) {
				return "not " + quoted(v)
			}
		}
		return ""
	}
	return "the pattern in parentheses does not apply to this tool"
}

// kindOf returns plain for a tool that the table does not have.
func (r *row) kindOf() kind {
	if r == nil {
		return plain
	}
	return r.kind
}

// commandOutside names the command of a line that no pattern allows, or returns "".
func (u *use) commandOutside(patterns []Pattern) string {
	var lines []line
	for _, p := range patterns {
		l := readLine(p.Argument)
		if u.elsewhere != "" && !l.anywhere() {
			continue
		}
		if len(u.values) == 1 && l.raw == strings.Trim(u.values[0], blanks) && !strings.HasSuffix(l.raw, "*") {
			return ""
		}
		lines = append(lines, l)
	}
	commands, refused := u.commandsOf()
	if refused != "" {
		return "skillpm cannot match the command line against a pattern: " + refused
	}
	for _, c := range commands {
		switch {
		case slices.ContainsFunc(lines, func(l line) bool { return l.fits(c) }):
		case u.elsewhere != "":
			return "not " + quoted(c.text) + " in " + u.elsewhere
		default:
			return "not " + quoted(c.text)
		}
	}
	return ""
}

// Entries describes what the set allows: the patterns of the only list, or those common to several lists. Patterns of
// one tool that must both match are joined by " and ". Disallowed patterns follow with a minus sign. A set without
// restrictions has no entries.
func (s Set) Entries() []string {
	var combined [][]Pattern
	for i, l := range s.allow {
		if i > 0 {
			combined = common(combined, l.patterns)
			continue
		}
		for _, p := range l.patterns {
			combined = append(combined, []Pattern{p})
		}
	}
	var out []string
	for _, patterns := range combined {
		out = append(out, text(patterns))
	}
	slices.Sort(out)
	out = slices.Compact(out)
	for _, l := range s.deny {
		for _, p := range l.patterns {
			out = append(out, "-"+p.String())
		}
	}
	return out
}

// text formats patterns that must all match.
func text(patterns []Pattern) string {
	texts := make([]string, len(patterns))
	for i, p := range patterns {
		texts[i] = p.String()
	}
	return strings.Join(texts, " and ")
}

// common intersects two lists.
func common(combined [][]Pattern, patterns []Pattern) [][]Pattern {
	var out [][]Pattern
	for _, m := range combined {
		for _, p := range patterns {
			if both := meet(m, p); both != nil {
				out = append(out, both)
			}
		}
		if len(out) > maxPatterns {
			break
		}
	}
	return out
}

// meet intersects two patterns; nil if they are of different tools.
func meet(combined []Pattern, b Pattern) []Pattern {
	a := combined[0]
	switch {
	case len(combined) == 1 && a == b:
		return combined
	case !b.HasArgument && names(b, &use{tool: Canonical(a.Tool), row: rows()[a.Tool]}) == whole:
		return combined
	case !a.HasArgument && names(a, &use{tool: Canonical(b.Tool), row: rows()[b.Tool]}) == whole:
		return []Pattern{b}
	case Canonical(a.Tool) != Canonical(b.Tool):
		return nil
	case rows()[a.Tool].kindOf() == shell:
		if c, _ := split(strings.TrimSuffix(b.Argument, ":*")); len(c) == 1 && readLine(a.Argument).fits(c[0]) {
			return []Pattern{b}
		}
		if c, _ := split(strings.TrimSuffix(a.Argument, ":*")); len(c) == 1 && readLine(b.Argument).fits(c[0]) {
			return combined
		}
		if fixedApart(a.Argument, b.Argument) {
			return nil
		}
	}
	return append(slices.Clone(combined), b)
}

// fixedApart reports whether two command patterns start with different programs.
func fixedApart(a, b string) bool {
	x, y := readLine(a).items, readLine(b).items
	return len(x) > 0 && len(y) > 0 && x[0].exact && y[0].exact && x[0].text != y[0].text
}

// stored is the JSON form of a Set.
type stored struct {
	Allow []storedList `json:"allow,omitempty"`
	Deny  []storedList `json:"deny,omitempty"`
}

type storedList struct {
	Skill string   `json:"skill,omitempty"`
	Tools []string `json:"tools"`
}

// MarshalJSON encodes the lists, in order.
func (s Set) MarshalJSON() ([]byte, error) {
	store := func(lists []list) []storedList {
		var out []storedList
		for _, l := range lists {
			tools := []string{}
			for _, p := range l.patterns {
				tools = append(tools, p.String())
			}
			out = append(out, storedList{l.skill, tools})
		}
		return out
	}
	return json.Marshal(stored{store(s.allow), store(s.deny)})
}

// UnmarshalJSON decodes the result of MarshalJSON. Invalid input is an error, never a set that allows more.
func (s *Set) UnmarshalJSON(data []byte) error {
	var in stored
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	var out Set
	for i, lists := range [][]storedList{in.Allow, in.Deny} {
		for _, l := range lists {
			patterns, err := ParseList(l.Tools)
			if err != nil {
				return err
			}
			if i == 0 {
				out.allow = append(out.allow, list{l.Skill, patterns})
			} else {
				out.deny = append(out.deny, list{l.Skill, patterns})
			}
		}
	}
	*s = out
	return nil
}
