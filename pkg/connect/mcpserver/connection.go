package mcpserver

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// connections bounds the connections of HTTP. A client that opens many and does not send its requests loses the oldest
// ones, so that other clients are still answered at once.
type connections struct {
	mu      sync.Mutex
	open    map[net.Conn]bool
	waiting map[net.Conn]uint64 // those whose request has not arrived, with a number that grows
	last    uint64
}

// connection is what the handler of a request knows about its connection.
type connection struct {
	arrived   func()      // is called when the request has arrived
	otherUser func() bool // reports whether the client is a process of another user
}

// connectionKey is the key of the connection in the context of a request.
type connectionKey struct{}

// context adds the connection to the context of its requests.
func (c *connections) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, connection{
		arrived:   func() { c.arrived(conn) },
		otherUser: sync.OnceValue(func() bool { return otherUser(conn.RemoteAddr(), conn.LocalAddr()) }),
	})
}

// changed follows the state of a connection.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open[conn] = true
		if len(c.open) > maxConns {
			_ = conn.Close() // the server notices
			return
		}
	case http.StateActive:
	case http.StateIdle:
		delete(c.waiting, conn)
		return
	default:
		delete(c.open, conn)
		delete(c.waiting, conn)
		return
	}
	c.last++
	c.waiting[conn] = c.last
	if len(c.waiting) <= maxWaiting {
		return
	}
	oldest := conn
	for other, number := range c.waiting {
		if number < c.waiting[oldest] {
			oldest = other
		}
	}
	delete(c.waiting, oldest)
	_ = oldest.Close() // the server notices
}

// arrived records that the request of a connection has arrived.
func (c *connections) arrived(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, conn)
}

// httpSessions bounds the sessions of clients over HTTP. A new one ends the one that was not used for the longest time.
type httpSessions struct {
	open func() iter.Seq[*mcp.ServerSession]

	mu   sync.Mutex
	used map[string]uint64 // by session, a number that grows
	last uint64
}

// use records that a session is used.
func (s *httpSessions) use(id string) {
	if id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.used[id] = s.last
}

// makeRoom ends sessions until another one may begin.
func (s *httpSessions) makeRoom() {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := map[string]uint64{}
	var all []*mcp.ServerSession
	for ss := range s.open() {
		// the others still connect, or end with their request
		if id := ss.ID(); s.used[id] > 0 {
			used[id] = s.used[id]
			all = append(all, ss)
		}
	}
	s.used = used // without those that have ended
	slices.SortFunc(all, func(a, b *mcp.ServerSession) int { return cmp.Compare(used[a.ID()], used[b.ID()]) })
	for _, ss := range all[:max(0, len(all)-maxSessions+1)] {
		bug.Go(func() { _ = ss.Close() }) // its client is usually gone
	}
}

// errBusy is the error for a request whose body exceeds the limit of all bodies in parallel.
var errBusy = errors.New("too many bytes in concurrent requests")

// countedReader reads a body, and counts its bytes with those of all requests.
type countedReader struct {
	from io.Reader
	all  *atomic.Int64
	size int64
}

// Read implements [io.Reader].
func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.size += int64(n)
	if r.all.Add(int64(n)) > maxBodies {
		return n, errBusy
	}
	return n, err
}

// release removes the bytes from those of all requests.
func (r *countedReader) release() { r.all.Add(-r.size) }

// limitedWriter is a writer that fails if its client does not read for a time.
type limitedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	most    time.Duration
}

// extend allows writing for that time from now.
func (w *limitedWriter) extend() {
	end := time.Now().Add(w.most)       //nolint:forbidigo // a deadline of the kernel, not a time in records
	_ = w.control.SetWriteDeadline(end) // not every server has deadlines
}

// Write implements [http.ResponseWriter].
func (w *limitedWriter) Write(data []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(data)
}

// Flush implements [http.Flusher].
func (w *limitedWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for [http.ResponseController].
func (w *limitedWriter) FlushError() error {
	w.extend()
	return w.control.Flush()
}

// Unwrap returns the writer for [http.ResponseController].
func (w *limitedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// otherUser reports whether the client of a connection within this machine is not a process of this process's user. It
// returns false if the system does not report it, as only Linux does.
func otherUser(client, server net.Addr) bool {
	from, err := netip.ParseAddrPort(client.String())
	to, err2 := netip.ParseAddrPort(server.String())
	if err != nil || err2 != nil {
		return false
	}
	reported := false
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		reported = true
		user, found := socketUser(f, from, to)
		_ = f.Close() // it was only read
		if found {
			return user != os.Geteuid()
		}
	}
	return reported
}

// socketUser returns the user of a socket in a table of proc_net_tcp(5). A socket without a process has none: its
// process has closed it, and the table then has 0 as its user.
func socketUser(table io.Reader, local, remote netip.AddrPort) (user int, found bool) {
	const localField, remoteField, userField, inodeField = 1, 2, 7, 9
	for lines := bufio.NewScanner(table); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) <= inodeField || !isSocket(f[localField], local) || !isSocket(f[remoteField], remote) {
			continue
		}
		user, err := strconv.Atoi(f[userField])
		return user, err == nil && f[inodeField] != "0"
	}
	return 0, false
}

// isSocket reports whether an address of the table, such as 0100007F:1F90, is an address. The table has 32-bit words in
// the byte order of the machine.
func isSocket(text string, want netip.AddrPort) bool {
	words, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil || uint16(number) != want.Port() {
		return false
	}
	data, err := hex.DecodeString(words)
	if err != nil || len(data)%4 != 0 {
		return false
	}
	for i := 0; i < len(data); i += 4 {
		binary.NativeEndian.PutUint32(data[i:], binary.BigEndian.Uint32(data[i:]))
	}
	address, ok := netip.AddrFromSlice(data)
	return ok && address.Unmap() == want.Addr().Unmap().WithZone("")
}
