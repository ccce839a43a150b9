package evalfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// listKeys are the keys under which files have their entries. The guide of agentskills.io uses the first one.
var listKeys = []string{"evals", "evaluations", "cases", "test_cases", "queries"}

// Keys of an object with two lists of prompts.
const (
	triggerKey   = "should_trigger"
	noTriggerKey = "should_not_trigger"
)

// parser reads one file.
type parser struct {
	suite   *Suite
	skill   fs.FS
	path    string
	data    []byte
	unknown []string // names of fields that are not used
	known   map[string]bool
	errs    []error

	entriesRead int
}

// add reads a file into the suite.
func (s *Suite) add(skill fs.FS, name string, data []byte) error {
	p := &parser{suite: s, skill: skill, path: name, data: data, known: map[string]bool{"$schema": true}}
	if err := jsonx.Check(data, jsonx.Options{}); err != nil {
		line := 1
		if wrong, ok := errors.AsType[*jsonx.Error](err); ok {
			line = wrong.Line
		}
		return Position{name, line}.errorf("%s", err)
	}
	p.file()
	if len(p.unknown) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s:1: skillpm does not use %s: %s", name,
			textx.CountOf(len(p.unknown), "field", "fields"), textx.FirstAndMore(p.unknown, maxUnknown)))
	}
	return errors.Join(p.errs...)
}

// value is a JSON value with its offset in the file.
type value struct {
	raw    json.RawMessage
	offset int
}

func (p *parser) at(v value) Position {
	return Position{p.path, 1 + bytes.Count(p.data[:v.offset], []byte("\n"))}
}

func (p *parser) wrongf(v value, format string, args ...any) { p.wrong(v, "", format, args...) }

// wrong records an error with a hint, which may be empty. After the first errors of a file, it does nothing.
func (p *parser) wrong(v value, hint, format string, args ...any) {
	if len(p.errs) < maxErrors {
		text := textx.Truncate(fmt.Sprintf(format, args...), maxMessage)
		p.errs = append(p.errs, p.at(v).errorf("%s", text).WithHint("%s", hint))
	}
}

// members returns the members of an object or array.
func (v value) members() (list []jsonx.Member) {
	for m := range jsonx.Members(v.raw) {
		m.Offset += v.offset
		list = append(list, m)
	}
	return list
}

func valueOf(m jsonx.Member) value { return value{m.Value, m.Offset} }

func (v value) isArray() bool  { return len(v.raw) > 0 && v.raw[0] == '[' }
func (v value) isObject() bool { return len(v.raw) > 0 && v.raw[0] == '{' }

// ignore notes that a field is not used.
func (p *parser) ignore(key string) {
	if key = textx.Truncate(key, 40); !p.known[key] {
		p.known[key] = true
		p.unknown = append(p.unknown, key)
	}
}

// file reads the entries: those of a list, or of an object that has one.
func (p *parser) file() {
	start := len(p.data) - len(bytes.TrimLeft(p.data, " \t\r\n"))
	top := value{p.data[start:], start}
	if top.isArray() {
		p.entries(top, nil)
		return
	}
	found := false
	for _, m := range top.members() {
		yes, no := true, false
		switch v := valueOf(m); {
		case m.Key == triggerKey && v.isArray():
			p.entries(v, &yes)
		case m.Key == noTriggerKey && v.isArray():
			p.entries(v, &no)
		case !found && slices.Contains(listKeys, m.Key) && v.isArray():
			p.entries(v, nil)
		case m.Key == "skill_name":
			continue
		default:
			p.ignore(m.Key)
			continue
		}
		found = true
	}
	if !found {
		p.wrong(top, schemaHint, "the file does not contain a list of %q", listKeys[0])
	}
}

// entry is an entry before it is known to be a task or a query.
type entry struct {
	Task

	trigger    *bool
	split      string
	name       string
	assertions []Grader
}

// entries reads a list. Trigger is what its entries have in common, nil if each has its own.
func (p *parser) entries(list value, trigger *bool) {
	for _, m := range list.members() {
		v := valueOf(m)
		if p.entriesRead == maxEntries {
			p.wrongf(v, "the file has more than %d entries", maxEntries)
		}
		if p.entriesRead >= maxEntries || len(p.errs) == maxErrors {
			return
		}
		e := entry{trigger: trigger, split: p.splitOf()}
		e.Position = p.at(v)
		before := len(p.errs)
		p.entriesRead++
		switch {
		case v.isObject():
			p.fields(v, &e)
		case trigger != nil:
			e.Prompt = p.text(v, "an entry")
		default:
			p.wrongf(v, "an entry must be an object with a prompt")
		}
		if strings.TrimSpace(e.Prompt) == "" && len(p.errs) == before {
			p.wrongf(v, "the entry does not have a prompt")
		}
		if len(p.errs) == before {
			p.append(v, e)
		}
	}
}

