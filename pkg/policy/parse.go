package policy

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag/rule"
)

// maxFile is the size in bytes beyond which a policy is refused.
const maxFile = 1 << 20

// maxProblems is how many problems of a file are told apart. A file with more is no policy.
const maxProblems = 1000

// Parse reads a policy. The error is an [*InvalidError] with everything that is wrong with the file.
func Parse(path string, data []byte) (*Policy, error) {
	p, problems := check(path, data)
	if len(problems) > 0 {
		return nil, &InvalidError{Path: path, Problems: problems}
	}
	return p, nil
}

// Check returns everything that is wrong with a policy, in the order of the file. [Parse] accepts those without
// problems.
func Check(path string, data []byte) []Problem {
	_, problems := check(path, data)
	return problems
}

func check(path string, data []byte) (*Policy, []Problem) {
	r := &reader{path: path}
	p := &Policy{Path: path, Mode: Enforce, Downgrade: DenyDowngrade}
	if root := r.root(data); root != nil {
		r.policy(p, root)
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p, r.problems
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

func (r *reader) policy(p *Policy, root *yaml.Node) {
	r.fields(root, "the policy", fields{
		"version": func(v *yaml.Node) { p.Version = r.version(v) },
		"mode":    func(v *yaml.Node) { p.Mode = Mode(r.oneOf(v, "mode", string(Observe), string(Enforce))) },
		"sources": func(v *yaml.Node) { r.sources(&p.Sources, v) },
		"skills":  func(v *yaml.Node) { r.skills(&p.Skills, v) },
		"require": func(v *yaml.Node) { p.Require = r.require(v) },
		"forbid":  func(v *yaml.Node) { p.Forbid = r.capabilities(v, "forbid") },
		"approve": func(v *yaml.Node) { p.Approve = r.capabilities(v, "approve") },
		"limits":  func(v *yaml.Node) { r.limits(&p.Limits, v) },
		"downgrade": func(v *yaml.Node) {
			p.Downgrade = Downgrade(r.oneOf(v, "downgrade", string(DenyDowngrade), string(AllowDowngrade)))
		},
		"lint":  func(v *yaml.Node) { r.lint(&p.Lint, v) },
		"audit": func(v *yaml.Node) { p.Audit = r.audit(v) },
		"allowed-tools": func(v *yaml.Node) {
			p.AllowedTools = AllowedTools(r.oneOf(v, "allowed-tools", string(Restrict), string(Grant)))
		},
		"hooks": func(v *yaml.Node) {
			r.fields(v, "hooks", fields{"unreadable": func(v *yaml.Node) {
				p.Hooks.Unreadable = Unreadable(r.oneOf(v, "unreadable", string(Closed), string(Open)))
			}})
		},
		"approvers": func(v *yaml.Node) {
			p.Approvers = Approvers(r.oneOf(v, "approvers", string(OwnApprovers), string(UserApprovers)))
		},
		"execution": func(v *yaml.Node) { r.execution(&p.Execution, v) },
		"publish":   func(v *yaml.Node) { r.publish(&p.Publish, v) },
	})
	p.Lines = ruleLines(root)
	if lookup(root, "version") == nil {
		r.add(root, "write version: 1 in the first line", "the policy has no version")
	}
	r.disjoint(lookup(root, "approve"), p.Forbid)
}

// version reads the version of the format.
func (r *reader) version(v *yaml.Node) int {
	s, ok := r.text(v, "version")
	if ok && s != "1" {
		r.add(v, "this skillpm reads version 1; a newer one may read it", "version %q is not known", s)
	}
	return 1
}

func (r *reader) sources(s *Sources, v *yaml.Node) {
	r.fields(v, "sources", fields{
		"allow": func(v *yaml.Node) { s.Allow, s.AllowLine = r.patterns(v, "allow"), v.Line },
		"deny": func(v *yaml.Node) {
			s.Deny = r.patterns(v, "deny")
			for _, item := range v.Content {
				s.DenyLines = append(s.DenyLines, item.Line)
			}
		},
	})
}

func (r *reader) patterns(v *yaml.Node, what string) []Pattern {
	return list(r, v, what, func(item *yaml.Node) (Pattern, bool) { return r.pattern(item, "an entry of "+what) })
}

// pattern reads a pattern of sources.
func (r *reader) pattern(v *yaml.Node, what string) (Pattern, bool) {
	s, ok := r.text(v, what)
	if !ok {
		return "", false
	}
	if message, hint := checkSource(s); message != "" {
		r.add(v, hint, "%q %s", withoutUser(s), message)
		return "", false
	}
	return Pattern(s), true
}

func (r *reader) skills(s *Skills, v *yaml.Node) {
	r.fields(v, "skills", fields{
		"deny": func(v *yaml.Node) {
			s.Deny = list(r, v, "deny", func(item *yaml.Node) (SkillPattern, bool) {
				text, ok := r.text(item, "an entry of deny")
				if ok && !isSkillPattern(text) {
					r.add(item, skillHint(text), "%q is not skill@owner/name or skill, with * for any characters of a part", text)
					return "", false
				}
				return SkillPattern(text), ok
			})
		},
	})
}

func (r *reader) capabilities(v *yaml.Node, what string) []Capability {
	var known []string
	for _, c := range Capabilities() {
		known = append(known, string(c))
	}
	return list(r, v, what, func(item *yaml.Node) (Capability, bool) {
		s := r.oneOf(item, "an entry of "+what, known...)
		return Capability(s), s != ""
	})
}

// disjoint checks that nothing is to be approved that is forbidden.
func (r *reader) disjoint(approve *yaml.Node, forbidden []Capability) {
	if approve == nil || approve.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range approve.Content {
		if item.Kind == yaml.ScalarNode && slices.Contains(forbidden, Capability(item.Value)) {
			r.add(item, "remove it from approve or from forbid", "%s is forbidden, and cannot be approved", item.Value)
		}
	}
}

func (r *reader) lint(l *Lint, v *yaml.Node) {
	r.fields(v, "lint", fields{
		"fail_on": func(v *yaml.Node) {
			l.FailOn = list(r, v, "fail_on", func(item *yaml.Node) (string, bool) {
				s, ok := r.text(item, "an entry of fail_on")
				if !ok {
					return "", false
				}
				if err := rule.CheckPattern(s); err != nil || s == "" {
					r.add(item, "`skillpm rules` lists them; a family as SEC means all of it", "there is no rule %q", s)
					return "", false
				}
				return s, true
			})
		},
	})
}

func (r *reader) audit(v *yaml.Node) *Audit {
	var a Audit
	ok := r.fields(v, "audit", fields{
		"path": func(v *yaml.Node) {
			s, ok := r.text(v, "path")
			if ok && (!absolutePath().MatchString(s) || hasDots(s)) {
				r.add(v, "write it from the root, as in /var/log/skillpm/audit.jsonl", "%q is not the absolute path of a file", s)
			}
			a.Path = s
		},
		"required": func(v *yaml.Node) { a.Required = r.boolean(v, "required") },
	})
	if ok && lookup(v, "path") == nil {
		r.add(v, "write path: /var/log/skillpm/audit.jsonl", "audit has no path")
	}
	return &a
}
