package enforce

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// Request has the restrictions that a skill asks for its scripts, as the frontmatter writes them under `execution`.
type Request struct {
	Sandbox      string   // "", "true", "false", or the name of a sandbox
	AllowedPaths []string // relative to the project; nil if unspecified, empty for none
	Network      []string // "true", "false", "restricted", "none", or network hosts with ports
}

// Directories are the directories of a skill's commands.
type Directories struct {
	Dir     string // directory of the skill
	Work    string // working directory
	Project string // root of the project, "" for none

	// Skills are directories of skills, which a skill's commands must not write to.
	Skills []string
}

// Restricts reports whether a skill asks for fewer permissions than the user has.
func (w Request) Restricts() bool {
	open := len(w.Network) == 0 || len(w.Network) == 1 && anyNetwork(w.Network[0])
	return w.Sandbox != "" && w.Sandbox != "false" || w.AllowedPaths != nil || !open
}

// Confine returns the sandbox rules for the commands of a skill; nil if they have the user's permissions. Notes are for
// the user. After an error the commands must not run.
//
// A skill that asks for no restriction is confined if a policy confines all skills. A confined skill may read its own
// directory and the project. It may write to the working directory, or to the paths that it names instead. It may reach
// the network hosts that it names, or those of the policies if it names none or "restricted". Lists of paths and hosts
// in policies limit what a skill may name.
func (g *Evaluator) Confine(s Skill, w Request, dirs Directories) (rules *sandbox.Rules, notes []string, err error) {
	st := g.current()
	if err := st.set.Err(); err != nil {
		return nil, nil, err
	}
	c := sandboxBuilder{skill: s, request: w, dirs: dirs, set: st.policiesFor(s), home: st.o.Paths.Home}
	forced := c.set.Confines()
	for _, p := range c.set {
		if forced == nil && !w.Restricts() && p.Mode == policy.Observe && p.Execution.Sandbox == policy.SandboxAlways {
			c.notes = append(c.notes, fmt.Sprintf("policy %s:%d would confine the commands of %s", p.Path,
				p.Line("execution"), s.subject()))
		}
	}
	if forced == nil && !w.Restricts() {
		return nil, c.notes, nil
	}
	r := &sandbox.Rules{Read: []string{dirs.Dir}, Hidden: st.o.hidden(), Optional: st.set.Unconfined()}
	if c.real, err = dirs.resolve(); err != nil {
		return nil, c.notes, err
	}
	if link, through := new(pathx.Snapshot).ThroughLink(dirs.Work, []string{c.real.Project}); through &&
		!pathx.Contains(c.real.Project, c.real.Work) {
		return nil, c.notes, c.leaves("the working directory "+dirs.Work, link)
	}
	if r.Write, err = c.paths(); err != nil {
		return nil, c.notes, err
	}
	if dirs.Project != "" {
		r.Keep = existingBelow(c.real.Project, dirs.Skills)
	}
	for _, root := range append([]string{c.real.Project, c.real.Work}, r.Write...) {
		if root != "" {
			r.Keep = append(r.Keep, existingBelow(root, controlPaths(root))...)
			r.Guarded = append(r.Guarded, controlPaths(root)...)
		}
	}
	for _, root := range []string{dirs.Project, dirs.Work} {
		if root != "" {
			r.Read = append(r.Read, root)
		}
	}
	slices.Sort(r.Keep)
	r.Keep = slices.DeleteFunc(slices.Compact(r.Keep), func(path string) bool { return slices.Contains(r.Write, path) })
	r.Guarded = append(r.Guarded, dirs.Skills...)
	slices.Sort(r.Guarded)
	r.Guarded = slices.DeleteFunc(slices.Compact(r.Guarded), func(path string) bool {
		return slices.ContainsFunc(r.Write, func(named string) bool { return pathx.Contains(path, named) })
	})
	r.LinkPaths = c.linkPaths
	if r.Network, err = c.network(); err != nil {
		return nil, c.notes, err
	}
	return r, c.notes, nil
}

// sandboxBuilder computes the rules of one skill.
type sandboxBuilder struct {
	skill     Skill
	request   Request
	dirs      Directories
	real      Directories // without links
	set       policy.Set
	home      string
	notes     []string
	linkPaths []string // writable paths before links were resolved
}

