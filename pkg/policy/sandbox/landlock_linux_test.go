package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// landlockName is the variable that makes TestLandlockAlone restrict itself: a network, the port that stays open,
// another one, and a directory.
const landlockName = "SKILLPM_TEST_LANDLOCK"

// TestLandlockAlone checks the effect of Landlock alone (O13), without mounts and without a network namespace: unlisted
// files are neither readable nor writable, readable files are not writable, and only the proxy's port is reachable.
func TestLandlockAlone(t *testing.T) {
	if role := os.Getenv(landlockName); role != "" {
		attemptAll(t, role)
		return
	}
	if Version() < portsABI {
		if os.Getenv("SKILLPM_REQUIRE_SANDBOX") != "" {
			t.Fatal("this machine is to have Landlock, in version", portsABI)
		}
		t.Skip("this machine's Landlock knows nothing of TCP")
	}
	dir, err := os.MkdirTemp("/var/tmp", "skillpm-") // not below /tmp, of which a confined command has one of its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, name := range []string{"listed", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open, other := accepting(t), accepting(t)
	for _, test := range []struct{ network, want string }{
		{"free", "read write listed write connect connect"},
		{networkNone, "listed"},
		{networkProxy, "listed connect"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLandlockAlone$")
		cmd.Env = append(os.Environ(), landlockName+"="+fmt.Sprint(test.network, " ", open, " ", other, " ", dir))
		out, err := cmd.CombinedOutput()
		_, got, _ := strings.Cut(string(out), "got:")
		got, _, _ = strings.Cut(got, "\n")
		if strings.TrimSpace(got) != test.want {
			t.Errorf("%s: %q, want %q (%v %s)", test.network, got, test.want, err, out)
		}
	}
}

// attemptAll restricts this process, and prints what it can still do.
func attemptAll(t *testing.T, role string) {
	t.Helper()
	words := strings.Fields(role)
	open, err := strconv.ParseUint(words[1], 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	listed, hidden := filepath.Join(words[3], "listed"), filepath.Join(words[3], "other")
	if words[0] != "free" {
		h := helperProcess{order: order{Network: words[0], Paths: []visiblePath{{Path: listed}}}, port: uint16(open)}
		if err := h.landlock(); err != nil {
			t.Fatal(err)
		}
	}
	var can []string
	for _, try := range []struct {
		what string
		do   func() error
	}{
		{"read", func() error { return opened(hidden, os.O_RDONLY) }},
		{"write", func() error { return opened(hidden, os.O_WRONLY) }},
		{"listed", func() error { return opened(listed, os.O_RDONLY) }},
		{"write", func() error { return opened(listed, os.O_WRONLY) }},
		{"connect", func() error { return connected(words[1]) }},
		{"connect", func() error { return connected(words[2]) }},
	} {
		if try.do() == nil {
			can = append(can, try.what)
		}
	}
	fmt.Println("got:", strings.Join(can, " "))
}

func opened(path string, how int) error {
	f, err := os.OpenFile(path, how, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func connected(port string) error {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	return conn.Close()
}

// accepting returns the port of a listening server.
func accepting(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}
