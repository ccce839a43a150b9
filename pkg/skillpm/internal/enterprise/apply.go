package enterprise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// work is a layer on its way to what a list says.
type work struct {
	*Client
	release *release
	list    *list
	have    *record

	space  *workspace.Workspace
	before *pack.Lock // what was in force
	*base.Services
	solution *solve.Solution
	layout   *workspace.Layout
	change   *workspace.Change
	door     *enforce.Evaluator
	report   *SyncReport
	dry      bool // nothing is changed
}

// compare has what somebody changed in the layer replaced, and kept as a copy: it is to be exactly what the list says.
func compareOptions() workspace.CompareOptions { return workspace.CompareOptions{Force: true} }

// apply brings the layer to what a list says.
func (c *Client) apply(ctx context.Context, r *release, l *list, have *record, o SyncOptions) (*SyncReport, error) {
	w := &work{Client: c, release: r, list: l, have: have, door: c.Machine.Guard(), dry: o.DryRun}
	w.report = &SyncReport{
		Source: r.source, Version: r.version, Resolved: r.resolved, Signers: r.signers,
		DryRun: o.DryRun, Warnings: []string{},
	}
	if have != nil && have.Release != r.version {
		w.report.Previous = have.Release
	}
	if err := w.plan(ctx, o); err != nil {
		return nil, err
	}
	if err := w.admit(ctx); err != nil {
		return nil, err
	}
	stood := w.change.Empty()
	if err := w.stage(); err != nil {
		return nil, err
	}
	w.describe()
	w.report.Changed = !w.change.Empty()
	if o.DryRun {
		return w.report, nil
	}
	return w.report, w.commit(ctx, stood)
}

// plan works out what has to change.
func (w *work) plan(ctx context.Context, o SyncOptions) (err error) {
	if w.space, err = w.Machine.OpenMachine(); err != nil {
		return err
	}
	w.before = w.space.Lock
	w.space.Manifest, w.space.Lock = w.list.manifest.Clone(), w.list.lock
	options := base.ServiceOptions{Frozen: true, Offline: o.Offline}
	if w.Services, err = w.Client.Services(ctx, w.space, options); err != nil {
		return err
	}
	if w.solution, err = w.Backend.Lock(ctx, w.space.Manifest); err != nil {
		return fmt.Errorf("the list: %w", err)
	}
	if !maps.EqualFunc(w.solution.Lock.Packs, w.list.lock.Packs, (*pack.LockedPack).Equal) {
		return diag.Errorf(diag.Invalid, "the list's %s is not what its %s leads to",
			scope.LockName, scope.ManifestName).
			WithHint("run skillpm install where the list is made, and publish it again")
	}
	if w.layout, err = w.space.NewLayout(w.space.Manifest, w.solution.Lock, nil); err != nil {
		return err
	}
	w.solution.Lock.Names = w.layout.Names
	w.change, err = w.space.Compare(w.layout, compareOptions())
	return err
}

// admit holds the packs against the policies, and fetches those that have to be written.
func (w *work) admit(ctx context.Context) error {
	s := w.Services.Candidates(w.space.Manifest, w.layout, w.change)
	s.Machine, s.Names = true, base.SkillNames(w.layout)
	if err := w.Admission.Admit(ctx, w.solution, s); err != nil {
		return err
	}
	if err := w.FetchMissing(ctx, w.space.Manifest, w.solution, maps.Values(w.change.Place)); err != nil {
		return err
	}
	w.warn(w.solution.Warnings...)
	denied := w.deniedSkills()
	store, err := w.Machine.Store()
	if err != nil {
		return err
	}
	files := base.SkillFiles(w.space, store, w.layout)
	err = w.Admission.AdmitFiles(ctx, s, func(id pack.ID, name, digest string) (fs.FS, error) {
		if denied[admission.SkillOf{Pack: id, Skill: name}] {
			return nil, nil
		}
		return files(id, name, digest)
	})
	w.warn(w.Gate.Notes()...)
	return err
}