// refuse returns the error for something that a policy does not allow, nil in observe mode.
func (c *sandboxBuilder) refuse(p *policy.Policy, key, value string) error {
	text := fmt.Sprintf("%s requests execution.%s %s, which policy %s:%d does not allow", c.skill.subject(), key,
		value, p.Path, p.Line("execution"))
	if p.Mode == policy.Observe {
		c.notes = append(c.notes, text)
		return nil
	}
	return diag.Errorf(diag.Denied, "%s", text).WithHint("ask the owner of the policy to add the value under execution")
}

// paths returns the writable paths with links resolved, so that the sandbox opens the paths that were checked.
func (c *sandboxBuilder) paths() (write []string, err error) {
	if c.request.AllowedPaths == nil && pathx.Contains(c.real.Dir, c.real.Work) {
		return nil, nil
	}
	if c.request.AllowedPaths == nil {
		return []string{c.real.Work}, nil
	}
	for _, text := range c.request.AllowedPaths {
		path := c.absolute(text)
		if path == "" {
			return nil, diag.Errorf(diag.Invalid, "%s requests execution.allowed-paths %q, which is not a path",
				c.skill.subject(), text).
				WithHint("use a directory of the project, such as ./build, an absolute path, or a path below ~/")
		}
		real, err := pathx.Resolve(path)
		if err != nil {
			return nil, unresolved(path, err)
		}
		c.linkPaths = append(c.linkPaths, path)
		if pathx.Contains(c.real.Dir, real) {
			return nil, diag.Errorf(diag.Denied,
				"%s requests execution.allowed-paths %q, which is in the skill's own directory and read-only",
				c.skill.subject(), text).
				WithHint("write to the project, or to $TMPDIR")
		}
		if err := c.checkNamed(text, real); err != nil {
			return nil, err
		}
		if pathx.Contains(c.real.Work, real) || pathx.Contains(c.real.Project, real) {
			write = append(write, real)
			continue
		}
		for _, p := range c.set {
			bound := p.Execution.PathsBound()
			if bound == nil || slices.ContainsFunc(bound, func(dir string) bool { return c.allows(dir, real) }) {
				continue
			}
			if err := c.refuse(p, "allowed-paths", text); err != nil {
				return nil, err
			}
		}
		own := []string{c.real.Dir, c.real.Project, c.real.Work}
		if link, through := new(pathx.Snapshot).ThroughLink(path, own); through {
			return nil, c.leaves(fmt.Sprintf("execution.allowed-paths %q", text), link)
		}
		write = append(write, real)
	}
	return write, nil
}

// leaves returns the error for a path of a skill that a link of the project or the skill leads elsewhere.
func (c *sandboxBuilder) leaves(what string, link pathx.Link) error {
	return diag.Errorf(diag.Denied, "cannot open %s for %s: the link %s leads out of the project", what,
		c.skill.subject(), link.Path).WithHint("use the path that the link leads to")
}

// resolve resolves links in the directories, except those in Skills.
func (p Directories) resolve() (real Directories, err error) {
	for _, dir := range []struct {
		source string
		target *string
	}{{p.Dir, &real.Dir}, {p.Work, &real.Work}, {p.Project, &real.Project}} {
		if dir.source == "" {
			continue
		}
		if *dir.target, err = pathx.Resolve(dir.source); err != nil {
			return Directories{}, unresolved(dir.source, err)
		}
	}
	return real, nil
}

func unresolved(path string, err error) error {
	return diag.Errorf(diag.Denied, "cannot resolve the path %s for the sandbox: %w", path, err)
}

// allows reports whether a policy's directory contains a path without links.
func (c *sandboxBuilder) allows(dir, real string) bool {
	dir, err := pathx.Resolve(c.tilde(dir))
	return err == nil && pathx.Contains(dir, real)
}

// absolute returns the absolute path of an entry of allowed-paths, "" if it has none.
func (c *sandboxBuilder) absolute(text string) string {
	text = c.tilde(text)
	if text == "" || strings.ContainsAny(text, "\x00$*?") {
		return ""
	}
	if !filepath.IsAbs(text) {
		root := c.dirs.Project
		if root == "" {
			root = c.dirs.Work
		}
		text = filepath.Join(root, text)
	}
	return filepath.Clean(text)
}

