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
	op := &operation{Client: c, release: r, list: l, current: current, evaluator: c.Machine.Guard(), dryRun: o.DryRun}
	op.report = &SyncReport{
		Source: r.source, Version: r.version, Resolved: r.resolved, Signers: r.signers,
		DryRun: o.DryRun, Warnings: []string{},
	}
	if current != nil && current.Release != r.version {
		op.report.Previous = current.Release
	}
	if err := op.plan(ctx, o); err != nil {
		return nil, err
	}
	if err := op.admit(ctx); err != nil {
		return nil, err
	}
	skillsUpToDate := op.change.Empty()
	if err := op.stage(); err != nil {
		return nil, err
	}
	op.describe()
	op.report.Changed = !op.change.Empty()
	if o.DryRun {
		return op.report, nil
	}
	return op.report, op.commit(ctx, skillsUpToDate)
}

// plan computes what has to change.
func (op *operation) plan(ctx context.Context, o SyncOptions) (err error) {
	if op.ws, err = op.Machine.OpenMachine(); err != nil {
		return err
	}
	op.previous = op.ws.Lock
	op.ws.Manifest, op.ws.Lock = op.list.manifest.Clone(), op.list.lock
	options := base.ServiceOptions{Frozen: true, Offline: o.Offline}
	if op.Services, err = op.Client.Services(ctx, op.ws, options); err != nil {
		return err
	}
	if op.solution, err = op.Backend.Lock(ctx, op.ws.Manifest); err != nil {
		return fmt.Errorf("invalid fleet list: %w", err)
	}
	if !maps.EqualFunc(op.solution.Lock.Packs, op.list.lock.Packs, (*pack.LockedPack).Equal) {
		return diag.Errorf(diag.Invalid, "the fleet list's %s does not match its %s",
			scope.LockName, scope.ManifestName).
			WithHint("run \"skillpm install\" in the directory of the list, and publish the list again")
	}
	if op.layout, err = op.ws.NewLayout(op.ws.Manifest, op.solution.Lock, nil); err != nil {
		return err
	}
	op.solution.Lock.Names = op.layout.Names
	op.change, err = op.ws.Compare(op.layout, compareOptions())
	return err
}

// admit checks the packs against the policies, and fetches those that have to be written.
func (op *operation) admit(ctx context.Context) error {
	s := op.Candidates(op.ws.Manifest, op.layout, op.change)
	s.Machine, s.Names = true, base.SkillNames(op.layout)
	if err := op.Admission.Admit(ctx, op.solution, s); err != nil {
		return err
	}
	if err := op.FetchMissing(ctx, op.ws.Manifest, op.solution, maps.Values(op.change.Trees)); err != nil {
		return err
	}
	op.warn(op.solution.Warnings...)
	denied := op.deniedSkills()
	store, err := op.Machine.Store()
	if err != nil {
		return err
	}
	files := base.SkillFiles(op.ws, store, op.layout)
	err = op.Admission.AdmitFiles(ctx, s, func(id pack.ID, name, digest string) (fs.FS, error) {
		if denied[pack.SkillKey{Pack: id, Skill: name}] {
			return nil, nil
		}
		return files(id, name, digest)
	})
	op.warn(op.Gate.Notes()...)
	return err
}

// deniedSkills returns the skills of the list that the policy denies by name. They don't make the sync fail, because
// the list brings the policy that denies them.
func (op *operation) deniedSkills() map[pack.SkillKey]bool {
	denied := map[pack.SkillKey]bool{}
	for _, n := range op.layout.Named {
		skill := enforce.Skill{Name: n.Skill, Alias: n.Link, Pack: n.Pack.String(), Machine: true}
		if err := op.evaluator.CheckListed(skill); err != nil {
			denied[pack.SkillKey{Pack: n.Pack, Skill: n.Skill}] = true
			op.warn(err.Error() + "; skillpm installs the skill, but agents cannot use it")
		}
	}
	return denied
}

