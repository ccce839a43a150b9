package enterprise

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// SyncOptions are the options of [Client.Sync]. None of them chooses the source or its signers.
type SyncOptions struct {
	DryRun         bool // change nothing
	Offline        bool // use no network: restore the current list from this machine
	AllowDowngrade bool // accept a list that is older than the current one, or that changed
}

// SyncReport is what a sync did, or would do.
type SyncReport struct {
	Source   string       `json:"source"`
	Version  string       `json:"version"`
	Previous string       `json:"previous,omitempty"` // the version before, "" for none or the same
	Resolved string       `json:"resolved"`           // the commit, or the digest of the manifest
	Signers  []string     `json:"signers"`
	Changed  bool         `json:"changed"`
	DryRun   bool         `json:"dryRun,omitempty"`
	Packs    []PackChange `json:"packs"`
	Policy   string       `json:"policy,omitempty"` // what happens to the machine's policy: one of the Policy constants
	Warnings []string     `json:"warnings"`
}

// PackChange is a pack of the layer, and what happened to it.
type PackChange struct {
	Pack     string `json:"pack"`
	Version  string `json:"version,omitempty"`
	Previous string `json:"previous,omitempty"`
	Action   string `json:"action"`
}

// The actions of [PackChange].
const (
	Installed = "installed"
	Updated   = "updated"
	Restored  = "restored" // the locked version, of which something was missing or edited
	Removed   = "removed"
	unchanged = "unchanged"
)

// What happens to the machine's policy: values of [SyncReport.Policy].
const (
	PolicyReplaced  = "replaced"
	PolicyUnchanged = "unchanged"
	PolicyKept      = "kept" // the list has none, and the current one stays
)

// Sync brings the enterprise layer to the newest list. If it fails, the layer and the policy stay as they were.
func (c *Client) Sync(ctx context.Context, o SyncOptions) (*SyncReport, error) {
	defer c.Progress(fetch.Event{Done: true})
	config, err := c.settings()
	if err != nil {
		return nil, err
	}
	if err := c.checkOwners(config); err != nil {
		return nil, err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return nil, err
	}
	report, err := c.sync(ctx, o)
	if err != nil {
		c.auditFailure(sourceText(config.Sync.Source), err)
	}
	return report, errors.Join(err, unlock())
}

func (c *Client) sync(ctx context.Context, o SyncOptions) (*SyncReport, error) {
	config, err := c.settings() // under the lock
	if err != nil {
		return nil, err
	}
	if err := c.checkOwners(config); err != nil {
		return nil, err
	}
	if err := c.recover(ctx); err != nil {
		return nil, err
	}
	current, err := c.readRecord()
	if err != nil {
		return nil, err
	}
	var r *release
	if o.Offline {
		r, err = c.currentRelease(current, config.Sync)
	} else {
		r, err = c.newest(ctx, config, current, o)
	}
	if err != nil {
		return nil, err
	}
	l, err := readList(r.read)
	if err != nil {
		return nil, err
	}
	if err := r.checkName(config.Sync, l); err != nil {
		return nil, err
	}
	if err := c.Machine.CheckVersion(l.manifest); err != nil {
		return nil, err
	}
	removeStaged, err := c.stagePolicy(l, config)
	if err != nil {
		return nil, err
	}
	report, err := workspace.Retry(c.Paths.Enterprise, func() (*SyncReport, error) {
		return c.apply(ctx, r, l, current, o)
	})
	return report, errors.Join(err, removeStaged())
}

// recover finishes or undoes the transaction of a killed sync. It moves a manifest or lockfile that can't be read to
// the backups, because it would make every later sync fail.
func (c *Client) recover(ctx context.Context) error {
	w, err := c.Machine.OpenMachine()
	if diag.CodeOf(err) == diag.Invalid {
		for _, name := range []string{scope.ManifestName, scope.LockName} {
			if err := c.moveToBackup(name); err != nil {
				return err
			}
		}
		w, err = c.Machine.OpenMachine()
	}
	if err != nil {
		return err
	}
	return w.Recover(ctx)
}

// moveToBackup moves a file of the layer to the backups.
func (c *Client) moveToBackup(name string) error {
	path := filepath.Join(c.Paths.Enterprise, name)
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	backup := filepath.Join(c.Paths.Enterprise, "backup", name+"-"+c.timestamp())
	if err := os.MkdirAll(filepath.Dir(backup), 0o755); err != nil {
		return err
	}
	return os.Rename(path, backup)
}

// timestamp returns the time in the form for names of backups.
func (c *Client) timestamp() string { return c.Now().UTC().Format("20060102-150405.000") }

// currentRelease returns the current list from disk. Its files must be those that were verified.
func (c *Client) currentRelease(current *record, conf pack.SyncSettings) (*release, error) {
	source := sourceText(conf.Source)
	name, err := conf.ListName()
	if err != nil {
		return nil, err
	}
	if current == nil || current.Source != source {
		return nil, diag.Errorf(diag.Remote, "the cache does not contain a fleet list from %s, and skillpm is offline",
			source).
			WithHint("run the command without --offline")
	}
	return &release{
		source: current.Source, name: name, version: current.Release, resolved: current.Resolved,
		signers: current.Signers,
		read: func(name string) ([]byte, error) {
			want, ok := current.Files[name]
			if !ok {
				return nil, nil
			}
			data, err := safefile.ReadOptional(filepath.Join(c.Paths.Enterprise, filepath.FromSlash(name)))
			if err == nil && (data == nil || "sha256:"+textx.SHA256(data) != want) {
				err = diag.Errorf(diag.Integrity, "%s differs from the fleet list %s",
					filepath.Join(c.Paths.Enterprise, name), current.Release).
					WithHint("restore the file with: skillpm enterprise sync")
			}
			return data, err
		},
	}, nil
}

// auditFailure records why a sync failed, unless the source was only unreachable.
func (c *Client) auditFailure(source string, err error) {
	r := audit.Record{Action: audit.Sync, Source: source, Result: audit.Failed, Reason: err.Error()}
	switch diag.CodeOf(err) {
	case diag.Remote, diag.Interrupted, diag.Usage:
		return
	case diag.Denied, diag.Integrity:
		r.Result, r.Verdict = audit.Denied, audit.Forbidden
	}
	c.Machine.PolicyDir = "" // the policy in effect says where the log is
	evaluator := c.Machine.Guard()
	r.Policy = enforce.Digest(evaluator.Policies())
	_ = c.Log(evaluator).Write(r) // nothing was changed, and the error is reported
}

// age returns how long ago something was, in seconds.
func age(now, then time.Time) time.Duration { return max(0, now.Sub(then)).Round(time.Second) }
