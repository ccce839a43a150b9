package enterprise

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
)

// The names of files in the administrator's directory.
const (
	RecordName = "sync.json"
	lockName   = "sync.lock"
	stageName  = ".sync"
)

// Client keeps the enterprise layer of this machine.
type Client struct {
	*base.Base
}

// New returns a client. It uses the environment of the options, and nothing that belongs to a user. It touches neither
// disk nor network.
func New(o base.Options) *Client {
	o.Paths = o.Paths.ForMachine()
	o.Dir, o.PolicyProject = o.Paths.Enterprise, ""
	o.Config = filepath.Join(o.Paths.Enterprise, pack.ConfigName)
	return &Client{Base: base.New(o)}
}

// settings returns the administrator's settings, if they configure a source and keys.
func (c *Client) settings() (*pack.Config, error) {
	config, err := c.Machine.AdminConfig()
	if err != nil {
		return nil, err
	}
	if config.Sync.Source.Kind == "" {
		return nil, diag.Errorf(diag.NotFound, "the enterprise layer of this machine does not have a source").
			WithHint(
				"add to %s: sync: {source: \"git+https://git.example/acme/fleet.git\", keys: [keys/acme.signers]}", c.Config)
	}
	if len(config.Sync.Keys) == 0 {
		return nil, diag.Errorf(diag.Invalid,
			"%s does not have keys under sync to verify signatures", c.Config).
			WithHint("add keys: [FILE] under sync, with an allowed signers file for git, or a public key for OCI")
	}
	return config, nil
}

// checkOwners checks that only the administrator can have written the layer and the files that configure it.
func (c *Client) checkOwners(config *pack.Config) error {
	at := c.Paths.Enterprise
	files := []string{
		at, c.Config, filepath.Join(at, scope.ManifestName), filepath.Join(at, scope.LockName),
		filepath.Join(at, "plugins"), filepath.Join(at, RecordName),
	}
	for _, key := range config.Sync.Keys {
		file := config.File(key)
		files = append(files, filepath.Dir(file), file)
	}
	for _, file := range files {
		if err := c.checkOwner(file); err != nil {
			return err
		}
	}
	return nil
}

// checkOwner checks that a file belongs to the administrator, if it exists.
func (c *Client) checkOwner(file string) error {
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return diag.Errorf(diag.Denied, "cannot read %s: %w", file, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return diag.Errorf(diag.Denied, "%s is a link; the enterprise layer must not contain links", file).
			WithHint("replace the link with a regular file")
	case !ownersCount:
		return nil
	case ownerOf(info) != c.Admin:
		return diag.Errorf(diag.Denied, "%s belongs to user %d instead of the administrator, user %d",
			file, ownerOf(info), c.Admin).
			WithHint("check the content of the file, then change the owner with: chown %d %s", c.Admin, file)
	case info.Mode().Perm()&0o022 != 0:
		return diag.Errorf(diag.Denied, "%s is writable by users other than the administrator", file).
			WithHint("check the content of the file, then change the mode with: chmod go-w %s", file)
	}
	return nil
}

// lock keeps other syncs out. Users who may not write the layer get their error here.
func (c *Client) lock(ctx context.Context) (unlock func() error, err error) {
	unlock, err = txn.Lock(ctx, filepath.Join(c.Paths.Enterprise, lockName))
	if errors.Is(err, fs.ErrPermission) {
		return nil, diag.Errorf(diag.Denied,
			"only the administrator can change the enterprise layer in %s", c.Paths.Enterprise).
			WithHint("run \"sudo skillpm enterprise sync\", or check without root with: skillpm enterprise sync --check")
	}
	return unlock, err
}
