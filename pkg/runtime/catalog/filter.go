package catalog

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/skill"
)

// filter excludes skills by policy, trust, scope, allowlist, and requirements.
func (b *builder) filter() {
	o := &b.catalog.options
	untrusted, problem := false, error(nil)
	if o.Project != "" && (o.RequireTrust || o.Profile.TrustedProjects) {
		var trusted bool
		trusted, problem = o.trusts(o.Project)
		untrusted = !trusted
	}
	unmet := o.unmetRequirements()
	n := 0
	for i := range b.candidates {
		e := &b.candidates[i].entry
		if e.State != Available {
			continue
		}
		switch {
		case untrusted && e.Scope == ScopeProject:
			n++
			e.Reason, e.denied, e.fix = "the project is not trusted", true,
				"review the project's skills with \"skillpm skills --all\", then run \"skillpm trust\""
		case !allowed(o.MachineAllowed, e.Skill):
			e.Reason = "it is not in skills.allowed of the machine"
		case !e.isEnterprise() && !allowed(o.Allowed, e.Skill):
			e.Reason = "it is not in skills.allowed"
		default:
			e.Reason = outOfScope(e.Skill, o)
		}
		if e.Reason == "" {
			e.Reason, e.fix = unmet(&b.candidates[i])
			e.keepsName = e.isEnterprise()
		}
		if e.Reason == "" && o.Deny != nil {
			if err := o.Deny(e.Skill); err != nil {
				e.Reason, e.denied, e.byPolicy, e.fix = err.Error(), true, true, diag.HintOf(err)
			}
		}
		if e.Reason != "" {
			e.State = Excluded
		} else if o.Unapproved != nil {
			e.awaitApproval(o.Unapproved(e.Skill))
		}
	}
	if n > 0 {
		subject := "1 skill"
		if n > 1 {
			subject = fmt.Sprintf("%d skills", n)
		}
		f := diag.Finding{
			Rule: ruleTrust, Severity: diag.SeverityWarning, Path: filepath.ToSlash(o.Project),
			Message: "skipped " + subject + ": the project is not trusted",
			Fix:     "review the project's skills, then run \"skillpm trust\"",
		}
		if problem != nil {
			f.Message, f.Fix = "skipped "+subject+": "+problem.Error(), diag.HintOf(problem)
		}
		b.add(f)
	}
}

// awaitApproval excludes a skill that needs an approval, given why.
func (e *Entry) awaitApproval(why error) {
	if why != nil {
		e.State, e.Reason, e.denied, e.fix = Unapproved, why.Error(), true, diag.HintOf(why)
	}
}

// trusts reports whether a project is trusted.
func (o *Options) trusts(project string) (bool, error) {
	if o.Trusted != nil && o.Trusted(project) {
		return true, nil
	}
	return TrustedFolders(o.Paths).Has(project)
}

// allowed reports whether a list, which allows all skills if it is empty, has a skill.
func allowed(list []string, s *Skill) bool {
	for _, name := range list {
		if name == s.Name || s.Pack != "" && name == s.base+"@"+s.Pack {
			return true
		}
	}
	return len(list) == 0
}

// outOfScope returns why a skill's `scope` or its `toolsets` exclude it, "" if they do not.
func outOfScope(s *Skill, o *Options) string {
	for _, f := range []struct {
		list        []string
		value, noun string
	}{
		{s.Agents, o.Agent, "agent type"},
		{s.Tenants, o.Tenant, "tenant"},
		{s.Environments, o.Environment, "environment"},
	} {
		switch {
		case len(f.list) == 0 || slices.Contains(f.list, f.value):
		case f.value == "" && s.isEnterprise(): // leaving out the value must not disable the skill
		case f.value == "":
			return fmt.Sprintf("it is only for %s %s, but the %[1]s is not set", f.noun, strings.Join(f.list, ", "))
		default:
			return fmt.Sprintf("it is only for %s %s, not %s", f.noun, strings.Join(f.list, ", "), f.value)
		}
	}
	if o.Toolsets == nil {
		return ""
	}
	for _, t := range s.Toolsets {
		if !slices.Contains(o.Toolsets, t) {
			return fmt.Sprintf("it needs the toolset %s, which the agent does not have", t)
		}
	}
	return ""
}

// unmetRequirements returns a function that returns why the requirements of a skill or its pack exclude it, and how to
// meet them; "" if they do not. The index has only what they declare, because the result changes with the machine.
func (o *Options) unmetRequirements() func(*candidate) (reason, fix string) {
	if !o.HideUnmet {
		return func(*candidate) (string, string) { return "", "" }
	}
	getenv := o.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	path, known := getenv("PATH"), map[string]bool{}
	machine := skill.Machine{
		OS: cmp.Or(o.OS, runtime.GOOS),
		Program: func(name string) bool {
			found, ok := known[name]
			if !ok {
				_, found = environ.LookPath(name, path)
				known[name] = found
			}
			return found
		},
		Variable: func(name string) bool { return getenv(name) != "" },
	}
	return func(c *candidate) (string, string) {
		if r := c.node.record.requires; r != nil {
			if names, hints := skill.DescribeMissing(r.Unmet(machine)); names != "" {
				return "it requires " + names, hints
			}
		}
		if c.pack != nil {
			if names, hints := skill.DescribeMissing(c.pack.Unmet(machine)); names != "" {
				return "its pack requires " + names, hints
			}
		}
		return "", ""
	}
}
