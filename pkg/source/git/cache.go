package git

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/pack"
)

// wholeName is the file that marks a cache entry from which nothing was left out.
const wholeName = "whole"

func (k *commit) marker() string { return filepath.Join(k.dir, wholeName) }

// cacheDir returns the directory that a commit is kept in: one for each URL, so that no repository can stand in for
// another.
func (c *Client) cacheDir(ref pack.Ref) (string, error) {
	root, err := c.cacheRoot()
	sum := sha256.Sum256([]byte(ref.URL))
	return filepath.Join(root, hex.EncodeToString(sum[:8]), ref.Digest), err
}

func (c *Client) cacheRoot() (string, error) {
	if c.options.Cache != "" {
		return c.options.Cache, os.MkdirAll(c.options.Cache, 0o755)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.temp == "" {
		c.temp, err = os.MkdirTemp("", "skillpm-git-")
	}
	return c.temp, err
}

// publish moves a directory with a pack of the commit to its place in the cache and uses it there. If another process
// was faster, and has no less, its entry is used: somebody may be reading it.
func (k *commit) publish(dir string, p *storedPack, whole bool) error {
	if whole {
		if err := os.WriteFile(filepath.Join(dir, wholeName), nil, 0o644); err != nil {
			return err
		}
	}
	if k.openCached() == nil && (k.whole || !whole) {
		return nil
	}
	if err := os.RemoveAll(k.dir); err != nil {
		return err
	}
	if err := os.Rename(dir, k.dir); err != nil {
		if k.openCached() == nil {
			return nil
		}
		return err
	}
	if err := p.reopen(k.dir); err != nil {
		return err
	}
	return k.use(packs{p}, whole)
}
