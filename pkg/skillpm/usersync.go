package skillpm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// The sides of a conflict that [UserSyncOptions] can prefer.
const (
	PreferLocal  = "local"
	PreferRemote = "remote"
)

// UserSyncOptions are the options of [Client.SyncUser].
type UserSyncOptions struct {
	Repository string // git+URL[#BRANCH]; "" means that of the last sync
	Push       bool   // also push what this machine has changed
	DryRun     bool   // write and push nothing
	Prefer     string // PreferLocal or PreferRemote for entries that both sides changed; "" makes them an error

	// Accept decides on what the repository changes on this machine. It is not called if that is nothing. nil accepts
	// everything.
	Accept func(UserSyncReport) bool
}

// UserSyncReport is the result of [Client.SyncUser].
type UserSyncReport struct {
	Repository string `json:"repository"`
	Branch     string `json:"branch"`
	Commit     string `json:"commit"` // the commit of the branch; "" if the branch does not exist
	DryRun     bool   `json:"dryRun"`
	// Pulled is what the repository changes on this machine.
	Pulled SyncDifference `json:"pulled"`
	// Pending is what this machine changes in the repository.
	Pending SyncDifference `json:"pending"`
	Pushed  bool           `json:"pushed"`
	// Install is what the installation of the merged lockfile changed.
	Install *InstallReport `json:"install,omitempty"`
}

// SyncDifference is how two pairs of manifest and lockfile differ.
type SyncDifference struct {
	Entries []SyncedEntry `json:"entries"`
	Packs   []SyncedPack  `json:"packs"`
}

