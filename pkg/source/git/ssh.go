package git

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skeema/knownhosts"
	sshagent "github.com/xanzy/ssh-agent"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source/git/internal/gitcmd"
)

// sshTimeout bounds the time to connect.
const sshTimeout = 30 * time.Second

// sshAuth authenticates with the keys of the user's ssh agent, then with key files that have no passphrase. go-git
// checks the host key against known_hosts.
type sshAuth struct {
	user string
	home string
}

// Name returns the method's name, for go-git's messages.
func (a *sshAuth) Name() string { return "ssh-public-key" }

// String returns the method's name, for go-git's messages.
func (a *sshAuth) String() string { return a.Name() }

// ClientConfig returns the configuration for a connection.
func (a *sshAuth) ClientConfig() (*ssh.ClientConfig, error) {
	return &ssh.ClientConfig{
		User:    a.user,
		Auth:    []ssh.AuthMethod{ssh.PublicKeysCallback(a.signers)},
		Timeout: sshTimeout,
	}, nil
}

// signers returns the keys to try. The agent and the files are optional.
func (a *sshAuth) signers() ([]ssh.Signer, error) {
	signers, err := agentSigners()
	if err != nil {
		return nil, err
	}
	if a.home == "" {
		return signers, nil
	}
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		data, err := os.ReadFile(filepath.Join(a.home, ".ssh", name))
		if err != nil {
			continue
		}
		if signer, err := ssh.ParsePrivateKey(data); err == nil {
			signers = append(signers, signer)
		}
	}
	return signers, nil
}

func agentSigners() ([]ssh.Signer, error) {
	if !sshagent.Available() {
		return nil, nil
	}
	var keys agent.Agent
	keys, _, err := sshagent.New()
	if err != nil {
		return nil, nil //nolint:nilerr // a stopped agent has no keys
	}
	return keys.Signers()
}

// isKeyError reports whether an error is about the host's or the user's keys.
func isKeyError(err error) bool {
	return knownhosts.IsHostKeyChanged(err) || knownhosts.IsHostUnknown(err) || noKnownHosts(err) ||
		strings.Contains(err.Error(), "unable to authenticate")
}

// noKnownHosts reports whether there is no known_hosts file.
func noKnownHosts(err error) bool { return strings.Contains(err.Error(), "known_hosts") }

// explainKeyError converts an error of the built-in client about the host's or the user's keys.
func (p *remote) explainKeyError(err error) error {
	switch {
	case knownhosts.IsHostKeyChanged(err):
		return p.hostKeyChanged()
	case knownhosts.IsHostUnknown(err), noKnownHosts(err):
		return p.hostKeyUnknown()
	}
	return diag.Errorf(diag.Denied, "the server rejected your SSH keys").
		WithHint("add an accepted key to your SSH agent with ssh-add, and test it with: %s; "+
			"skillpm reads the rest of ~/.ssh/config only if git and ssh are installed", p.sshTest())
}

// explainSSH converts an error of the ssh program about the host's or the user's keys.
func (p *remote) explainSSH(failed *gitcmd.Error) error {
	switch message := failed.Printed; {
	case message("REMOTE HOST IDENTIFICATION HAS CHANGED", "differs from the key for the IP address"):
		return p.hostKeyChanged()
	case message("Host key verification failed"):
		return p.hostKeyUnknown()
	}
	return diag.Errorf(diag.Denied, "the server rejected your SSH keys").
		WithHint("add an accepted key to your SSH agent with ssh-add, or set IdentityFile in ~/.ssh/config; test it with: %s",
			p.sshTest())
}

func (p *remote) hostKeyChanged() error {
	return diag.Errorf(diag.Denied, "the server's host key differs from the one in known_hosts").
		WithHint("ask the server's operator about the change before you replace the key")
}

func (p *remote) hostKeyUnknown() error {
	return diag.Errorf(diag.Denied, "the server's host key is not in known_hosts").
		WithHint("connect once, and compare the fingerprint, with: %s", p.sshTest())
}

// sshTest returns the command that connects to the server as skillpm does.
func (p *remote) sshTest() string {
	login := p.url.User.Username() + "@" + p.url.Hostname()
	if port := p.url.Port(); port != "" {
		login = "-p " + port + " " + login
	}
	return "ssh " + login
}
