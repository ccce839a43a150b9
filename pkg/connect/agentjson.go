package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// jsonRules are what an agent's own parser accepts in a JSON file, as measured on the program. Editors and skillpm
// accept more, and an agent ignores a file that it cannot parse, with all hooks in it.
type jsonRules struct {
	comments bool
	commas   bool   // a comma before a closing bracket
	mark     bool   // a byte order mark
	unique   bool   // refuses duplicate keys
	keys     string // the only top-level keys, separated by spaces; "" for any
	fatal    bool   // the agent does not start
}

// syntaxObstacles returns why an agent cannot parse a file that skillpm can parse.
func (e Env) syntaxObstacles(p plan, data []byte) []Obstacle {
	rules := p.agent.serverRules
	if p.kind == Hook {
		rules = p.agent.hookRules
	}
	if rules == nil || p.target.format() != formatJSON {
		return nil
	}
	what, fix := rules.violation(data)
	if what == "" {
		return nil
	}
	effect := "ignores " + e.file(p.target)
	if rules.fatal {
		effect = "does not start with " + e.file(p.target)
	}
	return []Obstacle{{fmt.Sprintf("%s %s, because %s", p.agent.Title, effect, what), fix}}
}

// violation returns what a parser with these rules refuses, and how to fix it, "" for nothing.
func (r jsonRules) violation(data []byte) (what, fix string) {
	if bytes.HasPrefix(data, bom) && !r.mark {
		return "the file begins with a byte order mark", "save the file as UTF-8 without a byte order mark"
	}
	data = bytes.TrimPrefix(data, bom)
	comment, comma := leniencies(data)
	switch {
	case comment > 0 && !r.comments:
		return fmt.Sprintf("line %d contains a comment", comment), "remove the comment"
	case comma > 0 && !r.commas:
		return fmt.Sprintf("line %d contains a comma before a closing bracket", comma), "remove the comma"
	case comment > 0 || comma > 0 || !r.unique && r.keys == "":
		return "", ""
	}
	return r.badKeys(data)
}

// badKeys returns a top-level key that a parser refuses.
func (r jsonRules) badKeys(data []byte) (what, fix string) {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return "", "" // an empty file
	}
	var seen []string
	for d.More() {
		token, err := d.Token()
		var value json.RawMessage
		key, ok := token.(string)
		if err != nil || !ok || d.Decode(&value) != nil {
			return "", "" // the caller has parsed the file
		}
		switch {
		case r.unique && slices.Contains(seen, key):
			return fmt.Sprintf("the key %q is duplicated", key), "keep only one of the keys"
		case r.keys != "" && !slices.Contains(strings.Fields(r.keys), key):
			return fmt.Sprintf("the key %q is unknown", key), "remove the key"
		}
		seen = append(seen, key)
	}
	return "", ""
}

// leniencies returns the first lines with a comment, and with a comma before a closing bracket, 0 for none.
func leniencies(data []byte) (comment, comma int) {
	line := 1
	last, lastLine := byte(0), 0 // the last byte that is neither space nor in a comment, and its line
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '\n':
			line++
		case ' ', '\t', '\r':
		case '/':
			if comment == 0 {
				comment = line
			}
			end := endOfComment(data, i)
			line += bytes.Count(data[i:end], []byte("\n"))
			i = end - 1
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			last = c
		default:
			if (c == '}' || c == ']') && last == ',' && comma == 0 {
				comma = lastLine
			}
			last, lastLine = c, line
		}
	}
	return comment, comma
}

// endOfComment returns the offset after the comment at an offset. The end of the line does not belong to a comment.
func endOfComment(data []byte, start int) int {
	closing, length := "\n", 0
	if bytes.HasPrefix(data[start:], []byte("/*")) {
		closing, length = "*/", len("*/")
	}
	body := min(start+len("//"), len(data))
	n := bytes.Index(data[body:], []byte(closing))
	if n < 0 {
		return len(data)
	}
	return body + n + length
}
