package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// proxy connects a command to the hosts that it may reach. It supports HTTP CONNECT, plain HTTP, and SOCKS 5 with names
// or addresses, with one request for each connection.
type proxy struct {
	network Network
	lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	dial    func(ctx context.Context, network, address string) (net.Conn, error)

	ctx      context.Context //nolint:containedctx // it ends all connections when the command has ended
	cancel   context.CancelFunc
	listener net.Listener
	slots    chan struct{}
	going    bug.WaitGroup

	mu      sync.Mutex
	refused []string // denied hosts
}

const (
	maxConnections = 256
	maxHeader      = 64 << 10         // bytes of a request's header
	maxRefused     = 16               // hosts to report
	patience       = 30 * time.Second // timeout for a request, and for a host's answer
)

func newProxy(n Network) *proxy {
	ctx, cancel := context.WithCancel(context.Background())
	p := &proxy{network: n, ctx: ctx, cancel: cancel, slots: make(chan struct{}, maxConnections)}
	p.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
	p.dial = (&net.Dialer{Timeout: patience}).DialContext
	return p
}

// serve accepts connections from a listening socket until close.
func (p *proxy) serve(fd int) error {
	if fd < 0 {
		return errors.New("the message does not contain a file descriptor")
	}
	f := os.NewFile(uintptr(fd), "proxy")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return err
	}
	p.listener = l
	p.going.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			select {
			case p.slots <- struct{}{}:
			case <-p.ctx.Done():
				_ = conn.Close()
				return
			}
			p.going.Go(func() {
				defer func() { <-p.slots }()
				defer func() { _ = conn.Close() }()
				stop := context.AfterFunc(p.ctx, func() { _ = conn.Close() })
				defer stop()
				p.handle(conn)
			})
		}
	})
	return nil
}

// close ends all connections.
func (p *proxy) close() {
	p.cancel()
	if p.listener != nil {
		_ = p.listener.Close()
	}
	p.going.Wait()
}

// handle serves one connection.
func (p *proxy) handle(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(patience)) //nolint:forbidigo // the other side is waited for in real time
	in := bufio.NewReaderSize(conn, 4096)
	first, err := in.Peek(1)
	if err != nil {
		return
	}
	if first[0] == 5 {
		p.socks(conn, in)
		return
	}
	p.http(conn, in)
}

// forbiddenError reports a host that the command may not reach.
type forbiddenError struct{ what, reason string }

func (e *forbiddenError) Error() string {
	return e.what + " is not reachable from this sandbox" + e.reason
}

// connect connects to a host if it may be reached. It resolves a name once, and connects to the address that it has
// checked.
func (p *proxy) connect(host string, port uint16) (net.Conn, error) {
	host = canonical(strings.Trim(host, "[]"))
	hostPort := net.JoinHostPort(host, strconv.Itoa(int(port)))
	if !p.network.allows(host, port) {
		p.refuse(hostPort)
		return nil, &forbiddenError{what: hostPort}
	}
	if a, ok := address(host); ok {
		if isInternal(a) && !p.network.listsAddress(a, port) {
			p.refuse(hostPort)
			return nil, &forbiddenError{what: hostPort}
		}
		return p.dial(p.ctx, "tcp", netip.AddrPortFrom(a, port).String())
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	all, err := p.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	forbidden := &forbiddenError{hostPort, ", because it is an address of this machine or of a private network"}
	err = forbidden
	for _, a := range all {
		a = a.Unmap()
		if isInternal(a) && !p.network.listsAddress(a, port) && !isLocalhost(host) {
			continue
		}
		var conn net.Conn
		if conn, err = p.dial(ctx, "tcp", netip.AddrPortFrom(a, port).String()); err == nil {
			return conn, nil
		}
	}
	if errors.Is(err, forbidden) {
		p.refuse(hostPort)
	}
	return nil, err
}

// refuse records a denied host if it is a valid host name, because a script may send any text.
func (p *proxy) refuse(hostPort string) {
	if len(hostPort) > 300 ||
		strings.ContainsFunc(hostPort, func(c rune) bool {
			return c <= ' ' || c >= 0x7f ||
				strings.ContainsRune(`"'\\<>`, c)
		}) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < maxRefused && !slices.Contains(p.refused, hostPort) {
		p.refused = append(p.refused, hostPort)
	}
}

// isLocalhost reports whether a name only means this machine. Listing it allows loopback addresses.
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// listsAddress reports whether the address itself is listed.
func (n Network) listsAddress(a netip.Addr, port uint16) bool {
	ask := netip.AddrPortFrom(a, port).String()
	for _, rule := range n.Hosts {
		if host, _ := split(rule); host == a.String() && Covers(rule, ask) {
			return true
		}
	}
	return false
}

// isInternal reports whether an address belongs to this machine, to a private network, or to no host.
func isInternal(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return true
	}
	for _, block := range []string{
		// current network, carrier-grade NAT, protocol assignments, benchmarks, reserved
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4",
		"64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "fec0::/10", // IPv4 inside IPv6, site-local
	} {
		if netip.MustParsePrefix(block).Contains(a) {
			return true
		}
	}
	return false
}

