package skill

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxInserted limits the bytes that are inserted into one text. A placeholder whose value would exceed the limit stays
// unchanged.
const MaxInserted = 8 << 20

// ExpandRules are the substitutions of an agent.
type ExpandRules struct {
	Indexed bool `yaml:"indexed"` // $ARGUMENTS, $ARGUMENTS[N], and $N
	Named   bool `yaml:"named"`   // $name, for the names in `arguments:`
	// names in ${…} -> skill-dir, session-id, project-dir, or plugin-root
	Variables map[string]string `yaml:"variables"`
	Shell     bool              `yaml:"shell"` // !`command` and ```! blocks
	// unused arguments: "" drops them, "line" appends a line, "paragraph" a paragraph
	Append string `yaml:"append"`
}

// ExpandInput is the input of an activation.
type ExpandInput struct {
	Arguments string            // as written
	Names     []string          // names in the skill's `arguments:`, by position
	Values    map[string]string // known values of skill-dir, session-id, project-dir, plugin-root

	// Shell returns the output of a command in the text, or false to leave the command unchanged. It is never called
	// for inserted text. nil leaves all commands unchanged.
	Shell func(command string) (output string, ran bool)
}

// Expansion is the result of [Expand].
type Expansion struct {
	Text     string
	Used     bool           // a placeholder used arguments
	Appended bool           // the arguments were appended
	Cut      bool           // MaxInserted was reached, so that placeholders remain
	Left     []ShellCommand // commands that remain in the text
}

// ExpandBody returns the expanded text.
func ExpandBody(text string, r ExpandRules, in ExpandInput) string { return Expand(text, r, in).Text }

// Expand substitutes the placeholders and commands of a text.
func Expand(text string, r ExpandRules, in ExpandInput) Expansion {
	x := newExpander(text, r, in)
	var commands []ShellCommand
	if r.Shell {
		commands = ShellCommands(text)
	}
	for _, c := range commands {
		x.copyTo(c.Start)
		x.command(c)
	}
	x.copyTo(len(text))
	if r.Append != "" && !x.used && strings.TrimSpace(in.Arguments) != "" {
		x.append(r.Append == "paragraph")
	}
	x.result.Text, x.result.Used = x.out.String(), x.used
	return x.result
}

// expander scans a text once.
type expander struct {
	text      string
	pos       int // everything before it is written
	rules     ExpandRules
	in        ExpandInput
	arguments []string
	names     map[string]int // name -> position
	longest   int            // length of the longest name
	first     [256]bool      // first bytes of the names
	out       strings.Builder
	inserted  int
	used      bool
	result    Expansion
}

func newExpander(text string, r ExpandRules, in ExpandInput) *expander {
	x := &expander{text: text, rules: r, in: in, arguments: SplitArguments(in.Arguments)}
	x.out.Grow(len(text) + len(in.Arguments))
	if r.Named {
		x.names = map[string]int{}
		for i, name := range in.Names {
			if _, twice := x.names[name]; usable(name) && !twice {
				x.names[name] = i
				x.longest = max(x.longest, len(name))
				x.first[name[0]] = true
			}
		}
	}
	return x
}

// usable reports whether a name can be a placeholder. Numbers are indexes, and a very long name would have to be
// compared at each dollar sign.
func usable(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "0123456789") != ""
}

// copyTo writes the text up to end, with placeholders substituted.
func (x *expander) copyTo(end int) {
	for x.pos < end {
		next := strings.IndexByte(x.text[x.pos:end], '$')
		if next < 0 {
			break
		}
		position := x.pos + next
		value, length, ok := x.placeholder(x.text[position:end])
		switch {
		case !ok:
			x.out.WriteString(x.text[x.pos : position+1])
			x.pos = position + 1
		case x.escaped(position):
			x.out.WriteString(x.text[x.pos : position-1])
			x.out.WriteString(x.text[position : position+length])
			x.pos = position + length
		default:
			x.out.WriteString(x.text[x.pos:position])
			x.insert(value, x.text[position:position+length])
			x.pos = position + length
		}
	}
	if x.pos < end {
		x.out.WriteString(x.text[x.pos:end])
		x.pos = end
	}
}

