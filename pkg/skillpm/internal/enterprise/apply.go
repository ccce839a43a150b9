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

// operation brings the layer to a list.
type operation struct {
	*Client
	release *release
	list    *list
	current *record

	ws       *workspace.Workspace
	previous *pack.Lock // the lockfile before the sync
	*base.Services
	solution  *solve.Solution
	layout    *workspace.Layout
	change    *workspace.Change
	evaluator *enforce.Evaluator
	report    *SyncReport
	dryRun    bool // change nothing
}

// compareOptions replace local edits in the layer, with backups: the layer must match the list exactly.
func compareOptions() workspace.CompareOptions { return workspace.CompareOptions{Force: true} }

// apply brings the layer to a list.
func (c *Client) apply(ctx context.Context, r *release, l *list, current *record, o SyncOptions) (*SyncReport, error) {
	w := &operation{Client: c, release: r, list: l, current: current, evaluator: c.Machine.Guard(), dryRun: o.DryRun}
	w.report = &SyncReport{
		Source: r.source, Version: r.version, Resolved: r.resolved, Signers: r.signers,
		DryRun: o.DryRun, Warnings: []string{},
	}
	if current != nil && current.Release != r.version {
		w.report.Previous = current.Release
	}
	if err := w.plan(ctx, o); err != nil {
		return nil, err
	}
	if err := w.admit(ctx); err != nil {
		return nil, err
	}
	skillsUpToDate := w.change.Empty()
	if err := w.stage(); err != nil {
		return nil, err
	}
	w.describe()
	w.report.Changed = !w.change.Empty()
	if o.DryRun {
		return w.report, nil
	}
	return w.report, w.commit(ctx, skillsUpToDate)
}

// plan computes what has to change.
func (w *operation) plan(ctx context.Context, o SyncOptions) (err error) {
	if w.ws, err = w.Machine.OpenMachine(); err != nil {
		return err
	}
	w.previous = w.ws.Lock
	w.ws.Manifest, w.ws.Lock = w.list.manifest.Clone(), w.list.lock
	options := base.ServiceOptions{Frozen: true, Offline: o.Offline}
	if w.Services, err = w.Client.Services(ctx, w.ws, options); err != nil {
		return err
	}
	if w.solution, err = w.Backend.Lock(ctx, w.ws.Manifest); err != nil {
		return fmt.Errorf("the list: %w", err)
	}
	if !maps.EqualFunc(w.solution.Lock.Packs, w.list.lock.Packs, (*pack.LockedPack).Equal) {
		return diag.Errorf(diag.Invalid, "the list's %s is not what its %s leads to",
			scope.LockName, scope.ManifestName).
			WithHint("run skillpm install where the list is made, and publish it again")
	}
	if w.layout, err = w.ws.NewLayout(w.ws.Manifest, w.solution.Lock, nil); err != nil {
		return err
	}
	w.solution.Lock.Names = w.layout.Names
	w.change, err = w.ws.Compare(w.layout, compareOptions())
	return err
}

// admit checks the packs against the policies, and fetches those that have to be written.
func (w *operation) admit(ctx context.Context) error {
	s := w.Services.Candidates(w.ws.Manifest, w.layout, w.change)
	s.Machine, s.Names = true, base.SkillNames(w.layout)
	if err := w.Admission.Admit(ctx, w.solution, s); err != nil {
		return err
	}
	if err := w.FetchMissing(ctx, w.ws.Manifest, w.solution, maps.Values(w.change.Trees)); err != nil {
		return err
	}
	w.warn(w.solution.Warnings...)
	denied := w.deniedSkills()
	store, err := w.Machine.Store()
	if err != nil {
		return err
	}
	files := base.SkillFiles(w.ws, store, w.layout)
	err = w.Admission.AdmitFiles(ctx, s, func(id pack.ID, name, digest string) (fs.FS, error) {
		if denied[admission.SkillOf{Pack: id, Skill: name}] {
			return nil, nil
		}
		return files(id, name, digest)
	})
	w.warn(w.Gate.Notes()...)
	return err
}

