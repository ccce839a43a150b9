package pack

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

var (
	hostPort = sync.OnceValue(func() *regexp.Regexp {
		const label = `[a-z0-9]([a-z0-9-]*[a-z0-9])?`
		return regexp.MustCompile(`^(` + label + `(\.` + label + `)*|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?$`)
	})
	hostPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*$`) })
)

// mirrors reads the mapping of host[/path] to the host[/path] to try first.
func mirrors(v yamlx.Value) map[string]string {
	mirrors := make(map[string]string)
	for from, v := range v.Fields() {
		v.Key().Check(checkHostPath(from))
		to := v.Named("the mirror of "+from).Text(checkHostPath, func(to string) error {
			if to == from {
				return diag.Errorf(diag.Invalid, "%q is its own mirror", to)
			}
			return nil
		})
		if to != "" {
			mirrors[from] = to
		}
	}
	return mirrors
}

// authHosts reads the mapping of a registry's host to the hosts of its token servers.
func authHosts(v yamlx.Value) map[string][]string {
	servers := make(map[string][]string)
	for registry, v := range v.Fields() {
		v.Key().Check(checkHost(registry))
		if hosts := v.Named("the token servers of " + registry).Texts(checkHost); len(hosts) > 0 {
			servers[registry] = hosts
		}
	}
	return servers
}

func checkFile(s string) error {
	if s == "" || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "~") || strings.ContainsFunc(s, isInvisible) {
		return diag.Errorf(diag.Invalid, "invalid file path %q", s).
			WithHint("use an absolute path, or a path relative to this file")
	}
	return nil
}

func checkHost(s string) error {
	if !hostPort().MatchString(s) {
		return diag.Errorf(diag.Invalid, "invalid host %q", s).
			WithHint("use a lowercase name with an optional port, such as registry.example:5000")
	}
	return nil
}

// checkHostPath checks a host, or a host and the beginning of the path of repositories.
func checkHostPath(s string) error {
	host, path, hasPath := strings.Cut(s, "/")
	if checkHost(host) != nil {
		return checkHost(s)
	} else if !hasPath {
		return nil
	}
	for part := range strings.SplitSeq(path, "/") {
		if !hostPath().MatchString(part) {
			return diag.Errorf(diag.Invalid, "invalid host and repository path %q", s).
				WithHint("use the form registry.example/acme, without a scheme")
		}
	}
	return nil
}

// File returns the path of a file that the configuration names. A relative one is relative to the configuration.
func (c *Config) File(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(c.Path), filepath.FromSlash(name))
}

// SyncSettings configure the signed source of the enterprise layer of a machine. They only have an effect in the
// administrator's configuration.
type SyncSettings struct {
	Source    Ref      // a git repository or an OCI repository; its kind is "" if nothing is configured
	Name      ID       // of the list in a git repository, from its skillpm.yaml; see [SyncSettings.ListName]
	Version   string   // the range of versions, "" for any release
	Keys      []string // files of public keys, or of allowed signers of git tags; see [Config.File]
	Threshold int      // how many of them must sign, at least 1
}

var syncKeys = []string{"source", "name", "version", "keys", "threshold"}

func syncSettings(v yamlx.Value) SyncSettings {
	s := SyncSettings{Threshold: 1}
	if !v.IsMapping() {
		v.Errorf("use sync: {source: \"git+https://git.example/acme/fleet.git\", keys: [keys/acme.signers]}",
			"sync must be a mapping")
		return s
	}
	before := v.Count()
	for key, v := range v.Fields(syncKeys...) {
		switch key {
		case "source":
			s.Source = yamlx.As(v, syncSource)
		case "name":
			s.Name = yamlx.As(v, func(text string) (ID, error) {
				id, err := ParseID(text)
				if err != nil {
					return id, diag.Errorf(diag.Invalid, "name: %v", err)
				}
				return id, nil
			})
		case "version":
			s.Version = v.Text(func(text string) error {
				if _, err := semver.NewConstraint(text); err != nil {
					return diag.Errorf(diag.Invalid, "invalid version range %q", text).
						WithHint("use a range such as ^1, ~2.3, or 1.4.0")
				}
				return nil
			})
		case "keys":
			s.Keys = v.Texts()
		case "threshold":
			s.Threshold = int(v.Int(maxThreshold))
		}
	}
	switch {
	case v.Count() > before:
	case s.Source.Kind == "":
		v.Errorf("use source: \"git+https://git.example/acme/fleet.git\" or \"oci://registry.example/acme/fleet\"",
			"sync does not have a source")
	case !s.Name.IsZero() && s.Source.Kind != KindGit:
		v.Errorf("remove name", "name is allowed only with a git source, because an OCI source contains the name")
	}
	return s
}

// ListName returns the name that the list must have: the configured one, or the last two parts of the source. So
// nothing else that the same people sign can replace the list.
func (s SyncSettings) ListName() (ID, error) {
	switch {
	case !s.Name.IsZero():
		return s.Name, nil
	case s.Source.Kind == KindLayout && !s.Source.ID.IsZero():
		return s.Source.ID, nil
	}
	return s.Source.DefaultID()
}

// maxThreshold is the greatest number of signatures that can be required.
const maxThreshold = 16

// syncSource reads a source of signed releases. It has no revision, because sync installs the newest release.
func syncSource(text string) (Ref, error) {
	ref, err := Parse(text)
	switch {
	case err != nil:
		return ref, diag.Errorf(diag.Invalid, "invalid source: %v", err)
	case ref.Kind != KindGit && ref.Kind != KindOCI && ref.Kind != KindLayout:
		return ref, diag.Errorf(diag.Invalid, "source %q cannot have signed releases", text).
			WithHint("use git+https://… or oci://…")
	case ref.Kind == KindLayout && !filepath.IsAbs(filepath.FromSlash(ref.URL)):
		return ref, diag.Errorf(diag.Invalid, "source %q is a relative path", text).
			WithHint("use an absolute path")
	case ref.Rev != "" || ref.Digest != "":
		return ref, diag.Errorf(diag.Invalid, "source %q must not contain a revision", text).
			WithHint("remove the revision, and set version to a range")
	}
	return ref, nil
}
