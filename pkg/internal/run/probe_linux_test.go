package run

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probe is an attack of a hostile skill's script: it exits with 0 if it succeeds, and prints the result.
func probe(args []string) {
	if err := attempt(args[0], args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func attempt(what string, args []string) error {
	const patience = 5 * time.Second
	switch what {
	case "attack": // tries all attacks of a table
		attackAll(args[0], args[1] == "confined")
		return nil
	case "memory": // reserves as much memory as the machine has, to write to
		var info unix.Sysinfo_t
		if err := unix.Sysinfo(&info); err != nil {
			return err
		}
		_, err := unix.Mmap(-1, 0, int(info.Totalram)*int(info.Unit), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		return err
	case "tcp", "unix", "udp", "unixgram": // says hello at an address, and prints the answer
		conn, err := net.DialTimeout(what, args[0], patience)
		if err != nil {
			return err
		}
		return hello(conn)
	case "dns": // asks a name server
		ask := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", args[0])
		}
		found, err := (&net.Resolver{PreferGo: true, Dial: ask}).LookupHost(context.Background(), "example.test")
		fmt.Println(found)
		return err
	case "get": // by the proxy of the environment
		proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
		if err != nil {
			return err
		}
		return get(args[0], &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true})
	case "get-socks":
		proxy, err := url.Parse(strings.Replace(os.Getenv("ALL_PROXY"), "socks5h", "socks5", 1))
		if err != nil {
			return err
		}
		return get(args[0], &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true})
	case "kill":
		pid, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return unix.Kill(pid, unix.SIGTERM)
	case "keyring": // of the session that this process belongs to
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	case "mode": // makes a file that runs as its owner
		const mode = unix.S_ISUID | 0o755
		switch args[0] {
		case "open":
			return closeCreated(unix.Open("a", unix.O_CREAT|unix.O_WRONLY, mode))
		case "openat2":
			return closeCreated(unix.Openat2(unix.AT_FDCWD, "a", &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: mode}))
		case "creat":
			return closeCreated(unix.Creat("a", mode))
		case "mknod":
			return unix.Mknod("a", unix.S_IFREG|mode, 0)
		case "fchmodat2":
			if err := os.WriteFile("a", nil, 0o600); err != nil {
				return err
			}
			return unix.Fchmodat(unix.AT_FDCWD, "a", mode, unix.AT_SYMLINK_NOFOLLOW)
		}
		f, err := os.Create("a")
		if err != nil {
			return err
		}
		return unix.Fchmod(int(f.Fd()), mode)
	case "deep": // makes directories deeper than a path is long, with a file, and locks the last ones
		if err := os.Chdir("/tmp"); err != nil {
			return err
		}
		name := strings.Repeat("d", 200)
		for range 500 {
			if err := os.Mkdir(name, 0o755); err != nil {
				return err
			}
			if err := os.Chdir(name); err != nil {
				return err
			}
		}
		if err := os.WriteFile("file", nil, 0o600); err != nil {
			return err
		}
		if err := unix.Fchmodat(unix.AT_FDCWD, "..", 0o100, 0); err != nil {
			return err
		}
		return unix.Fchmodat(unix.AT_FDCWD, ".", 0, 0)
	case "clone": // starts a process that has rights of its own
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		return cmd.Run()
	case "packets": // sockets of other kinds: those of virtual machines, of ciphers, raw ones
		var err error
		for _, s := range [][2]int{{unix.AF_VSOCK, unix.SOCK_STREAM}, {unix.AF_ALG, unix.SOCK_SEQPACKET}, {unix.AF_PACKET, unix.SOCK_RAW}} {
			var fd int
			if fd, err = unix.Socket(s[0], s[1], 0); err == nil {
				return unix.Close(fd)
			}
		}
		return err
	}
	return fmt.Errorf("%q is not known", what)
}

func closeCreated(fd int, err error) error {
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func hello(conn net.Conn) error {
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "hello"); err != nil {
		return err
	}
	answer := make([]byte, 64)
	n, err := conn.Read(answer)
	fmt.Printf("%s\n", answer[:n])
	return err
}

func get(from string, t *http.Transport) error {
	answer, err := (&http.Client{Transport: t}).Get(from)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Printf("%d %s\n", answer.StatusCode, text)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", answer.StatusCode)
	}
	return err
}
