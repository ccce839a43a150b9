package lint

import (
	"context"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Options configures a check.
type Options struct {
	Profiles []*profile.Profile // the agents that the skills are for; empty means the default profile
	Parallel int                // how many skills are checked at once; 0 means one per CPU
	NoModes  bool               // the file system has no executable bits, so don't check them
	Edits    bool               // compute the edits that fix findings

	// Capabilities is the largest number of checked skills for which the report lists capabilities: 0 means never, and a
	// negative number means no limit. Evidence removes the limit, and adds the evidence of each capability.
	Capabilities int
	Evidence     bool

	Settings Settings  // the project's own configuration
	Rules    *RuleSet  // rules of a team; may be nil
	Now      time.Time // for suppressions that expire; the zero time means that none has

	// SkillExists reports whether there is a skill of that name besides the checked ones: an installed one, or one of
	// the agent's own. nil means that there is none.
	SkillExists func(name string) bool

	// CheckScript returns the first syntax error of a script in Python, JavaScript, or TypeScript, or nil. If it is nil,
	// such scripts are not checked. It may be called by several goroutines.
	CheckScript func(name string, text []byte) *ScriptProblem

	// Show converts a path of the file system for the report, for example to one relative to the user's directory. nil
	// leaves it as it is. Unshow is the inverse, for [Report.Line].
	Show, Unshow func(path string) string
}

// Linter checks skills. It may be used by several goroutines, and keeps the schemas that it has compiled.
type Linter struct {
	Options
	schemas     []*profileSchema // one a profile
	agentFields func() map[string][]string
	readers     *readerPool
	arenas      arenaPool
	flows       flow.Pool
	scanner     *scan.Scanner
}

// maxKeptMemory is the largest number of skills checked at once whose buffers are reused.
const maxKeptMemory = 64

// New returns a linter.
func New(o Options) (*Linter, error) {
	if len(o.Profiles) == 0 {
		p, err := profile.Lookup(profile.Default)
		if err != nil {
			return nil, err
		}
		o.Profiles = []*profile.Profile{p}
	}
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	kept := min(o.Parallel, maxKeptMemory)
	l := &Linter{
		Options: o, readers: new(readerPool), arenas: make(arenaPool, kept), flows: flow.NewPool(kept),
		scanner:     scan.New(o.Rules.list()...),
		agentFields: sync.OnceValue(loadAgentFields),
	}
	for _, p := range o.Profiles {
		j, err := newProfileSchema(p)
		if err != nil {
			return nil, err
		}
		l.schemas = append(l.schemas, j)
	}
	return l, nil
}

// Run checks skills with a new linter; see [Linter.Run].
func Run(ctx context.Context, fsys fs.FS, targets []string, o Options) (Report, error) {
	l, err := New(o)
	if err != nil {
		return Report{}, err
	}
	return l.Run(ctx, fsys, targets)
}

// Run checks every skill at and below the targets, which are paths in fsys: a SKILL.md, a skill's directory, or a
// directory above several skills. Links may lead anywhere in fsys, so it should be larger than the targets.
//
// What is wrong with skills is in the report. The error is that a target does not exist or has no skill (NotFound), or
// that ctx was cancelled.
func (l *Linter) Run(ctx context.Context, fsys fs.FS, targets []string) (Report, error) {
	r := &lintRun{Linter: l, fsys: fsys, targets: targets, listed: map[string]bool{}}
	checking := activity.Begin(ctx, &activity.Wait{Items: "validating skills"})
	defer checking.End()
	var mu sync.Mutex
	var units []*skillCheck
	g, gctx := bug.WithContext(ctx)
	g.SetLimit(l.Parallel)
	err := r.find(gctx, targets, func(h skillDir) { // waits while as many are being checked as may be
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return err
			}
			u := r.check(h)
			checking.Receive(1)
			mu.Lock()
			defer mu.Unlock()
			units = append(units, u)
			return nil
		})
	})
	if waitErr := g.Wait(); err == nil {
		err = waitErr
	}
	if err != nil {
		return Report{}, err
	}
	slices.SortFunc(units, func(a, b *skillCheck) int { return strings.Compare(a.dir, b.dir) })
	return r.report(units), nil
}

// RunRules returns the findings of some rules about the skill at the root of a file system. The patterns are ids,
// families, or the start of an id and a star. It is for decisions about untrusted skills: it ignores suppressions by
// the author, and includes notes and rules that are off by default.
func RunRules(ctx context.Context, fsys fs.FS, rules []string) ([]diag.Finding, error) {
	return (*RuleSet)(nil).run(ctx, fsys, rules)
}

// run is [RunRules] with the rules of the set, which may be nil.
func (s *RuleSet) run(ctx context.Context, fsys fs.FS, rules []string) ([]diag.Finding, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	o := Options{Parallel: 1, Rules: s}
	for _, r := range rules {
		o.Settings.Levels = append(o.Settings.Levels, Level{Rules: r, Own: true})
	}
	report, err := Run(ctx, fsys, []string{"."}, o)
	if err != nil {
		return nil, err
	}
	found := report.Findings
	for _, suppressed := range report.Suppressed {
		found = append(found, suppressed.Finding)
	}
	return slices.DeleteFunc(found, func(f diag.Finding) bool {
		return !slices.ContainsFunc(rules, func(pattern string) bool { return rule.Match(pattern, f.Rule) })
	}), nil
}

