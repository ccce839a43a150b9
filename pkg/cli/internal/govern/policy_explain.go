package govern

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// foundSkill is a skill on this machine, or one that was fetched for the explanation.
type foundSkill struct {
	enforce.Skill
	dir   string
	files fs.FS
	known *catalog.Skill // the catalog's entry; nil for a fetched skill
}

// tree returns the skill's files.
func (f foundSkill) tree() fs.FS {
	if f.files != nil {
		return f.files
	}
	return os.DirFS(f.dir)
}

func newPolicyExplain(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [SKILL|PACK|SOURCE]",
		Short: "Show which rules allow or deny a skill, pack, or source",
		Long: `For each rule, the output has the decision, the policy, and the line. PACK stands for all
skills of the pack. Errors of other commands name only the first rule that denies. Without
an argument, the command lists all rules in effect.`,
		Example: `  skillpm policy explain
  skillpm policy explain deploy
  skillpm policy explain oci://registry.example/acme/tools`,
		Args: console.Need(0, 1, "at most one SKILL, PACK, or SOURCE"),
	}
	cmd.ValidArgsFunction = a.completeGoverned
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := a.Host(cmd.Context(), &console.RuntimeFlags{})
		if err != nil {
			return err
		}
		g := h.Guard()
		if len(args) == 0 {
			return a.printPolicies(g)
		}
		skills, err := findNamed(cmd.Context(), h, args[0])
		if err != nil {
			return err
		}
		if len(skills) == 0 {
			if strings.Contains(args[0], "://") || strings.HasPrefix(args[0], ".") ||
				strings.Count(args[0], "/") > 1 || slices.Contains([]string{"local", "embedded", "path"}, args[0]) {
				return a.printRulings(map[string][]enforce.Ruling{args[0]: g.ExplainSource(args[0])}, []string{args[0]})
			}
			s, err := absentSkill(args[0])
			if err != nil {
				return err
			}
			return a.printRulings(map[string][]enforce.Ruling{args[0]: g.Explain(cmd.Context(), s, nil)},
				[]string{args[0]})
		}
		all, order := map[string][]enforce.Ruling{}, []string{}
		for _, s := range skills {
			name := s.Exact()
			if _, twice := all[name]; twice {
				name += " (" + s.dir + ")"
			}
			all[name] = append(g.Explain(cmd.Context(), s.Skill, s.tree()), confinement(h, s)...)
			order = append(order, name)
		}
		return a.printRulings(all, order)
	}
	return cmd
}

// confinement returns how a skill's scripts are confined, and the policy that requires it; nothing if they are not.
func confinement(h *runtime.Host, s foundSkill) []enforce.Ruling {
	if s.known == nil {
		return nil
	}
	loaded, err := s.known.Load()
	if err != nil {
		return nil // other code reports problems of its text
	}
	r := enforce.Ruling{Policy: "-", Level: "skill", Rule: "execution", Verdict: enforce.Allows}
	for _, p := range h.Guard().Policies() {
		if p.Err() == nil && p.Line("execution") > 0 && !s.Machine {
			r.Policy, r.Line, r.Level = p.Path, p.Line("execution"), p.Level.String()
			break
		}
	}
	rules, _, err := h.Confined(loaded)
	switch {
	case err != nil:
		r.Verdict, r.Why, r.Hint = enforce.Denies, "the skill's scripts do not run: "+err.Error(), diag.HintOf(err)
	case rules == nil:
		return nil
	default:
		r.Why = "the skill's scripts are confined: " + rules.String()
	}
	return []enforce.Ruling{r}
}

// absentSkill returns a skill that is not on this machine, by its exact name.
func absentSkill(name string) (enforce.Skill, error) {
	skill, pack, ok := strings.Cut(name, "@")
	if !ok || !strings.Contains(pack, "/") {
		return enforce.Skill{}, diag.Errorf(diag.NotFound, "skill or pack %q not found", name).
			WithHint("list skills with \"skillpm skills --all\", or use name@owner/name for a skill " +
				"that is not installed, or a source such as oci://registry.example/acme/tools")
	}
	return enforce.Skill{Name: skill, Pack: pack, Trusted: true}, nil
}

// explainedJSON is the explanation of a skill or source.
type explainedJSON struct {
	Subject string           `json:"subject"`
	Allowed bool             `json:"allowed"`
	Rulings []enforce.Ruling `json:"rulings"`
}

