package mcpserver_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
)

// TestOtherUser checks that a process of another user, which has the token, is refused if only the own user may connect,
// over every way to reach a loopback address. The same request of the own user is answered.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("bash is not installed")
	}
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
	for _, listen := range []string{"127.0.0.1:0", "[::1]:0", "localhost:0"} {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", listen)
		if err != nil {
			t.Logf("%s: %v", listen, err)
			continue
		}
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		over := make(chan error, 1)
		s := p.server()
		go func() { over <- s.ServeHTTP(ctx, l, mcpserver.HTTPOptions{Token: token, OwnUser: true}) }()
		host, port, _ := net.SplitHostPort(l.Addr().String())
		hosts := []string{host}
		if host == "127.0.0.1" {
			hosts = append(hosts, "::ffff:127.0.0.1") // a socket of the other family
		}
		for _, host := range hosts {
			for uid, want := range map[uint32]string{0: "200", 1234: "403", 65534: "403"} {
				cmd := exec.Command("/bin/bash", "-c", `exec 3<>"/dev/tcp/$1/$2"; cat >&3; head -n 1 <&3`, "bash", host, port)
				cmd.Stdin = strings.NewReader(withLength(initialize))
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
				if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), " "+want+" ") {
					t.Errorf("%s, user %d: %s %v, want %s", host, uid, out, err, want)
				}
			}
		}
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
