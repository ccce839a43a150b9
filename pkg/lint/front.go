package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
	"github.com/skillpm/skillpm/pkg/skill"
)

// checkFrontmatter checks the frontmatter under one profile.
func (u *skillCheck) checkFrontmatter(j *profileSchema) {
	if u.doc.Front == nil {
		return
	}
	found, err := j.schema.Check(u.doc.Front)
	if err != nil {
		u.add(finding{
			rule: rule.Schema, src: u.src, line: u.doc.Front.Line, column: u.doc.Front.Column,
			message: "cannot check the frontmatter: " + err.Error(), profile: j.ID,
		})
	}
	reported := map[*yaml.Node]bool{}
	for _, v := range found {
		if v.Node != nil && (u.doc.Recovered(v.Node) || reported[v.Node]) {
			continue
		}
		if u.reportViolation(j, v) {
			reported[v.Node] = true
		}
	}
	u.checkNameIsDirectory(j)
	u.checkToolForm(j)
	u.checkRecommended(j)
	u.checkListing(j)
}

// reportViolation turns one broken keyword into findings. It reports whether nothing more needs saying about the node.
func (u *skillCheck) reportViolation(j *profileSchema, v yamlschema.Violation) bool {
	switch {
	case v.Needs != "":
		u.reportCombination(j, v)
		return false
	case v.Keyword == "required":
		u.reportMissing(j, v)
		return false
	case v.Keyword == "additionalProperties":
		u.collectUnknownKeys(j, v)
		return false
	case isBlank(v.Node) && slices.Contains([]string{"minLength", "pattern", "enum", "type"}, v.Keyword):
		u.reportBlank(j, v)
		return true
	}
	f := finding{rule: rule.Schema, profile: j.ID}
	field := fieldName(v.Pointer)
	switch v.Keyword {
	case "type":
		f = u.typeFinding(j, v, field)
	case "enum":
		f = u.enumFinding(v, field)
	case "maxLength":
		f.rule = rule.TooLong
		f.message = fmt.Sprintf("%s has %d characters; the limit is %v", field, length(v.Node), v.Rule["maxLength"])
	case "pattern":
		f = u.patternFinding(v, field)
	case "not":
		f = notFinding(v, field)
	case "uniqueItems":
		f.message = field + " contains a duplicate entry"
		f.fix = "remove the duplicate entry"
	default:
		f.message = fmt.Sprintf("%s violates the rule \"%s: %v\" of the schema", field, v.Keyword, v.Rule[v.Keyword])
	}
	f.profile = j.ID
	u.atNode(v.Node, f)
	return false
}

// fieldName writes a JSON pointer as a path: files[0].path.
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
	return n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!null" || n.ShortTag() == "!!str" &&
		strings.TrimSpace(n.Value) == "")
}

func (u *skillCheck) reportBlank(j *profileSchema, v yamlschema.Violation) {
	if v.Pointer == "/allowed-tools" {
		return // an error under every profile: checkTools
	}
	f := finding{rule: rule.Empty, message: fieldName(v.Pointer) + " does not have a value", profile: j.ID}
	if slices.Contains(yamlschema.Texts(j.schema.Raw["required"]), strings.TrimPrefix(v.Pointer, "/")) {
		f.fix = "set a value"
	}
	if d := j.Downgraded(v.Pointer, v.Keyword, yamlschema.TypeOf(v.Node)); d != nil &&
		!slices.Contains(yamlschema.Texts(j.schema.Raw["required"]), v.Pointer[1:]) {
		f.rule, f.severity = d.Rule, &d.Severity
	}
	u.atNode(orKey(v), f)
}

// orKey returns the node to point at: the value, or its key where the value takes no place.
func orKey(v yamlschema.Violation) *yaml.Node {
	if v.Key != nil && v.Node.Kind == yaml.ScalarNode && v.Node.Value == "" && v.Node.Style == 0 {
		return v.Key
	}
	return v.Node
}

func (u *skillCheck) reportMissing(j *profileSchema, v yamlschema.Violation) {
	if v.Pointer == "" && u.broken() {
		return
	}
	for _, name := range yamlschema.Texts(v.Rule["required"]) {
		if key, _ := yamlschema.Descend(v.Node, name); key != nil {
			continue
		}
		f := finding{
			rule: rule.Missing, message: name + " is missing", fix: "add a line " + name + ": …",
			profile: j.ID,
		}
		if v.Pointer != "" {
			f.message = fieldName(v.Pointer) + " does not have the field " + name
			u.atNode(v.Node, f)
			continue
		}
		if name == "name" {
			if s := skill.Slug(path.Base(u.dir)); s != "" {
				f.fix = "add a line name: " + s
				if s == path.Base(u.dir) {
					f.edits = u.rename(s)
				}
			}
		}
		f.src, f.line, f.column, f.width = u.src, u.doc.FrontLine-1, 1, 3
		u.add(f)
	}
}

// maxUnknown is how many unknown fields of one mapping are reported.
const maxUnknown = 100