// deniedSkills returns the skills of the list that the policy denies by name. They don't make the sync fail, because
// the list brings the policy that denies them.
func (w *operation) deniedSkills() map[admission.SkillOf]bool {
	denied := map[admission.SkillOf]bool{}
	for _, n := range w.layout.Named {
		if _, err := w.evaluator.Policies().Skill([]string{n.Skill, n.Link}, n.Pack.String()); err != nil {
			denied[admission.SkillOf{Pack: n.Pack, Skill: n.Skill}] = true
			w.warn(err.Error() + "; it is installed, and nobody can use it")
		}
	}
	return denied
}

// warn adds warnings. They name the list's policy instead of the temporary directory that has it during the sync.
func (w *operation) warn(texts ...string) {
	staged := filepath.Join(w.Paths.Enterprise, stageName) + string(filepath.Separator)
	for _, text := range texts {
		w.report.Warnings = append(w.report.Warnings, strings.ReplaceAll(text, staged, "the list's "))
	}
}

// stage adds manifest, lockfile, policy and keys to the change.
func (w *operation) stage() error {
	w.ws.StageDocuments(w.change, w.documents())
	w.report.Policy = w.policyAction()
	for name, data := range w.list.files {
		if err := w.saveEdited(name, data); err != nil {
			return err
		}
		if err := w.ws.StageFile(w.change, name, data); err != nil {
			return err
		}
	}
	return nil
}

func (w *operation) documents() workspace.Documents {
	return workspace.Documents{Manifest: w.ws.Manifest, Lock: w.solution.Lock, Directories: w.solution.Directories}
}

// policyAction returns what happens to the policy.
func (w *operation) policyAction() string {
	current, err := safefile.ReadOptional(w.path(enforce.PolicyName))
	switch {
	case w.list.policy == nil && current == nil:
		return ""
	case w.list.policy == nil:
		if w.current != nil && w.current.Files[enforce.PolicyName] != "" {
			w.warn("the list has no policy any more; the one that it brought before stays in force. To loosen it, " +
				"publish a list with one that says less")
		}
		return PolicyKept
	case err == nil && string(current) == string(w.list.files[enforce.PolicyName]):
		return PolicyUnchanged
	}
	return PolicyReplaced
}

func (w *operation) path(name string) string {
	return filepath.Join(w.Paths.Enterprise, filepath.FromSlash(name))
}

// saveEdited adds a backup of a file that no sync wrote, or that has local edits.
func (w *operation) saveEdited(name string, data []byte) error {
	current, err := safefile.ReadOptional(w.path(name))
	if err != nil || current == nil || string(current) == string(data) {
		return err
	}
	if w.current != nil && w.current.Files[name] == "sha256:"+textx.SHA256(current) {
		return nil
	}
	backup := "backup/" + filepath.Base(name) + "-" + w.timestamp()
	w.warn(w.backupNotice(fmt.Sprintf("%s was written or changed", w.path(name)), w.path(backup)))
	return w.ws.StageFile(w.change, backup, current)
}

// describe adds what happens to each pack to the report.
func (w *operation) describe() {
	placed := map[pack.ID]bool{}
	for _, tree := range w.change.Trees {
		placed[tree.Pack] = true
	}
	now := w.solution.Lock.Packs
	for _, id := range slices.SortedFunc(maps.Keys(now), pack.ID.Compare) {
		p := PackChange{Pack: id.String(), Version: now[id].Version, Action: unchanged}
		switch was := w.previous.Packs[id]; {
		case was == nil:
			p.Action = Installed
		case was.Version != p.Version || was.Resolved != now[id].Resolved || was.Integrity != now[id].Integrity:
			p.Action, p.Previous = Updated, was.Version
		case placed[id]:
			p.Action = Restored
		}
		w.report.Packs = append(w.report.Packs, p)
	}
	for _, id := range slices.SortedFunc(maps.Keys(w.previous.Packs), pack.ID.Compare) {
		if now[id] == nil {
			w.report.Packs = append(w.report.Packs, PackChange{
				Pack: id.String(), Previous: w.previous.Packs[id].Version, Action: Removed,
			})
		}
	}
	for at, copied := range w.change.Backups() {
		w.warn(w.backupNotice(w.ws.Scope.Abs(at)+" was changed", w.ws.Scope.Abs(copied)))
	}
}

