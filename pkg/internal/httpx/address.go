package httpx

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"syscall"
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

// sharedAddresses are the addresses of carrier-grade NAT (RFC 6598), which VPNs and clouds also use.
var sharedAddresses = netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10)

// nat64 are the IPv6 addresses that a NAT64 gateway translates to IPv4 addresses (RFC 6052).
var nat64 = netip.PrefixFrom(netip.AddrFrom16([16]byte{1: 0x64, 2: 0xff, 3: 0x9b}), 96)

// ReachOf returns the reach of an address.
func ReachOf(addr netip.Addr) Reach {
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		wide := addr.As16()
		addr = netip.AddrFrom4([4]byte(wide[12:]))
	}
	switch {
	case addr.IsLinkLocalUnicast(), addr.IsMulticast():
		return ReachLink
	case addr.IsLoopback(), addr.IsUnspecified():
		return ReachLocal
	case addr.IsPrivate(), sharedAddresses.Contains(addr):
		return ReachPrivate
	}
	return ReachPublic
}

// HostReach returns the reach of a host that is an address or a name of this machine; known is false for other names.
func HostReach(host string) (r Reach, known bool) {
	if IsLoopback(host) {
		return ReachLocal, true
	}
	addr, err := netip.ParseAddr(host)
	return ReachOf(addr), err == nil
}

type addressCheckKey struct{}

type addressCheck struct {
	host  string
	check func(netip.Addr) error
}

// WithAddressCheck returns a context in which a transport of [NewTransport] connects to a host only at addresses that
// check allows. Unlike a check of the URL, it sees what the name resolves to. Connections to proxies are not checked.
func WithAddressCheck(ctx context.Context, host string, check func(netip.Addr) error) context.Context {
	return context.WithValue(ctx, addressCheckKey{}, addressCheck{host, check})
}

// dialChecked connects to an address if the context's check allows it.
func dialChecked(dialer *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		checked, ok := ctx.Value(addressCheckKey{}).(addressCheck)
		if host, _, err := net.SplitHostPort(address); !ok || err != nil || !strings.EqualFold(host, checked.host) {
			return dialer.DialContext(ctx, network, address)
		}
		limited := *dialer
		limited.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return checked.check(target.Addr())
		}
		return limited.DialContext(ctx, network, address)
	}
}

// AddrOf returns the address of a connection's end, or the zero address if it has none.
func AddrOf(a net.Addr) netip.Addr {
	target, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return target.Addr()
}
