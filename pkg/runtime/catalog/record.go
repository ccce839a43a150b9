package catalog

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// record has what the catalog needs of a SKILL.md, independent of the profile. The index stores records.
type record struct {
	name        string // as declared
	description string // as declared, on one line
	paragraph   string // first paragraph of the body, if there is no description
	when        string
	hint        string
	agent       string
	model       string

	tags, agents, tenants, environments []string

	tools    []string // patterns of allowed-tools
	toolsets []string

	requires *skill.Requirements // without what the catalog does not check; nil for none

	priority float64
	flags    flags

	fatal    string // why no profile can use the skill, "" if one can
	line     int    // line of the fatal problem, 0 for the whole file
	problems []problem
}

type flags uint8

const (
	modelOff      flags = 1 << iota // disable-model-invocation: true
	userOff                         // user-invocable: false
	forks                           // context: fork
	noFrontmatter                   // the file has no frontmatter
	restricts                       // there is a list of allowed tools, possibly empty
)

// problem is a finding about one file, without its path.
type problem struct {
	rule     string
	severity diag.Severity
	line     int
	message  string
	fix      string
}

// The rules of findings. docs/troubleshooting.md lists them.
const (
	ruleFile      = "CA001" // SKILL.md cannot be read
	ruleFront     = "CA002" // the frontmatter is not valid
	ruleRequired  = "CA003" // a required field is missing
	ruleName      = "CA004" // the name is not valid
	ruleValue     = "CA005" // a field's value is not valid
	ruleLock      = "CA007" // a lockfile is missing or cannot be read
	ruleMany      = "CA008" // too many skills
	ruleDirectory = "CA009" // a directory cannot be read
	ruleTrust     = "CA010" // the project is not trusted
)

// RuleConflict is the rule of findings about packs that have skills of one name.
const RuleConflict = "CA006"

// Limits on what a record keeps of one file.
const (
	maxText     = 4 << 10  // bytes of a description
	maxShort    = 512      // bytes of other texts
	maxItems    = 64       // entries of a list
	maxProblems = 8        // findings about one file
	maxFront    = 64 << 10 // bytes of a frontmatter, 30 times as many as real skills have
)

const (
	allowedTools    = "allowed-tools"
	disallowedTools = "disallowed-tools"
)

// restrictingFields are the fields that restrict what a skill may do or who may use it. A skill with an invalid one is
// not used.
var restrictingFields = [...]string{
	allowedTools, disallowedTools, "disable-model-invocation", "user-invocable", "scope", "context", "hooks",
	"execution",
}

// newRecord makes the record of a file from its head, which includes all of the frontmatter.
func newRecord(head []byte) *record {
	r := &record{}
	if readSimple(r, head) {
		return r
	}
	*r = record{}
	doc, problems := skill.Parse(head)
	r.check(doc, problems)
	if r.fatal != "" {
		return r
	}
	r.fields(doc)
	return r
}

// check records the file's problems. It sets fatal if a restriction may be lost.
func (r *record) check(doc *skill.Document, problems []skill.Problem) {
	for _, p := range problems {
		switch p.Kind {
		case skill.NoFrontmatter:
			r.flags |= noFrontmatter
			continue
		case skill.ByteOrderMark:
			continue // the profile reports missing fields
		case skill.Unclosed, skill.NotMapping:
			r.fatal, r.line = p.Message, p.Line
			return
		case skill.NotUTF8:
			if p.Line < doc.BodyLine {
				r.fatal, r.line = "the frontmatter is not valid UTF-8", p.Line
				return
			}
			continue
		}
		r.problem(ruleFront, p.Line, p.Message, p.Fix)
	}
	for _, key := range restrictingFields {
		if _, v := doc.Lookup(key); v != nil && doc.Recovered(v) {
			r.fatal, r.line = key+" is not valid YAML, but limits what the skill may do", v.Line
			return
		}
	}
	r.rejectMergeKeys(doc)
	if r.fatal == "" {
		r.checkTools(doc)
	}
	if r.fatal == "" {
		if node, why := doc.UnreadExecution(); node != nil {
			r.fatal, r.line = flat(why+", but execution limits what the skill may do", maxShort), node.Line
		}
	}
}