// escaped reports whether the dollar sign at an offset follows an odd number of backslashes that are not written yet.
func (x *expander) escaped(i int) bool {
	before := x.text[x.pos:i]
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}

// insert writes a value, or the original text if the value would exceed the limit.
func (x *expander) insert(v value, placeholder string) {
	switch {
	case v.literal:
		x.out.WriteString(placeholder)
		return
	case x.inserted+len(v.text) > MaxInserted:
		x.out.WriteString(placeholder)
		x.result.Cut = true
	default:
		x.out.WriteString(v.text)
		x.inserted += len(v.text)
	}
	x.used = x.used || v.argument
}

// append appends the arguments.
func (x *expander) append(paragraph bool) {
	body := strings.TrimRight(x.out.String(), "\n")
	ended := len(body) < x.out.Len()
	x.out.Reset()
	x.out.WriteString(body)
	if body != "" {
		x.out.WriteByte('\n')
		if paragraph {
			x.out.WriteByte('\n')
		}
	}
	x.out.WriteString("ARGUMENTS: ")
	x.out.WriteString(x.in.Arguments)
	if ended {
		x.out.WriteByte('\n')
	}
	x.result.Appended = true
}

// value is the value of a placeholder.
type value struct {
	text     string
	argument bool // it uses arguments
	literal  bool // no value: the placeholder stays
}

// placeholder returns the value and the length of the placeholder at the start of s. Names take precedence over
// indexes, and an index over all arguments.
func (x *expander) placeholder(s string) (value, int, bool) {
	if v, n, ok := x.parseName(s); ok {
		return v, n, true
	}
	if x.rules.Indexed {
		if v, n, ok := x.parseIndex(s); ok {
			return v, n, true
		}
	}
	return x.variable(s)
}

// parseName parses $name with the longest matching name.
func (x *expander) parseName(s string) (value, int, bool) {
	if len(s) < 2 || !x.first[s[1]] {
		return value{}, 0, false
	}
	for n := min(x.longest, len(s)-1); n > 0; n-- {
		i, ok := x.names[s[1:1+n]]
		if !ok || 1+n < len(s) && (s[1+n] == '[' || startsWithWord(s[1+n:])) {
			continue
		}
		if i >= len(x.arguments) {
			return value{argument: true}, 1 + n, true
		}
		return value{text: x.arguments[i], argument: true}, 1 + n, true
	}
	return value{}, 0, false
}

// parseIndex parses $ARGUMENTS[N], $ARGUMENTS, and $N.
func (x *expander) parseIndex(s string) (value, int, bool) {
	const all = "$ARGUMENTS"
	if strings.HasPrefix(s, all) {
		if rest := s[len(all):]; strings.HasPrefix(rest, "[") {
			if n := digits(rest[1:]); n > 0 && strings.HasPrefix(rest[1+n:], "]") {
				return x.argument(rest[1 : 1+n]), len(all) + n + 2, true
			}
		}
		return value{text: x.in.Arguments, argument: true}, len(all), true
	}
	n := digits(s[1:])
	if n == 0 || 1+n < len(s) && startsWithWord(s[1+n:]) {
		return value{}, 0, false
	}
	return x.argument(s[1 : 1+n]), 1 + n, true
}

func (x *expander) argument(index string) value {
	i, err := strconv.Atoi(index)
	if err != nil || i >= len(x.arguments) {
		return value{literal: true}
	}
	return value{text: x.arguments[i], argument: true}
}

// variable parses ${NAME}.
func (x *expander) variable(s string) (value, int, bool) {
	if len(x.rules.Variables) == 0 || !strings.HasPrefix(s, "${") {
		return value{}, 0, false
	}
	end := strings.IndexByte(s[:min(len(s), 128)], '}')
	if end < 0 {
		return value{}, 0, false
	}
	kind, ok := x.rules.Variables[s[2:end]]
	if !ok {
		return value{}, 0, false
	}
	text, known := x.in.Values[kind]
	return value{text: text, literal: !known}, end + 1, true
}

// digits returns the number of leading digits of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// startsWithWord reports whether s starts with a letter, a digit, or an underscore.
func startsWithWord(s string) bool {
	c := s[0]
	if c < utf8.RuneSelf {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return false // as in agents, whose \w is ASCII
}
