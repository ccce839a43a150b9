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

// ImportOptions says what to import.
type ImportOptions struct {
	File      string // of another tool
	Scope     string // scope.KindProject or scope.KindUser; "" means the project
	DryRun    bool   // open the places, and write nothing
	KeepGoing bool   // leave out places that can't be opened
	Offline   bool   // use no network
}

// ImportReport says what became of another tool's file.
type ImportReport struct {
	File     string          `json:"file"`
	Tool     string          `json:"tool"` // whose file it is
	Imported []ImportedPack  `json:"imported"`
	Skipped  []SkippedImport `json:"skipped"`
	Install  *InstallReport  `json:"install,omitempty"` // what installing them did; absent where nothing was imported
}

// ImportedPack is one dependency that was made of the file.
type ImportedPack struct {
	Pack     string   `json:"pack"`
	Requires string   `json:"requires"` // as the lock writes it
	Names    []string `json:"names"`    // what the other tool calls it
	Existed  bool     `json:"existed"`  // the manifest had it already, and keeps what it says
	Line     int      `json:"line,omitempty"`
}

// SkippedImport is what could not be imported, and why.
type SkippedImport struct {
	What string `json:"what"`
	Why  string `json:"why"`
	Line int    `json:"line,omitempty"`
}

// The bounds of a file of another tool.
const (
	maxForeign  = 16 << 20 // bytes
	maxImported = 500      // dependencies, since the manifest is written anew for each
)

// Import reads the file in which another tool says what skills it installed or offers, adds them to the manifest, and
// installs them. The file stays as it is.
func (c *Client) Import(ctx context.Context, o ImportOptions) (*ImportReport, error) {
	file, data, err := c.readForeign(o.File)
	if err != nil {
		return nil, err
	}
	var report *ImportReport
	_, err = c.retry(func() (*InstallReport, error) {
		io := InstallOptions{Scope: o.Scope, DryRun: o.DryRun, Offline: o.Offline}
		w, err := c.open(ctx, io, true)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(filepath.Dir(w.Scope.Manifest()), file)
		if err != nil {
			name = file
		}
		found, err := foreign.Parse(filepath.ToSlash(name), data)
		if err != nil {
			return nil, err
		}
		if n := len(found.Dependencies); n > maxImported {
			return nil, diag.Errorf(diag.Invalid, "%s has %d dependencies, and %d at most can be imported at once",
				o.File, n, maxImported).
				WithHint("divide it into several files")
		}
		report = &ImportReport{
			File: c.Shown(file), Tool: found.Tool, Imported: []ImportedPack{}, Skipped: []SkippedImport{},
		}
		for _, s := range found.Skipped {
			report.Skipped = append(report.Skipped, SkippedImport(s))
		}
		t, err := w.adopt(ctx, o, found, report)
		if err != nil || t == nil {
			return nil, err
		}
		report.Install, err = w.install(ctx, io, t)
		return report.Install, err
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// readForeign reads the file, or the one that such a directory usually has.
func (c *Client) readForeign(name string) (string, []byte, error) {
	file := c.Machine.Abs(name)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		found := ""
		for _, usual := range []string{
			"skills-lock.json", "apm.yml",
			filepath.Join(".claude-plugin", "marketplace.json"),
		} {
			if _, err := os.Stat(filepath.Join(file, usual)); err != nil {
				continue
			}
			if found != "" {
				return "", nil, diag.Errorf(diag.Usage, "%s has %s and %s", name, found, usual).
					WithHint("name one of them")
			}
			found = usual
		}
		if found == "" {
			return "", nil, diag.Errorf(diag.NotFound, "%s has no file of another tool", name).
				WithHint("name one: skills-lock.json, apm.yml or .claude-plugin/marketplace.json")
		}
		file = filepath.Join(file, found)
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

// adopt opens every place, because only the pack itself says what it is called, adds what is new to the manifest and
// resolves it. Without anything new it returns nil.
func (w *work) adopt(
	ctx context.Context, o ImportOptions, found *foreign.Import, report *ImportReport,
) (*target, error) {
	t := &target{manifest: w.Manifest.Clone()}
	var requests []packRequest
	for _, item := range found.Dependencies {
		x, err := w.adoptOne(ctx, t.manifest, item, report)
		if err != nil && o.KeepGoing && ctx.Err() == nil {
			report.Skipped = append(report.Skipped, SkippedImport{
				What: strings.Join(item.Names, ", "), Why: err.Error(), Line: item.Line,
			})
			continue
		}
		if err != nil {
			err = fmt.Errorf("%s:%d: %w", report.File, item.Line, err)
			if code := diag.CodeOf(err); code != diag.Interrupted && ctx.Err() == nil {
				const rest = "--keep-going leaves out what can't be opened"
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
	if t.Solution, err = w.Backend.Lock(ctx, t.manifest); err != nil {
		return nil, err
	}
	return t, w.record(t, requests)
}

// adoptOne adds one dependency to the manifest, unless it has the pack.
func (w *work) adoptOne(
	ctx context.Context, m *pack.Manifest, item foreign.Item, report *ImportReport,
) (*packRequest, error) {
	d := item.Dependency
	x := packRequest{dep: d}
	if d.Ref != nil {
		var err error
		if x, err = w.request(pack.WithSkills(ctx, d.Skills), w.fromHere(*d.Ref)); err != nil {
			return nil, err
		}
		x.dep.Skills = d.Skills
		if err := offers(x.pack, d.Skills); err != nil {
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

// offers returns an error if a pack lacks one of the skills that are wanted of it.
func offers(p *pack.Pack, skills []string) error {
	if p == nil { // a name: resolving opens it
		return nil
	}
	for _, name := range skills {
		if _, ok := p.Skill(name); !ok {
			return diag.Errorf(diag.NotFound, "%s %s has no skill %q", p.ID, p.Version, name).
				WithHint("it has %s", strings.Join(p.SkillNames(), ", "))
		}
	}
	return nil
}

// fromHere makes a directory that is relative to the manifest one that is relative to where the verb works, as a
// directory of the command line is.
func (w *work) fromHere(ref pack.Ref) pack.Ref {
	if ref.Kind == pack.KindPath && !filepath.IsAbs(filepath.FromSlash(ref.URL)) {
		abs := filepath.Join(filepath.Dir(w.Scope.Manifest()), filepath.FromSlash(ref.URL))
		if rel, err := filepath.Rel(w.client.Dir, abs); err == nil {
			ref.URL = "./" + filepath.ToSlash(rel)
		}
	}
	return ref
}

// record writes what was wished into the target's manifest, with a range around versions that were left open.
func (w *work) record(t *target, requests []packRequest) error {
	for _, x := range requests {
		if version := t.Lock.Packs[x.dep.ID].Version; x.open && !strings.HasPrefix(version, "0.0.0-") {
			x.dep.Constraint = "^" + version
		}
		if err := t.manifest.SetDependency(x.dep); err != nil {
			return err
		}
		if at := x.dep.Ref; at != nil && (at.Kind == pack.KindPath || at.Kind == pack.KindLayout) &&
			w.Scope.Kind == scope.KindProject {
			if d, ok := t.manifest.Dependency(x.dep.ID); ok && d.Ref != nil &&
				filepath.IsAbs(filepath.FromSlash(d.Ref.URL)) {
				t.Warnings = append(t.Warnings, fmt.Sprintf(
					"skillpm.yaml names %s by an absolute path, %s, which other machines do not have", x.dep.ID,
					d.Ref.URL))
			}
		}
	}
	return nil
}
