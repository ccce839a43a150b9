package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/regular"
)

// dockerConfig is what is read of config.json here; oras-go reads and writes the rest.
type dockerConfig struct {
	Auths       map[string]json.RawMessage `json:"auths"`
	CredsStore  string                     `json:"credsStore"`
	CredHelpers map[string]string          `json:"credHelpers"`
}

// maxConfig bounds config.json and what a helper lists.
const maxConfig = 4 << 20

func (s *Store) config() (c dockerConfig, err error) {
	if s.path == "" {
		return c, nil
	}
	data, err := regular.ReadFile(s.path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, diag.Errorf(diag.CodeOf(err), "%s: %w", s.path, err)
	}
	if len(bytes.TrimSpace(data)) > 0 && json.Unmarshal(data, &c) != nil {
		return c, diag.Errorf(diag.Invalid, "%s is not Docker's configuration", s.path).WithHint("mend the file, or log in again")
	}
	return c, nil
}

// helper returns the helper that keeps the login for a host, "" for the file.
func (s *Store) helper(hostport string) string {
	c, err := s.config()
	if err != nil {
		return ""
	}
	if h := c.CredHelpers[address(hostport)]; h != "" {
		return h
	}
	return c.CredsStore
}

// Hosts returns the hosts that there are logins for, sorted: those of the file, and those that its helpers list.
func (s *Store) Hosts(ctx context.Context) ([]string, error) {
	c, err := s.config()
	if err != nil {
		return nil, err
	}
	hosts := make(map[string]bool)
	for at, entry := range c.Auths {
		if text := string(bytes.TrimSpace(entry)); text != "{}" && text != "null" && c.CredHelpers[at] == "" {
			hosts[hostOf(at)] = true
		}
	}
	if c.CredsStore != "" {
		listed, err := list(ctx, c.CredsStore)
		if err != nil {
			return nil, err
		}
		for _, at := range listed {
			hosts[hostOf(at)] = true
		}
	}
	for at, helper := range c.CredHelpers {
		listed, err := list(ctx, helper)
		if err != nil {
			return nil, err
		}
		if slices.Contains(listed, at) {
			hosts[hostOf(at)] = true
		}
	}
	return slices.Sorted(maps.Keys(hosts)), nil
}

// hostOf is the host of an address as Docker keeps it.
func hostOf(at string) string {
	at = strings.TrimPrefix(strings.TrimPrefix(at, "https://"), "http://")
	at, _, _ = strings.Cut(at, "/")
	if at == "index.docker.io" {
		return "docker.io"
	}
	return at
}

// list asks a helper which addresses it has logins for.
func list(ctx context.Context, helper string) ([]string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker-credential-"+helper, "list") //nolint:gosec // the user's own configuration names it
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, diag.Errorf(diag.Denied, "docker-credential-%s list: %w", helper, err).
			WithHint("check the credential helper that Docker's config.json names")
	}
	var users map[string]string // address -> user
	if out.Len() > maxConfig || json.Unmarshal(out.Bytes(), &users) != nil {
		return nil, diag.Errorf(diag.Denied, "docker-credential-%s does not list its logins", helper)
	}
	return slices.Collect(maps.Keys(users)), nil
}
