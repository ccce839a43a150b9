package skillpm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/foreign"
)

// ImportOptions configure [Client.Import].
type ImportOptions struct {
	ChangeOptions
	File      string // of another tool; "" for the local skills of the project
	Pack      string // the name of the pack that local skills become, "" for a project without a name
	KeepGoing bool   // skip dependencies whose source can't be opened
}

// ImportReport is the result of [Client.Import].
type ImportReport struct {
	File     string          `json:"file"`
	Tool     string          `json:"tool"` // whose file it is
	Imported []ImportedPack  `json:"imported"`
	Skipped  []SkippedImport `json:"skipped"`
	Install  *InstallReport  `json:"install,omitempty"` // what the installation did; nil if nothing was imported

	// Of local skills: the skills, the manifest, the name of the pack, and whether the manifest changes.
	Local    []LocalSkill `json:"local,omitempty"`
	Manifest string       `json:"manifest,omitempty"`
	Pack     string       `json:"pack,omitempty"`
	Changed  bool         `json:"changed,omitempty"`
	DryRun   bool         `json:"dryRun,omitempty"`
}

// ImportedPack is one dependency that the file led to.
type ImportedPack struct {
	Pack     string   `json:"pack"`
	Requires string   `json:"requires"` // in the format of the lockfile
	Names    []string `json:"names"`    // what the other tool calls it
	Existed  bool     `json:"existed"`  // the manifest had it before, and did not change
	Line     int      `json:"line,omitempty"`
}

// SkippedImport is something that could not be imported.
type SkippedImport = foreign.Skipped

// The bounds of a file of another tool.
const (
	maxForeign  = 16 << 20 // bytes
	maxImported = 500      // dependencies; the manifest is encoded anew for each
)

// Import reads the file in which another tool lists its skills, adds them to the manifest, and installs them. The file
// does not change. Without a file, it makes the directory with local skills a project or a pack.
func (c *Client) Import(ctx context.Context, o ImportOptions) (*ImportReport, error) {
	if o.File == "" {
		return c.adopt(o)
	}
	if o.Pack != "" {
		return nil, diag.Errorf(diag.Usage, "--pack cannot be used with a file of another tool")
	}
	file, data, err := c.readForeign(o.File)
	if err != nil {
		return nil, err
	}
	var report *ImportReport
	r := request{ChangeOptions: o.ChangeOptions, create: true}
	installed, err := c.change(ctx, r, func(in *installer) (*resolution, error) {
		name, err := filepath.Rel(filepath.Dir(in.Scope.Manifest()), file)
		if err != nil {
			name = file
		}
		parsed, err := foreign.Parse(filepath.ToSlash(name), data)
		if err != nil {
			return nil, err
		}
		if n := len(parsed.Dependencies); n > maxImported {
			return nil, diag.Errorf(diag.Invalid, "%s has %d dependencies; the limit is %d",
				o.File, n, maxImported).
				WithHint("split the file into several files")
		}
		report = &ImportReport{
			File: c.DisplayPath(file), Tool: parsed.Tool, Imported: []ImportedPack{},
			Skipped: append([]SkippedImport{}, parsed.Skipped...),
		}
		return in.resolveImport(ctx, o, parsed, report)
	})
	if err != nil {
		return nil, err
	}
	report.Install = installed
	return report, nil
}

// noForeignFile returns the error for a directory without a file of another tool. Its hint depends on whether the
// directory has skills.
func noForeignFile(dir, name string) error {
	err := diag.Errorf(diag.NotFound, "%s does not contain a file that skillpm can import", name)
	if own, _ := filepath.Glob(filepath.Join(dir, "*", "SKILL.md")); len(own) > 0 {
		return err.WithHint("manage the skills where they are with \"skillpm import\" in the directory of the project, " +
			"or link them for all agents with: skillpm install ./skills")
	}
	return err.WithHint("use the path of a file: skills-lock.json, apm.yml, agents.toml, " +
		"toolhive.lock.yaml, or .claude-plugin/marketplace.json")
}

// readForeign reads a file of another tool, or the one in a directory.
func (c *Client) readForeign(name string) (string, []byte, error) {
	file := c.Machine.Abs(name)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		parsed := ""
		for _, usual := range []string{
			"skills-lock.json", "apm.yml", "agents.lock", "toolhive.lock.yaml",
			filepath.Join(".claude-plugin", "marketplace.json"),
		} {
			if _, err := os.Stat(filepath.Join(file, usual)); err != nil {
				continue
			}
			if parsed != "" {
				return "", nil, diag.Errorf(diag.Usage, "%s contains both %s and %s", name, parsed, usual).
					WithHint("use the path of the file to import")
			}
			parsed = usual
		}
		if parsed == "" {
			return "", nil, noForeignFile(file, name)
		}
		file = filepath.Join(file, parsed)
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, diag.Errorf(diag.NotFound, "%s does not exist", name)
	case err != nil:
		return "", nil, err
	case !info.Mode().IsRegular():
		return "", nil, diag.Errorf(diag.Invalid, "%s is not a file", name)
	case info.Size() > maxForeign:
		return "", nil, diag.Errorf(diag.Invalid, "%s is larger than %d MB", name, maxForeign>>20)
	}
	data, err := os.ReadFile(file)
	return file, data, err
}

