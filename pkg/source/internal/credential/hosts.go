package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
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
	data, err := safefile.ReadFile(s.path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, diag.Errorf(diag.CodeOf(err), "%s: %w", s.path, err)
	}
	if len(bytes.TrimSpace(data)) > 0 && json.Unmarshal(data, &c) != nil {
		return c, diag.Errorf(diag.Invalid, "%s is not a valid Docker configuration", s.path).
			WithHint("fix the file, or move it away and log in again with: skillpm login REGISTRY")
	}
	return c, nil
}

// helperOf returns the helper that keeps the login for a host, "" for the file.
func (s *Store) helperOf(hostport string) (helper, error) {
	c, err := s.config()
	if err != nil {
		return "", err
	}
	if h := c.CredHelpers[serverAddress(hostport)]; h != "" {
		return helper(h), nil
	}
	return helper(c.CredsStore), nil
}

// Hosts returns the hosts that there are logins for, sorted: those of the file, and those that its helpers list.
func (s *Store) Hosts(ctx context.Context) ([]string, error) {
	c, err := s.config()
	if err != nil {
		return nil, err
	}
	hosts := make(map[string]bool)
	for server, auth := range c.Auths {
		if text := string(bytes.TrimSpace(auth)); text != "{}" && text != "null" && c.CredHelpers[server] == "" {
			hosts[hostOf(server)] = true
		}
	}
	if c.CredsStore != "" {
		listed, err := helper(c.CredsStore).list(ctx)
		if err != nil {
			return nil, err
		}
		for server := range listed {
			hosts[hostOf(server)] = true
		}
	}
	for server, name := range c.CredHelpers {
		listed, err := helper(name).list(ctx)
		if err != nil {
			return nil, err
		}
		if _, ok := listed[server]; ok {
			hosts[hostOf(server)] = true
		}
	}
	return slices.Sorted(maps.Keys(hosts)), nil
}

// hostOf is the host of an address as Docker keeps it.
func hostOf(server string) string {
	host, _, _ := strings.Cut(Host(server), "/")
	return host
}