func (a *app) printRulings(all map[string][]enforce.Ruling, order []string) error {
	list := []explainedJSON{}
	for _, name := range order {
		e := explainedJSON{Subject: name, Allowed: true, Rulings: all[name]}
		for _, r := range all[name] {
			e.Allowed = e.Allowed && r.Verdict != enforce.Denies
		}
		if e.Rulings == nil {
			e.Rulings = []enforce.Ruling{}
		}
		list = append(list, e)
	}
	if a.JSON {
		return a.PrintJSON(explainDocument{list})
	}
	for i, e := range list {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		verdict := "allowed"
		if !e.Allowed {
			verdict = "denied"
		}
		if len(e.Rulings) == 0 {
			verdict += ": no rule applies"
		}
		fmt.Fprintf(a.Stdout, "%s: %s\n", e.Subject, verdict)
		var rows [][]string
		for _, r := range e.Rulings {
			position := textx.Position(r.Policy, r.Line)
			rows = append(rows, []string{"  " + string(r.Verdict), r.Rule, r.Level, position, r.Why})
		}
		if err := console.Table(a.Stdout, rows); err != nil {
			return err
		}
		for _, r := range e.Rulings {
			if r.Verdict == enforce.Denies && r.Hint != "" {
				a.Note("hint: %s", r.Hint)
				break
			}
		}
	}
	return nil
}

// ruleJSON is a rule in effect.
type ruleJSON struct {
	Policy string `json:"policy"`
	Line   int    `json:"line,omitempty"`
	Level  string `json:"level"`
	Mode   string `json:"mode"`
	Rule   string `json:"rule"`
	Says   string `json:"effect"` // what the rule does
}

func (a *app) printPolicies(g *enforce.Evaluator) error {
	list := []ruleJSON{}
	set := g.Policies()
	for _, p := range set {
		list = append(list, rulesOf(p)...)
	}
	log := g.Log()
	settings := policySettings{
		AllowedTools: map[bool]string{true: "grant", false: "restrict"}[g.Grants()],
		Hooks:        map[bool]string{true: "open", false: "closed"}[g.HooksOpen()],
		Audit:        log.Path, AuditRequired: log.Required, Team: log.Team,
	}
	if a.JSON {
		return a.PrintJSON(rulesDocument{list, settings})
	}
	if len(set) == 0 {
		fmt.Fprintln(a.Stdout, "No policy in effect: skillpm allows everything.")
		a.Note("Create a policy with: skillpm policy init")
		return nil
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{r.Rule, r.Says, r.Level, r.Mode, textx.Position(r.Policy, r.Line)})
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "\nallowed-tools of a skill %s\nskillpm %s a tool call if the hook event is unreadable\n",
		map[bool]string{true: "grants tools, and denies none", false: "restricts which tools may be called"}[g.Grants()],
		map[bool]string{true: "allows", false: "denies"}[g.HooksOpen()])
	if log.By != "" {
		fmt.Fprintf(a.Stdout, "audit log: %s, required: %v (%s)\n", console.Printable(cmp.Or(log.Path, "the default path")),
			log.Required, console.Printable(log.By))
	}
	return nil
}

