package admission

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// Files returns the files of a skill with SKILL.md at the root. The digest is that of the lock, or "" for a directory
// that is linked. It returns nil if the files are not available.
type Files func(id pack.ID, name, digest string) (fs.FS, error)

// HasPolicies reports whether there are policies.
func (a *Admission) HasPolicies() bool { return len(a.policies) > 0 }

// NeedsFiles reports whether a policy decides by the files of skills.
func (a *Admission) NeedsFiles() bool {
	return slices.ContainsFunc(a.policies, (*policy.Policy).NeedsFiles)
}

// AdmitFiles checks the files of candidates against the policies: their capabilities, size, findings, and approvals. A
// pack that was admitted on this machine with the same trees, by the same policies and approvals, is not checked again.
func (a *Admission) AdmitFiles(ctx context.Context, c Candidates, files Files) error {
	if !a.NeedsFiles() {
		return nil
	}
	known := ReadVerdicts(a.Fetcher.Machine, a.Evaluator)
	var fresh []string
	for _, id := range c.ids() {
		locked := c.Packs[id]
		linked := c.Linked(id)
		if !linked && known.Has(id, locked, c.Names) {
			continue
		}
		cacheable, err := a.admitSkills(ctx, c, id, files)
		if err != nil {
			return err
		}
		if cacheable && !linked {
			fresh = append(fresh, verdictKey(id, locked, c.Names))
		}
	}
	known.add(fresh)
	return nil
}

// admitSkills checks the skills of a pack. Cacheable means that the files of all were available, and that nothing was
// noted.
func (a *Admission) admitSkills(ctx context.Context, c Candidates, id pack.ID, files Files) (cacheable bool,
	err error,
) {
	names := slices.Sorted(maps.Keys(c.Packs[id].Skills))
	names = slices.DeleteFunc(names, func(name string) bool { return a.checkName(id, name, c) != nil }) // left out
	decisions, complete, errs := make([]enforce.Decision, len(names)), make([]bool, len(names)),
		make([]error, len(names))
	group := new(bug.Group)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i, name := range names {
		group.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				decisions[i], complete[i], errs[i] = a.admitSkill(ctx, c, id, name, files)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are kept in order
	cacheable = true
	for i, d := range decisions {
		if errs[i] != nil {
			return false, c.explain(id, errs[i])
		}
		cacheable = cacheable && complete[i] && len(d.Notes) == 0
		a.Fetcher.Gate.Note(d.Notes...)
	}
	return cacheable, nil
}

// admitSkill checks one skill of a pack. Complete means that its files were available, as they are locked.
func (a *Admission) admitSkill(ctx context.Context, c Candidates, id pack.ID, name string, files Files,
) (d enforce.Decision, complete bool, err error) {
	want := c.Packs[id].Skills[name]
	fsys, err := files(id, name, want)
	if fsys == nil || err != nil {
		return d, false, err
	}
	about := enforce.Skill{
		Name: name, Alias: c.Names[pack.SkillKey{Pack: id, Skill: name}], Pack: id.String(), Source: c.source(id),
		Machine: c.Machine, Trusted: true,
	}
	if doc, _, err := skill.Load(fsys, "."); err == nil && doc.Name() != name {
		about.Declared = doc.Name()
	}
	d, err = a.Evaluator.Evaluate(ctx, about, fsys)
	return d, want == "" || d.Digest == "" || d.Digest == want, err // an edited skill is checked when it is used
}

// Verdicts are the packs whose files were admitted by the same policies and approvals. They only save time. Only the
// owner of a policy can write verdicts that count for it: the administrator if the machine's policy decides by files,
// otherwise the user. Projects can't write either file.
type Verdicts struct {
	file  string // "" if nothing can be kept
	modes atomicfile.Options
	text  string
	known map[string]bool
}

// The limits of what is kept: of packs in a file, and of files.
const (
	mostVerdicts     = 10_000
	mostVerdictFiles = 32
)

// ReadVerdicts reads what was admitted by the policies and approvals in effect.
func ReadVerdicts(m *workspace.Machine, e *enforce.Evaluator) *Verdicts {
	key := strings.TrimPrefix(e.CacheKey(m.Version), "sha256:")
	state, modes := m.Paths.State, atomicfile.Options{Mode: 0o600, MkdirMode: 0o700}
	ofMachine := slices.ContainsFunc(e.Policies(), func(p *policy.Policy) bool {
		return p.Level == policy.MachineLevel && p.NeedsFiles()
	})
	if ofMachine && m.OS == "windows" {
		return &Verdicts{} // users can create files in ProgramData, and CheckAdmin does not see who did
	}
	if ofMachine { // every user may read what only the administrator writes
		state, modes = m.Paths.ForMachine().State, atomicfile.Options{Mode: 0o644, MkdirMode: 0o755}
	}
	if key == "" || state == "" {
		return &Verdicts{}
	}
	v := &Verdicts{file: filepath.Join(state, "admitted", key), modes: modes, known: map[string]bool{}}
	if ofMachine && m.PolicyFiles().CheckAdmin(state, filepath.Dir(v.file), v.file) != nil {
		return v // a new file replaces it if the administrator runs this process
	}
	data, err := os.ReadFile(v.file)
	if err != nil {
		return v
	}
	v.text = string(data)
	for line := range strings.Lines(v.text) {
		v.known[strings.TrimSuffix(line, "\n")] = true
	}
	return v
}

// Has reports whether the files of a pack were admitted, with these trees under these names.
func (v *Verdicts) Has(id pack.ID, p *pack.LockedPack, names map[pack.SkillKey]string) bool {
	return len(v.known) > 0 && v.known[verdictKey(id, p, names)]
}

// verdictKey names a pack of a source with exactly these trees, under these names.
func verdictKey(id pack.ID, p *pack.LockedPack, names map[pack.SkillKey]string) string {
	text := fmt.Appendf(nil, "%s\n%q\n%s\n", id, p.Source, bundle.Integrity(p.Skills))
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		if as := names[pack.SkillKey{Pack: id, Skill: name}]; as != "" && as != name {
			text = fmt.Appendf(text, "%s %s\n", name, as)
		}
	}
	return bundle.DigestOf(text)
}

// add keeps further packs.
func (v *Verdicts) add(keys []string) {
	if v.file == "" || len(keys) == 0 {
		return
	}
	text := v.text
	if len(v.known) > mostVerdicts {
		text = ""
	}
	text += strings.Join(keys, "\n") + "\n"
	if atomicfile.Write(v.file, []byte(text), v.modes) == nil {
		v.prune()
	}
}

// prune removes the oldest files: policies and approvals change.
func (v *Verdicts) prune() {
	dir := filepath.Dir(v.file)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) <= mostVerdictFiles {
		return
	}
	changed := map[string]int64{}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			changed[f.Name()] = info.ModTime().UnixNano()
		}
	}
	slices.SortFunc(files, func(a, b os.DirEntry) int { return cmp.Compare(changed[a.Name()], changed[b.Name()]) })
	for _, f := range files[:len(files)-mostVerdictFiles] {
		_ = os.Remove(filepath.Join(dir, f.Name())) // it only takes space
	}
}