// lintRun is one run over one file system.
type lintRun struct {
	*Linter
	fsys      fs.FS
	targets   []string
	unread    []collector // findings about directories without a skill
	packFiles []packFile
	listed    map[string]bool // the directories that were searched, and whether there is a skillpm.yaml

	capabilityDirs struct {
		sync.Mutex
		set map[string]bool // the first skills, whose capabilities are collected
	}
}

// report combines the findings about each skill and adds those about several skills together.
func (l *lintRun) report(units []*skillCheck) Report {
	r := Report{lines: []*lineReader{{run: l, redacted: map[lineKey]string{}}}}
	for _, p := range l.Profiles {
		r.Profiles = append(r.Profiles, p.ID)
	}
	var all []*skillCheck
	seen := map[string]bool{}
	for _, u := range units {
		for _, u := range append([]*skillCheck{u}, u.nested...) {
			if !seen[u.dir] {
				seen[u.dir] = true
				all = append(all, u)
			}
		}
	}
	packs := groupByPack(all)
	l.checkCrossReferences(all)
	for _, u := range all { // comparing descriptions takes as much memory
		u.refs, u.mentions = nil, ""
	}
	for _, units := range packs {
		compareNames(units)
		compareDescriptions(units)
	}
	count := 0
	for _, u := range all {
		count += u.compact.len() + len(u.findings)
	}
	r.Findings = make([]diag.Finding, 0, count)
	for _, u := range all {
		u.findings, u.compact = append(u.compact.list(), u.findings...), ""
		dir := l.show(u.dir)
		r.Skills = append(r.Skills, dir)
		if c := u.capabilities; l.wantsCapabilities(len(all)) && (c.Summary != "" || len(c.Evidence) > 0) {
			c.Skill = dir
			r.Capabilities = append(r.Capabilities, c)
		}
		r.Verdicts = append(r.Verdicts, l.verdicts(dir, u.findings)...) // agents don't know about suppressions
		u.suppress()
		r.collect(&u.collector)
	}
	for i := range l.unread {
		r.collect(&l.unread[i])
	}
	for _, c := range l.checkPackFiles(all) {
		r.collect(&c.collector)
	}
	r.sort()
	return r
}

// verdicts returns which profiles accept a skill with these findings.
func (l *lintRun) verdicts(dir string, findings []diag.Finding) []ProfileVerdict {
	var out []ProfileVerdict
	for _, p := range l.Profiles {
		v := ProfileVerdict{Skill: dir, Profile: p.ID, Accepted: true, Reasons: []string{}}
		for _, f := range findings {
			if f.Severity == diag.SeverityError && rejectsSkill(f.Rule) &&
				(f.Profile == "" || slices.Contains(strings.Split(f.Profile, ","), p.ID)) {
				v.Accepted = false
				v.Reasons = append(v.Reasons, f.Rule)
			}
		}
		slices.Sort(v.Reasons)
		v.Reasons = slices.Compact(v.Reasons)
		out = append(out, v)
	}
	return out
}

// rejectsSkill reports whether an error of a rule makes agents reject the skill: wrong frontmatter, missing listed
// files, or no SKILL.md of a size that they read. With a broken link, an agent still loads the skill.
func rejectsSkill(id string) bool {
	switch id {
	case rule.FileCase, rule.Unreadable, rule.TotalSize, rule.Listed, rule.ListedForm:
		return true
	}
	return strings.HasPrefix(id, "FM")
}

// show writes a path as the report does.
func (l *lintRun) show(path string) string {
	if l.Show == nil {
		return path
	}
	return l.Show(path)
}

// merge makes one finding of those that several profiles agree on, and drops exact repetitions.
func (l *lintRun) merge(findings []diag.Finding) []diag.Finding {
	type key struct {
		rule, path, message string
		severity            diag.Severity
		line, column        int
	}
	at := map[key]int{}
	var out []diag.Finding
	for _, f := range findings {
		k := key{f.Rule, f.Path, f.Message, f.Severity, f.Line, f.Column}
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			out = append(out, f)
			continue
		}
		if ids := strings.Split(out[i].Profile, ","); out[i].Profile != "" && f.Profile != "" &&
			!slices.Contains(ids, f.Profile) {
			out[i].Profile += "," + f.Profile
		}
	}
	for i := range out {
		if n := strings.Count(out[i].Profile, ",") + 1; n == len(l.Profiles) {
			out[i].Profile = ""
		}
	}
	return out
}

// noSkill is the error for a target without skills.
func noSkill(target string, dirs int) error {
	looked := ""
	if dirs > 1 {
		looked = " or " + textx.CountOf(dirs-1, "directory", "directories") + " below it"
	}
	return diag.Errorf(diag.NotFound, "no SKILL.md found in %s%s", target, looked).
		WithHint("create a skill, a directory with a SKILL.md file, with: skillpm new NAME")
}

