package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// proxied is a proxy with a test's names and hosts. It records dialed addresses, and each answers with its address.
func proxied(t *testing.T, listsAddress map[string]string, hosts ...string) (p *proxy, dialled *[]string) {
	t.Helper()
	p, dialled = newProxy(Network{Hosts: hosts}), new([]string)
	p.lookup = func(_ context.Context, host string) (all []netip.Addr, err error) {
		for text := range strings.FieldsSeq(listsAddress[host]) {
			all = append(all, netip.MustParseAddr(text))
		}
		if len(all) == 0 {
			err = errors.New("no such host")
		}
		return all, err
	}
	p.dial = func(_ context.Context, _, address string) (net.Conn, error) {
		*dialled = append(*dialled, address)
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			line, err := bufio.NewReader(far).ReadString('\n')
			if err == nil {
				_, _ = io.WriteString(far, address+" got "+line)
			}
		}()
		return near, nil
	}
	t.Cleanup(p.close)
	return p, dialled
}

// TestProxyAllows checks which hosts a script may reach (O13): listed hosts, if they resolve to other machines.
func TestProxyAllows(t *testing.T) {
	listsAddress := map[string]string{
		"api.example.com": "93.184.215.14", "rebind.example.com": "127.0.0.1", "metadata.example.com": "169.254.169.254", "inside.example.com": "10.0.0.7",
		"mixed.example.com": "192.168.0.1 93.184.215.15", "mapped.example.com": "::ffff:127.0.0.1", "translated.example.com": "64:ff9b::7f00:1",
		"localhost": "127.0.0.1", "six.example.com": "2606:2800:21f::1", "zero.example.com": "0.0.0.0",
	}
	for _, test := range []struct {
		hosts, host string
		port        uint16
		want        string // what is dialled, "" for nothing
	}{
		{"api.example.com:443", "api.example.com", 443, "93.184.215.14:443"},
		{"api.example.com:443", "API.Example.COM.", 443, "93.184.215.14:443"},
		{"api.example.com:443", "api.example.com", 80, ""},
		{"api.example.com:443", "api.example.com.evil.test", 443, ""},
		{"api.example.com:443", "93.184.215.14", 443, ""},
		{"api.example.com", "api.example.com", 8443, "93.184.215.14:8443"},
		{"*.example.com:443", "api.example.com", 443, "93.184.215.14:443"},
		{"*.example.com:443", "example.com", 443, ""},
		{"*.example.com:443", "evilexample.com", 443, ""},
		{"*.example.com", "rebind.example.com", 80, ""},
		{"*.example.com", "metadata.example.com", 80, ""},
		{"*.example.com", "mapped.example.com", 80, ""},
		{"*.example.com", "translated.example.com", 80, ""},
		{"*.example.com", "zero.example.com", 80, ""},
		{"*.example.com", "inside.example.com", 80, ""},
		{"*.example.com 10.0.0.7:80", "inside.example.com", 80, "10.0.0.7:80"},
		{"*.example.com 10.0.0.7:80", "inside.example.com", 81, ""},
		{"*.example.com", "mixed.example.com", 80, "93.184.215.15:80"},
		{"*.example.com", "six.example.com", 80, "[2606:2800:21f::1]:80"},
		{"localhost:8080", "localhost", 8080, "127.0.0.1:8080"},
		{"localhost:8080", "127.0.0.1", 8080, ""},
		{"127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1:8080"},
		{"127.0.0.1:8080", "::ffff:127.0.0.1", 8080, "127.0.0.1:8080"},
		{"127.0.0.1:8080", "2130706433", 8080, ""},
		{"*:443", "api.example.com", 443, "93.184.215.14:443"},
		{"*:443", "127.0.0.1", 443, ""},
		{"*:443", "169.254.169.254", 443, ""},
		{"[::1]:80", "[::1]", 80, "[::1]:80"},
	} {
		p, dialled := proxied(t, listsAddress, strings.Fields(test.hosts)...)
		conn, err := p.connect(test.host, test.port)
		if conn != nil {
			_ = conn.Close()
		}
		if got := strings.Join(*dialled, " "); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s port %d with %s: %q %v, want %q", test.host, test.port, test.hosts, got, err, test.want)
		}
	}
}