// SyncedEntry is an entry of the manifest that differs, such as "dependencies acme/deploy".
type SyncedEntry struct {
	Entry  string `json:"entry"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// SyncedPack is a locked pack that differs.
type SyncedPack struct {
	Pack          string `json:"pack"`
	Before        string `json:"before,omitempty"` // version
	After         string `json:"after,omitempty"`  // version; "" if the pack is removed
	Source        string `json:"source"`
	SourceChanged bool   `json:"sourceChanged,omitempty"`
	SignerChanged bool   `json:"signerChanged,omitempty"`
	// ContentChanged reports that the same version has other files.
	ContentChanged bool `json:"contentChanged,omitempty"`
}

// Empty reports whether there is no difference.
func (d SyncDifference) Empty() bool { return len(d.Entries)+len(d.Packs) == 0 }

// syncRecord is the last sync: the common ancestor of the next one.
type syncRecord struct {
	Version    int    `json:"version"`
	Repository string `json:"repository"`
	Manifest   []byte `json:"manifest"`
	Lock       []byte `json:"lock"`
}

const syncRecordVersion = 1

// syncFiles are a manifest and a lockfile.
type syncFiles struct {
	manifest *pack.Manifest
	lock     *pack.Lock
}

// SyncUser merges the manifest and the lockfile of the user's scope with those in a git repository, and installs exactly
// what the merged lockfile has, in one transaction. It reads only these two regular files of the repository. An entry
// that both sides changed differently is a conflict, which changes neither side.
func (c *Client) SyncUser(ctx context.Context, o UserSyncOptions) (*UserSyncReport, error) {
	s := &userSync{client: c, options: o}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	r := request{ChangeOptions: ChangeOptions{Scope: scope.KindUser, DryRun: o.DryRun}, merge: s.merge}
	var err error
	s.report.Install, err = c.change(ctx, r, func(in *installer) (*resolution, error) {
		sol, err := in.Backend.Lock(ctx, in.Manifest)
		if code := diag.CodeOf(err); code == diag.Conflict || code == diag.NotFound {
			return nil, diag.Errorf(diag.Conflict, "cannot install what this machine and the repository require: %w", err).
				WithHint("run \"skillpm install --scope user\" on a machine that has the packs, and sync it with --push")
		} else if err != nil {
			return nil, err
		}
		s.merged.lock = sol.Lock // with the names that the installation gives to skills
		return &resolution{manifest: in.Manifest.Clone(), Solution: sol}, nil
	})
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return &s.report, nil
	}
	if err := s.finish(ctx); err != nil {
		return nil, err
	}
	return &s.report, nil
}

// userSync is one sync.
type userSync struct {
	client  *Client
	options UserSyncOptions
	git     *git.Client
	branch  git.Branch
	record  syncRecord
	base    syncFiles
	remote  syncFiles
	merged  syncFiles

	report   UserSyncReport
	accepted bool // what the report has
}

// open reads the record of the last sync, and the branch.
func (s *userSync) open(ctx context.Context) error {
	switch s.options.Prefer {
	case "", PreferLocal, PreferRemote:
	default:
		return diag.Errorf(diag.Usage, "unknown --prefer %q", s.options.Prefer).
			WithHint("use %s or %s", PreferLocal, PreferRemote)
	}
	if err := s.readRecord(); err != nil {
		return err
	}
	ref, err := syncRepository(cmp.Or(s.options.Repository, s.record.Repository))
	if err != nil {
		return err
	}
	if repository := ref.String(); s.record.Repository != repository {
		s.record = syncRecord{Version: syncRecordVersion, Repository: repository}
	}
	clients, err := s.client.UserSources()
	if err != nil {
		return err
	}
	s.git = clients.Git()
	if s.branch, err = s.git.Branch(ctx, ref); err != nil {
		return err
	}
	if s.branch.Commit == "" && !s.options.Push {
		return diag.Errorf(diag.NotFound, "%s does not have a branch %s", ref.URL, s.branch.Name).
			WithHint("create the branch with: skillpm config sync %s --push", ref)
	}
	s.report = UserSyncReport{
		Repository: s.record.Repository, Branch: s.branch.Name, Commit: s.branch.Commit, DryRun: s.options.DryRun,
	}
	if s.base, err = parseSyncFiles("the last sync", s.record.Manifest, s.record.Lock); err != nil {
		return err
	}
	return s.readRemote(ctx)
}

// syncRepository parses the address of a repository.
func syncRepository(text string) (pack.Ref, error) {
	const hint = "use git+https://HOST/PATH.git, git+ssh://HOST/PATH.git, or git+file:///PATH, and #BRANCH for a branch"
	if text == "" {
		return pack.Ref{}, diag.Errorf(diag.Usage, "the repository is missing").WithHint("%s", hint)
	}
	ref, err := pack.Parse(text)
	switch {
	case err != nil:
		return ref, err
	case ref.Kind != pack.KindGit || ref.Subdir != "":
		return ref, diag.Errorf(diag.Usage, "%s is not the address of a git repository", text).WithHint("%s", hint)
	}
	return ref, nil
}

// maxSyncFile is the largest file that a sync reads, in bytes.
const maxSyncFile = 4 << 20

// readRemote reads the files at the branch.
func (s *userSync) readRemote(ctx context.Context) error {
	var data [2][]byte
	for i, name := range []string{pack.ManifestName, pack.LockName} {
		var err error
		data[i], err = s.git.ReadFile(ctx, s.branch, name, maxSyncFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	var err error
	s.remote, err = parseSyncFiles(s.record.Repository, data[0], data[1])
	return err
}

func parseSyncFiles(from string, manifest, lock []byte) (f syncFiles, err error) {
	if f.manifest, err = pack.ParseManifest(from+": "+pack.ManifestName, manifest); err != nil {
		return f, err
	}
	if f.lock = pack.NewLock(); len(lock) > 0 {
		f.lock, err = pack.ParseLock(from+": "+pack.LockName, lock)
	}
	return f, err
}

// merge replaces the documents of the user's scope with the merged ones, if the user accepts what that changes.
func (s *userSync) merge(ctx context.Context, w *workspace.Workspace) error {
	local := syncFiles{w.Manifest, w.Lock}
	m, conflicts, err := pack.MergeManifests(s.base.manifest, local.manifest, s.remote.manifest,
		s.options.Prefer == PreferRemote)
	if len(conflicts) > 0 && s.options.Prefer == "" {
		return diag.Errorf(diag.Conflict, "cannot merge %s of %s: this machine and the repository have different changes",
			strings.Join(conflicts, ", "), pack.ManifestName).
			WithHint("change the entry on one side, or add --prefer %s or --prefer %s", PreferLocal, PreferRemote)
	} else if err != nil {
		return err
	}
	l, err := solve.MergeLocks(ctx, m, s.base.lock, local.lock, s.remote.lock)
	if err != nil {
		return err
	}
	removeUnrequired(m, l)
	s.merged = syncFiles{m, l}
	if s.options.Push {
		if err := s.checkPortable(); err != nil {
			return err
		}
	}
	pulled, err := difference(local, s.merged)
	if err != nil {
		return err
	}
	if s.report.Pending, err = difference(s.remote, s.merged); err != nil {
		return err
	}
	if s.accepted = s.accepted && reflect.DeepEqual(s.report.Pulled, pulled); !s.accepted {
		s.report.Pulled = pulled
		if !pulled.Empty() && !s.options.DryRun && s.options.Accept != nil && !s.options.Accept(s.report) {
			return diag.Errorf(diag.Denied, "the changes of the repository need your consent; no changes were made").
				WithHint("review the changes, and accept them with: %s", s.acceptCommand())
		}
		s.accepted = true
	}
	w.Manifest, w.Lock = m.Clone(), l.Clone()
	return nil
}

// acceptCommand returns the command that repeats the sync and accepts the changes that were shown.
func (s *userSync) acceptCommand() string {
	words := []string{"skillpm config sync"}
	if s.options.Repository != "" {
		words = append(words, s.record.Repository)
	}
	if s.options.Push {
		words = append(words, "--push")
	}
	if s.options.Prefer != "" {
		words = append(words, "--prefer "+s.options.Prefer)
	}
	if s.branch.Commit == "" {
		return strings.Join(append(words, "--accept"), " ")
	}
	return strings.Join(append(words, "--accept="+s.branch.Commit), " ")
}

// removeUnrequired removes the packs that a manifest does not require, directly or through others. A merged lockfile has
// also those that one side removed.
func removeUnrequired(m *pack.Manifest, l *pack.Lock) {
	required := map[pack.ID]bool{}
	var add func(id pack.ID)
	add = func(id pack.ID) {
		p := l.Packs[id]
		if required[id] || p == nil {
			return
		}
		required[id] = true
		for name := range p.Dependencies {
			if id, err := pack.ParseID(name); err == nil {
				add(id)
			}
		}
	}
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		add(d.ID)
	}
	maps.DeleteFunc(l.Packs, func(id pack.ID, _ *pack.LockedPack) bool { return !required[id] })
}

// difference returns how files change.
func difference(before, after syncFiles) (SyncDifference, error) {
	d := SyncDifference{Entries: []SyncedEntry{}, Packs: []SyncedPack{}}
	was, err := before.manifest.Entries()
	if err != nil {
		return d, err
	}
	now, err := after.manifest.Entries()
	if err != nil {
		return d, err
	}
	names := maps.Clone(was)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, inA := was[name]
		b, inB := now[name]
		if a != b || inA != inB {
			d.Entries = append(d.Entries, SyncedEntry{Entry: name, Before: a, After: b})
		}
	}
	ids := maps.Clone(before.lock.Packs)
	maps.Copy(ids, after.lock.Packs)
	for _, id := range sortedIDs(ids) {
		if p, differs := packDifference(id, before.lock.Packs[id], after.lock.Packs[id]); differs {
			d.Packs = append(d.Packs, p)
		}
	}
	return d, nil
}

// packDifference returns how a locked pack changes; nil is a pack that is not locked.
func packDifference(id pack.ID, before, after *pack.LockedPack) (p SyncedPack, differs bool) {
	p = SyncedPack{Pack: id.String()}
	if before != nil {
		p.Before, p.Source = before.Version, before.Source
	}
	if after != nil {
		p.After, p.Source = after.Version, after.Source
	}
	if before == nil || after == nil {
		return p, true
	}
	p.SourceChanged, p.SignerChanged = before.Source != after.Source, before.Signer != after.Signer
	p.ContentChanged = before.Version == after.Version && before.Integrity != after.Integrity
	return p, !before.Equal(after)
}

// finish pushes, if requested, and records the sync.
func (s *userSync) finish(ctx context.Context) error {
	common := s.remote
	if s.options.Push && !s.isPushed() {
		commit, err := s.git.Push(ctx, s.branch, map[string][]byte{
			pack.ManifestName: s.merged.manifest.Bytes(), pack.LockName: s.merged.lock.Encode(),
		}, "Update "+pack.ManifestName+" and "+pack.LockName)
		if err != nil {
			return err
		}
		s.report.Pushed, s.report.Commit, common = commit != s.branch.Commit, commit, s.merged
	}
	s.record.Manifest, s.record.Lock = common.manifest.Bytes(), common.lock.Encode()
	data, err := json.MarshalIndent(s.record, "", "  ")
	if err != nil {
		return err
	}
	o := atomicfile.Options{Mode: 0o600, MkdirMode: 0o700, Sync: true}
	return atomicfile.Write(s.recordPath(), append(data, '\n'), o)
}

// isPushed reports whether the repository has the merged files.
func (s *userSync) isPushed() bool {
	return s.branch.Commit != "" && bytes.Equal(s.remote.manifest.Bytes(), s.merged.manifest.Bytes()) &&
		s.remote.lock.Equal(s.merged.lock)
}

// checkPortable returns an error for a pack that other machines cannot install.
func (s *userSync) checkPortable() error {
	for _, id := range s.merged.lock.IDs() {
		p := s.merged.lock.Packs[id]
		ref, err := p.Ref(id)
		if err != nil {
			return err
		}
		if isOfMachine(ref) {
			return diag.Errorf(diag.Invalid, "cannot push %s: its source %s exists only on this machine", id, p.Source).
				WithHint("publish the pack with \"skillpm publish --to oci://REGISTRY/NAMESPACE\", and install it from there")
		}
	}
	return nil
}

// isOfMachine reports whether a locked source is the local registry, or a directory or repository on this machine.
func isOfMachine(ref pack.Ref) bool {
	switch ref.Kind {
	case pack.KindLocal, pack.KindPath, pack.KindLayout:
		return true
	}
	return ref.Kind == pack.KindGit && ref.URL == ""
}

func (s *userSync) recordPath() string {
	return filepath.Join(s.client.Paths.State, "config-sync.json")
}

// readRecord reads the record of the last sync. Without one, the two sides have no common ancestor.
func (s *userSync) readRecord() error {
	data, err := safefile.ReadOptional(s.recordPath())
	if err != nil || data == nil {
		return err
	}
	if err := json.Unmarshal(data, &s.record); err != nil || s.record.Version != syncRecordVersion {
		return diag.Errorf(diag.Invalid, "cannot read %s: it is damaged, or from another version of skillpm", s.recordPath()).
			WithHint("delete the file; the next sync then keeps the entries of both sides")
	}
	return nil
}
