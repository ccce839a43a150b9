package sandbox

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Rules are what a confined command may do; everything else is denied. Every command also gets what programs need to
// start: the system's programs, libraries, and settings, the directories in PATH, and its own directory for temporary
// files.
type Rules struct {
	// Read are absolute paths of files and directories that may be read and executed. A path below one of Write stays
	// read-only.
	Read []string `json:"read,omitempty"`
	// Write are absolute paths of files and directories that may also be changed and created. They must contain no
	// links.
	Write []string `json:"write,omitempty"`
	// Keep are paths below Write that may only be read. They must exist and contain no links.
	Keep []string `json:"keep,omitempty"`
	// LinkPaths are absolute paths with links under which the command knows some of these paths.
	LinkPaths []string `json:"ways,omitempty"`
	// Guarded are absolute paths that must lead where they lead before the command, and stay missing if they are. After
	// the command has ended, what it created below Write instead is moved to a name with ".refused", and links are
	// restored.
	Guarded []string `json:"guarded,omitempty"`
	// Hidden are paths that stay inaccessible. A rule above is rejected if it contains one of them, or writes below
	// one.
	Hidden []string `json:"hidden,omitempty"`

	Network Network `json:"network"`

	// Optional runs the command unconfined on a machine that cannot confine it. [run.Result] reports that.
	Optional bool `json:"optional,omitempty"`
}

// Network are the network hosts that a confined command may connect to. The zero value allows none.
type Network struct {
	Any bool `json:"any,omitempty"` // allow everything
	// Hosts may be reached by TCP: "api.example.com:443", "*.example.com:443", "example.com" for all ports, "*:443". A
	// name that resolves to an address of this machine or of a private network is denied unless the address is listed,
	// too.
	Hosts []string `json:"hosts,omitempty"`
}

// String summarizes the rules for the audit log.
func (r *Rules) String() string {
	var parts []string
	if len(r.Write) > 0 {
		parts = append(parts, "write "+strings.Join(r.Write, ", "))
	}
	if len(r.Read) > 0 {
		parts = append(parts, "read "+strings.Join(r.Read, ", "))
	}
	switch {
	case r.Network.Any:
		parts = append(parts, "any network")
	case len(r.Network.Hosts) > 0:
		parts = append(parts, "network "+strings.Join(r.Network.Hosts, ", "))
	default:
		parts = append(parts, "no network")
	}
	return strings.Join(parts, "; ")
}

// allows reports whether a host, a name or an address, may be reached at a port.
func (n Network) allows(host string, port uint16) bool {
	ask := net.JoinHostPort(canonical(host), strconv.Itoa(int(port)))
	for _, rule := range n.Hosts {
		if Covers(rule, ask) {
			return true
		}
	}
	return n.Any
}

// Covers reports whether a host rule allows everything that another one allows.
func Covers(rule, ask string) bool {
	if rule == "*" {
		return true
	}
	host, port := split(rule)
	askHost, askPort := split(ask)
	if port != "" && port != askPort {
		return false
	}
	if host == "*" || host == askHost {
		return true
	}
	suffix, wild := strings.CutPrefix(host, "*")
	_, literal := address(askHost)
	return wild && !literal && strings.HasSuffix(askHost, suffix) && len(askHost) > len(suffix)
}

// split returns the host of a rule in canonical form, and its port, "" for all.
func split(rule string) (host, port string) {
	if h, p, err := net.SplitHostPort(rule); err == nil {
		return canonical(h), p
	}
	return canonical(strings.Trim(rule, "[]")), ""
}

// canonical returns the canonical form of a name or an address.
func canonical(host string) string {
	if a, ok := address(host); ok {
		return a.String()
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// address parses an IP address. IPv4 addresses inside IPv6 ones become plain IPv4.
func address(host string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(host)
	return a.Unmap().WithZone(""), err == nil
}