// warn adds warnings. They name the list's policy instead of the temporary directory that has it during the sync.
func (op *operation) warn(texts ...string) {
	staged := filepath.Join(op.Paths.Enterprise, stageName) + string(filepath.Separator)
	for _, text := range texts {
		op.report.Warnings = append(op.report.Warnings, strings.ReplaceAll(text, staged, "the list's "))
	}
}

// stage adds manifest, lockfile, policy and keys to the change.
func (op *operation) stage() error {
	op.ws.StageDocuments(op.change, op.documents())
	op.report.Policy = op.policyAction()
	for name, data := range op.list.files {
		if err := op.saveEdited(name, data); err != nil {
			return err
		}
		if err := op.ws.StageFile(op.change, name, data); err != nil {
			return err
		}
	}
	return nil
}

func (op *operation) documents() workspace.Documents {
	return workspace.Documents{Manifest: op.ws.Manifest, Lock: op.solution.Lock, Directories: op.solution.Directories}
}

// policyAction returns what happens to the policy.
func (op *operation) policyAction() string {
	current, err := safefile.ReadOptional(op.path(enforce.PolicyName))
	switch {
	case op.list.policy == nil && current == nil:
		return ""
	case op.list.policy == nil:
		if op.current != nil && op.current.Files[enforce.PolicyName] != "" {
			op.warn("the fleet list no longer contains a policy; the previous policy stays in effect " +
				"(to loosen the policy, publish a list with a less strict policy)")
		}
		return PolicyKept
	case err == nil && string(current) == string(op.list.files[enforce.PolicyName]):
		return PolicyUnchanged
	}
	return PolicyReplaced
}

func (op *operation) path(name string) string {
	return filepath.Join(op.Paths.Enterprise, filepath.FromSlash(name))
}

// saveEdited adds a backup of a file that no sync wrote, or that has local edits.
func (op *operation) saveEdited(name string, data []byte) error {
	current, err := safefile.ReadOptional(op.path(name))
	if err != nil || current == nil || string(current) == string(data) {
		return err
	}
	if op.current != nil && op.current.Files[name] == "sha256:"+textx.SHA256(current) {
		return nil
	}
	backup := "backup/" + filepath.Base(name) + "-" + op.timestamp()
	op.warn(op.backupNotice(op.path(name), op.path(backup)))
	return op.ws.StageFile(op.change, backup, current)
}

// describe adds what happens to each pack to the report.
func (op *operation) describe() {
	placed := map[pack.ID]bool{}
	for _, tree := range op.change.Trees {
		placed[tree.Pack] = true
	}
	now := op.solution.Lock.Packs
	for _, id := range slices.SortedFunc(maps.Keys(now), pack.ID.Compare) {
		p := PackChange{Pack: id.String(), Version: now[id].Version, Action: unchanged}
		switch was := op.previous.Packs[id]; {
		case was == nil:
			p.Action = Installed
		case was.Version != p.Version || was.Resolved != now[id].Resolved || was.Integrity != now[id].Integrity:
			p.Action, p.Previous = Updated, was.Version
		case placed[id]:
			p.Action = Restored
		}
		op.report.Packs = append(op.report.Packs, p)
	}
	for _, id := range slices.SortedFunc(maps.Keys(op.previous.Packs), pack.ID.Compare) {
		if now[id] == nil {
			op.report.Packs = append(op.report.Packs, PackChange{
				Pack: id.String(), Previous: op.previous.Packs[id].Version, Action: Removed,
			})
		}
	}
	for at, copied := range op.change.Backups() {
		op.warn(op.backupNotice(op.ws.Scope.Abs(at), op.ws.Scope.Abs(copied)))
	}
}

// backupNotice reports that something changed on this machine and is replaced or removed, and where its backup is.
func (op *operation) backupNotice(path, backup string) string {
	if op.dryRun {
		return path + " has local changes; skillpm would back it up in " + backup + " and replace or remove it"
	}
	return path + " has local changes; skillpm backs it up in " + backup + " and replaces or removes it"
}

