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

// Request is what the frontmatter of a skill asks for under execution, as it is written there.
type Request struct {
	Sandbox      string   // "", "true", "false", or the name of one
	AllowedPaths []string // relative ones mean the project; nil for where it works, empty for nothing
	Network      []string // "true", "false", "restricted", "none", or hosts with ports
}

// Directories is where a skill's commands run.
type Directories struct {
	Dir     string // the skill's directory
	Work    string // the working directory
	Project string // the project's root, "" for none

	// Skills are directories of skills, as those of layers: what a skill runs does not write to them.
	Skills []string
}

// Restricts reports whether a skill asks for less than the user may do.
func (w Request) Restricts() bool {
	open := len(w.Network) == 0 || len(w.Network) == 1 && anyNetwork(w.Network[0])
	return w.Sandbox != "" && w.Sandbox != "false" || w.AllowedPaths != nil || !open
}

// Confine returns what the scripts, hooks and commands of a skill may do; nil for what the user may. Notes are what
// people should know. An error means that they must not run.
//
// A skill that asks for nothing is confined where a policy says so of all. It may read its own directory and the
// project. It may write where it works, or if it names paths, there only. It may reach what it names; where it says
// nothing, or "restricted", what the policies list. A policy that lists paths or hosts bounds what a skill may name.
func (g *Evaluator) Confine(s Skill, w Request, dirs Directories) (rules *sandbox.Rules, notes []string, err error) {
	st := g.current()
	if err := st.set.Err(); err != nil {
		return nil, nil, err
	}
	c := sandboxBuilder{skill: s, request: w, dirs: dirs, set: st.policiesFor(s), home: st.o.Paths.Home}
	forced := c.set.Confines()
	for _, p := range c.set {
		if forced == nil && !w.Restricts() && p.Mode == policy.Observe && p.Execution.Sandbox == policy.SandboxAlways {
			c.notes = append(c.notes, fmt.Sprintf("policy %s:%d would confine what %s runs", p.Path,
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
	if r.Write, err = c.paths(); err != nil {
		return nil, c.notes, err
	}
	if dirs.Project != "" {
		r.Keep = existingBelow(c.real.Project, dirs.Skills)
	}
	for _, root := range append([]string{c.real.Project, c.real.Work}, r.Write...) {
		if root != "" {
			r.Keep = append(r.Keep, protectedPaths(root)...)
		}
	}
	for _, root := range []string{dirs.Project, dirs.Work} {
		if root != "" {
			r.Read = append(r.Read, root)
		}
	}
	slices.Sort(r.Keep)
	r.Keep = slices.DeleteFunc(slices.Compact(r.Keep), func(path string) bool { return slices.Contains(r.Write, path) })
	r.Absent, r.Ways = absent(c.real.Project, c.real.Work), c.linkPaths
	if r.Network, err = c.network(); err != nil {
		return nil, c.notes, err
	}
	return r, c.notes, nil
}

// sandboxBuilder works out what one skill may do.
type sandboxBuilder struct {
	skill     Skill
	request   Request
	dirs      Directories
	real      Directories // at, without links
	set       policy.Set
	home      string
	notes     []string
	linkPaths []string // the paths that are written to, as they were given
}

// refuse returns an error for what a policy does not allow, nil for one that only observes.
func (c *sandboxBuilder) refuse(p *policy.Policy, key, value string) error {
	text := fmt.Sprintf("%s asks for execution.%s %s, which policy %s:%d does not allow", c.skill.subject(), key,
		value, p.Path, p.Line("execution"))
	if p.Mode == policy.Observe {
		c.notes = append(c.notes, text)
		return nil
	}
	return diag.Errorf(diag.Denied, "%s", text).WithHint("whoever keeps that policy may add it to its execution")
}

// paths returns where the skill may write, without links: what was checked is what it gets.
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
			return nil, diag.Errorf(diag.Invalid, "%s asks for execution.allowed-paths %q, which is no path",
				c.skill.subject(), text).
				WithHint("name a directory of the project, as ./build, an absolute one, or one below ~/")
		}
		if path == "/tmp" {
			continue // it has a directory of its own there
		}
		real, err := pathx.Resolve(path)
		if err != nil {
			return nil, unresolved(path, err)
		}
		c.linkPaths = append(c.linkPaths, path)
		if pathx.Contains(c.real.Dir, real) {
			return nil, diag.Errorf(diag.Denied,
				"%s asks for execution.allowed-paths %q, which is in its own directory: that stays as it is",
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
		write = append(write, real)
	}
	return write, nil
}

// resolve returns the directories without links. The directories of skills stay as they are.
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
	return diag.Errorf(diag.Denied, "%s cannot be opened to what is confined: nobody can tell where it leads: %w",
		path, err)
}

// allows reports whether a directory of a policy contains a path without links.
func (c *sandboxBuilder) allows(dir, real string) bool {
	dir, err := pathx.Resolve(c.tilde(dir))
	return err == nil && pathx.Contains(dir, real)
}

// absolute returns the path that an entry of allowed-paths means, "" for none.
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

// tilde puts the home directory in front of a path that begins with ~.
func (c *sandboxBuilder) tilde(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(c.home, rest)
	}
	return path
}

// network returns what the skill may reach.
func (c *sandboxBuilder) network() (n sandbox.Network, err error) {
	network := c.request.Network
	word := ""
	if len(network) == 1 {
		word = strings.ToLower(network[0])
	}
	switch {
	case word == "false" || word == "none" || word == "off":
		return n, nil
	case len(network) == 0 && c.request.Restricts(): // it asks to be confined, and for no network
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
			return n, diag.Errorf(diag.Invalid, "%s asks for execution.network %q, which is no host",
				c.skill.subject(), host).
				WithHint("write true, false, restricted, or a list of hosts with ports, as [api.example.com:443]")
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

// policyBound reports whether a policy lists what may be reached.
func (c *sandboxBuilder) policyBound() bool {
	return slices.ContainsFunc(c.set, func(p *policy.Policy) bool {
		return p.Execution.NetworkBound() != nil && p.Mode != policy.Observe
	})
}

// policyNetwork returns what all policies that list hosts have in common.
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

// hidden are the places that no skill's script gets at: what skillpm itself goes by and writes down, and where programs
// keep what proves who somebody is.
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