// TestProxyTalks checks the proxy's answers to requests in its three protocols, and to invalid ones.
func TestProxyTalks(t *testing.T) {
	listsAddress := map[string]string{"a.test": "93.184.215.14", "b.test": "93.184.215.15"}
	for _, test := range []struct{ name, say, want string }{
		{"CONNECT", "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\nhello\n", "HTTP/1.1 200 OK\r\n\r\n93.184.215.14:443 got hello\n"},
		{"CONNECT elsewhere", "CONNECT b.test:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 403 "},
		{"CONNECT to another port", "CONNECT a.test:22 HTTP/1.1\r\n\r\n", "HTTP/1.1 403 "},
		{"CONNECT without a port", "CONNECT a.test HTTP/1.1\r\n\r\n", "HTTP/1.1 502 "},
		{"plain", "GET http://a.test/x?y HTTP/1.1\r\nHost: b.test\r\nConnection: keep-alive\r\n\r\n", "93.184.215.14:80 got GET /x?y HTTP/1.1\r\n"},
		{"plain elsewhere", "GET http://b.test/ HTTP/1.1\r\n\r\n", "HTTP/1.1 403 "},
		{"plain with a trick", "GET http://a.test@b.test/ HTTP/1.1\r\n\r\n", "HTTP/1.1 403 "},
		{"no proxy request", "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", "HTTP/1.1 400 "},
		{"nonsense", "hello\r\n\r\n", "HTTP/1.1 400 "},
		{"SOCKS", "\x05\x01\x00\x05\x01\x00\x03\x06a.test\x01\xbbhello\n", "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x0093.184.215.14:443 got hello\n"},
		{"SOCKS elsewhere", "\x05\x01\x00\x05\x01\x00\x03\x06b.test\x01\xbb", "\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"},
		{"SOCKS to an address", "\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x01\xbb", "\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"},
		{"SOCKS that listens", "\x05\x01\x00\x05\x02\x00\x03\x06a.test\x01\xbb", "\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00"},
		{"SOCKS with another address", "\x05\x01\x00\x05\x01\x00\x09a.test\x01\xbb", "\x05\x00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, _ := proxied(t, listsAddress, "a.test:443", "a.test:80")
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				p.handle(far)
			}()
			go func() { _, _ = io.WriteString(near, test.say) }()
			answer := make([]byte, len(test.want))
			n, err := io.ReadFull(near, answer)
			if string(answer[:n]) != test.want {
				t.Errorf("%q %v, want %q", answer[:n], err, test.want)
			}
			_ = near.Close()
		})
	}
}

// TestRewritten checks that the host of a request is the one that the client requested, and that its connection is used
// once.
func TestRewritten(t *testing.T) {
	p, _ := proxied(t, map[string]string{"a.test": "93.184.215.14"}, "a.test:80")
	got := make(chan string, 1)
	p.dial = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			text := make([]byte, 4096)
			n, _ := far.Read(text)
			got <- string(text[:n])
		}()
		return near, nil
	}
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		defer far.Close()
		p.handle(far)
	}()
	_, _ = io.WriteString(near, "POST http://a.test/p HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: x\r\nX-Own: y\r\nConnection: keep-alive, Upgrade\r\n\r\n")
	if text, want := <-got, "POST /p HTTP/1.1\r\nHost: a.test\r\nX-Own: y\r\nConnection: close\r\n\r\n"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}

// endless sends the same text forever, and counts the bytes that were read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	e.read += len(p)
	return len(p), nil
}

// TestProxyHead checks that a request with an endless head, or too many lines, is aborted, and that the kept part is
// bounded.
func TestProxyHead(t *testing.T) {
	from := &endless{}
	if _, err := readHeader(bufio.NewReaderSize(from, 4096)); err == nil || from.read > maxHeader+8192 {
		t.Errorf("%v after %d bytes", err, from.read)
	}
	if _, err := readHeader(bufio.NewReader(strings.NewReader(strings.Repeat("a: b\r\n", maxHeader)))); err == nil {
		t.Error("it read any number of lines")
	}
	long := strings.Repeat("x", 5000)
	lines, err := readHeader(bufio.NewReaderSize(strings.NewReader("GET / HTTP/1.1\r\na: "+long+"\n\r\nbody"), 4096))
	if err != nil || len(lines) != 2 || lines[1] != "a: "+long {
		t.Errorf("%q %v", lines, err)
	}
}

// TestProxyRefused checks the reported hosts: each refused host once, and no invalid ones.
func TestProxyRefused(t *testing.T) {
	p, _ := proxied(t, map[string]string{"in.a.test": "10.0.0.1"}, "*.a.test")
	for _, host := range []string{"b.test", "b.test", "in.a.test", "10.0.0.2", "c\x1b[31m.test"} {
		if _, err := p.connect(host, 443); err == nil {
			t.Errorf("%q was reached", host)
		}
	}
	if got := strings.Join(p.refused, " "); got != "b.test:443 in.a.test:443 10.0.0.2:443" {
		t.Errorf("told of %q", got)
	}
}