// rejectMergeKeys rejects YAML merge keys that could add restrictions, because nothing here expands them.
func (r *record) rejectMergeKeys(doc *skill.Document) {
	in := []*yaml.Node{doc.Front}
	for _, key := range restrictingFields {
		in = append(in, lookup(doc, key))
	}
	for _, n := range in {
		if n == nil || n.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i < len(n.Content); i += 2 {
			if key := n.Content[i]; key.ShortTag() == "!!merge" {
				r.fatal, r.line = "skillpm does not support merge keys (<<), which could limit what the skill may do",
					key.Line
				return
			}
		}
	}
}

// checkTools records the allowed tools. It rejects tool lists that an activation could not parse.
func (r *record) checkTools(doc *skill.Document) {
	for _, key := range [...]string{allowedTools, disallowedTools} {
		v := lookup(doc, key)
		if v == nil {
			continue
		}
		if node, why := doc.UnreadTools(key); node != nil {
			r.fatal, r.line = why+", so skillpm cannot decide which tools the skill may use", node.Line
			return
		}
		if err := r.setTools(key, texts(v, "")); err != nil {
			r.fatal, r.line = flat(strings.Replace(err.Error(), allowedTools, key, 1), maxShort), v.Line
			return
		}
	}
}

// setTools parses a list of tools, and records the allowed ones.
func (r *record) setTools(key string, entries []string) error {
	patterns, err := tool.ParseList(entries)
	if err != nil || key != allowedTools {
		return err
	}
	r.flags |= restricts
	r.tools = nil
	for _, p := range patterns {
		r.tools = append(r.tools, p.String())
	}
	return nil
}

func (r *record) problem(rule string, line int, message, fix string) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, problem{
			rule, diag.SeverityWarning, line, cut(message, maxShort),
			cut(fix, maxShort),
		})
	}
}

// allowedTools returns the allowed tools, nil for all.
func (r *record) allowedTools() []string {
	if r.tools == nil && r.flags&restricts != 0 {
		return []string{}
	}
	return r.tools
}

// fields reads the fields of the record.
func (r *record) fields(doc *skill.Document) {
	r.name = short(doc.Name())
	r.description = flat(doc.Description(), maxText)
	if r.description == "" {
		r.paragraph = paragraph(doc.Body())
	}
	r.when = flat(doc.Text("when_to_use"), maxText)
	r.hint = flat(doc.Text("argument-hint"), maxShort)
	r.agent = flat(doc.Text("agent"), maxShort)
	r.model = flat(doc.Text("model"), maxShort)
	r.toolsets = textList(lookup(doc, "toolsets"))
	r.tags = textList(lookup(doc, "tags"))
	r.requires = checkable(doc.Requirements())
	r.invocation(lookup(doc, "disable-model-invocation"), lookup(doc, "user-invocable"))
	if v := lookup(doc, "context"); v != nil {
		r.context(skill.ScalarText(v))
	}
	if v := lookup(doc, "priority"); v != nil {
		r.setPriority(skill.ScalarText(v), v.Line)
	}
	if v := lookup(doc, "scope"); v != nil {
		r.scope(v)
	}
	if v := lookup(doc, "arguments"); v != nil {
		for _, item := range v.Content {
			if follow(item).Kind != yaml.ScalarNode {
				r.problem(ruleValue, item.Line, "skillpm ignores an invalid name in arguments",
					"use names, such as arguments: [file, format]")
				break
			}
		}
	}
}

// checkable returns the requirements that can be checked without asking agents, nil for none.
func checkable(needs skill.Requirements) *skill.Requirements {
	if len(needs.Bins)+len(needs.AnyBins)+len(needs.Env)+len(needs.OS) == 0 {
		return nil
	}
	needs.MCP, needs.Install = nil, nil
	return &needs
}

func lookup(doc *skill.Document, key string) *yaml.Node {
	_, v := doc.Lookup(key)
	return follow(v)
}

