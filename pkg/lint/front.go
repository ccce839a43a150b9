package lint

import (
	"fmt"
	"github.com/skillpm/skillpm/pkg/lint/rule"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// judge checks the frontmatter under one profile.
func (u *unit) judge(j *judge) {
	if u.doc.Front == nil {
		return
	}
	found, err := j.violations(u.doc.Front)
	if err != nil {
		u.add(finding{
			rule: rule.Schema, src: u.src, line: u.doc.Front.Line, column: u.doc.Front.Column,
			message: "the frontmatter cannot be checked: " + err.Error(), profile: j.ID,
		})
	}
	said := map[*yaml.Node]bool{}
	for _, v := range found {
		if v.node != nil && (u.doc.Recovered(v.node) || said[v.node]) {
			continue
		}
		if u.violation(j, v) {
			said[v.node] = true
		}
	}
	u.nameIsDirectory(j)
	u.toolForm(j)
	u.recommended(j)
	u.listing(j)
}

// violation turns one broken keyword into findings. It reports whether nothing more needs saying about the node.
func (u *unit) violation(j *judge, v violation) bool {
	switch {
	case v.needs != "":
		u.combination(j, v)
		return false
	case v.keyword == "required":
		u.missing(j, v)
		return false
	case v.keyword == "additionalProperties":
		u.unknown(j, v)
		return false
	case isBlank(v.node) && slices.Contains([]string{"minLength", "pattern", "enum", "type"}, v.keyword):
		u.blank(j, v)
		return true
	}
	f := finding{rule: rule.Schema, profile: j.ID}
	field := fieldName(v.pointer)
	switch v.keyword {
	case "type":
		f = u.wrongType(j, v, field)
	case "enum":
		f = u.notAllowed(v, field)
	case "maxLength":
		f.rule = rule.TooLong
		f.message = fmt.Sprintf("%s has %d characters, more than %v", field, length(v.node), v.rule["maxLength"])
	case "pattern":
		f = pattern(v, field)
	case "uniqueItems":
		f.message = field + " lists something twice"
		f.fix = "remove the repetition"
	default:
		f.message = fmt.Sprintf("%s does not satisfy %s: %v", field, v.keyword, v.rule[v.keyword])
	}
	f.profile = j.ID
	u.atNode(v.node, f)
	return false
}

// fieldName writes a JSON pointer as people do: files[0].path.
func fieldName(pointer string) string {
	if pointer == "" {
		return "the frontmatter"
	}
	var b strings.Builder
	for i, step := range strings.Split(pointer[1:], "/") {
		switch {
		case step != "" && strings.Trim(step, "0123456789") == "" && i > 0:
			b.WriteString("[" + step + "]")
		case i > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
	}
	return b.String()
}

func length(n *yaml.Node) int { return utf8.RuneCountInString(skill.ScalarText(n)) }

// isBlank reports whether a node is null or text of nothing but space.
func isBlank(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!null" || n.ShortTag() == "!!str" && strings.TrimSpace(n.Value) == "")
}

func (u *unit) blank(j *judge, v violation) {
	f := finding{rule: rule.Empty, message: fieldName(v.pointer) + " has no value", profile: j.ID}
	if d := j.Downgraded(v.pointer, v.keyword, typeOf(v.node)); d != nil && !slices.Contains(texts(j.raw["required"]), v.pointer[1:]) {
		f.rule, f.severity = d.Rule, &d.Severity
	}
	u.atNode(orKey(v), f)
}

// orKey returns the node to point at: the value, or its key where the value takes no place.
func orKey(v violation) *yaml.Node {
	if v.key != nil && v.node.Kind == yaml.ScalarNode && v.node.Value == "" && v.node.Style == 0 {
		return v.key
	}
	return v.node
}

func (u *unit) missing(j *judge, v violation) {
	if v.pointer == "" && u.broken() {
		return
	}
	for _, name := range texts(v.rule["required"]) {
		if key, _ := descend(v.node, name); key != nil {
			continue
		}
		f := finding{rule: rule.Missing, message: name + " is missing", fix: "add a line " + name + ": …", profile: j.ID}
		if v.pointer != "" {
			f.message = fieldName(v.pointer) + " has no " + name
			u.atNode(v.node, f)
			continue
		}
		if name == "name" {
			if s := skill.Slug(path.Base(u.dir)); s != "" {
				f.fix = "add a line name: " + s
			}
		}
		f.src, f.line, f.column, f.width = u.src, u.doc.FrontLine-1, 1, 3
		u.add(f)
	}
}

func (u *unit) unknown(j *judge, v violation) {
	known := fieldNames(v.rule)
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := v.node.Content[i]
		if slices.Contains(known, key.Value) {
			continue
		}
		f := finding{rule: rule.Unknown, message: fmt.Sprintf("%q is not a field of %s", key.Value, j.Title), profile: j.ID}
		if d := j.Downgraded(v.pointer, v.keyword, ""); d != nil {
			f.rule, f.severity = d.Rule, &d.Severity
		}
		hosts := u.l.hosts()[key.Value]
		near := suggest(key.Value, known)
		switch {
		case v.pointer == "" && len(hosts) > 0:
			f.rule, f.severity = rule.OtherHost, new(diag.SeverityAdvice)
			f.message = fmt.Sprintf("%q has no effect in %s; it is a field of %s", key.Value, j.Title, strings.Join(hosts, ", "))
		case near != "":
			f.fix = fmt.Sprintf("did you mean %s?", near)
		}
		u.atNode(key, f)
	}
}

func (u *unit) combination(j *judge, v violation) {
	message := v.needs + " has no meaning without another field"
	for _, v0 := range slices.Backward(v.context) {
		if s, ok := v0["x-error"].(string); ok {
			message = s
			break
		}
	}
	key, _ := descend(u.doc.Front, v.needs)
	if key != nil {
		u.atNode(key, finding{rule: rule.Combination, message: message, profile: j.ID})
	}
}

var typeWords = map[string]string{
	"text": "text", "number": "a number", "boolean": "true or false", "date": "a date", "null": "nothing",
	"list": "a list", "mapping": "a mapping", "string": "text", "array": "a list", "object": "a mapping", "integer": "a whole number",
}

func (u *unit) wrongType(j *judge, v violation, field string) finding {
	var want []string
	for _, t := range append(texts(v.rule["type"]), texts([]any{v.rule["type"]})...) {
		want = append(want, typeWords[t])
	}
	got := typeOf(v.node)
	f := finding{rule: rule.Type, message: fmt.Sprintf("%s must be %s, not %s", field, strings.Join(want, " or "), typeWords[got])}
	wantsText := slices.Contains(want, "text")
	switch {
	case wantsText && v.node.Kind == yaml.ScalarNode && v.key != nil:
		f.fix = fmt.Sprintf("put it in double quotes: %s: %q", v.key.Value, v.node.Value)
	case wantsText && got == "list":
		f.fix = "write it as one text"
	case got == "text" && slices.Contains(want, "true or false"):
		f.fix = "write true or false without quotes"
	case got == "text" && slices.Contains(want, "a list") && v.key != nil:
		f.fix = fmt.Sprintf("write it as a list: %s: [%s]", v.key.Value, strings.Join(tools(v.node.Value), ", "))
	}
	if d := j.Downgraded(v.pointer, v.keyword, got); d != nil {
		f.rule, f.severity = d.Rule, &d.Severity
		if d.Rule == rule.ToolForm {
			f.fix = "write the tools in one line, separated by spaces: " + v.key.Value + ": " + strings.Join(items(v.node), " ")
		}
	}
	return f
}

func (u *unit) notAllowed(v violation, field string) finding {
	allowed := texts(v.rule["enum"])
	f := finding{rule: rule.Value, message: fmt.Sprintf("%s must be one of %s, not %q", field, strings.Join(allowed, ", "), v.node.Value)}
	if v.node.Kind != yaml.ScalarNode {
		f.message = fmt.Sprintf("%s must be one of %s, not %s", field, strings.Join(allowed, ", "), typeWords[typeOf(v.node)])
	}
	if near := suggest(v.node.Value, allowed); near != "" {
		f.fix = fmt.Sprintf("did you mean %s?", near)
	}
	return f
}

func pattern(v violation, field string) finding {
	if field == "name" {
		f := finding{rule: rule.Name, message: field + " has a form that is not allowed"}
		if err := skill.CheckName(cut(v.node.Value, skill.MaxName)); err != nil {
			f.message = err.Error()
		}
		if s := skill.Slug(v.node.Value); s != "" {
			f.fix = "write name: " + s
		}
		return f
	}
	f := finding{rule: rule.Schema, message: fmt.Sprintf("%s does not have the form %v", field, v.rule["pattern"])}
	if said, ok := v.rule["x-error"].(map[string]any); ok {
		if s, ok := said["pattern"].(string); ok {
			f.message = field + " " + s
			f.fix = "rewrite the value"
		}
	}
	return f
}

// cut returns the first n code points of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
