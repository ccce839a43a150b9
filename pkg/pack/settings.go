package pack

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// ConfigName is the name of the user's configuration file.
const ConfigName = "config.yaml"

// Config is what the user's configuration says for all projects. What a manifest says of the same goes before it.
type Config struct {
	Path       string
	Agents     []string          // ids of the agents that skills are linked for
	LinkMode   string            // LinkSymlink, LinkCopy, LinkHard, or "" for the default
	Registries []Registry        // in the order of the file
	Namespaces map[string]string // owner to the registry, by name or address
	// MinReleaseAge is how old a release must be before it is chosen, 0 for any.
	MinReleaseAge time.Duration
	// Git is the git program that is preferred to what is built in, "" for none.
	Git string
	// TrustedKeys are the files of public keys whose signatures count where one is asked for; see [Config.File].
	TrustedKeys []string
	// Mirrors says where a host, or what is below a path of it, is asked first: host[/path] to host[/path].
	Mirrors map[string]string
	// PlainHTTP are the hosts, with their ports, that are spoken to without encryption.
	PlainHTTP []string
	// CAFile is a file of certificates that are trusted besides the system's, "" for none; see [Config.File].
	CAFile string

	Profile string            // the id of the profile that skills are at work under, "" for the default
	Skills  SkillSettings     // how skills are at work
	Runners map[string]Runner // what runs tasks, by type; see [Config.Runner]
	Trusted []string          // folders whose own skills count, with what is below them

	Sync SyncSettings // what the enterprise layer is kept in step with
}

var configKeys = []string{
	"registries", "namespaces", "agents", "link-mode", "min-release-age", "git", "trusted-keys", "mirrors", "plain-http", "ca-file",
	"profile", "skills", "runners", "trusted-folders", "sync",
}

// ParseConfig reads a configuration as strictly as [ParseManifest] reads a manifest.
func ParseConfig(path string, data []byte) (*Config, error) {
	return reader{path: path}.config(data)
}

func (r reader) config(data []byte) (*Config, error) {
	root, err := r.mapping(data, maxFile)
	if err != nil {
		return nil, err
	}
	var (
		s settings
		n network
		w runtime
		e SyncSettings
	)
	err = r.fields(root, "the configuration", configKeys, func(k, v *yaml.Node) error {
		if isNull(v) && v.Value == "" {
			return nil
		}
		if k.Value == "sync" {
			e, err = r.sync(v)
			return err
		}
		if known, err := n.field(r, k.Value, v); known {
			return err
		}
		if known, err := w.field(r, k.Value, v); known {
			return err
		}
		return s.field(r, k.Value, v)
	})
	if err != nil {
		return nil, err
	}
	return &Config{
		Path: r.path, Agents: s.agents, LinkMode: s.linkMode, Registries: s.registries, Namespaces: s.namespaces,
		MinReleaseAge: s.minAge, Git: s.git, TrustedKeys: n.trustedKeys, Mirrors: n.mirrors, PlainHTTP: n.plainHTTP, CAFile: n.caFile,
		Profile: w.profile, Skills: w.skills, Runners: w.runners, Trusted: w.trusted,
		Sync: e,
	}, nil
}

// settings are the keys that manifest and configuration share.
type settings struct {
	agents     []string
	linkMode   string
	registries []Registry
	namespaces map[string]string
	minAge     time.Duration
	git        string
}

func (s *settings) field(r reader, key string, v *yaml.Node) (err error) {
	if isNull(v) && v.Value == "" {
		return nil
	}
	switch key {
	case "agents":
		s.agents, err = r.texts(v, "agents", nil)
	case "link-mode":
		s.linkMode, err = r.text(v, "link-mode")
		if bad := CheckLinkMode(s.linkMode); err == nil && bad != nil {
			err = r.errorf(v, "%s", bad).WithHint("%s", diag.HintOf(bad))
		}
	case "min-release-age":
		s.minAge, err = r.age(v)
	case "git":
		s.git, err = r.gitProgram(v)
	case "registries":
		s.registries, err = r.registries(v)
	case "namespaces":
		s.namespaces, err = r.namespaces(v)
	}
	return err
}

// CheckLinkMode reports a link mode that is not known.
func CheckLinkMode(mode string) error {
	if mode == LinkSymlink || mode == LinkCopy || mode == LinkHard {
		return nil
	}
	return diag.Errorf(diag.Usage, "link-mode %q is not known", mode).WithHint("use %s, %s or %s", LinkSymlink, LinkCopy, LinkHard)
}