// resolveImport opens every source, because only a pack itself states its name, adds the new packs to the manifest, and
// computes the lockfile. It returns nil if there are no new packs.
func (in *installer) resolveImport(
	ctx context.Context, o ImportOptions, parsed *foreign.Import, report *ImportReport,
) (*resolution, error) {
	res := &resolution{manifest: in.Manifest.Clone()}
	var requests []packRequest
	for _, item := range parsed.Dependencies {
		x, err := in.importDependency(ctx, res.manifest, item, report)
		if err != nil && o.KeepGoing && ctx.Err() == nil {
			report.Skipped = append(report.Skipped, SkippedImport{
				What: strings.Join(item.Names, ", "), Why: err.Error(), Line: item.Line,
			})
			continue
		}
		if err != nil {
			err = fmt.Errorf("%s:%d: %w", report.File, item.Line, err)
			if code := diag.CodeOf(err); code != diag.Interrupted && ctx.Err() == nil {
				const rest = "use --keep-going to skip sources that skillpm cannot open"
				if hint := diag.HintOf(err); hint != "" {
					return nil, diag.Errorf(code, "%w", err).WithHint("%s; %s", hint, rest)
				}
				return nil, diag.Errorf(code, "%w", err).WithHint(rest)
			}
			return nil, err
		}
		if x != nil {
			requests = append(requests, *x)
		}
	}
	if len(requests) == 0 {
		return nil, nil
	}
	var err error
	if res.Solution, err = in.Backend.Lock(ctx, res.manifest); err != nil {
		return nil, err
	}
	return res, in.recordRequests(res, requests)
}

// importDependency adds one dependency to the manifest, unless the manifest has the pack.
func (in *installer) importDependency(
	ctx context.Context, m *pack.Manifest, item foreign.Item, report *ImportReport,
) (*packRequest, error) {
	d := item.Dependency
	x := packRequest{dep: d}
	if d.Ref != nil {
		var err error
		if x, err = in.newRequest(pack.WithSkills(ctx, d.Skills), in.fromWorkingDir(*d.Ref)); err != nil {
			return nil, err
		}
		x.dep.Skills = d.Skills
		if err := checkSkills(x.pack, d.Skills); err != nil {
			return nil, err
		}
	}
	imported := ImportedPack{Pack: x.dep.ID.String(), Names: item.Names, Line: item.Line}
	have, ok := m.Dependency(x.dep.ID)
	if ok {
		imported.Requires, imported.Existed = pack.FormatRequirement(have), true
		report.Imported = append(report.Imported, imported)
		return nil, nil
	}
	imported.Requires = pack.FormatRequirement(x.dep)
	report.Imported = append(report.Imported, imported)
	if err := m.SetDependency(x.dep); err != nil {
		return nil, err
	}
	if item.Alias != "" && len(x.dep.Skills) == 1 && skill.LegalName(item.Alias) && item.Alias != x.dep.Skills[0] {
		return &x, m.SetAlias(pack.Alias{Alias: item.Alias, Skill: x.dep.Skills[0], Pack: x.dep.ID})
	}
	return &x, nil
}

// checkSkills returns an error if a pack lacks one of the required skills.
func checkSkills(p *pack.Pack, skills []string) error {
	if p == nil { // a name, which the solver looks up
		return nil
	}
	for _, name := range skills {
		if _, ok := p.Skill(name); !ok {
			return diag.Errorf(diag.NotFound, "%s %s does not contain the skill %q", p.ID, p.Version, name).
				WithHint("available skills: %s", strings.Join(p.SkillNames(), ", "))
		}
	}
	return nil
}

// fromWorkingDir makes a directory that is relative to the manifest relative to the working directory, as directories
// of the command line are.
func (in *installer) fromWorkingDir(ref pack.Ref) pack.Ref {
	if ref.Kind == pack.KindPath && !filepath.IsAbs(filepath.FromSlash(ref.URL)) {
		abs := filepath.Join(filepath.Dir(in.Scope.Manifest()), filepath.FromSlash(ref.URL))
		if rel, err := filepath.Rel(in.client.Dir, abs); err == nil {
			ref.URL = "./" + filepath.ToSlash(rel)
		}
	}
	return ref
}

// recordRequests writes the requests into the manifest of a resolution, with a range around versions that were left
// open.
func (in *installer) recordRequests(res *resolution, requests []packRequest) error {
	for _, x := range requests {
		if version := res.Lock.Packs[x.dep.ID].Version; x.open && !isPinned(version) {
			x.dep.Constraint = "^" + version
		}
		if err := res.manifest.SetDependency(x.dep); err != nil {
			return err
		}
		ref := x.dep.Ref
		if ref == nil || ref.Kind != pack.KindPath && ref.Kind != pack.KindLayout ||
			in.Scope.Kind != scope.KindProject {
			continue
		}
		if d, ok := res.manifest.Dependency(x.dep.ID); ok && d.Ref != nil &&
			filepath.IsAbs(filepath.FromSlash(d.Ref.URL)) {
			res.Warnings = append(res.Warnings, fmt.Sprintf(
				"skillpm.yaml refers to %s by the absolute path %s, which works only on this machine", x.dep.ID,
				d.Ref.URL))
		}
	}
	return nil
}
