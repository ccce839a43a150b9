package httpx

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Reach is how far the traffic of an address travels.
type Reach int

// The reaches, from the nearest to the farthest.
const (
	ReachLink    Reach = iota // the link-local network of this machine, which has the metadata servers of clouds
	ReachLocal                // this machine
	ReachPrivate              // a private network
	ReachPublic               // the internet
)

// special are ranges whose reach netip does not know: the shared addresses of carrier-grade NAT (RFC 6598), which VPNs
// and clouds also use, benchmarks, site-local addresses, local NAT64 (RFC 8215), reserved ranges, and the metadata
// servers of clouds outside of the link-local network. The first match counts.
var special = [...]struct {
	prefix string
	reach  Reach
}{
	{"100.100.100.200/32", ReachLink},
	{"168.63.129.16/32", ReachLink},
	{"192.0.0.0/24", ReachLink},
	{"fd00:ec2::/32", ReachLink},
	{"fd20:ce::/32", ReachLink},
	{"240.0.0.0/4", ReachLink},
	{"0.0.0.0/8", ReachLocal},
	{"100.64.0.0/10", ReachPrivate},
	{"198.18.0.0/15", ReachPrivate},
	{"fec0::/10", ReachPrivate},
	{"64:ff9b:1::/48", ReachPrivate},
}

// embedding are the IPv6 addresses that contain an IPv4 address to which a gateway or the system sends the traffic, and
// the byte at which it begins: NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056), IPv4-translated and
// IPv4-compatible addresses.
var embedding = [...]struct {
	prefix string
	at     int
}{{"64:ff9b::/96", 12}, {"64:ff9b:1::/96", 12}, {"2002::/16", 2}, {"::ffff:0:0:0/96", 12}, {"::/96", 12}}

// ReachOf returns the reach of an address.
func ReachOf(addr netip.Addr) Reach {
	addr = addr.Unmap().WithZone("")
	for _, e := range embedding {
		if netip.MustParsePrefix(e.prefix).Contains(addr) && !addr.IsLoopback() && !addr.IsUnspecified() {
			wide := addr.As16()
			addr = netip.AddrFrom4([4]byte(wide[e.at:]))
		}
	}
	for _, s := range special {
		if netip.MustParsePrefix(s.prefix).Contains(addr) {
			return s.reach
		}
	}
	switch {
	case addr.IsLinkLocalUnicast(), addr.IsMulticast():
		return ReachLink
	case addr.IsLoopback(), addr.IsUnspecified():
		return ReachLocal
	case addr.IsPrivate():
		return ReachPrivate
	}
	return ReachPublic
}

// HostReach returns the reach of a host that is an address or a name of this machine; known is false for other names.
// It reads addresses as some resolvers do: with other digits and dots, short, octal, and hexadecimal.
func HostReach(host string) (r Reach, known bool) {
	if IsLoopback(host) {
		return ReachLocal, true
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil { // as net/http connects
		host = ascii
	}
	if IsLoopback(host) {
		return ReachLocal, true
	}
	host = strings.TrimSuffix(host, ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return ReachOf(addr), true
	}
	addr, ok := looseIPv4(host)
	return ReachOf(addr), ok
}

// looseIPv4 parses an IPv4 address as inet_aton does: one to four numbers, of which the last fills the rest.
func looseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	value := uint64(0)
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32) // decimal, octal with 0, or hexadecimal with 0x
		bits := 8
		if i == len(parts)-1 {
			bits = 32 - 8*i
		}
		if err != nil || len(parts) > 4 || n>>bits != 0 || strings.ContainsAny(part, "_bBoO") {
			return netip.Addr{}, false
		}
		value = value<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// AddrOf returns the address of a connection's end, or the zero address if it has none.
func AddrOf(a net.Addr) netip.Addr {
	target, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return target.Addr()
}