// Report is what [Run] found.
type Report struct {
	Profiles []string       // the selected profiles; in merged reports, not every skill was checked under all of them
	Skills   []string       // the directories of the skills that were checked, in order
	Findings []diag.Finding // in order of path, line and column

	Verdicts   []ProfileVerdict // which profiles accept which skills, in order of skills, then of Profiles
	Suppressed []Suppressed     // findings that do not count, in the order of findings

	Capabilities []Capabilities // of the skills that have some, in order of skills

	lines []*lineReader
}

// ProfileVerdict is whether a profile accepts a skill.
type ProfileVerdict struct {
	Skill    string   `json:"skill"`
	Profile  string   `json:"profile"`
	Accepted bool     `json:"accepted"`
	Reasons  []string `json:"reasons"` // the rules of the errors, each once, in order
}

// Line returns the line that a finding is about, without its line ending, and with stars for secrets. It is "" if the
// finding is about the whole file, or if the file cannot be read any more: reports do not keep the lines of thousands of
// files, but read them again.
func (r Report) Line(f diag.Finding) string {
	if f.Line == 0 {
		return ""
	}
	for _, l := range r.lines {
		if line, ok := l.read(f.Path, f.Line); ok {
			return line
		}
	}
	return ""
}

// Count returns how many findings have that severity.
func (r Report) Count(s diag.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// OK reports whether there are no errors.
func (r Report) OK() bool { return r.Count(diag.SeverityError) == 0 }

// Merge adds another report's skills and findings.
func (r *Report) Merge(other Report) {
	r.add(other)
	r.sort()
}

func (r *Report) add(other Report) {
	for _, id := range other.Profiles {
		if !slices.Contains(r.Profiles, id) {
			r.Profiles = append(r.Profiles, id)
		}
	}
	r.Skills = concat(r.Skills, other.Skills)
	r.Findings = concat(r.Findings, other.Findings)
	r.Verdicts = concat(r.Verdicts, other.Verdicts)
	r.Suppressed = concat(r.Suppressed, other.Suppressed)
	r.Capabilities = concat(r.Capabilities, other.Capabilities)
	r.lines = append(r.lines, other.lines...)
}

// concat appends b to a, without a copy of b if a is empty: reports can have a hundred thousand findings.
func concat[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}

// collect adds the findings of one collector.
func (r *Report) collect(c *collector) {
	r.Findings = append(r.Findings, c.l.merge(c.findings)...)
	r.Suppressed = append(r.Suppressed, c.suppressed...)
	maps.Copy(r.lines[0].redacted, c.redacted)
	c.findings, c.suppressed = nil, nil
}

func (r *Report) sort() {
	slices.Sort(r.Skills)
	slices.SortStableFunc(r.Findings, diag.CompareFindings)
	slices.SortStableFunc(r.Suppressed, func(a, b Suppressed) int { return diag.CompareFindings(a.Finding, b.Finding) })
	slices.SortStableFunc(r.Capabilities, func(a, b Capabilities) int { return strings.Compare(a.Skill, b.Skill) })
	slices.SortStableFunc(r.Verdicts, func(a, b ProfileVerdict) int { return strings.Compare(a.Skill, b.Skill) })
}

// Accept suppresses the findings that something outside the report accepts, such as a baseline: those that accepted
// returns a reason for.
func (r *Report) Accept(by string, accepted func(diag.Finding) (reason string, ok bool)) {
	reported := r.Findings[:0]
	for _, f := range r.Findings {
		if reason, ok := accepted(f); ok {
			r.Suppressed = append(r.Suppressed, Suppressed{Finding: f, Reason: reason, By: by})
			continue
		}
		reported = append(reported, f)
	}
	r.Findings = reported
	r.sort()
}

// Keep removes the findings and suppressed findings that are only about paths which accepts rejects.
func (r *Report) Keep(accepts func(path string) bool) {
	other := func(f diag.Finding) bool { return !accepts(f.Path) && !slices.ContainsFunc(f.Related, accepts) }
	r.Findings = slices.DeleteFunc(r.Findings, other)
	r.Suppressed = slices.DeleteFunc(r.Suppressed, func(s Suppressed) bool { return other(s.Finding) })
}

// KeepSkills removes all other skills, their verdicts, and their capabilities; findings stay.
func (r *Report) KeepSkills(skills []string) {
	other := func(skill string) bool { return !slices.Contains(skills, skill) }
	r.Skills = slices.DeleteFunc(r.Skills, other)
	r.Verdicts = slices.DeleteFunc(r.Verdicts, func(h ProfileVerdict) bool { return other(h.Skill) })
	r.Capabilities = slices.DeleteFunc(r.Capabilities, func(c Capabilities) bool { return other(c.Skill) })
}

// Add adds a finding about a file that the linter does not check itself.
func (r *Report) Add(f diag.Finding) {
	r.Findings = append(r.Findings, f)
	r.sort()
}