// rulesOf lists the rules of a policy.
func rulesOf(p *policy.Policy) (list []ruleJSON) {
	add := func(line int, rule, format string, args ...any) {
		list = append(list, ruleJSON{
			Policy: p.Path, Line: line, Level: p.Level.String(), Mode: string(p.Mode),
			Rule: rule, Says: fmt.Sprintf(format, args...),
		})
	}
	if err := p.Err(); err != nil {
		add(0, "file", "denies everything: %v", err)
		return list
	}
	if p.Sources.Allow != nil {
		add(p.Line("sources.allow"), "sources.allow", "%s", words(p.Sources.Allow))
	}
	for i, s := range p.Sources.Deny {
		add(p.Line("sources.deny", i), "sources.deny", "%s", s)
	}
	if p.Skills.Allow != nil {
		add(p.Line("skills.allow"), "skills.allow", "%s", words(p.Skills.Allow))
	}
	for i, s := range p.Skills.Deny {
		add(p.Line("skills.deny", i), "skills.deny", "%s", s)
	}
	for _, rule := range []struct {
		key   string
		users map[string][]policy.Principal
	}{{"create", p.Authoring.Create}, {"publish", p.Authoring.Publish}} {
		for _, what := range slices.Sorted(maps.Keys(rule.users)) {
			add(p.Line("authoring."+rule.key+"."+what), "authoring."+rule.key, "%s: %s", what, words(rule.users[what]))
		}
	}
	for _, q := range p.Require {
		switch {
		case q.Signatures != nil:
			add(q.Line, "require", "%s: %d of %d signers", q.Match, max(1, q.Signatures.Threshold),
				len(q.Signatures.AnyOf))
		default:
			add(q.Line, "require", "%s: published at least %s ago", q.Match, q.MinReleaseAge)
		}
	}
	if len(p.Forbid) > 0 {
		add(p.Line("forbid", 0), "forbid", "%s", words(p.Forbid))
	}
	if len(p.Approve) > 0 {
		add(p.Line("approve", 0), "approve", "%s", words(p.Approve))
	}
	if l := p.Limits; l != (policy.Limits{}) {
		add(p.LimitsLine(), "limits", "%s", limitsText(l))
	}
	add(p.Line("downgrade"), "downgrade", "%s", p.Downgrade)
	if len(p.Lint.FailOn) > 0 {
		add(p.Line("lint.fail_on", 0), "lint.fail_on", "%s", words(p.Lint.FailOn))
	}
	if p.Line("execution") > 0 {
		add(p.Line("execution"), "execution", "%s", executionText(p.Execution))
	}
	if p.Publish.Allow != nil {
		add(p.Line("publish.allow"), "publish.allow", "%s", words(p.Publish.Allow))
	}
	if p.Publish.Sign != "" {
		add(p.Line("publish.sign"), "publish.sign", "%s", p.Publish.Sign)
	}
	if p.Audit != nil {
		var parts []string
		if p.Audit.Path != "" && p.Level == policy.ProjectLevel {
			parts = append(parts, p.Audit.Path+" (a project's path has no effect)")
		} else if p.Audit.Path != "" {
			parts = append(parts, p.Audit.Path)
		}
		if p.Audit.Required {
			parts = append(parts, "required")
		}
		if p.Audit.Team != "" {
			parts = append(parts, "team "+p.Audit.Team)
		}
		add(p.Line("audit"), "audit", "%s", strings.Join(parts, ", "))
	}
	for _, s := range []struct {
		key, text string
		line      int
	}{
		{"allowed-tools", string(p.AllowedTools), p.Line("allowed-tools")},
		{"hooks.unreadable", string(p.Hooks.Unreadable), p.Line("hooks")},
		{"approvers", string(p.Approvers), p.Line("approvers")},
		{
			"updates.capability-increase", string(p.Updates.CapabilityIncrease),
			p.Line("updates.capability-increase"),
		},
	} {
		if s.text != "" {
			add(s.line, s.key, "%s", s.text)
		}
	}
	return list
}

// executionText describes how a policy confines scripts.
func executionText(e policy.Execution) string {
	var parts []string
	if e.Sandbox != "" {
		parts = append(parts, "sandbox "+string(e.Sandbox))
	}
	if e.Unavailable != "" {
		parts = append(parts, "unavailable "+string(e.Unavailable))
	}
	if e.Network != nil {
		parts = append(parts, "network "+words(e.Network))
	}
	if e.Paths != nil {
		parts = append(parts, "paths "+words(e.Paths))
	}
	return strings.Join(parts, "; ")
}

// sizeText formats a size as a policy writes it.
func sizeText(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprintf("%d%s", n/unit.size, unit.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

// limitsText describes the limits that are set.
func limitsText(l policy.Limits) string {
	var parts []string
	for _, x := range []struct {
		key string
		n   int64
	}{
		{"files", l.Files},
		{"file_bytes", l.FileBytes},
		{"total_bytes", l.TotalBytes},
		{"path_bytes", l.PathBytes},
		{"depth", l.Depth},
	} {
		if x.n > 0 {
			text := strconv.FormatInt(x.n, 10)
			if strings.HasSuffix(x.key, "_bytes") {
				text = sizeText(x.n)
			}
			parts = append(parts, x.key+" "+text)
		}
	}
	return strings.Join(parts, ", ")
}

func words[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = string(w)
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
