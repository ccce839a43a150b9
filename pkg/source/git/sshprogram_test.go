package git_test

import (
	"maps"
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

// TestSSHConfig fetches from a server that only the user's ssh configuration describes: its address, user, and key, and
// a jump host with others. The configuration is in a file that GIT_SSH_COMMAND or core.sshCommand names, because ssh
// looks for ~/.ssh/config in the home directory of the account, not of the test.
func TestSSHConfig(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("ssh is not installed")
	}
	dir, home := t.TempDir(), t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	r.Tag("v1.0.0", r.Commit(skills()))
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hostKey, _ := key(t)
	jumpKey, _ := key(t)
	client, private := key(t)
	jumper, jumperPrivate := key(t)
	server := serveUser(t, dir, "deploy", hostKey, client.PublicKey())
	plain := serveSSH(t, dir, hostKey, client.PublicKey())
	jump := serveUser(t, "", "bastion", jumpKey, jumper.PublicKey())
	known := func(address string, key ssh.PublicKey) string { return knownhosts.Line([]string{address}, key) + "\n" }
	allKnown := known(server, hostKey.PublicKey()) + known(plain, hostKey.PublicKey()) + known(jump, jumpKey.PublicKey())
	write("client_key", string(private))
	write("jump_key", string(jumperPrivate))
	address := func(hostport string) string {
		host, port, err := net.SplitHostPort(hostport)
		if err != nil {
			t.Fatal(err)
		}
		return "HostName " + host + "\nPort " + port + "\n"
	}
	config := write("ssh_config", "Host work\n"+address(server)+"User deploy\nProxyJump jump\nIdentityFile "+home+"/client_key\n"+
		"Host plain\n"+address(plain)+"IdentityFile "+home+"/client_key\nHost stranger\n"+address(server)+"User deploy\nIdentityFile "+home+"/jump_key\n"+
		"Host gone\nHostName 127.0.0.1\nPort 1\n"+
		"Host jump\n"+address(jump)+"User bastion\nIdentityFile "+home+"/jump_key\n"+
		"Host *\nIdentitiesOnly yes\nUser somebody\nUserKnownHostsFile "+home+
		"/known_hosts\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n")
	command := "ssh -F '" + config + "'"
	gitConfig := write("gitconfig", "[core]\nsshCommand = \""+command+"\"\n")
	variables := map[string]map[string]string{
		"GIT_SSH_COMMAND": {"GIT_SSH_COMMAND": command}, "core.sshCommand": {"GIT_CONFIG_GLOBAL": gitConfig, "GIT_CONFIG_NOSYSTEM": "1"},
	}
	open := func(t *testing.T, host string, variables map[string]string) *git.Client {
		t.Helper()
		env := maps.Clone(variables)
		env["PATH"], env["HOME"] = os.Getenv("PATH"), home
		return newClient(t, git.Options{Home: home, Getenv: func(name string) string { return env[name] }})
	}
	for name, variables := range variables {
		t.Run(name, func(t *testing.T) {
			write("known_hosts", allKnown)
			for host, source := range map[string]string{
				"alias, user, key, and jump host":            "git+ssh://work/o/r.git",
				"user in the source":                         "git+ssh://deploy@work/o/r.git",
				"the user of all hosts is not that of git":   "git+ssh://plain/o/r.git",
				"without an alias, the user in the lockfile": "git+ssh://git@plain/o/r.git",
			} {
				p, digests := fetch(t, open(t, host, variables), parse(t, source))
				if p.Version != "1.0.0" || len(digests) != 2 {
					t.Errorf("%s: fetched %v of %v", host, digests, p.Ref)
				}
			}
			if name != "GIT_SSH_COMMAND" {
				return // the rest does not depend on where the command comes from
			}
			refuse := func(host, repository string, code diag.Code, message, hint string) {
				t.Helper()
				_, err := open(t, host, variables).Open(t.Context(), parse(t, "git+ssh://"+host+repository))
				checkError(t, err, code, message, hint)
				if n := strings.Count(err.Error(), "ssh://"); n != 1 {
					t.Errorf("%q contains the source %d times", err, n)
				}
			}
			refuse("stranger", "/o/r.git", diag.Denied, "rejected your SSH keys", "IdentityFile in ~/.ssh/config")
			refuse("gone", "/o/r.git", diag.Remote, "Connection refused", "ssh git@gone")
			refuse("work", "/o/missing.git", diag.NotFound, "the repository does not exist, or you", "your account")
			write("known_hosts", known(jump, jumpKey.PublicKey()))
			refuse("work", "/o/r.git", diag.Denied, "not in known_hosts", "compare the fingerprint, with: ssh git@work")
			write("known_hosts", known(jump, jumpKey.PublicKey())+known(server, jumpKey.PublicKey()))
			refuse("work", "/o/r.git", diag.Denied, "the server's host key differs from the one in known_hosts",
				"ask the server's operator about the change")
			write("known_hosts", strings.Replace(allKnown, known(jump, jumpKey.PublicKey()), known(jump, hostKey.PublicKey()), 1))
			refuse("work", "/o/r.git", diag.Denied, "the server's host key differs from the one in known_hosts", "operator")
		})
	}
}

// TestSSHDefault checks which program is used for SSH, and that the default ssh command never prompts.
func TestSSHDefault(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	script := "#!/bin/sh\nif [ \"$1\" = config ]; then exit 1; fi\necho \"$0 $GIT_SSH_COMMAND\" >" + seen + "\n"
	for _, name := range []string{"git", "ssh"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil { //nolint:gosec // it is executable
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	c := newClient(t, git.Options{Home: dir, Getenv: func(name string) string { return map[string]string{"PATH": os.Getenv("PATH")}[name] }})
	_, err := c.Open(t.Context(), parse(t, "git+ssh://127.0.0.1:1/o/r.git"))
	checkError(t, err, diag.NotFound, "is empty", "")
	data, err := os.ReadFile(seen)
	if want := filepath.Join(dir, "git") + " ssh -oBatchMode=yes "; err != nil || !strings.HasPrefix(string(data), want) {
		t.Errorf("%q %v, want %q", data, err, want)
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("SSH_KNOWN_HOSTS", filepath.Join(dir, "known_hosts"))
	_, err = c.Open(t.Context(), parse(t, "git+ssh://127.0.0.1:2/o/r.git"))
	checkError(t, err, diag.Denied, "not in known_hosts", "ssh -p 2") // of the built-in client
}
