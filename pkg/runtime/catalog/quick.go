package catalog

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/skill"
)

// readSimple reads simple frontmatter: fields on one line each, and lists and mappings of scalars below a field. It
// reports whether it could; the record then equals the one from package skill. If anything is unusual it returns false,
// and the record is unusable.
//
// Most skills have such frontmatter, and a YAML parser takes ten times as long, which would dominate the time of
// opening a thousand skills.
func readSimple(r *record, head []byte) bool {
	if len(head) == 0 || !bytes.HasPrefix(head, []byte("---\n")) {
		return false
	}
	end := bytes.Index(head, []byte("\n---\n"))
	if end < 0 {
		return false
	}
	front := string(head[len("---\n") : end+1])
	if !hasPlainCharacters(front) {
		return false
	}
	q := simpleReader{record: r, line: 1}
	if !q.fields(front) {
		return false
	}
	if r.description == "" {
		r.paragraph = paragraph(head[end+len("\n---\n"):])
	}
	return true
}

// hasPlainCharacters reports whether a text only has characters that YAML does not treat specially.
func hasPlainCharacters(s string) bool {
	ascii := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' && c != '\n' || c == 0x7f {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return true
	}
	for _, r := range s {
		switch {
		case r == utf8.RuneError, r >= 0x80 && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r >= 0xfff0 &&
			r <= 0xffff, r >= 0xd800 && r < 0xe000:
			return false
		}
	}
	return true
}

// simpleReader reads fields line by line.
type simpleReader struct {
	*record
	line int // number in the file of the last line read
	keys [24]string
	n    int
}

// fields reads all lines of a frontmatter.
func (q *simpleReader) fields(front string) bool {
	for front != "" {
		text, rest := q.next(front)
		switch {
		case text == "" || text[0] == '#':
			front = rest
			continue
		case text == "---": // a second fence
			return false
		}
		key, value, ok := field(text)
		if !ok || !q.addKey(key) {
			return false
		}
		line := q.line
		if value != "" {
			scalar, ok := simpleScalar(value)
			if flow := value[0] == '['; flow {
				var items []string
				if items, ok = simpleFlowList(value); ok {
					ok = q.setList(key, items)
				}
			} else if ok {
				ok = q.set(key, scalar, line)
			}
			if !ok || indented(rest) {
				return false
			}
			front = rest
			continue
		}
		if front, ok = q.block(key, rest); !ok {
			return false
		}
	}
	return true
}

// next splits off the first line of a text, without trailing spaces.
func (q *simpleReader) next(text string) (line, rest string) {
	q.line++
	line, rest, _ = strings.Cut(text, "\n")
	return strings.TrimRight(line, " "), rest
}

// indented reports whether the next non-empty line continues the current field: it is indented or a list item.
func indented(rest string) bool {
	rest = strings.TrimLeft(rest, "\n")
	return rest != "" && (rest[0] == ' ' || rest[0] == '-')
}

// addKey records a key, and reports whether it is new.
func (q *simpleReader) addKey(key string) bool {
	if q.n == len(q.keys) {
		return false
	}
	if slices.Contains(q.keys[:q.n], key) {
		return false
	}
	q.keys[q.n] = key
	q.n++
	return true
}