func (u *skillCheck) collectUnknownKeys(j *profileSchema, v yamlschema.Violation) {
	fields := yamlschema.FieldNames(v.Rule)
	seen := map[string]bool{}
	for i := 0; i+1 < len(v.Node.Content) && len(seen) < maxUnknown; i += 2 {
		key := v.Node.Content[i]
		if slices.Contains(fields, key.Value) || seen[key.Value] {
			continue
		}
		seen[key.Value] = true
		f := finding{rule: rule.Unknown, profile: j.ID}
		if d := j.Downgraded(v.Pointer, v.Keyword, ""); d != nil {
			f.rule, f.severity = d.Rule, &d.Severity
		}
		agents := u.l.agentFields()[key.Value]
		if v.Pointer == "" && len(agents) > 0 && !j.Preset {
			u.addForeignField(key, j, agents)
			continue
		}
		if near := suggest(key.Value, fields); near != "" && !hasKey(v.Node, near) {
			f.fix = fmt.Sprintf("did you mean %s?", near)
		} else if near := suggest(key.Value, u.l.fields()); v.Pointer == "" && near != "" && !hasKey(v.Node, near) &&
			key.Value != near+"s" { // a list of several
			f.fix = fmt.Sprintf("did you mean %s, a field of %s?", near, strings.Join(u.l.agentFields()[near], ", "))
		}
		if v.Pointer == "" && u.brokenLine > 0 && key.Line >= u.brokenLine &&
			(f.fix == "" || key.Value != strings.ToLower(key.Value)) {
			continue // probably a word of a broken value above, and not a key
		}
		u.unknownKeys = append(u.unknownKeys, unknownKey{key, j, f})
	}
}

func hasKey(mapping *yaml.Node, key string) bool {
	k, _ := yamlschema.Descend(mapping, key)
	return k != nil
}

// unknownKey is a field that no agent knows, under one profile.
type unknownKey struct {
	key     *yaml.Node
	profile *profileSchema
	finding
}

// reportUnknownFields reports each field that no agent knows, once for all profiles with the same severity and fix.
func (u *skillCheck) reportUnknownFields() {
	for len(u.unknownKeys) > 0 {
		first := u.unknownKeys[0]
		var titles, ids []string
		u.unknownKeys = slices.DeleteFunc(u.unknownKeys, func(s unknownKey) bool {
			same := s.key == first.key && s.rule == first.rule && s.fix == first.fix &&
				equalSeverity(s.severity, first.severity)
			if same {
				titles, ids = append(titles, s.profile.Title), append(ids, s.profile.ID)
			}
			return same
		})
		f := first.finding
		f.profile = strings.Join(ids, ",")
		f.message = fmt.Sprintf("%q is not a field of %s", first.key.Value, strings.Join(titles, ", "))
		u.atNode(first.key, f)
	}
}

func equalSeverity(a, b *diag.Severity) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// foreignField is a field that only agents outside the selected profiles know.
type foreignField struct {
	key      *yaml.Node
	agents   []string
	profiles []*profileSchema // the profiles that do not know it
}

func (u *skillCheck) addForeignField(key *yaml.Node, j *profileSchema, agents []string) {
	i := slices.IndexFunc(u.foreignFields, func(f foreignField) bool { return f.key == key })
	if i < 0 {
		u.foreignFields = append(u.foreignFields, foreignField{key, agents, nil})
		i = len(u.foreignFields) - 1
	}
	u.foreignFields[i].profiles = append(u.foreignFields[i].profiles, j)
}

// reportForeignFields reports each field of other agents once, with the profiles whose agents do not have it.
func (u *skillCheck) reportForeignFields() {
	for _, f := range u.foreignFields {
		if f.key.Value == "execution" {
			if at, why := u.doc.UnreadExecution(); at != nil {
				u.atNode(at, finding{
					rule: rule.Value, severity: new(diag.SeverityError), message: why +
						"; skillpm skips skills with an invalid sandbox request",
					fix: "write execution: {sandbox: true}, with allowed-paths and network as lists",
				})
				continue
			}
		}
		var titles, ids []string
		for _, j := range f.profiles {
			titles, ids = append(titles, j.Title), append(ids, j.ID)
		}
		found := finding{
			rule: rule.OtherHost, severity: new(diag.SeverityNote), profile: strings.Join(ids, ","),
			message: fmt.Sprintf("%q has no effect in %s; it is a field of %s", f.key.Value, strings.Join(titles, ", "),
				strings.Join(f.agents, ", ")),
		}
		if u.doc.Applies(f.key.Value) {
			found.message = fmt.Sprintf("%q is not a field of %s, but skillpm applies it; it is a field of %s", f.key.Value,
				strings.Join(titles, ", "), strings.Join(f.agents, ", "))
			found.fix = "keep the field if it should apply wherever skillpm serves the skill; otherwise remove it"
		}
		u.atNode(f.key, found)
	}
}

func (u *skillCheck) reportCombination(j *profileSchema, v yamlschema.Violation) {
	message := v.Needs + " has no effect without another field"
	for _, v0 := range slices.Backward(v.Context) {
		if s, ok := v0["x-error"].(string); ok {
			message = s
			break
		}
	}
	key, _ := yamlschema.Descend(u.doc.Front, v.Needs)
	if key != nil {
		u.atNode(key, finding{rule: rule.Combination, message: message, profile: j.ID})
	}
}

