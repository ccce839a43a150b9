package govern

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// checkedJSON is a file in the output of "policy check --json".
type checkedJSON struct {
	Path  string `json:"path"`
	Level string `json:"level,omitempty"`
	// "none", "valid", "invalid", or "not trusted" if skillpm cannot read or trust the file
	State    string        `json:"state"`
	Mode     string        `json:"mode,omitempty"`
	Problems []problemJSON `json:"problems,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`

	code diag.Code
}

// notTrusted is the state of a policy that denies everything, because it is unreadable or others can write it.
const notTrusted = "not trusted"

type problemJSON struct {
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func newPolicyCheck(a *app) *cobra.Command {
	var level levelFlags
	cmd := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Check policies, their keys, and approvals",
		Long: `Without FILE, the command checks the policies in effect, their key files, and the approvals:
each file must be valid, readable, and owned by the right user. FILE is a policy that is
not yet in effect. Without --scope, the scope of a FILE named skillpm-policy.yaml is the project,
and the scope of any other FILE is the machine.

Exit code 3 means that a file is invalid, and 7 that skillpm cannot read or trust a file.
If such a policy is in effect, skillpm denies everything.`,
		Example: `  skillpm policy check
  skillpm policy check skillpm-policy.yaml
  skillpm policy check --json`,
		Args: cobra.ArbitraryArgs,
	}
	level.add(a, cmd, "check FILE as the policy of `SCOPE`", "depends on the name of FILE")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return a.checkFiles(args, level)
		}
		if level != (levelFlags{}) {
			return diag.Errorf(diag.Usage, "--scope needs a FILE").
				WithHint("name the policy to check, or leave out --scope")
		}
		h, err := a.Host(cmd.Context(), &console.RuntimeFlags{})
		if err != nil {
			return err
		}
		g := h.Guard()
		files := a.checkPolicies(g)
		return a.printChecked(append(files, checkApprovals(g)...))
	}
	return cmd
}

// checkFiles checks files that are not policies in effect yet.
func (a *app) checkFiles(names []string, level levelFlags) error {
	l, err := level.level()
	if err != nil {
		return err
	}
	var list []checkedJSON
	for _, name := range names {
		lvl := l
		if level == (levelFlags{}) {
			if lvl = policy.MachineLevel; filepath.Base(name) == enforce.ProjectPolicyName {
				lvl = policy.ProjectLevel
			}
		}
		c := checkedJSON{Path: name, Level: lvl.String(), State: "valid"}
		data, err := os.ReadFile(a.Abs(name))
		switch {
		case errors.Is(err, os.ErrNotExist):
			c.fail(diag.Errorf(diag.NotFound, "policy %s does not exist", name).
				WithHint("name an existing policy, or create a policy with: skillpm policy init"))
		case err != nil:
			c.fail(fmt.Errorf("cannot read the policy: %w", err))
		default:
			p, err := policy.Parse(a.Abs(name), data)
			if c.fail(err); err == nil {
				p.Level = lvl
				c.Mode, c.Warnings = string(p.Mode), policyWarnings(p)
				a.checkKeys(&c, p)
			}
		}
		list = append(list, c)
	}
	return a.printChecked(list)
}

// checkPolicies checks the policies in effect.
func (a *app) checkPolicies(g *enforce.Evaluator) (list []checkedJSON) {
	set := g.Policies()
	for _, f := range g.PolicyFiles() {
		c := checkedJSON{Path: f.Path, Level: f.Level.String(), State: "none"}
		if i := slices.IndexFunc(set, func(p *policy.Policy) bool { return p.Path == f.Path }); i >= 0 {
			p := set[i]
			c.State = "valid"
			if err := p.Err(); err != nil {
				c.fail(err)
			} else {
				c.Mode, c.Warnings = string(p.Mode), policyWarnings(p)
				a.checkKeys(&c, p)
			}
		}
		list = append(list, c)
	}
	return list
}

// checkKeys checks the key files of a policy.
func (a *app) checkKeys(c *checkedJSON, p *policy.Policy) {
	for _, q := range p.Require {
		if q.Signatures == nil {
			continue
		}
		if q.Signatures.NeedIdentity() && a.Keyless == nil {
			c.fail(diag.Errorf(diag.Denied, "%s:%d requires identities, which this build of skillpm cannot verify",
				p.Path, q.Line).WithHint("use skillpm-keyless of the same release, or trust a public key"))
		}
		c.fail(skillpm.CheckSigners(policy.Rule{Requirement: q, Policy: p}))
	}
}

// checkApprovals checks the existing approvals files.
func checkApprovals(g *enforce.Evaluator) (list []checkedJSON) {
	for _, f := range g.ApprovalFiles() {
		if f.Err == nil && !f.Exists {
			continue
		}
		c := checkedJSON{Path: f.Path, Level: f.Level.String(), State: "valid"}
		c.fail(f.Err)
		list = append(list, c)
	}
	return list
}