// backupNotice says that something changed on this machine and is replaced or removed, and where its backup is.
func (w *operation) backupNotice(what, backup string) string {
	if w.dryRun {
		return what + " on this machine and would be replaced or removed; a copy would be " + backup
	}
	return what + " on this machine and is replaced or removed; a copy is " + backup
}

// nextRecord returns the record of the list.
func (w *operation) nextRecord() *record {
	now := w.Now().UTC()
	nextRecord := &record{
		Version: recordVersion, Source: w.release.source, Name: w.release.name.String(), Release: w.release.version,
		Resolved: w.release.resolved, Signers: w.release.signers,
		Files: map[string]string{
			scope.ManifestName: "sha256:" + textx.SHA256(w.ws.Manifest.Bytes()),
			scope.LockName:     "sha256:" + textx.SHA256(w.solution.Lock.Encode()),
		}, Changed: now, Checked: now,
	}
	for name, data := range w.list.files {
		nextRecord.Files[name] = "sha256:" + textx.SHA256(data)
	}
	return nextRecord
}

// commit carries out the change. Without one, it only records that the source was asked.
func (w *operation) commit(ctx context.Context, skillsUpToDate bool) error {
	nextRecord := w.nextRecord()
	same := w.current != nil && w.current.Source == nextRecord.Source && w.current.Release == nextRecord.Release &&
		w.current.Resolved == nextRecord.Resolved
	if same && w.change.Empty() {
		nextRecord.Changed = w.current.Changed
		if w.change.UpdatesState() {
			// fingerprints only save time
			_ = w.ws.Apply(ctx, w.change, w.layout, w.documents(), compareOptions())
		}
		return errors.Join(w.tidyModes(), nextRecord.write(w.Paths.Enterprise))
	}
	w.report.Changed = true
	if err := w.ws.StageFile(w.change, RecordName, nextRecord.encode()); err != nil {
		return err
	}
	err := w.WithRecords(w.Log(w.evaluator), w.records(), func() error {
		return w.ws.Apply(ctx, w.change, w.layout, w.documents(), compareOptions())
	})
	return errors.Join(err, w.tidyModes())
}

// records returns the audit records of a sync: one for itself, and one for each pack that it changes.
func (w *operation) records() []audit.Record {
	about := audit.Record{Policy: enforce.Digest(w.evaluator.Policies()), Lock: audit.Digest(w.solution.Lock.Encode())}
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
		if locked := w.solution.Lock.Packs[id]; err == nil && locked != nil {
			r.Source, r.Tree, r.Signer = locked.Source+"@"+locked.Resolved, locked.Integrity,
				trust.Fingerprint(locked.Signer)
		}
		list = append(list, r)
	}
	return list
}

// tidyModes makes the layer readable for everybody and writable for the administrator only, whatever the umask.
func (w *operation) tidyModes() error {
	s := w.ws.Scope
	for _, path := range []string{s.Manifest(), s.Lock(), w.path(RecordName), s.State()} {
		if err := setMode(path, 0o644); err != nil {
			return err
		}
	}
	for name := range w.list.files {
		if err := setMode(w.path(name), 0o644); err != nil {
			return err
		}
		if dir := filepath.Dir(w.path(name)); dir != s.Dir() {
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

// setMode sets the mode of a file that exists and has another mode.
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
