package mcpserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
)

// request is a raw HTTP request with the token and further headers.
func request(method string, body string, headers ...string) string {
	all := append([]string{
		method + " /mcp HTTP/1.1", "Host: localhost", "Authorization: Bearer " + token,
		"Content-Type: application/json", "Accept: application/json, text/event-stream",
	}, headers...)
	return strings.Join(all, "\r\n") + "\r\n\r\n" + body
}

// withLength is a complete request with a body.
func withLength(body string, headers ...string) string {
	return request("POST", body, append(headers, fmt.Sprintf("Content-Length: %d", len(body)))...)
}

// dial connects to the server of a URL, and sends bytes.
func dial(t *testing.T, url, data string) net.Conn {
	t.Helper()
	address, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, _ = io.WriteString(conn, data) // the server may have refused it already
	return conn
}

// answered checks that a normal client, which has no connection yet, gets its answer.
func answered(t *testing.T, url, during string) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	if status, _, body := post(t, url, nil, initialize); status != http.StatusOK {
		t.Errorf("%s: a normal client gets %d: %s", during, status, body)
	}
}

// TestUnfinishedRequests checks that thousands of requests that never end, in any part of a request, do not keep a
// normal client from its answer.
func TestUnfinishedRequests(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
	url := p.listen(mcpserver.HTTPOptions{})
	without := strings.NewReplacer("Authorization: Bearer "+token+"\r\n", "")
	chunked := request("POST", "1\r\n{\r\n", "Transfer-Encoding: chunked")
	parts := map[string]string{
		"nothing":               "",
		"one byte":              "P",
		"a method":              "POST ",
		"a header":              "POST /mcp HTTP/1.1\r\nHost: local",
		"TLS":                   "\x16\x03\x01\x02\x00\x01\x00",
		"HTTP/2":                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"no end of headers":     strings.TrimSuffix(request("POST", ""), "\r\n"),
		"no body":               request("POST", "", "Content-Length: 1000"),
		"a part of a body":      request("POST", "{", "Content-Length: 1000"),
		"most of a large body":  request("POST", strings.Repeat(" ", 1<<16), "Content-Length: 70000"),
		"no chunk":              request("POST", "", "Transfer-Encoding: chunked"),
		"a chunk":               chunked,
		"a part of a chunk":     request("POST", "ff\r\n{", "Transfer-Encoding: chunked"),
		"an extension":          chunked + "1;" + strings.Repeat("x", 2000),
		"a chunk of 2^63 bytes": request("POST", "8000000000000000\r\n{", "Transfer-Encoding: chunked"),
		"a trailer":             chunked + "0\r\nA: b\r\n",
		"expectation":           request("POST", "", "Content-Length: 1000", "Expect: 100-continue"),
		"a body of GET":         request("GET", "{", "Content-Length: 1000"),
		"a body of DELETE":      request("DELETE", "{", "Content-Length: 1000"),
		"a second request":      withLength("{}") + request("POST", "{", "Content-Length: 1000"),
		"a stream":              request("GET", ""),
		"an answer is not read": strings.Repeat(withLength(initialize), 2),
	}
	for name, data := range parts {
		all := t // so that connections stay open until the end of the test
		t.Run(name, func(t *testing.T) {
			for _, data := range slices.Compact([]string{data, without.Replace(data)}) {
				for range 160 {
					dial(all, url, data)
				}
				answered(t, url, name)
			}
		})
	}
}

