package publish

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/overlayfs"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/publish/internal/interpreter"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// ValidateOptions configure [Client.Validate].
type ValidateOptions struct {
	Paths []string // files and directories, relative ones to the client's directory; empty means that directory
	// ids of profiles, or "all"; the default is the profiles of skillpm.yaml, or else the default profile
	Profiles []string
	Parallel int // number of skills checked concurrently; 0 means one per CPU

	Strict   bool     // treat warnings as errors
	Lenient  bool     // do not treat warnings as errors, whatever skillpm.yaml sets
	Enable   []string // rules to enable: ids, families, or a prefix and *
	Disable  []string // rules to disable
	NoConfig bool     // ignore the validate: settings of skillpm.yaml
	Edits    bool     // compute the edits that fix findings
	Renames  bool     // [Client.Fix] also changes names of skills

	Capabilities int  // as in [lint.Options]
	Evidence     bool // as in [lint.Options]

	Budget int // tokens that the list of all skills may cost an agent; 0 means any

	CheckScripts bool // also check scripts with the interpreters of this machine, which do not run them

	Changed bool   // report only skills with files that differ from the last commit
	Since   string // with Changed: compare with the merge base of HEAD and this branch, tag, or commit

	Baseline   string // baseline file; "" means that of skillpm.yaml
	NoBaseline bool   // do not use a baseline

	levels []lint.Level // override all other levels

	Policy     bool   // also check the skills against the policies in effect
	PolicyFile string // check against this policy file instead

	// Stdin replaces the content of the file StdinName, which need not exist. Only its findings are reported.
	Stdin     []byte
	StdinName string
}

// Validate checks all skills at and below the paths, and the files that describe packs. The report has the findings,
// with paths as the user typed them. Validate returns an error if a path does not exist or has nothing to check, if a
// profile or rule is unknown, or if skillpm.yaml or the baseline cannot be read.
func (c *Client) Validate(ctx context.Context, o ValidateOptions) (lint.Report, error) {
	return c.validate(ctx, o, o.overlay(c))
}

// overlay returns the replaced contents of files, by absolute path.
func (o ValidateOptions) overlay(c *Client) map[string][]byte {
	contents := map[string][]byte{}
	if o.StdinName != "" {
		contents[c.Machine.Abs(o.StdinName)] = o.Stdin
	}
	return contents
}

// validate is Validate with replaced contents of some files, by absolute path.
func (c *Client) validate(ctx context.Context, o ValidateOptions, contents map[string][]byte) (lint.Report, error) {
	if err := checkRules(o.Enable, o.Disable); err != nil {
		return lint.Report{}, err
	}
	jobs, err := c.jobs(o)
	if err != nil {
		return lint.Report{}, err
	}
	var report lint.Report
	for _, j := range jobs {
		one, err := j.run(ctx, o, contents)
		if err != nil {
			return lint.Report{}, err
		}
		report.Merge(one)
	}
	if o.StdinName != "" { // the only path of the only job
		name := jobs[0].show(jobs[0].inVolume(c.Machine.Abs(o.StdinName)))
		report.Keep(func(path string) bool { return path == name })
	}
	if o.Changed {
		return report, c.keepChanged(ctx, &report, o)
	}
	return report, nil
}

func checkRules(lists ...[]string) error {
	for _, list := range lists {
		for _, pattern := range list {
			if err := rule.CheckPattern(pattern); err != nil {
				return err
			}
		}
	}
	return nil
}

// job is the targets in one project and on one volume.
type job struct {
	*volume
	client   *Client
	project  *checkedProject
	settings lint.Settings
}

// jobs groups the paths by project.
func (c *Client) jobs(o ValidateOptions) ([]*job, error) {
	paths := o.Paths
	switch {
	case o.StdinName != "" && len(paths) > 0:
		return nil, diag.Errorf(diag.Usage, "--stdin cannot be used with paths").
			WithHint("set the path of the input with --stdin-filename")
	case o.StdinName != "":
		paths = []string{o.StdinName}
	case len(paths) == 0:
		paths = []string{c.Dir}
	}
	var jobs []*job
	for _, p := range paths {
		if p == "" {
			return nil, diag.Errorf(diag.Usage, "a path is empty").WithHint("use . for the current directory")
		}
		project, err := c.checkedProject(c.Machine.Abs(p), o.NoConfig)
		if err != nil {
			return nil, err
		}
		root := volumeRoot(c.Machine.Abs(p))
		i := slices.IndexFunc(jobs, func(j *job) bool { return j.root == root && j.project.dir == project.dir })
		if i < 0 {
			i = len(jobs)
			j := &job{volume: c.volume(root), client: c, project: project}
			j.settings = project.settings(j.inVolume(project.dir), o)
			jobs = append(jobs, j)
		}
		jobs[i].add(c.Machine.Abs(p), p)
	}
	return jobs, nil
}

