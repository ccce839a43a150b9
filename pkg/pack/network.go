package pack

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

var (
	hostPort = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?$`)
	})
	hostPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*$`) })
)

// mirrors reads the mapping of a host, or what is below a path of it, to where it is asked first.
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

func checkFile(s string) error {
	if s == "" || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "~") || strings.ContainsFunc(s, isControl) {
		return diag.Errorf(diag.Invalid, "%q is not the path of a file", s).WithHint("write it in full, or relative to this file")
	}
	return nil
}

func checkHost(s string) error {
	if !hostPort().MatchString(s) {
		return diag.Errorf(diag.Invalid, "%q is not a host", s).WithHint("write a name in lower case, with the port if there is one, as registry.example:5000")
	}
	return nil
}

// checkHostPath checks a host, or a host and the beginning of a repository's path.
func checkHostPath(s string) error {
	host, path, has := strings.Cut(s, "/")
	if checkHost(host) != nil {
		return checkHost(s)
	} else if !has {
		return nil
	}
	for part := range strings.SplitSeq(path, "/") {
		if !hostPath().MatchString(part) {
			return diag.Errorf(diag.Invalid, "%q is not a host and the path of repositories", s).WithHint("write it as registry.example/acme, without a scheme")
		}
	}
	return nil
}

// File returns a file that the configuration names, relative ones being beside it.
func (c *Config) File(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(c.Path), filepath.FromSlash(name))
}