// fail records a problem of a file.
func (c *checkedJSON) fail(err error) {
	if err == nil {
		return
	}
	invalid, ok := errors.AsType[*policy.InvalidError](err)
	if !ok {
		c.State, c.code = notTrusted, diag.Denied
		if code := diag.CodeOf(err); code == diag.Invalid || code == diag.NotFound {
			c.State, c.code = "invalid", code
		}
		if denied, ok := errors.AsType[*policy.DeniedError](err); ok && denied.Err != nil {
			err = denied.Err
		}
		c.Problems = append(c.Problems, problemJSON{Message: err.Error(), Hint: diag.HintOf(err)})
		return
	}
	c.State, c.code = "invalid", diag.Invalid
	for _, p := range invalid.Problems {
		c.Problems = append(c.Problems, problemJSON{Line: p.Line, Column: p.Column, Message: p.Message, Hint: p.Hint})
	}
}

// policyWarnings returns warnings about policy settings that may not do what they seem to do.
func policyWarnings(p *policy.Policy) (list []string) {
	if p.Mode == policy.Observe {
		list = append(list, "the policy records denials without enforcing them")
	}
	capabilities := slices.Concat(p.Forbid, p.Approve)
	for _, c := range []policy.Capability{policy.NetworkTools, policy.FileWrite, policy.Secrets} {
		if slices.Contains(capabilities, c) && !(slices.Contains(capabilities, policy.Scripts) &&
			slices.Contains(capabilities, policy.UnscopedShell)) {
			list = append(list, fmt.Sprintf("the policy restricts %s, "+
				"but skills can bypass the restriction with scripts or unscoped-shell: restrict both", c))
			break
		}
	}
	for _, pattern := range p.Skills.Allow {
		if !strings.ContainsAny(string(pattern), "@/") {
			list = append(list, fmt.Sprintf(
				"skills.allow: %s allows every skill of that name, including those of projects and of other packs", pattern))
		}
	}
	loose := map[string]bool{
		"allowed-tools: grant":            p.AllowedTools == policy.Grant,
		"hooks: {unreadable: open}":       p.Hooks.Unreadable == policy.Open,
		"execution: {unavailable: allow}": p.Execution.Unavailable == policy.AllowUnconfined,
	}
	for _, key := range []string{
		"allowed-tools: grant", "hooks: {unreadable: open}",
		"execution: {unavailable: allow}",
	} {
		if loose[key] && p.Level == policy.ProjectLevel {
			list = append(list, key+" has no effect in a project's policy")
		}
	}
	if p.Level != policy.ProjectLevel && loose["execution: {unavailable: allow}"] {
		list = append(list,
			"execution: {unavailable: allow} runs scripts unconfined on machines without a sandbox")
	}
	if p.Level != policy.ProjectLevel && p.Downgrade == policy.AllowDowngrade && p.Line("downgrade") > 0 &&
		!p.OnlyDenies() {
		list = append(list,
			"downgrade: allow lets a version that is older or has fewer signatures replace the installed version")
	}
	if p.Approvers == policy.UserApprovers && p.Level != policy.MachineLevel {
		list = append(list, "approvers has an effect only in the machine's policy")
	}
	return list
}

func (a *app) printChecked(list []checkedJSON) error {
	code := diag.OK
	for _, c := range list {
		code = max(code, c.code)
	}
	if a.JSON {
		if err := a.PrintJSON(checkDocument{list}); err != nil {
			return err
		}
	} else if err := a.printFiles(list); err != nil {
		return err
	}
	if code != diag.OK {
		return console.Reported{Exit: code}
	}
	return nil
}

func (a *app) printFiles(list []checkedJSON) error {
	g := a.Grid()
	for _, c := range list {
		role := map[string]console.Role{
			"valid": console.Good, "invalid": console.Bad, notTrusted: console.Bad,
		}[c.State]
		g.Add(console.Cell{Text: cmp.Or(c.Level, "-")}, console.Cell{Text: c.State, Role: role},
			console.Cell{Text: c.Mode}, console.Cell{Text: console.Printable(c.Path)})
	}
	g.Write(a.Stdout)
	for _, c := range list {
		for _, w := range c.Warnings {
			a.Warn("%s: %s", c.Path, w)
		}
		for _, p := range c.Problems {
			path := c.Path
			if p.Column > 0 {
				path = fmt.Sprintf("%s:%d:%d", path, p.Line, p.Column)
			}
			text := path + ": " + p.Message
			if p.Line == 0 { // the error names the file
				text = p.Message
			}
			fmt.Fprintf(a.Messages(), "skillpm: %s %s\n", a.Palette(a.Stderr).Red("error:"), text)
			if p.Hint != "" {
				fmt.Fprintf(a.Messages(), "skillpm: %s %s\n", a.Palette(a.Stderr).Cyan("hint:"), p.Hint)
			}
		}
	}
	return nil
}