var typeWords = map[string]string{
	"text": "text", "number": "a number", "boolean": "true or false", "date": "a date", "null": "empty",
	"list": "a list", "mapping": "a mapping", "string": "text", "array": "a list", "object": "a mapping",
	"integer": "a whole number",
}

func (u *skillCheck) typeFinding(j *profileSchema, v yamlschema.Violation, field string) finding {
	var want []string
	for _, t := range append(yamlschema.Texts(v.Rule["type"]), yamlschema.Texts([]any{v.Rule["type"]})...) {
		want = append(want, typeWords[t])
	}
	actual := yamlschema.TypeOf(v.Node)
	f := finding{rule: rule.Type, message: fmt.Sprintf("%s must be %s, not %s", field, strings.Join(want, " or "),
		typeWords[actual])}
	wantsText := slices.Contains(want, "text")
	switch {
	case wantsText && isPlaceholder(v.Node):
		f.severity = new(diag.SeverityNote)
		f.message = field + " is a placeholder of a template, which YAML reads as a mapping"
		f.fix = "fill in the template, or use double quotes around the placeholder"
		return f
	case wantsText && v.Node.Kind == yaml.ScalarNode && v.Key != nil:
		f.fix = fmt.Sprintf("use double quotes: %s: %q", v.Key.Value, v.Node.Value)
		f.edits = u.quote(v.Node)
	case wantsText && (actual == "list" || actual == "mapping"):
		f.fix = "use one text instead of a " + actual
	case actual == "text" && slices.Contains(want, "true or false"):
		f.fix = "write true or false without quotes"
	case actual == "text" && slices.Contains(want, "a list") && v.Key != nil:
		f.fix = fmt.Sprintf("use a list: %s: [%s]", v.Key.Value, strings.Join(tools(v.Node.Value), ", "))
	}
	if d := j.Downgraded(v.Pointer, v.Keyword, actual); d != nil {
		f.rule, f.severity = d.Rule, &d.Severity
		if d.Rule == rule.ToolForm {
			f.fix = "write the tools in one line, separated by spaces: " + v.Key.Value + ": " + strings.Join(items(v.Node), " ")
			f.edits = u.oneText(v.Key.Value, v.Node)
		}
	}
	return f
}

// isPlaceholder reports whether a value is written as {{name}}: a mapping whose only key is a mapping.
func isPlaceholder(n *yaml.Node) bool {
	isFlow := func(n *yaml.Node) bool { return n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 }
	return isFlow(n) && len(n.Content) == 2 && isFlow(n.Content[0])
}

func (u *skillCheck) enumFinding(v yamlschema.Violation, field string) finding {
	allowed := yamlschema.Texts(v.Rule["enum"])
	f := finding{rule: rule.Value, message: fmt.Sprintf("%s must be one of %s, not %q", field,
		strings.Join(allowed, ", "), v.Node.Value)}
	if v.Node.Kind != yaml.ScalarNode {
		f.message = fmt.Sprintf("%s must be one of %s, not %s", field, strings.Join(allowed, ", "),
			typeWords[yamlschema.TypeOf(v.Node)])
	}
	if near := suggest(v.Node.Value, allowed); near != "" {
		f.fix = fmt.Sprintf("did you mean %s?", near)
	}
	return f
}

func (u *skillCheck) patternFinding(v yamlschema.Violation, field string) finding {
	if field == "name" {
		f := finding{rule: rule.Name, message: field + " has an invalid format"}
		name := []rune(v.Node.Value)
		if err := skill.CheckName(string(name[:min(len(name), skill.MaxName)])); err != nil {
			f.message = err.Error()
		}
		if s := skill.Slug(v.Node.Value); s != "" {
			f.fix = "write name: " + s
		}
		if dir := path.Base(u.dir); skill.LegalName(dir) && !slices.Contains(genericDirs, dir) {
			f.fix = "write name: " + dir
			f.edits, f.suggest = u.rename(dir), true
		}
		return f
	}
	f := finding{rule: rule.Schema, message: fmt.Sprintf("%s does not match the pattern %v", field, v.Rule["pattern"])}
	if custom, ok := v.Rule["x-error"].(map[string]any); ok {
		if s, ok := custom["pattern"].(string); ok {
			f.message = field + " " + s
			f.fix = "rewrite the value"
		}
	}
	return f
}

// notFinding is the finding for a value that a schema's "not" forbids. The schema has its message in x-error.not, and
// in x-rule.not the rule that reports it.
func notFinding(v yamlschema.Violation, field string) finding {
	f := finding{rule: rule.Schema, message: field + " has a value that is not allowed"}
	if custom, ok := v.Rule["x-error"].(map[string]any); ok {
		if s, ok := custom["not"].(string); ok {
			f.message = field + " " + s
		}
	}
	if ids, ok := v.Rule["x-rule"].(map[string]any); ok {
		if id, ok := ids["not"].(string); ok {
			f.rule = id
		}
	}
	return f
}