// tilde replaces a leading ~ by the home directory.
func (c *sandboxBuilder) tilde(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(c.home, rest)
	}
	return path
}

// network returns the network rules.
func (c *sandboxBuilder) network() (n sandbox.Network, err error) {
	network := c.request.Network
	word := ""
	if len(network) == 1 {
		word = strings.ToLower(network[0])
	}
	switch {
	case word == "false" || word == "none" || word == "off":
		return n, nil
	case len(network) == 0 && c.request.Restricts(): // it asks for a sandbox and for no network
		return n, nil
	case len(network) == 0 || word == "restricted":
		return c.policyNetwork(), nil
	case anyNetwork(word):
		if l := c.policyNetwork(); len(l.Hosts) > 0 || c.policyBound() {
			return l, nil
		}
		return sandbox.Network{Any: true}, nil
	}
	for _, host := range network {
		host = strings.ToLower(host)
		if !policy.IsHost(host) || !strings.ContainsAny(host, ".:*") && host != "localhost" {
			return n, diag.Errorf(diag.Invalid,
				"%s requests execution.network %q, which is not a full host name", c.skill.subject(), host).
				WithHint("use true, false, restricted, or a list of hosts with optional ports, such as [api.example.com:443]")
		}
		for _, p := range c.set {
			bound := p.Execution.NetworkBound()
			if bound == nil || slices.ContainsFunc(bound, func(b string) bool { return sandbox.Covers(b, host) }) {
				continue
			}
			if err := c.refuse(p, "network", host); err != nil {
				return n, err
			}
		}
		n.Hosts = append(n.Hosts, host)
	}
	return n, nil
}

func anyNetwork(word string) bool { return word == "true" || word == "any" || word == "*" }

// policyBound reports whether a policy lists network hosts.
func (c *sandboxBuilder) policyBound() bool {
	return slices.ContainsFunc(c.set, func(p *policy.Policy) bool {
		return p.Execution.NetworkBound() != nil && p.Mode != policy.Observe
	})
}

// policyNetwork returns the network hosts that all policies with such lists allow.
func (c *sandboxBuilder) policyNetwork() (n sandbox.Network) {
	var common []string
	first := true
	for _, p := range c.set {
		bound := p.Execution.NetworkBound()
		if bound == nil || p.Mode == policy.Observe {
			continue
		}
		if first {
			common, first = slices.Clone(bound), false
			continue
		}
		var both []string
		for _, a := range common {
			for _, b := range bound {
				switch {
				case sandbox.Covers(b, a):
					both = append(both, a)
				case sandbox.Covers(a, b):
					both = append(both, b)
				}
			}
		}
		common = both
	}
	if slices.Contains(common, "*") {
		return sandbox.Network{Any: true}
	}
	slices.Sort(common)
	n.Hosts = slices.Compact(common)
	return n
}

// hidden returns the paths that no skill's script may access: skillpm's configuration and state, and the credentials of
// common programs.
func (o *Options) hidden() []string {
	dirs := []string{o.Paths.Config, o.Paths.State, o.Paths.Enterprise, o.Paths.Cache, o.Paths.Data}
	for _, name := range []string{
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".npmrc", ".pypirc",
		".password-store",
		".cargo/credentials.toml", ".config/gcloud", ".config/gh", ".config/git", ".gitconfig",
		".local/share/keyrings", ".mozilla", ".claude.json",
		".claude/.credentials.json", ".codex/auth.json", ".bash_history", ".zsh_history", ".bashrc", ".profile",
		".zshrc",
		".bash_profile", ".bash_login", ".bash_logout", ".zshenv", ".zprofile", ".zlogin", ".config/fish",
		".config/autostart", ".config/systemd", ".config/environment.d",
	} {
		if o.Paths.Home != "" {
			dirs = append(dirs, filepath.Join(o.Paths.Home, filepath.FromSlash(name)))
		}
	}
	return slices.DeleteFunc(dirs, func(p string) bool { return p == "" })
}