// splitOf returns the part of the queries that the file has by its name, as in train_queries.json.
func (p *parser) splitOf() string {
	for _, split := range []string{splitTrain, splitValidation} {
		if strings.Contains(strings.ToLower(path.Base(p.path)), split) {
			return split
		}
	}
	return ""
}

// append adds a complete entry to the suite.
func (p *parser) append(v value, e entry) {
	if e.ID == "" {
		if e.ID = e.name; e.ID == "" {
			e.ID = strconv.Itoa(p.entriesRead)
		}
	}
	if !isTaskFile(p.path) {
		e.ID = strings.TrimSuffix(path.Base(p.path), path.Ext(p.path)) + "/" + e.ID
	}
	if e.trigger != nil {
		p.suite.Queries = append(p.suite.Queries,
			Query{Position: e.Position, ID: e.ID, Prompt: e.Prompt, ShouldTrigger: *e.trigger, Split: e.split})
		return
	}
	if !isTaskFile(p.path) {
		p.wrongf(v, "the query does not have %q", triggerKey)
		return
	}
	e.Graders = append(e.Graders, e.assertions...)
	p.suite.Tasks = append(p.suite.Tasks, e.Task)
}

// fields reads the fields of an entry. Several programs use other names for the same fields.
func (p *parser) fields(object value, e *entry) {
	for _, m := range object.members() {
		v := valueOf(m)
		if string(m.Value) == "null" {
			continue
		}
		switch m.Key {
		case "id":
			e.ID = p.id(v)
		case "name", "eval_name":
			e.name = p.text(v, m.Key)
		case "prompt", "query", "task", "input":
			e.Prompt = p.text(v, m.Key)
		case "should_trigger":
			e.trigger = new(bool)
			p.decode(v, e.trigger, m.Key, "true or false")
		case "split":
			if e.split = p.text(v, m.Key); e.split != splitTrain && e.split != splitValidation {
				p.wrongf(v, "unknown split %q: use train or validation", e.split)
			}
		case "expected_output":
			e.Expected = p.text(v, m.Key)
		case "files", "input_files":
			p.files(v, e)
		case "fixture":
			e.Fixture = p.fixture(v)
		case "assertions", "expectations", "expected_behavior":
			p.assertions(v, e)
		case "graders":
			p.graders(v, e)
		default:
			p.ignore(m.Key)
		}
	}
}

// decode decodes a value. Kind is what it must be, in words.
func (p *parser) decode(v value, into any, what, kind string) {
	if err := json.Unmarshal(v.raw, into); err != nil {
		p.wrongf(v, "%s must be %s", what, kind)
	}
}

func (p *parser) text(v value, what string) (text string) {
	p.decode(v, &text, what, "text")
	return text
}

// id reads an id, which is text or a number.
func (p *parser) id(v value) string {
	var number json.Number
	if v.raw[0] != '"' && json.Unmarshal(v.raw, &number) == nil {
		return number.String()
	}
	return p.text(v, "id")
}

// assertions reads statements about the result: texts, or objects with a text.
func (p *parser) assertions(list value, e *entry) {
	if list.raw[0] == '"' {
		p.assertion(list, e)
		return
	}
	if !list.isArray() {
		p.wrongf(list, "assertions must be a list")
	}
	for _, m := range list.members() {
		p.assertion(valueOf(m), e)
	}
}

func (p *parser) assertion(v value, e *entry) {
	text := ""
	if v.isObject() {
		for _, m := range v.members() {
			switch m.Key {
			case "text", "description", "assertion":
				text = p.text(valueOf(m), m.Key)
			case "id", "name":
			default:
				p.ignore("assertions." + m.Key)
			}
		}
	} else {
		text = p.text(v, "an assertion")
	}
	if strings.TrimSpace(text) == "" {
		p.wrongf(v, "the assertion does not have a text")
		return
	}
	e.assertions = append(e.assertions, Grader{Type: Judge, Text: &text})
}
