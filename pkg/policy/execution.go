package policy

// Execution has the rules for confining the scripts, hooks, and commands of skills.
type Execution struct {
	Sandbox     Sandbox     // "" if unspecified, which means SandboxRequested
	Unavailable Unavailable // "" if unspecified, which means RefuseUnconfined

	// Network limits the network hosts that a confined script may reach, as "api.example.com:443", "*.example.com" for
	// all ports, and "*" for everything. Nil allows whatever the skill asks for, or nothing if Sandbox is always.
	Network []string
	// Paths limits the directories and files that a confined script may write to, besides the working directory:
	// absolute, or below ~/. Nil allows whatever the skill asks for, or nothing if Sandbox is always.
	Paths []string
}

// Sandbox selects the skills whose scripts are confined.
type Sandbox string

// The values of execution.sandbox.
const (
	SandboxRequested Sandbox = "asked" // those of skills that ask for it
	SandboxAlways    Sandbox = "always"
)

// Unavailable is the behavior on a machine that cannot confine scripts.
type Unavailable string

// The values of execution.unavailable.
const (
	RefuseUnconfined Unavailable = "refuse" // the script does not run
	AllowUnconfined  Unavailable = "allow"  // it runs with a warning and an audit record
)

// Confines returns the first policy that confines all scripts, nil for none. It ignores policies in observe mode.
func (s Set) Confines() *Policy {
	for _, p := range s {
		if p.Execution.Sandbox == SandboxAlways && p.Mode != Observe {
			return p
		}
	}
	return nil
}

// Unconfined reports whether scripts that should be confined may run on a machine that cannot confine them.
func (s Set) Unconfined() bool {
	return s.loosest(string(AllowUnconfined), func(p *Policy) string { return string(p.Execution.Unavailable) })
}

// bound returns the effective list: if all scripts are confined, a missing list allows nothing.
func (e Execution) bound(list []string) []string {
	if list == nil && e.Sandbox == SandboxAlways {
		return []string{}
	}
	return list
}

// NetworkBound returns the network hosts that a script may reach at most, nil if the policy does not limit them.
func (e Execution) NetworkBound() []string { return e.bound(e.Network) }

// PathsBound returns the paths that a script may use at most besides its working directory, nil if the policy does not
// limit them.
func (e Execution) PathsBound() []string { return e.bound(e.Paths) }