// age reads a duration in hours or days, as 72h or 3d.
func (r reader) age(v *yaml.Node) (time.Duration, error) {
	s, err := r.text(v, "min-release-age")
	if err != nil {
		return 0, err
	}
	text, unit := s, time.Duration(1)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		text, unit = days+"h", 24
	}
	age, err := time.ParseDuration(text)
	if err == nil && age > maxAge/unit {
		return 0, r.errorf(v, "min-release-age %q is longer than ten years, the most that there is", s).WithHint("write at most 3650d")
	}
	if err != nil || age < 0 {
		return 0, r.errorf(v, "min-release-age %q is not a duration", s).WithHint("write hours or days, as 72h or 3d")
	}
	return age * unit, nil
}

// maxAge is the longest time that a release may have to wait: ten years.
const maxAge = 10 * 365 * 24 * time.Hour

// gitProgram reads which git fetches: skillpm's own, the one in PATH, or one by its path.
func (r reader) gitProgram(v *yaml.Node) (string, error) {
	s, err := r.text(v, "git")
	switch {
	case err != nil:
		return "", err
	case s == "builtin":
		return "", nil
	case s == "system":
		return "git", nil
	case filepath.IsAbs(s):
		return s, nil
	}
	return "", r.errorf(v, "git %q is not known", s).WithHint("write builtin, system, or the absolute path of a git program")
}

// registries reads a list whose entries are addresses, or mappings of a name and an address.
func (r reader) registries(v *yaml.Node) ([]Registry, error) {
	if v.Kind != yaml.SequenceNode {
		return nil, r.errorf(v, "registries must be a list").
			WithHint("write a line for each, as in - {name: acme, url: \"https://packs.example\"}")
	}
	var list []Registry
	seen := make(map[string]bool, len(v.Content))
	for _, item := range v.Content {
		if r.spoilt(item) {
			continue
		}
		before := r.noted()
		reg, err := r.registry(item)
		if err == nil && r.noted() == before {
			if seen[reg.Name] {
				err = r.errorf(item, "registries lists %q twice", reg.Name)
			} else {
				list, seen[reg.Name] = append(list, reg), true
			}
		}
		if err := r.note(err); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r reader) registry(item *yaml.Node) (reg Registry, err error) {
	if item.Kind != yaml.MappingNode {
		reg.URL, err = r.address(item, "a registry")
		reg.Name = reg.URL
		return reg, err
	}
	hasURL, before := false, r.noted()
	err = r.fields(item, "a registry", []string{"name", "url"}, func(k, v *yaml.Node) (err error) {
		if k.Value == "url" {
			hasURL = true
			reg.URL, err = r.address(v, "url")
			return err
		}
		reg.Name, err = r.text(v, "name")
		if err == nil && (reg.Name == "" || strings.ContainsAny(reg.Name, ":/\\ ")) {
			return r.errorf(v, "a registry's name is one word, without a colon or a slash")
		}
		return err
	})
	if err == nil && !hasURL && r.noted() == before {
		err = r.errorf(item, "a registry needs a url").WithHint("write {name: acme, url: \"https://packs.example\"}")
	}
	if reg.Name == "" {
		reg.Name = reg.URL
	}
	return reg, err
}

// namespaces reads the mapping of an owner to the registry that alone is asked for its packs.
func (r reader) namespaces(v *yaml.Node) (map[string]string, error) {
	if err := r.mappingOf(v, "namespaces"); err != nil {
		return nil, err
	}
	bound := make(map[string]string)
	err := r.fields(v, "namespaces", nil, func(k, v *yaml.Node) (err error) {
		if _, bad := ParseID(k.Value + "/x"); bad != nil {
			err = r.errorf(k, "%q is not the owner of packs", k.Value).WithHint("write the part before the slash, as acme of acme/deploy")
		}
		if err := r.note(err); err != nil {
			return err
		}
		address, err := r.address(v, "namespace "+k.Value)
		if err == nil {
			bound[k.Value] = address
		}
		return err
	})
	return bound, err
}

// address reads where a registry is, or its name. Credentials are refused: these files are shared.
func (r reader) address(v *yaml.Node, what string) (string, error) {
	s, err := r.text(v, what)
	if err != nil {
		return "", err
	}
	if s == "" || strings.HasPrefix(s, "-") || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return "", r.errorf(v, "%s is not an address", what)
	}
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		if scheme == "http" && !onLoopback(s) {
			return "", r.errorf(v, "%s is read over HTTPS only: %q", what, s).WithHint("write https://%s", rest)
		}
		host, _, _ := strings.Cut(rest, "/")
		user, _, has := strings.Cut(host, "@")
		if has && (!strings.HasSuffix(scheme, "ssh") || strings.Contains(user, ":")) {
			return "", r.errorf(v, "%s has credentials in its address", what).
				WithHint("remove them, and keep them in a credential helper or in SKILLPM_TOKEN_<HOST>")
		}
		if _, err := url.Parse(s); err != nil {
			return "", r.errorf(v, "%s is not an address: %q", what, s)
		}
	}
	return s, nil
}

// onLoopback reports whether an address is one of this machine, where nobody listens in.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
