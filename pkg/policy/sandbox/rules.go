package sandbox

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Rules are what a confined command may do. What they do not name it may not, but for what every program needs to
// start: the programs, libraries and settings of the system, and of the directories in its PATH, and a directory for
// temporary files that is its own.
type Rules struct {
	// Read are absolute files and directories that may be read, and programs there run. One below what Write names
	// stays as it is.
	Read []string `json:"read,omitempty"`
	// Write are absolute files and directories that may be read, changed and made, too. No link is followed on the way
	// to one.
	Write []string `json:"write,omitempty"`
	// Keep are what of Write may only be read. They exist, and no link is followed on the way to one.
	Keep []string `json:"keep,omitempty"`
	// Ways are absolute paths by which a command knows some of these, with links in them.
	Ways []string `json:"ways,omitempty"`
	// Absent are absolute files below what Write names that do not exist, and must not: they are removed when the
	// command has ended.
	Absent []string `json:"absent,omitempty"`
	// Hidden are places that nothing above may open: what contains one of them is refused, and so is what is written
	// there.
	Hidden []string `json:"hidden,omitempty"`

	Network Network `json:"network"`

	// Optional has a command run as the user may on a machine that cannot confine it. [run.Result] says that it was so.
	Optional bool `json:"optional,omitempty"`
}

// Network is what a confined command may connect to. The zero value is nothing.
type Network struct {
	Any bool `json:"any,omitempty"` // everything
	// Hosts are what may be reached by TCP, as "api.example.com:443", "*.example.com:443", "example.com" for all ports,
	// and "*:443". A name that leads to an address of this machine or of a private network is refused, unless the
	// address is listed, too.
	Hosts []string `json:"hosts,omitempty"`
}

// String says in a few words what the rules allow, for the record.
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

// Covers reports whether a rule for hosts allows all that another one does.
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

// split returns the host of a rule, in its only spelling, and its port, "" for all.
func split(rule string) (host, port string) {
	if h, p, err := net.SplitHostPort(rule); err == nil {
		return canonical(h), p
	}
	return canonical(strings.Trim(rule, "[]")), ""
}

// canonical returns the one spelling of a name or an address.
func canonical(host string) string {
	if a, ok := address(host); ok {
		return a.String()
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// address returns the address that a text is. One of IPv4 within IPv6 is one of IPv4.
func address(host string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(host)
	return a.Unmap().WithZone(""), err == nil
}
