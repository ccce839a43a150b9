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

// explainKeyError converts an error about the host's or the user's keys.
func (p *remote) explainKeyError(url string, err error) error {
	login := p.url.User.Username() + "@" + p.url.Hostname()
	if port := p.url.Port(); port != "" {
		login = "-p " + port + " " + login
	}
	switch {
	case knownhosts.IsHostKeyChanged(err):
		return diag.Errorf(diag.Denied, "%s: the server's host key differs from the one in known_hosts", url).
			WithHint("ask the server's operator about the change before you replace the key")
	case knownhosts.IsHostUnknown(err), noKnownHosts(err):
		return diag.Errorf(diag.Denied, "%s: the server's host key is not in known_hosts", url).
			WithHint("connect with ssh %s once, and compare the fingerprint", login)
	}
	return diag.Errorf(diag.Denied, "%s rejected your SSH keys", url).
		WithHint("add an accepted key to your SSH agent with ssh-add, and test it with: ssh %s", login)
}
