package policy

import (
	"fmt"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/syntax"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// maxFile is the size in bytes beyond which a policy is refused.
const maxFile = 1 << 20

var fileFormat = yamlx.Format{
	Name: "the policy", MaxBytes: maxFile, Forbidden: isControl, RootHint: "write version: 1 in the first line",
	Explain: func(path string, data []byte) *Problem {
		if found := syntax.YAML(path, data); found != nil {
			return &Problem{Line: found.Line, Column: found.Column, Message: found.Message}
		}
		return nil
	},
}

// read reads a file, which must have the version of the format.
func read(path string, data []byte, format yamlx.Format) (yamlx.Value, *yamlx.Reader) {
	r := yamlx.Read(path, data, format)
	root, ok := r.Root()
	if ok && !root.Exists() {
		r.Add(Problem{Line: 1, Column: 1, Message: "the policy is empty", Hint: "write version: 1 in the first line"})
	}
	return root, r
}

// invalid returns the error for a file with problems, or nil.
func invalid(path string, r *yamlx.Reader) error {
	if problems := r.Problems(); len(problems) > 0 {
		return &InvalidError{Path: path, Problems: problems}
	}
	return nil
}

// Parse reads a policy. The error is an [*InvalidError] with everything that is wrong with the file.
func Parse(path string, data []byte) (*Policy, error) {
	p, r := parse(path, data)
	if err := invalid(path, r); err != nil {
		return nil, err
	}
	return p, nil
}

// Check returns everything that is wrong with a policy, in the order of the file. [Parse] accepts those without
// problems.
func Check(path string, data []byte) []Problem {
	_, r := parse(path, data)
	return r.Problems()
}

func parse(path string, data []byte) (*Policy, *yamlx.Reader) {
	p := &Policy{Path: path, Mode: Enforce, Downgrade: DenyDowngrade}
	root, r := read(path, data, fileFormat)
	if root.Exists() {
		p.read(root)
	}
	return p, r
}

func (e *InvalidError) text() string {
	first := e.Problems[0]
	place := e.Path
	switch {
	case first.Column > 0:
		place = fmt.Sprintf("%s:%d:%d", e.Path, first.Line, first.Column)
	case first.Line > 0:
		place = fmt.Sprintf("%s:%d", e.Path, first.Line)
	}
	text := place + ": " + first.Message
	if more := len(e.Problems) - 1; more == 1 {
		text += ", and one more problem"
	} else if more > 1 {
		text += fmt.Sprintf(", and %d more problems", more)
	}
	return text
}

func (p *Policy) read(root yamlx.Value) {
	for key, v := range root.Fields("allowed-tools", "approve", "approvers", "audit", "downgrade", "execution", "forbid",
		"hooks", "limits", "lint", "mode", "publish", "require", "skills", "sources", "version") {
		switch key {
		case "version":
			p.Version = version(v)
		case "mode":
			p.Mode = Mode(v.OneOf(string(Observe), string(Enforce)))
		case "sources":
			p.Sources.read(v)
		case "skills":
			for _, v := range v.Fields("deny") {
				p.Skills.Deny = yamlx.ListOf(v, parseSkillPattern)
			}
		case "require":
			p.Require = requirements(v)
		case "forbid":
			p.Forbid = capabilities(v)
		case "approve":
			p.Approve = capabilities(v)
		case "limits":
			p.Limits.read(v)
		case "downgrade":
			p.Downgrade = Downgrade(v.OneOf(string(DenyDowngrade), string(AllowDowngrade)))
		case "lint":
			for _, v := range v.Fields("fail_on") {
				p.Lint.FailOn = v.Texts(checkRule)
			}
		case "audit":
			p.Audit = audit(v)
		case "allowed-tools":
			p.AllowedTools = AllowedTools(v.OneOf(string(Restrict), string(Grant)))
		case "hooks":
			for _, v := range v.Fields("unreadable") {
				p.Hooks.Unreadable = Unreadable(v.OneOf(string(Closed), string(Open)))
			}
		case "approvers":
			p.Approvers = Approvers(v.OneOf(string(OwnApprovers), string(UserApprovers)))
		case "execution":
			p.Execution.read(v)
		case "publish":
			p.Publish.read(v)
		}
	}
	p.Lines = ruleLines(root)
	if !root.Get("version").Exists() {
		root.Errorf("write version: 1 in the first line", "the policy has no version")
	}
	checkDisjoint(root.Get("approve"), p.Forbid)
}

// version reads the version of the format.
func version(v yamlx.Value) int {
	v.Text(func(s string) error {
		if s == "1" {
			return nil
		}
		return wrong("this skillpm reads version 1; a newer one may read it", "version %q is not known", s)
	})
	return 1
}

// wrong returns an error with a hint.
func wrong(hint, format string, args ...any) error {
	return diag.Errorf(diag.Invalid, format, args...).WithHint("%s", hint)
}

func (s *Sources) read(v yamlx.Value) {
	for key, v := range v.Fields("allow", "deny") {
		switch key {
		case "allow":
			s.Allow, s.AllowLine = yamlx.ListOf(v, parsePattern), v.Line()
		case "deny":
			s.Deny, s.DenyLines = yamlx.ListOf(v, parsePattern), itemLines(v)
		}
	}
}

// parsePattern reads a pattern of sources.
func parsePattern(s string) (Pattern, error) {
	if message, hint := checkSource(s); message != "" {
		return "", wrong(hint, "%q %s", withoutUser(s), message)
	}
	return Pattern(s), nil
}

func parseSkillPattern(s string) (SkillPattern, error) {
	if !isSkillPattern(s) {
		return "", wrong(skillHint(s), "%q is not skill@owner/name or skill, with * for any characters of a part", s)
	}
	return SkillPattern(s), nil
}

func capabilities(v yamlx.Value) []Capability {
	var known []string
	for _, c := range Capabilities() {
		known = append(known, string(c))
	}
	isCapability := yamlx.OneOf("an entry of "+v.Name, known...)
	return yamlx.ListOf(v, func(s string) (Capability, error) { return Capability(s), isCapability(s) })
}

// checkDisjoint checks that nothing is to be approved that is forbidden.
func checkDisjoint(approve yamlx.Value, forbidden []Capability) {
	if !approve.IsList() {
		return
	}
	for item := range approve.Items() {
		if item.IsScalar() && slices.Contains(forbidden, Capability(item.Node.Value)) {
			item.Errorf("remove it from approve or from forbid", "%s is forbidden, and cannot be approved", item.Node.Value)
		}
	}
}

func checkRule(s string) error {
	if err := rule.CheckPattern(s); err != nil || s == "" {
		return wrong("`skillpm rules` lists them; a family as SEC means all of it", "there is no rule %q", s)
	}
	return nil
}

func audit(v yamlx.Value) *Audit {
	var a Audit
	for key, v := range v.Fields("path", "required") {
		switch key {
		case "path":
			a.Path = v.Text(func(s string) error {
				if absolutePath().MatchString(s) && !hasDots(s) {
					return nil
				}
				return wrong("write it from the root, as in /var/log/skillpm/audit.jsonl", "%q is not the absolute path of a file", s)
			})
		case "required":
			a.Required = v.Bool()
		}
	}
	v.Require("write path: /var/log/skillpm/audit.jsonl", "path")
	return &a
}