// TestOddRequests sends requests that are odd in one way, and checks the status, and that the server goes on.
func TestOddRequests(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
	url := p.listen(mcpserver.HTTPOptions{})
	without := func(r string) string { return strings.ReplaceAll(r, "Authorization: Bearer "+token+"\r\n", "") }
	for name, tt := range map[string]struct {
		data string
		want string // statuses
	}{
		"valid":                        {withLength(initialize), "200"},
		"pipelined":                    {withLength(initialize) + withLength(initialize) + withLength("{"), "200 200 400"},
		"2^31 bytes":                   {request("POST", "{", "Content-Length: 2147483648"), "413"},
		"2^63 bytes":                   {request("POST", "{", "Content-Length: 9223372036854775808"), "400"},
		"negative length":              {request("POST", "{", "Content-Length: -1"), "400"},
		"two lengths":                  {request("POST", "{}", "Content-Length: 1", "Content-Length: 2"), "400"},
		"length and chunks":            {request("POST", "0\r\n\r\n", "Content-Length: 2", "Transfer-Encoding: chunked"), "400"},
		"unknown encoding":             {request("POST", "{}", "Transfer-Encoding: gzip"), "501"},
		"invalid chunk":                {request("POST", "x\r\n{", "Transfer-Encoding: chunked"), "400"},
		"5 MiB of chunks":              {request("POST", strings.Repeat("100000\r\n"+strings.Repeat(" ", 1<<20)+"\r\n", 5)+"0\r\n\r\n", "Transfer-Encoding: chunked"), "413"},
		"HTTP/2":                       {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505/400"},
		"HTTP/2 upgrade":               {withLength(initialize, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), "200"},
		"continue, refused":            {without(request("POST", "", "Content-Length: 1000", "Expect: 100-continue")), "401"},
		"continue, too large":          {request("POST", "", "Content-Length: 5000000", "Expect: 100-continue"), "413"},
		"unknown expectation":          {request("POST", "", "Content-Length: 1000", "Expect: more"), "417"},
		"GET with a body":              {request("GET", "{}", "Content-Length: 2"), "413"},
		"DELETE with chunks":           {request("DELETE", "2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), "413"},
		"large headers":                {request("POST", "", "X: "+strings.Repeat("x", 100<<10)), "431"},
		"many headers":                 {request("POST", "", strings.Split(strings.Repeat("X: y\n", 20_000)+"X: y", "\n")...), "431"},
		"two hosts":                    {request("POST", "", "Host: localhost"), "400"},
		"no host":                      {strings.Replace(withLength(initialize), "Host: localhost\r\n", "", 1), "400"},
		"host of another site":         {strings.Replace(withLength(initialize), "Host: localhost", "Host: evil.example", 1), "403"},
		"URL of another site":          {strings.Replace(withLength(initialize), "POST /mcp", "POST http://evil.example/mcp", 1), "403"},
		"host with a user":             {strings.Replace(withLength(initialize), "Host: localhost", "Host: localhost@evil.example", 1), "403/400"},
		"host with a dot":              {strings.Replace(withLength(initialize), "Host: localhost", "Host: localhost.", 1), "403"},
		"two tokens":                   {withLength(initialize, "Authorization: Bearer "+token), "401"},
		"token in the URL":             {strings.Replace(without(withLength(initialize)), "/mcp", "/mcp?access_token="+token, 1), "401"},
		"token in a cookie":            {without(withLength(initialize, "Cookie: Authorization=Bearer "+token)), "401"},
		"two origins":                  {withLength(initialize, "Origin: http://localhost", "Origin: http://localhost"), "403"},
		"page of another site":         {without(withLength(initialize, "Origin: http://evil.example")), "403"},
		"folded header":                {withLength(initialize, "X: y\r\n z"), "400/200"},
		"NUL in a header":              {withLength(initialize, "X: \x00"), "400"},
		"space before the colon":       {withLength(initialize, "X : y"), "400"},
		"unknown method":               {request("HACK", ""), "405"},
		"CONNECT":                      {"CONNECT /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", "401/400"},
		"HTTP/1.0":                     {strings.Replace(withLength(initialize), "HTTP/1.1", "HTTP/1.0", 1), "200"},
		"HTTP/9.9":                     {strings.Replace(withLength(initialize), "HTTP/1.1", "HTTP/9.9", 1), "505"},
		"4 MiB of arrays":              {withLength(strings.Repeat("[", 4<<20)), "400"},
		"4 MiB of objects":             {withLength(strings.Repeat(`{"a":`, 800_000)), "400"},
		"deep parameters":              {withLength(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}}`), "400/200"},
		"a batch of 100 messages":      {withLength("[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 99) + initialize + "]"), "200/400"},
		"a batch of 60,000 messages":   {withLength("[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"tools/list"},`, 60_000) + initialize + "]"), "413"},
		"an id of 4 MB":                {withLength(`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 4_000_000) + `","method":"ping"}`), "400/200"},
		"a session of 60,000 letters":  {withLength(initialize, "Mcp-Session-Id: "+strings.Repeat("x", 60_000)), "404"},
		"an unknown protocol":          {withLength(initialize, "Mcp-Protocol-Version: 1999-01-01"), "400"},
		"a protocol of the far future": {withLength(initialize, "Mcp-Protocol-Version: 9999-99-99"), "400/200"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, url, tt.data)
			if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			for want := range strings.FieldsSeq(tt.want) {
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("no answer: %v, want %s", err, want)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				if got := fmt.Sprint(res.StatusCode); !strings.Contains(want, got) {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			answered(t, url, name)
		})
	}
	var m goruntime.MemStats
	goruntime.GC()
	if goruntime.ReadMemStats(&m); m.HeapAlloc > 200<<20 {
		t.Errorf("%d MiB are in use afterwards", m.HeapAlloc>>20)
	}
}