// http serves CONNECT, and forwards one plain request.
func (p *proxy) http(conn net.Conn, in *bufio.Reader) {
	lines, err := readHeader(in)
	method, target, _ := requestLine(lines)
	if err != nil || target == "" {
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		return
	}
	hostport, scheme := target, ""
	if method != "CONNECT" {
		u, err := url.Parse(target)
		if err != nil || u.Scheme != "http" || u.Host == "" {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			return
		}
		hostport, scheme = u.Host, "http"
		lines = directRequest(method, u, lines)
	}
	host, port, err := hostPort(hostport, scheme)
	var upstream net.Conn
	if err == nil {
		upstream, err = p.connect(host, port)
	}
	if err != nil {
		status := "502 Bad Gateway"
		if forbidden := new(forbiddenError); errors.As(err, &forbidden) {
			status = "403 Forbidden"
		}
		text := err.Error() + "\n"
		_,
			_ = fmt.Fprintf(conn,
			"HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n"+
				"Content-Length: %d\r\n\r\n%s", status, len(text), text)
		return
	}
	defer func() { _ = upstream.Close() }()
	if method == "CONNECT" {
		_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	} else {
		_, err = io.WriteString(upstream, strings.Join(lines, "\r\n")+"\r\n\r\n")
	}
	if err == nil {
		p.splice(conn, in, upstream)
	}
}

// readHeader reads the header of a request, at most maxHead bytes.
func readHeader(in *bufio.Reader) (lines []string, err error) {
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if len(text)+len(part) > maxHeader {
			return nil, fmt.Errorf("the header is larger than %d bytes", maxHeader)
		}
		text = append(text, part...)
		if err == nil && len(bytes.TrimRight(part, "\r\n")) == 0 &&
			(len(text) == len(part) || text[len(text)-len(part)-1] == '\n') {
			break
		}
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		lines = append(lines, strings.TrimRight(line, "\r"))
	}
	return lines[:len(lines)-2], nil
}

// requestLine returns the three words of a request line.
func requestLine(lines []string) (method, target, version string) {
	if len(lines) == 0 {
		return "", "", ""
	}
	words := strings.Split(lines[0], " ")
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/1.") {
		return "", "", ""
	}
	return words[0], words[1], words[2]
}

// directRequest converts the header of a proxy request into that of a direct request. It disables keep-alive, because
// the next request could be for another host.
func directRequest(method string, u *url.URL, lines []string) []string {
	out := []string{method + " " + u.RequestURI() + " HTTP/1.1", "Host: " + u.Host}
	for _, line := range lines[1:] {
		name, _, _ := strings.Cut(line, ":")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "host", "connection", "proxy-connection", "proxy-authorization", "keep-alive", "upgrade", "te":
		default:
			out = append(out, line)
		}
	}
	return append(out, "Connection: close")
}

// hostPort splits the target of a request, and adds the default port of its scheme.
func hostPort(text, scheme string) (host string, port uint16, err error) {
	host, number, err := net.SplitHostPort(text)
	if err != nil {
		if scheme == "" {
			return "", 0, err
		}
		host, number = text, "80"
	}
	n, err := strconv.ParseUint(number, 10, 16)
	return host, uint16(n), err
}

// socks serves a connection of SOCKS 5 (RFC 1928): CONNECT without authentication.
func (p *proxy) socks(conn net.Conn, in *bufio.Reader) {
	const version, noLogin, connect = 5, 0, 1
	var start [2]byte
	if _, err := io.ReadFull(in, start[:]); err != nil {
		return
	}
	if _, err := io.CopyN(io.Discard, in, int64(start[1])); err != nil {
		return
	}
	if _, err := conn.Write([]byte{version, noLogin}); err != nil {
		return
	}
	var ask [4]byte
	if _, err := io.ReadFull(in, ask[:]); err != nil || ask[0] != version {
		return
	}
	host, port, err := socksAddress(in, ask[3])
	if err != nil {
		return
	}
	const done, failed, forbiddenCode, unknownCommand = 0, 1, 2, 7
	code := byte(done)
	var upstream net.Conn
	if ask[1] != connect {
		code = unknownCommand
	} else if upstream, err = p.connect(host, port); err != nil {
		code = failed
		if forbidden := new(forbiddenError); errors.As(err, &forbidden) {
			code = forbiddenCode
		}
	}
	if upstream != nil {
		defer func() { _ = upstream.Close() }()
	}
	if _, err := conn.Write([]byte{version, code, 0, 1, 0, 0, 0, 0, 0, 0}); err == nil && upstream != nil {
		p.splice(conn, in, upstream)
	}
}

// socksAddress reads an address of a type, and a port.
func socksAddress(in io.Reader, kind byte) (host string, port uint16, err error) {
	var size int
	switch kind {
	case 1:
		size = 4
	case 3:
		var n [1]byte
		if _, err := io.ReadFull(in, n[:]); err != nil {
			return "", 0, err
		}
		size = int(n[0])
	case 4:
		size = 16
	default:
		return "", 0, errors.New("unsupported type of address")
	}
	text := make([]byte, size+2)
	if _, err := io.ReadFull(in, text); err != nil {
		return "", 0, err
	}
	port = binary.BigEndian.Uint16(text[size:])
	if kind == 3 {
		return string(text[:size]), port, nil
	}
	a, _ := netip.AddrFromSlice(text[:size])
	return a.String(), port, nil
}

// splice copies data in both directions until both sides have ended, or the command has.
func (p *proxy) splice(conn net.Conn, in io.Reader, upstream net.Conn) {
	_ = conn.SetReadDeadline(time.Time{})
	stop := context.AfterFunc(p.ctx, func() { _ = upstream.Close() })
	defer stop()
	var both bug.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(upstream, in) // a broken side ends both
		closeWrite(upstream)
	})
	_, _ = io.Copy(conn, upstream)
	closeWrite(conn)
	_ = conn.SetReadDeadline(
		time.Now().Add(patience)) //nolint:forbidigo // a client that never ends its side is not waited for
	both.Wait()
}

// closeWrite signals the end of the data.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}
