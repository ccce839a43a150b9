package pack

import (
	"cmp"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// ConfigName is the name of the user's configuration file.
const ConfigName = "config.yaml"

// Config is the user's configuration for all projects. Settings of a manifest override it.
type Config struct {
	Path       string
	Agents     []string          // ids of the agents that skills are linked for
	LinkMode   string            // LinkSymlink, LinkCopy, LinkHard, or "" for the default
	Registries []Registry        // in the order of the file
	Namespaces map[string]string // owner to the registry, by name or address
	// Publishers maps an owner to the publisher that must have signed the owner's packs; see [ParsePublisher].
	Publishers map[string]string
	// MinReleaseAge is how old a release must be before the solver selects it, 0 for any age.
	MinReleaseAge time.Duration
	// Git is the git program to use instead of the built-in client, "builtin" for none, "" for the default.
	Git string
	// Advisories are feeds of advisories besides those of the registries, and the keys of feeds.
	Advisories []AdvisoryFeed
	// TrustedKeys are the files of the public keys whose signatures are trusted; see [Config.File].
	TrustedKeys []string
	// Mirrors maps host[/path] to the host[/path] to try first.
	Mirrors map[string]string
	// PlainHTTP are the hosts, with their ports, to connect to without encryption.
	PlainHTTP []string
	// AuthHosts are token servers, by the host of the OCI registry whose credentials they may receive.
	AuthHosts map[string][]string
	// CAFile is a file of certificates to trust besides the system's, "" for none; see [Config.File].
	CAFile string

	Profile        string // the id of the profile for skills at run time, "" for the default
	Skills         SkillSettings
	Runners        map[string]Runner // programs that run tasks, by type; see [Config.Runner]
	TrustedFolders []string          // folders whose local skills are available, with everything below them

	Log  LogSettings
	Sync SyncSettings
}

// LogSettings configure the audit log.
type LogSettings struct {
	Output string // LogFull, LogDigest, or "" for the default, LogDigest
}

// The values of LogSettings.Output.
const (
	LogFull   = "full"   // records have the output of scripts
	LogDigest = "digest" // records have the digest of the output
)

var configKeys = []string{
	"registries", "namespaces", "publishers", "advisories", "agents", "link-mode", "min-release-age", "git",
	"trusted-keys", "mirrors", "plain-http", "auth-hosts", "ca-file",
	"profile", "skills", "runners", "trusted-folders", "log", "sync",
}

// ConfigKeys returns the keys of the configuration.
func ConfigKeys() []string { return slices.Clone(configKeys) }

// machineConfigKeys are the keys that have an effect in the file of the machine's administrator.
var machineConfigKeys = []string{
	"registries", "namespaces", "publishers", "advisories", "min-release-age", "git", "trusted-keys", "mirrors",
	"plain-http", "auth-hosts", "ca-file", "skills", "sync",
}

// SkillSettingKeys returns the keys of the mapping skills.
func SkillSettingKeys() []string { return slices.Clone(skillsKeys) }

// ParseConfig reads a configuration as strictly as [ParseManifest] reads a manifest.
func ParseConfig(path string, data []byte) (*Config, error) {
	return parseConfig(path, data, configKeys, skillsKeys)
}

// ParseMachineConfig reads the configuration of the machine's administrator, which applies to all users. A key that has
// an effect only in a user's file is an error.
func ParseMachineConfig(path string, data []byte) (*Config, error) {
	return parseConfig(path, data, machineConfigKeys, machineSkillsKeys)
}

func parseConfig(path string, data []byte, keys, skills []string) (*Config, error) {
	format := manifestFormat
	format.Name, format.ConflictHint = "the configuration", ""
	r := yamlx.Read(path, data, format)
	root, _ := r.Root()
	c := &Config{Path: path}
	for key, v := range root.Fields(keys...) {
		switch {
		case v.IsBlank():
		case key == "skills":
			c.Skills = skillSettings(v, skills)
		default:
			c.field(key, v)
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) field(key string, v yamlx.Value) {
	switch key {
	case "agents":
		c.Agents = v.Texts()
	case "link-mode":
		c.LinkMode = v.Text(checkLinkMode)
	case "min-release-age":
		c.MinReleaseAge = yamlx.As(v, releaseAge)
	case "registries":
		c.Registries = registries(v)
	case "namespaces":
		c.Namespaces = namespaces(v)
	case "publishers":
		c.Publishers = publishers(v)
	case "git":
		c.Git = yamlx.As(v, gitProgram)
	case "advisories":
		c.Advisories = advisoryFeeds(v)
	case "trusted-keys":
		c.TrustedKeys = v.Texts(checkFile)
	case "mirrors":
		c.Mirrors = mirrors(v)
	case "plain-http":
		c.PlainHTTP = v.Texts(checkHost)
	case "auth-hosts":
		c.AuthHosts = authHosts(v)
	case "ca-file":
		c.CAFile = v.Text(checkFile)
	case "profile":
		c.Profile = v.Text(checkProfile("list profiles with: skillpm profile list"))
	case "runners":
		c.Runners = runners(v)
	case "trusted-folders":
		c.TrustedFolders = v.Texts(checkFolder)
	case "log":
		c.Log = logSettings(v)
	case "sync":
		c.Sync = syncSettings(v)
	}
}

func logSettings(v yamlx.Value) (s LogSettings) {
	for key, v := range v.Fields("output") {
		s.Output = v.Named("log." + key).Text(func(s string) error {
			if s != LogFull && s != LogDigest {
				return diag.Errorf(diag.Invalid, "unknown log.output %q", s).WithHint("use %s or %s", LogFull, LogDigest)
			}
			return nil
		})
	}
	return s
}

// AdvisoryFeed is an index with advisories.
type AdvisoryFeed struct {
	URL  string   // of the index
	Keys []string // files of the public keys that sign the feed; see [Config.File]. Empty: the first key that is seen
}

// advisoryFeeds reads a list of mappings of an address and key files.
func advisoryFeeds(v yamlx.Value) (list []AdvisoryFeed) {
	if !v.IsList() {
		v.Errorf("add a list entry for each feed, such as - {url: \"https://packs.example\", keys: [feed.pub]}",
			"advisories must be a list")
		return nil
	}
	for item := range v.Items() {
		var f AdvisoryFeed
		item = item.Named("a feed of advisories")
		for key, v := range item.Fields("url", "keys") {
			if key == "url" {
				f.URL = v.Text(checkAddress(key))
			} else {
				f.Keys = v.Texts(checkFile)
			}
		}
		if f.URL == "" {
			item.Errorf("use {url: \"https://packs.example\"}", "the feed does not have a url")
		}
		list = append(list, f)
	}
	return list
}

// CheckLinkMode returns an error for an unknown link mode.
func CheckLinkMode(mode string) error {
	if mode == LinkSymlink || mode == LinkCopy || mode == LinkHard {
		return nil
	}
	return diag.Errorf(diag.Usage, "unknown link-mode %q", mode).
		WithHint("use one of %s, %s, or %s", LinkSymlink, LinkCopy, LinkHard)
}

// checkLinkMode is CheckLinkMode for a file.
func checkLinkMode(mode string) error {
	if err := CheckLinkMode(mode); err != nil {
		return diag.Errorf(diag.Invalid, "%s", err).WithHint("%s", diag.HintOf(err))
	}
	return nil
}

// maxAge is the greatest minimum release age: ten years.
const maxAge = 10 * 365 * 24 * time.Hour

// releaseAge reads a duration in hours or days, as 72h or 3d.
func releaseAge(s string) (time.Duration, error) {
	text, unit := s, time.Duration(1)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		text, unit = days+"h", 24
	}
	age, err := time.ParseDuration(text)
	switch {
	case err != nil || age < 0:
		return 0, diag.Errorf(diag.Invalid, "invalid min-release-age %q", s).
			WithHint("use hours or days, such as 72h or 3d")
	case age > maxAge/unit:
		return 0, diag.Errorf(diag.Invalid, "min-release-age %q is longer than ten years", s).
			WithHint("use at most 3650d")
	}
	return age * unit, nil
}

// gitProgram reads which git client to use: the built-in one, git in PATH, or a program by its path.
func gitProgram(s string) (string, error) {
	switch {
	case s == "builtin":
		return s, nil
	case s == "system":
		return "git", nil
	case filepath.IsAbs(s):
		return s, nil
	}
	return "", diag.Errorf(diag.Invalid, "invalid git client %q", s).
		WithHint("use builtin, system, or the absolute path of a git program")
}

// registryName matches names of registries. A project can choose a name, and messages show names in commands that users
// copy. Therefore names must not contain shell metacharacters.
var registryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })

// registries reads a list of addresses, or of mappings of a name and an address.
func registries(v yamlx.Value) []Registry {
	if !v.IsList() {
		v.Errorf("add a list entry for each registry, such as - {name: acme, url: \"https://packs.example\"}",
			"registries must be a list")
		return nil
	}
	var list []Registry
	seen := make(map[string]bool)
	for item := range v.Items() {
		before := item.Count()
		reg := registry(item.Named("a registry"))
		switch {
		case item.Count() > before:
		case seen[reg.Name]:
			item.Errorf("remove one of the entries", "%q appears more than once in registries", reg.Name)
		default:
			list, seen[reg.Name] = append(list, reg), true
		}
	}
	return list
}

func registry(v yamlx.Value) (reg Registry) {
	if !v.IsMapping() {
		reg.URL = v.Text(checkAddress(v.Name))
		reg.Name = reg.URL
		return reg
	}
	before := v.Count()
	for key, v := range v.Fields("name", "url") {
		if key == "url" {
			reg.URL = v.Text(checkAddress(key))
			continue
		}
		reg.Name = v.Text(func(s string) error {
			if !registryName().MatchString(s) {
				return diag.Errorf(diag.Invalid,
					"the name of a registry must consist of letters, digits, and . _ -, and start with a letter or digit")
			}
			return nil
		})
	}
	if !v.Get("url").Exists() && v.Count() == before {
		v.Errorf("use {name: acme, url: \"https://packs.example\"}", "the registry does not have a url")
	}
	reg.Name = cmp.Or(reg.Name, reg.URL)
	return reg
}

