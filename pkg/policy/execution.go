package policy

import (
	"regexp"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Execution says how the scripts, hooks and commands of skills are confined.
type Execution struct {
	Sandbox     Sandbox     // "" where the file does not say: as asked
	Unavailable Unavailable // "" where the file does not say: refuse

	// Network is what a script that is confined may be given at most, as "api.example.com:443", "*.example.com" for all
	// ports, and "*" for everything. nil: whatever its skill asks for, and nothing where Sandbox is always.
	Network []string
	// Paths are the directories, and files, that it may be given besides where it works: absolute, or below ~/. nil:
	// whatever its skill asks for, and nothing where Sandbox is always.
	Paths []string
}

// Sandbox says which skills' scripts are confined.
type Sandbox string

// The answers to which are.
const (
	SandboxAsked  Sandbox = "asked" // those of skills that ask for it
	SandboxAlways Sandbox = "always"
)

// Unavailable says what happens on a machine that cannot confine a script that is to be confined.
type Unavailable string

// The answers to that.
const (
	RefuseUnconfined Unavailable = "refuse" // it does not run
	AllowUnconfined  Unavailable = "allow"  // it runs as the user may, with a warning and a record
)

// Confines returns the policy that says that all scripts are confined, nil where none does. One that only observes says
// nothing.
func (s Set) Confines() *Policy {
	for _, p := range s {
		if p.Execution.Sandbox == SandboxAlways && p.Mode != Observe {
			return p
		}
	}
	return nil
}

// Unconfined reports whether what is to be confined may run on a machine that cannot.
func (s Set) Unconfined() bool {
	return s.loosest(string(AllowUnconfined), func(p *Policy) string { return string(p.Execution.Unavailable) })
}

// bound returns a list as it holds: where all scripts are confined, one that is not there gives nothing.
func (e Execution) bound(list []string) []string {
	if list == nil && e.Sandbox == SandboxAlways {
		return []string{}
	}
	return list
}

// NetworkBound returns what a script may reach at most, nil where the policy does not say.
func (e Execution) NetworkBound() []string { return e.bound(e.Network) }

// PathsBound returns what a script may use at most besides where it works, nil where the policy does not say.
func (e Execution) PathsBound() []string { return e.bound(e.Paths) }

func (e *Execution) read(v yamlx.Value) {
	for key, v := range v.Fields("network", "paths", "sandbox", "unavailable") {
		switch key {
		case "sandbox":
			e.Sandbox = Sandbox(v.OneOf(string(SandboxAsked), string(SandboxAlways)))
		case "unavailable":
			e.Unavailable = Unavailable(v.OneOf(string(RefuseUnconfined), string(AllowUnconfined)))
		case "network":
			e.Network = yamlx.ListOf(v, parseHost)
		case "paths":
			e.Paths = v.Texts(checkScriptPath)
		}
	}
}

func parseHost(s string) (string, error) {
	if !IsHost(s) {
		return "", wrong("write api.example.com:443, *.example.com, or * for everything", "%q is no host with a port", s)
	}
	return strings.ToLower(s), nil
}

func checkScriptPath(s string) error {
	if !absolutePath().MatchString(strings.TrimPrefix(s, "~")) || hasDots(s) {
		return wrong("write it from the root, as /srv/data, or from the home directory, as ~/reports", "%q is no absolute path", s)
	}
	return nil
}

// IsHost reports whether a text can stand in a list of what may be reached.
func IsHost(s string) bool { return networkPattern().MatchString(s) }

// networkPattern is what an entry of network looks like: a name, an address, or *. and a name, with a port or without
// one.
var networkPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\*|(\*\.)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[1-9][0-9]{0,4})?$`)
})