// follow returns the target of a YAML alias.
func follow(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// invocation reads the two switches that restrict who may activate the skill.
func (r *record) invocation(model, user *yaml.Node) {
	if model != nil {
		r.setSwitch("disable-model-invocation", skill.ScalarText(model), model.Line, modelOff, true)
	}
	if user != nil {
		r.setSwitch("user-invocable", skill.ScalarText(user), user.Line, userOff, false)
	}
}

// setSwitch sets a flag if a field has the value when. An invalid value counts as the more restrictive one.
func (r *record) setSwitch(key, text string, line int, flag flags, when bool) {
	if text == "" {
		return
	}
	on, ok := boolean(text)
	if !ok {
		r.problem(ruleValue, line, key+" is neither true nor false: skillpm reads it as "+strconv.FormatBool(when),
			"write "+key+": true or false")
		on = when
	}
	if on == when {
		r.flags |= flag
	}
}

func boolean(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return false, false
}

func (r *record) context(text string) {
	if strings.EqualFold(text, "fork") {
		r.flags |= forks
	}
}

func (r *record) setPriority(text string, line int) {
	if text == "" {
		return
	}
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(p) || math.IsInf(p, 0) {
		r.problem(ruleValue, line, "priority is not a number: skillpm reads it as 0",
			"use a number, such as priority: 10")
		return
	}
	r.priority = p
}

// scope reads the agents, tenants, and environments that the skill is for. A scope that cannot be read is fatal.
func (r *record) scope(v *yaml.Node) {
	if v.Kind == yaml.ScalarNode && skill.ScalarText(v) == "" {
		return
	}
	if v.Kind != yaml.MappingNode {
		r.fatal, r.line = "scope must be a mapping, because it limits who may use the skill", v.Line
		return
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		var list *[]string
		switch v.Content[i].Value {
		case "agents":
			list = &r.agents
		case "tenants":
			list = &r.tenants
		case "environments":
			list = &r.environments
		default:
			continue
		}
		value := follow(v.Content[i+1])
		*list = textList(value)
		if len(*list) == 0 && value.Kind != yaml.SequenceNode && skill.ScalarText(value) != "" ||
			value.Kind == yaml.MappingNode {
			r.fatal, r.line = "scope."+v.Content[i].Value+" must be a list, because it limits who may use the skill",
				value.Line
		}
	}
}

// textList returns the items of a list, or of a text with commas.
func textList(n *yaml.Node) []string {
	if n == nil {
		return nil
	}
	var items []string
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			items = appendItem(items, skill.ScalarText(item))
		}
	case yaml.ScalarNode:
		for item := range strings.SplitSeq(skill.ScalarText(n), ",") {
			items = appendItem(items, item)
		}
	}
	return items
}

func appendItem(items []string, text string) []string {
	if text = flat(text, maxShort); text == "" || len(items) >= maxItems {
		return items
	}
	return append(items, text)
}

// paragraph returns the first paragraph of a body that may be cut off, even inside a character.
func paragraph(body []byte) string {
	for i := 0; i < utf8.UTFMax && len(body) > 0; i++ {
		if r, n := utf8.DecodeLastRune(body); r != utf8.RuneError || n != 1 {
			break
		}
		body = body[:len(body)-1]
	}
	return flat(skill.FirstParagraph(body), maxText)
}

func short(s string) string { return flat(s, maxShort) }

// flat returns a text on one line, at most limit bytes long, without control and invisible characters.
func flat(s string, limit int) string {
	if !isPlain(s) {
		s = strings.Join(strings.Fields(strings.Map(visibleRune, strings.ToValidUTF8(s, "\uFFFD"))), " ")
	}
	return strings.Clone(cut(s, limit))
}

// isPlain reports whether a text is ASCII that [flat] leaves unchanged.
func isPlain(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return last != ' ' || s == ""
}

// visibleRune maps line breaks to spaces, and removes characters that are invisible or change the text direction.
func visibleRune(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), r >= 0x200e && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 &&
		r <= 0x206f, r == 0xfeff,
		r == 0x200b, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe01ef:
		return -1
	}
	return r
}

// cut truncates a text to limit bytes, at a character boundary and with an ellipsis.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return textx.Truncate(s, limit-len("…"))
}

// comparePriority orders higher priorities first.
func comparePriority(a, b float64) int { return cmp.Compare(b, a) }
