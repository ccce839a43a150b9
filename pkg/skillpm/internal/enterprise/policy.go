package enterprise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
)

// keysDir is the directory of the keys of a list's policy, in the list and on the machine.
const keysDir = "keys/"

// readKeys reads the keys that the policy names and the list has.
func (l *list) readKeys(read func(string) ([]byte, error)) error {
	for _, name := range keyFiles(l.policy) {
		data, err := read(name)
		if err != nil {
			return err
		}
		if data == nil {
			continue // it may be on the machine
		}
		if !strings.HasPrefix(name, keysDir) || !fs.ValidPath(name) {
			return diag.Errorf(diag.Invalid, "the fleet list's policy refers to the key %s, which is not in %s",
				name, keysDir).
				WithHint("move the key to %s, and change its path in the policy", keysDir)
		}
		l.files[name] = data
	}
	return nil
}

// keyFiles returns the key files that a policy names by relative paths, sorted.
func keyFiles(p *policy.Policy) (names []string) {
	if p == nil {
		return nil
	}
	for _, r := range p.Require {
		if r.Signatures == nil {
			continue
		}
		for _, s := range r.Signatures.AnyOf {
			name := ""
			switch {
			case s.Key != nil:
				name = s.Key.File
			case s.SSH != nil:
				name = s.SSH.AllowedSigners
			}
			if name != "" && !path.IsAbs(name) && !filepath.IsAbs(filepath.FromSlash(name)) {
				names = append(names, path.Clean(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// stagePolicy writes the list's policy into a temporary directory of the administrator, so that it decides about the
// list before it is in effect. cleanUp removes the directory. If the list has no policy, the current one decides.
func (c *Client) stagePolicy(l *list, config *pack.Config) (cleanUp func() error, err error) {
	if l.policy == nil {
		c.Machine.PolicyDir = ""
		return func() error { return nil }, nil
	}
	if err := c.checkTrustedKeys(l, config); err != nil {
		return nil, err
	}
	dir := filepath.Join(c.Paths.Enterprise, stageName)
	cleanUp = func() error { return os.RemoveAll(dir) }
	if err := errors.Join(cleanUp(), os.Mkdir(dir, 0o755)); err != nil {
		return nil, err
	}
	if err := c.fillPolicy(dir, l); err != nil {
		return nil, errors.Join(err, cleanUp())
	}
	c.Machine.PolicyDir = dir
	return cleanUp, nil
}

// fillPolicy writes the policy and its keys into a directory, and checks the keys.
func (c *Client) fillPolicy(dir string, l *list) error {
	write := func(name string, data []byte) error {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o600)
	}
	for name, data := range l.files {
		if err := write(name, data); err != nil {
			return err
		}
	}
	for _, name := range keyFiles(l.policy) {
		if l.files[name] != nil || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		data, err := safefile.ReadOptional(filepath.Join(c.Paths.Enterprise, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if data == nil {
			return diag.Errorf(diag.Invalid,
				"the fleet list's policy refers to the key %s, which does not exist in the list or on this machine",
				name).
				WithHint("add the key to the list")
		}
		if err := write(name, data); err != nil {
			return err
		}
	}
	p := *l.policy
	p.Path = filepath.Join(dir, enforce.PolicyName)
	for _, r := range p.Require {
		if r.Signatures == nil {
			continue
		}
		if err := admission.CheckSigners(policy.Rule{Requirement: r, Policy: &p}); err != nil {
			return fmt.Errorf("invalid policy in the fleet list: %w", err)
		}
	}
	return nil
}

// checkTrustedKeys refuses a list that would replace the keys that lists are checked against, which only the
// administrator may.
func (c *Client) checkTrustedKeys(l *list, config *pack.Config) error {
	for _, key := range config.Sync.Keys {
		rel, err := filepath.Rel(c.Paths.Enterprise, config.File(key))
		if err != nil {
			continue
		}
		data, included := l.files[filepath.ToSlash(rel)]
		if !included {
			continue
		}
		current, err := safefile.ReadOptional(config.File(key))
		if err != nil {
			return err
		}
		if string(current) != string(data) {
			return diag.Errorf(diag.Denied, "the fleet list would replace %s, which verifies fleet lists", key).
				WithHint(
					"rename the key in the list's policy; only the administrator of a machine changes the keys for fleet lists")
		}
	}
	return nil
}
