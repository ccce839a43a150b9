package mcpserver

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// TestSocketUser reads tables of sockets with one of each kind.
func TestSocketUser(t *testing.T) {
	const header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	const rest = " 01 00000000:00000000 00:00000000 00000000 %d 0 %d 1 0000000000000000 20 4 30 10 -1\n"
	word := func(a, b, c, d byte) string { // as the kernel writes it
		return fmt.Sprintf("%08X", binary.NativeEndian.Uint32([]byte{a, b, c, d}))
	}
	here := word(127, 0, 0, 1)
	mapped := strings.Repeat("0", 16) + word(0, 0, 255, 255) + here
	six := strings.Repeat("0", 24) + word(0, 0, 0, 1)
	row := func(local, remote string, uid, inode int) string {
		return "   0: " + local + " " + remote + fmt.Sprintf(rest, uid, inode)
	}
	for name, tt := range map[string]struct {
		table string
		want  int // -1 for none
	}{
		"own":                 {row(here+":C000", here+":1F90", 1000, 7), 1000},
		"mapped":              {row(mapped+":C000", mapped+":1F90", 1000, 7), 1000},
		"root":                {row(here+":C000", here+":1F90", 0, 7), 0},
		"closed":              {row(here+":C000", here+":1F90", 0, 0), -1},
		"the server's end":    {row(here+":1F90", here+":C000", 0, 7), -1},
		"after others":        {row(here+":C001", here+":1F90", 1, 7) + row(here+":C000", here+":1F91", 2, 7) + row(here+":C000", here+":1F90", 3, 7), 3},
		"another address":     {row(word(127, 0, 0, 2)+":C000", here+":1F90", 0, 7), -1},
		"another family":      {row(six+":C000", six+":1F90", 0, 7), -1},
		"nothing":             {"", -1},
		"cut off":             {"   0: " + here + ":C000 " + here + ":1F90 01", -1},
		"not numbers":         {row("xyz:C000", here+":1F90", 0, 7), -1},
		"a port that is none": {row(here+":C0000", here+":1F90", 0, 7), -1},
		"an odd address":      {row(here[:7]+":C000", here+":1F90", 0, 7), -1},
		"a negative user":     {row(here+":C000", here+":1F90", -5, 7), -5},
	} {
		user, found := socketUser(strings.NewReader(header+tt.table), netip.MustParseAddrPort("127.0.0.1:49152"), netip.MustParseAddrPort("127.0.0.1:8080"))
		if !found {
			user = -1
		}
		if user != tt.want {
			t.Errorf("%s: got %d, want %d", name, user, tt.want)
		}
	}
}

// TestUnreadAnswer checks that an answer whose client does not read ends.
func TestUnreadAnswer(t *testing.T) {
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		limited := &limitedWriter{ResponseWriter: w, control: http.NewResponseController(w), most: 50 * time.Millisecond}
		for part := make([]byte, 1<<20); ; {
			if _, err := limited.Write(part); err != nil {
				ended <- err
				return
			}
			limited.Flush()
		}
	}))
	defer server.Close()
	res, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the server waits for the client")
	}
}
