package git_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// key creates a key pair and the text of its private key file.
func key(t *testing.T) (ssh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "test")
	if err != nil {
		t.Fatal(err)
	}
	return signer, pem.EncodeToMemory(block)
}

// serveSSH serves the repositories below dir to the owner of a key, as user git, and returns the address.
func serveSSH(t *testing.T, dir string, host ssh.Signer, client ssh.PublicKey) string {
	t.Helper()
	return serveUser(t, dir, "git", host, client)
}

// serveUser is [serveSSH] for another user. Without a directory, it serves only connections to other servers, as a jump
// host does.
func serveUser(t *testing.T, dir, user string, host ssh.Signer, client ssh.PublicKey) string {
	t.Helper()
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != user || string(k.Marshal()) != string(client.Marshal()) {
			return nil, errors.New("unknown key")
		}
		return &ssh.Permissions{}, nil
	}}
	config.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	program := gittest.Git(t)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveConn(conn, config, program, dir)
		}
	}()
	return listener.Addr().String()
}

func serveConn(conn net.Conn, config *ssh.ServerConfig, program, dir string) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for open := range channels {
		if dir == "" {
			go forwardChannel(open)
			continue
		}
		channel, requests, err := open.Accept()
		if err != nil {
			return
		}
		for r := range requests {
			var command struct{ Text string }
			if r.Type != "exec" || ssh.Unmarshal(r.Payload, &command) != nil {
				_ = r.Reply(false, nil)
				continue
			}
			_ = r.Reply(true, nil)
			status := runGit(channel, command.Text, program, dir)
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			channel.Close()
		}
	}
}

// forwardChannel connects a channel to the server that the client names (RFC 4254, section 7.2).
func forwardChannel(open ssh.NewChannel) {
	var target struct {
		Host       string
		Port       uint32
		Originator string
		OriginPort uint32
	}
	if open.ChannelType() != "direct-tcpip" || ssh.Unmarshal(open.ExtraData(), &target) != nil {
		_ = open.Reject(ssh.Prohibited, "only forwarding")
		return
	}
	conn, err := net.Dial("tcp", net.JoinHostPort(target.Host, fmt.Sprint(target.Port)))
	if err != nil {
		_ = open.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	channel, requests, err := open.Accept()
	if err != nil {
		conn.Close()
		return
	}
	go ssh.DiscardRequests(requests)
	go func() {
		_, _ = io.Copy(channel, conn)
		channel.Close()
	}()
	_, _ = io.Copy(conn, channel)
	conn.Close()
}

// runGit runs one of the allowed commands.
func runGit(channel ssh.Channel, command, program, dir string) uint32 {
	service, path, ok := strings.Cut(strings.TrimPrefix(command, "git-"), " ")
	if !ok || service != "upload-pack" && service != "receive-pack" {
		return 127
	}
	cmd := exec.Command(program, service, filepath.Join(dir, strings.Trim(path, "'")))
	cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	go func() {
		_, _ = io.Copy(stdin, channel)
		stdin.Close()
	}()
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	if cmd.Run() != nil {
		return 128
	}
	return 0
}

// TestSSH checks M2: git over SSH, with a key from a file and a known host key.
func TestSSH(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	r.Tag("v1.0.0", r.Commit(skills()))
	host, _ := key(t)
	client, private := key(t)
	address := serveSSH(t, dir, host, client.PublicKey())

	home := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".ssh", name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("SSH_AUTH_SOCK", "")
	t.Setenv("SSH_KNOWN_HOSTS", filepath.Join(home, ".ssh", "known_hosts"))
	ref := parse(t, "git+ssh://"+address+"/o/r.git")
	refuse := func(message, hint string) {
		t.Helper()
		_, err := newClient(t, git.Options{Home: home, Program: git.Builtin}).Open(t.Context(), ref)
		checkError(t, err, diag.Denied, message, hint)
	}

	refuse("not in known_hosts", "ssh -p")
	write("known_hosts", []byte("other.example "+string(ssh.MarshalAuthorizedKey(host.PublicKey()))))
	refuse("not in known_hosts", "ssh -p")
	other, otherPrivate := key(t)
	write("known_hosts", []byte(knownhosts.Line([]string{address}, other.PublicKey())+"\n"))
	refuse("the server's host key differs from the", "operator")
	write("known_hosts", []byte(knownhosts.Line([]string{address}, host.PublicKey())+"\n"))
	refuse("rejected your SSH keys", "ssh-add")
	write("id_ed25519", otherPrivate)
	refuse("rejected your SSH keys", "ssh-add")
	write("id_ed25519", private)

	c := newClient(t, git.Options{Home: home, Program: git.Builtin})
	p, digests := fetch(t, c, ref)
	if p.Version != "1.0.0" || len(digests) != 2 {
		t.Errorf("fetched %v of %v", digests, p.Ref)
	}
	if _, digests := fetch(t, c, parse(t, fmt.Sprintf("git+ssh://%s/o/r.git#main", address))); len(digests) != 2 {
		t.Errorf("fetched %v of main", digests)
	}
	_, err := c.Open(t.Context(), parse(t, fmt.Sprintf("git+ssh://%s/o/missing.git", address)))
	checkError(t, err, diag.NotFound, "the repository does not exist, or you", "your account")
	silent := newClient(t, git.Options{Home: home, Program: git.Builtin})
	git.InstantTimeout(silent)
	_, err = silent.Open(t.Context(), ref)
	checkError(t, err, diag.Remote, "was silent", "")
}
