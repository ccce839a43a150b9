package pack

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// network is what only a configuration says: how hosts are reached, and whose signatures are trusted.
type network struct {
	trustedKeys []string
	mirrors     map[string]string
	plainHTTP   []string
	caFile      string
}

var (
	hostPort = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?$`)
	})
	hostPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*$`) })
)

// field reads one of the keys, and reports whether it is one.
func (n *network) field(r reader, key string, v *yaml.Node) (known bool, err error) {
	switch key {
	case "trusted-keys":
		n.trustedKeys, err = r.texts(v, key, checkFile)
	case "mirrors":
		n.mirrors, err = r.mirrors(v)
	case "plain-http":
		n.plainHTTP, err = r.texts(v, key, checkHost)
	case "ca-file":
		if n.caFile, err = r.text(v, key); err == nil {
			err = r.at(v, checkFile(n.caFile))
		}
	default:
		return false, nil
	}
	return true, err
}

// mirrors reads the mapping of a host, or what is below a path of it, to where it is asked first.
func (r reader) mirrors(v *yaml.Node) (map[string]string, error) {
	if err := r.mappingOf(v, "mirrors"); err != nil {
		return nil, err
	}
	mirrors := make(map[string]string)
	err := r.fields(v, "mirrors", nil, func(k, v *yaml.Node) error {
		if err := r.note(r.at(k, checkHostPath(k.Value))); err != nil {
			return err
		}
		to, err := r.text(v, "the mirror of "+k.Value)
		if err == nil {
			err = r.at(v, checkHostPath(to))
		}
		if err == nil && to == k.Value {
			err = r.errorf(v, "%q is its own mirror", to)
		}
		if err == nil {
			mirrors[k.Value] = to
		}
		return err
	})
	return mirrors, err
}

func checkFile(s string) error {
	if s == "" || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "~") || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }) {
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
