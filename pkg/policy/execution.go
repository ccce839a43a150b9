package policy

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
	SandboxRequested Sandbox = "asked" // those of skills that ask for it
	SandboxAlways    Sandbox = "always"
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