// field splits a line into a plain key and the value after the colon.
func field(text string) (key, value string, ok bool) {
	i := 0
	for i < len(text) && (isLetter(text[i]) || i > 0 && isInner(text[i])) {
		i++
	}
	if i == 0 || i > 64 || i == len(text) || text[i] != ':' || i+1 < len(text) && text[i+1] != ' ' {
		return "", "", false
	}
	return text[:i], strings.TrimLeft(text[i+1:], " "), true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isInner reports whether a word may have a character that is not a letter after its first one.
func isInner(c byte) bool { return c == '-' || c == '_' || c >= '0' && c <= '9' }

// simpleScalar returns the text of a scalar on one line.
func simpleScalar(value string) (string, bool) {
	switch value[0] {
	case '"':
		inner, ok := strings.CutSuffix(value[1:], `"`)
		return inner, ok && !strings.ContainsAny(inner, `"\`)
	case '\'':
		inner, ok := strings.CutSuffix(value[1:], "'")
		return inner, ok && !strings.Contains(inner, "'")
	case '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '%', '@', '`', '=', '<', '~', '.':
		return "", false
	}
	if value[len(value)-1] == ':' || strings.Contains(value, ": ") || strings.Contains(value, " #") {
		return "", false
	}
	switch value {
	case "null", "Null", "NULL":
		return "", true
	}
	return value, true
}

// simpleFlowList returns the items of a list in brackets that are words.
func simpleFlowList(value string) ([]string, bool) {
	inner, ok := strings.CutSuffix(value[1:], "]")
	if !ok || strings.TrimSpace(inner) == "" {
		return nil, false
	}
	var items []string
	for item := range strings.SplitSeq(inner, ",") {
		item = strings.Trim(item, " ")
		for i := range len(item) {
			if c := item[i]; !isLetter(c) && (i == 0 || !isInner(c) && c != ' ') {
				return nil, false
			}
		}
		if item == "" || strings.EqualFold(item, "null") {
			return nil, false
		}
		items = append(items, item)
	}
	return items, true
}

// block reads the lines below a field without a value: nothing, a list, or a mapping, of scalars on one line.
func (q *simpleReader) block(key, rest string) (string, bool) {
	var (
		items []string
		dash  bool
		first = true
		depth int
		seen  []string
	)
	for rest != "" {
		before := q.line
		text, after := q.next(rest)
		trimmed := strings.TrimLeft(text, " ")
		in := len(text) - len(trimmed)
		item := strings.HasPrefix(trimmed, "- ")
		switch {
		case trimmed == "":
			rest = after
			continue
		case in == 0 && !item: // the next field
			q.line = before
			return rest, q.endBlock(key, items, dash, first)
		case first:
			depth, dash, first = in, item, false
		case in != depth || item != dash:
			return "", false
		}
		var value string
		if dash {
			value = strings.TrimLeft(trimmed[1:], " ")
			if _, _, mapping := field(value); mapping {
				return "", false
			}
		} else {
			k, v, ok := field(trimmed)
			if !ok || v == "" || slices.Contains(seen, k) {
				return "", false
			}
			seen = append(seen, k)
			value = v
		}
		scalar, ok := simpleScalar(value)
		if !ok {
			return "", false
		}
		items = append(items, scalar)
		rest = after
	}
	return "", q.endBlock(key, items, dash, first)
}

// endBlock takes over what is below a field.
func (q *simpleReader) endBlock(key string, items []string, dash, empty bool) bool {
	switch {
	case empty:
		return q.set(key, "", q.line)
	case dash:
		return q.setList(key, items)
	}
	return !isCatalogKey(key) // a mapping
}

// isCatalogKey reports whether stage 1 needs a field.
func isCatalogKey(key string) bool {
	switch key {
	case "name", "description", "when_to_use", "argument-hint", "agent", "model", "tags", "toolsets",
		"disable-model-invocation",
		"user-invocable", "context", "priority", "scope", "execution":
		return true
	}
	return false
}

// set takes over a scalar field.
func (q *simpleReader) set(key, text string, line int) bool {
	r := q.record
	switch key {
	case "name":
		r.name = short(text)
	case "description":
		r.description = flat(strings.TrimSpace(text), maxText)
	case "when_to_use":
		r.when = flat(text, maxText)
	case "argument-hint":
		r.hint = flat(text, maxShort)
	case "agent":
		r.agent = flat(text, maxShort)
	case "model":
		r.model = flat(text, maxShort)
	case "disable-model-invocation":
		r.setSwitch(key, text, line, modelOff, true)
	case "user-invocable":
		r.setSwitch(key, text, line, userOff, false)
	case "context":
		r.context(text)
	case "priority":
		r.setPriority(text, line)
	case "tags":
		for item := range strings.SplitSeq(text, ",") {
			r.tags = appendItem(r.tags, item)
		}
	case "toolsets":
		for item := range strings.SplitSeq(text, ",") {
			r.toolsets = appendItem(r.toolsets, item)
		}
	case "scope", "execution":
		return text == ""
	case allowedTools, disallowedTools:
		return q.setList(key, []string{text})
	}
	return true
}

// setList takes over a list.
func (q *simpleReader) setList(key string, items []string) bool {
	switch key {
	case "tags":
		for _, item := range items {
			q.tags = appendItem(q.tags, item)
		}
	case "toolsets":
		for _, item := range items {
			q.toolsets = appendItem(q.toolsets, item)
		}
	case allowedTools, disallowedTools:
		return !slices.ContainsFunc(items, func(item string) bool { return strings.Trim(item, " ,") == "" }) &&
			q.setTools(key, items) == nil
	default:
		return !isCatalogKey(key)
	}
	return true
}

// frontEnd returns where the frontmatter of a file ends whose beginning is given, after its closing fence: 0 where it
// does not start with one, -1 where the fence is not there yet.
func frontEnd(head []byte) int {
	i := 0
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		i = 3
	}
	line, next := nextLine(head, i)
	if !fence(line) {
		doc, problems := skill.Parse(head) // something may stand before it
		for _, p := range problems {
			if p.Kind == skill.Unclosed {
				return -1
			}
		}
		return doc.BodyStart
	}
	for i = next; i < len(head); i = next {
		if line, next = nextLine(head, i); fence(line) && (next < len(head) || head[next-1] == '\n') {
			return next
		}
	}
	return -1
}

func nextLine(text []byte, start int) (line []byte, next int) {
	i := bytes.IndexByte(text[start:], '\n')
	if i < 0 {
		return text[start:], len(text)
	}
	return bytes.TrimSuffix(text[start:start+i], []byte("\r")), start + i + 1
}

func fence(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t")) == 0
}