// deniedSkills returns the skills of the list that the policy denies by name. They are no reason to leave all as it
// was: the policy that denies them is to come into force.
func (w *work) deniedSkills() map[admission.SkillOf]bool {
	denied := map[admission.SkillOf]bool{}
	for _, n := range w.layout.Named {
		if _, err := w.door.Policies().Skill([]string{n.Skill, n.Link}, n.Pack.String()); err != nil {
			denied[admission.SkillOf{Pack: n.Pack, Skill: n.Skill}] = true
			w.warn(err.Error() + "; it is installed, and nobody can use it")
		}
	}
	return denied
}

// warn adds warnings. The list's policy is tried in a directory that is gone afterwards, so it is named as the list's.
func (w *work) warn(texts ...string) {
	staged := filepath.Join(w.Paths.Enterprise, stageName) + string(filepath.Separator)
	for _, text := range texts {
		w.report.Warnings = append(w.report.Warnings, strings.ReplaceAll(text, staged, "the list's "))
	}
}

// stage adds manifest, lock, policy and keys to the change.
func (w *work) stage() error {
	w.space.StageDocuments(w.change, w.goal())
	w.report.Policy = w.policyAction()
	for name, data := range w.list.files {
		if err := w.saveEdited(name, data); err != nil {
			return err
		}
		if err := w.space.StageFile(w.change, name, data); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) goal() workspace.Goal {
	return workspace.Goal{Manifest: w.space.Manifest, Lock: w.solution.Lock, Places: w.solution.Places}
}

// policyAction says what happens to the policy.
func (w *work) policyAction() string {
	have, err := safefile.ReadOptional(w.file(enforce.PolicyName))
	switch {
	case w.list.policy == nil && have == nil:
		return ""
	case w.list.policy == nil:
		if w.have != nil && w.have.Files[enforce.PolicyName] != "" {
			w.warn("the list has no policy any more; the one that it brought before stays in force. To loosen it, " +
				"publish a list with one that says less")
		}
		return PolicyKept
	case err == nil && string(have) == string(w.list.files[enforce.PolicyName]):
		return PolicyUnchanged
	}
	return PolicyReplaced
}

func (w *work) file(name string) string {
	return filepath.Join(w.Paths.Enterprise, filepath.FromSlash(name))
}

// saveEdited keeps a copy of a file that no sync wrote, or that somebody changed since.
func (w *work) saveEdited(name string, data []byte) error {
	have, err := safefile.ReadOptional(w.file(name))
	if err != nil || have == nil || string(have) == string(data) {
		return err
	}
	if w.have != nil && w.have.Files[name] == "sha256:"+textx.SHA256(have) {
		return nil
	}
	to := "backup/" + filepath.Base(name) + "-" + w.stamp()
	w.warn(w.saved(fmt.Sprintf("%s was written or changed", w.file(name)), w.file(to)))
	return w.space.StageFile(w.change, to, have)
}

// describe says what happens to each pack.
func (w *work) describe() {
	placed := map[pack.ID]bool{}
	for _, tree := range w.change.Place {
		placed[tree.Pack] = true
	}
	now := w.solution.Lock.Packs
	for _, id := range slices.SortedFunc(maps.Keys(now), pack.ID.Compare) {
		p := PackChange{Pack: id.String(), Version: now[id].Version, Action: unchanged}
		switch was := w.before.Packs[id]; {
		case was == nil:
			p.Action = Installed
		case was.Version != p.Version || was.Resolved != now[id].Resolved || was.Integrity != now[id].Integrity:
			p.Action, p.Previous = Updated, was.Version
		case placed[id]:
			p.Action = Restored
		}
		w.report.Packs = append(w.report.Packs, p)
	}
	for _, id := range slices.SortedFunc(maps.Keys(w.before.Packs), pack.ID.Compare) {
		if now[id] == nil {
			w.report.Packs = append(w.report.Packs, PackChange{
				Pack: id.String(), Previous: w.before.Packs[id].Version, Action: Removed,
			})
		}
	}
	for at, copied := range w.change.Saved() {
		w.warn(w.saved(w.space.Scope.Abs(at)+" was changed", w.space.Scope.Abs(copied)))
	}
}

// saved says that what was changed is replaced, or removed, and where a copy of it is, or in a dry run would be.
func (w *work) saved(what, to string) string {
	if w.dry {
		return what + " on this machine and would be replaced or removed; a copy would be " + to
	}
	return what + " on this machine and is replaced or removed; a copy is " + to
}

// next returns the record of the list.
func (w *work) next() *record {
	now := w.Now().UTC()
	next := &record{
		Version: recordVersion, Source: w.release.source, Name: w.release.name.String(), Release: w.release.version,
		Resolved: w.release.resolved, Signers: w.release.signers,
		Files: map[string]string{
			scope.ManifestName: "sha256:" + textx.SHA256(w.space.Manifest.Bytes()),
			scope.LockName:     "sha256:" + textx.SHA256(w.solution.Lock.Encode()),
		}, Changed: now, Checked: now,
	}
	for name, data := range w.list.files {
		next.Files[name] = "sha256:" + textx.SHA256(data)
	}
	return next
}

// commit carries the change out. Where there is none, it only notes that the source was asked.
func (w *work) commit(ctx context.Context, stood bool) error {
	next := w.next()
	same := w.have != nil && w.have.Source == next.Source && w.have.Release == next.Release &&
		w.have.Resolved == next.Resolved
	if same && w.change.Empty() {
		next.Changed = w.have.Changed
		if w.change.Restated() {
			// to have noted what is right only saves time
			_ = w.space.Apply(ctx, w.change, w.layout, w.goal(), compareOptions())
		}
		return errors.Join(w.tidyModes(), next.write(w.Paths.Enterprise))
	}
	w.report.Changed = true
	if err := w.space.StageFile(w.change, RecordName, next.encode()); err != nil {
		return err
	}
	err := w.Recorded(w.Log(w.door), w.records(), func() error {
		return w.space.Apply(ctx, w.change, w.layout, w.goal(), compareOptions())
	})
	return errors.Join(err, w.tidyModes())
}

// records returns what is recorded of a sync: itself, and each pack that it changes.
func (w *work) records() []audit.Record {
	about := audit.Record{Policy: enforce.Digest(w.door.Policies()), Lock: audit.Digest(w.solution.Lock.Encode())}
	self := about
	self.Action, self.Pack, self.Version, self.Source = audit.Sync, w.release.name.String(), w.release.version,
		w.release.source+"@"+w.release.resolved
	if len(w.release.signers) > 0 {
		self.Signer = trust.Fingerprint(w.release.signers[0])
	}
	list := []audit.Record{self}
	actions := map[string]string{
		Installed: audit.Install, Restored: audit.Install, Updated: audit.Update, Removed: audit.Remove,
	}
	for _, p := range w.report.Packs {
		r := about
		if r.Action = actions[p.Action]; r.Action == "" {
			continue
		}
		r.Pack, r.Version = p.Pack, p.Version
		if p.Previous != "" {
			r.Reason = "in place of " + p.Previous
		}
		id, err := pack.ParseID(p.Pack)
		if entry := w.solution.Lock.Packs[id]; err == nil && entry != nil {
			r.Source, r.Tree, r.Signer = entry.Source+"@"+entry.Resolved, entry.Integrity,
				trust.Fingerprint(entry.Signer)
		}
		list = append(list, r)
	}
	return list
}

// tidyModes sees to it that everybody can read the layer, and nobody else can write it, whatever the process's mask is.
func (w *work) tidyModes() error {
	s := w.space.Scope
	for _, file := range []string{s.Manifest(), s.Lock(), w.file(RecordName), s.State()} {
		if err := setMode(file, 0o644); err != nil {
			return err
		}
	}
	for name := range w.list.files {
		if err := setMode(w.file(name), 0o644); err != nil {
			return err
		}
		if dir := filepath.Dir(w.file(name)); dir != s.Dir() {
			if err := setMode(dir, 0o755); err != nil {
				return err
			}
		}
	}
	for _, dir := range []string{s.Plugins(), s.Links()} {
		err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && at == dir:
				return fs.SkipDir
			case err != nil:
				return err
			case e.IsDir():
				return setMode(at, 0o755)
			case !e.Type().IsRegular():
				return nil
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			if info.Mode().Perm()&0o100 != 0 {
				return setMode(at, 0o755)
			}
			return setMode(at, 0o644)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// setMode sets the mode of what is there, if it has another.
func setMode(at string, mode fs.FileMode) error {
	info, err := os.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Mode().Perm() == mode || info.Mode()&fs.ModeSymlink != 0 {
		return err
	}
	return os.Chmod(at, mode)
}