// namespaces reads the mapping of owners to the only registry that may have their packs.
func namespaces(v yamlx.Value) map[string]string {
	registryOf := make(map[string]string)
	for owner, v := range v.Fields() {
		if _, err := ParseID(owner + "/x"); err != nil {
			v.Key().Errorf("use the part of a pack's name before the slash, such as acme for acme/deploy",
				"invalid owner %q",
				owner)
		}
		if address := v.Text(checkAddress("the registry of owner " + owner)); address != "" {
			registryOf[owner] = address
		}
	}
	return registryOf
}

// publishers reads the mapping of owners to the publishers that must have signed their packs.
func publishers(v yamlx.Value) map[string]string {
	publisherOf := make(map[string]string)
	for owner, v := range v.Fields() {
		if _, err := ParseID(owner + "/x"); err != nil {
			v.Key().Errorf("use the part of a pack's name before the slash, such as acme for acme/deploy",
				"invalid owner %q", owner)
		}
		publisherOf[owner] = v.Text(func(s string) error {
			_, err := ParsePublisher(s)
			return err
		})
	}
	return publisherOf
}

// hostText matches hosts with and without a port. net/url accepts more in a host.
var hostText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN.:_\[\]-]*$`) })

// checkAddress checks the address or name of a registry. It rejects credentials, because people share these files.
func checkAddress(noun string) func(string) error {
	return func(s string) error {
		if s == "" || strings.HasPrefix(s, "-") || strings.ContainsFunc(s, isInvisible) {
			return diag.Errorf(diag.Invalid, "%s is not a valid address", noun)
		}
		scheme, rest, ok := strings.Cut(s, "://")
		if !ok {
			return nil
		}
		if scheme == "http" && !onLoopback(s) {
			return diag.Errorf(diag.Invalid, "%s requires HTTPS: %q", noun, s).
				WithHint("write https://%s", rest)
		}
		host, _, _ := strings.Cut(rest, "/")
		user, _, hasUser := strings.Cut(host, "@")
		if hasUser && (!strings.HasSuffix(scheme, "ssh") || strings.Contains(user, ":")) {
			return diag.Errorf(diag.Invalid, "%s contains credentials", noun).
				WithHint("remove the credentials, and use a credential helper or SKILLPM_TOKEN_<HOST>")
		}
		// messages show the host in commands, such as skillpm login HOST
		if u, err := url.Parse(s); err != nil || !hostText().MatchString(u.Host) {
			return diag.Errorf(diag.Invalid, "%s is not a valid address: %q", noun, s)
		}
		return nil
	}
}

// onLoopback reports whether an address is on this machine, where plain HTTP is safe.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