// run checks the skills of one project.
func (j *job) run(ctx context.Context, o ValidateOptions, contents map[string][]byte) (lint.Report, error) {
	ids := o.Profiles
	if len(ids) == 0 {
		ids = j.project.profiles()
	}
	profiles, err := profile.SelectFrom(ids, safefile.Dir(filepath.Join(j.client.Paths.Config, profile.Dir)))
	if err != nil {
		return lint.Report{}, err
	}
	fsys, err := j.withOverlay(contents)
	if err != nil {
		return lint.Report{}, err
	}
	rules, err := j.project.rules(j.show, j.inVolume)
	if err != nil {
		return lint.Report{}, err
	}
	var checkScript func(string, []byte) *lint.ScriptProblem
	if o.CheckScripts {
		checker := interpreter.New(j.client.Machine.Environment)
		defer checker.Close()
		checkScript = checker.Check
	}
	report, err := lint.Run(ctx, fsys, j.targets, lint.Options{
		Rules: rules, CheckScript: checkScript, Profiles: profiles, Parallel: o.Parallel,
		NoModes: j.client.OS == "windows", Edits: o.Edits, Capabilities: o.Capabilities, Evidence: o.Evidence,
		Settings: j.settings, Now: j.client.Now(), SkillExists: j.client.skillExists(j.project, j.absolute()),
		Show: j.show, Unshow: j.unshow,
	})
	if err != nil {
		return report, err
	}
	j.client.dropExecutableFindings(&report, j.project)
	if err := j.checkSettings(ctx, fsys, &report, o); err != nil {
		return report, err
	}
	if err := j.checkBudgets(ctx, fsys, &report, o); err != nil {
		return report, err
	}
	if err := j.applyBaseline(&report, o); err != nil {
		return report, err
	}
	return report, j.checkPolicies(ctx, &report, o)
}

// checkSettings reports problems in the skillpm.yaml with the settings, if that file is not checked itself, so that
// unreadable settings are not silently ignored.
func (j *job) checkSettings(ctx context.Context, fsys fs.FS, report *lint.Report, o ValidateOptions) error {
	if !j.project.hasManifest || o.NoConfig || j.covers(j.project.scope.Manifest()) {
		return nil
	}
	about, err := lint.Run(ctx, fsys, []string{j.inVolume(j.project.scope.Manifest())}, lint.Options{
		Show: j.show, Unshow: j.unshow,
	})
	if err != nil {
		return err
	}
	for _, f := range about.Findings {
		if f.Rule == rule.Manifest && f.Severity == diag.SeverityError {
			report.Add(f)
		}
	}
	return nil
}

// absolute returns the targets as paths of the operating system.
func (j *job) absolute() []string {
	var out []string
	for _, t := range j.targets {
		out = append(out, filepath.Join(j.root, filepath.FromSlash(t)))
	}
	return out
}

// withOverlay returns the volume with the replaced contents.
func (j *job) withOverlay(contents map[string][]byte) (fs.FS, error) {
	files := map[string][]byte{}
	for abs, data := range contents {
		if volumeRoot(abs) == j.root {
			files[j.inVolume(abs)] = data
		}
	}
	if len(files) == 0 {
		return j.fsys, nil
	}
	fsys, err := overlayfs.New(j.fsys, files)
	if err != nil {
		return nil, diag.Errorf(diag.Usage, "--stdin-filename: %w", err)
	}
	return fsys, nil
}

// keepChanged keeps only the findings of skills with changed files, and of changed pack files.
func (c *Client) keepChanged(ctx context.Context, report *lint.Report, o ValidateOptions) error {
	files, err := c.changedFiles(ctx, o)
	if err != nil {
		return err
	}
	real := func(path string) string { return pathx.ResolveOrClean(c.Machine.Abs(filepath.FromSlash(path))) }
	above := map[string]bool{} // the changed files and all directories above them
	for f := range files {
		for ; !above[f]; f = filepath.Dir(f) {
			above[f] = true
		}
	}
	var skills []string
	for _, s := range report.Skills {
		if above[real(s)] {
			skills = append(skills, s)
		}
	}
	report.KeepSkills(skills)
	report.Keep(func(path string) bool {
		if files[real(path)] {
			return true
		}
		return slices.ContainsFunc(skills, func(s string) bool {
			return s == "." || path == s ||
				strings.HasPrefix(path, s+"/")
		})
	})
	return nil
}

// changedFiles returns the absolute paths of the changed files in the repositories of the paths.
func (c *Client) changedFiles(ctx context.Context, o ValidateOptions) (map[string]bool, error) {
	paths := o.Paths
	if len(paths) == 0 {
		paths = []string{c.Dir}
		if o.StdinName != "" {
			paths = []string{o.StdinName}
		}
	}
	files := map[string]bool{}
	var roots []string
	for _, p := range paths {
		dir := nearestExisting(c.Machine.Abs(p))
		real := pathx.ResolveOrClean(dir)
		if slices.ContainsFunc(roots, func(root string) bool { return pathx.Contains(root, real) }) {
			continue
		}
		root, changed, err := git.Changed(ctx, dir, o.Since)
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
		for _, name := range changed {
			files[filepath.Join(root, filepath.FromSlash(name))] = true
		}
	}
	return files, nil
}