// nextRecord returns the record of the list.
func (op *operation) nextRecord() *record {
	now := op.Now().UTC()
	nextRecord := &record{
		Version: recordVersion, Source: op.release.source, Name: op.release.name.String(), Release: op.release.version,
		Resolved: op.release.resolved, Signers: op.release.signers,
		Files: map[string]string{
			scope.ManifestName: "sha256:" + textx.SHA256(op.ws.Manifest.Bytes()),
			scope.LockName:     "sha256:" + textx.SHA256(op.solution.Lock.Encode()),
		}, Changed: now, Checked: now,
	}
	for name, data := range op.list.files {
		nextRecord.Files[name] = "sha256:" + textx.SHA256(data)
	}
	return nextRecord
}

// commit carries out the change. Without one, it only records that the source was asked.
func (op *operation) commit(ctx context.Context, skillsUpToDate bool) error {
	nextRecord := op.nextRecord()
	same := op.current != nil && op.current.Source == nextRecord.Source && op.current.Release == nextRecord.Release &&
		op.current.Resolved == nextRecord.Resolved
	if same && op.change.Empty() {
		nextRecord.Changed = op.current.Changed
		if op.change.UpdatesState() {
			// fingerprints only save time
			_ = op.ws.Apply(ctx, op.change, op.layout, op.documents(), compareOptions())
		}
		return errors.Join(op.tidyModes(), nextRecord.write(op.Paths.Enterprise))
	}
	op.report.Changed = true
	if err := op.ws.StageFile(op.change, RecordName, nextRecord.encode()); err != nil {
		return err
	}
	err := op.WithRecords(op.Log(op.evaluator), op.records(), func() error {
		return op.ws.Apply(ctx, op.change, op.layout, op.documents(), compareOptions())
	})
	return errors.Join(err, op.tidyModes())
}

// records returns the audit records of a sync: one for itself, and one for each pack that it changes.
func (op *operation) records() []audit.Record {
	about := audit.Record{
		Policy: enforce.Digest(op.evaluator.Policies()),
		Lock:   audit.Digest(op.solution.Lock.Encode()),
	}
	self := about
	self.Action, self.Pack, self.Version, self.Source = audit.Sync, op.release.name.String(), op.release.version,
		op.release.source+"@"+op.release.resolved
	if len(op.release.signers) > 0 {
		self.Signer = trust.Fingerprint(op.release.signers[0])
	}
	list := []audit.Record{self}
	actions := map[string]string{
		Installed: audit.Install, Restored: audit.Install, Updated: audit.Update, Removed: audit.Remove,
	}
	for _, p := range op.report.Packs {
		r := about
		if r.Action = actions[p.Action]; r.Action == "" {
			continue
		}
		r.Pack, r.Version = p.Pack, p.Version
		if p.Previous != "" {
			r.Reason = "in place of " + p.Previous
		}
		id, err := pack.ParseID(p.Pack)
		if locked := op.solution.Lock.Packs[id]; err == nil && locked != nil {
			r.Source, r.Tree, r.Signer = locked.Source+"@"+locked.Resolved, locked.Integrity,
				trust.Fingerprint(locked.Signer)
		}
		list = append(list, r)
	}
	return list
}

// tidyModes makes the layer readable for everybody and writable for the administrator only, whatever the umask.
func (op *operation) tidyModes() error {
	s := op.ws.Scope
	for _, path := range []string{s.Manifest(), s.Lock(), op.path(RecordName), s.State()} {
		if err := setMode(path, 0o644); err != nil {
			return err
		}
	}
	for name := range op.list.files {
		if err := setMode(op.path(name), 0o644); err != nil {
			return err
		}
		if dir := filepath.Dir(op.path(name)); dir != s.Dir() {
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
