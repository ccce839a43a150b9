package git

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/source/git/internal/gitcmd"
)

// Builtin is the value of [Options.Program] for the built-in client also over SSH.
const Builtin = "builtin"

// program returns the git binary that transfers this repository's objects, or "" for the built-in client. Over SSH, git
// is the default, because the built-in client ignores most of ~/.ssh/config.
func (p *remote) program() string {
	switch program := p.client.options.Program; {
	case program == Builtin:
		return ""
	case program != "" || p.url.Scheme != "ssh":
		return program
	}
	for _, name := range []string{"git", "ssh"} {
		if _, err := exec.LookPath(name); err != nil {
			return ""
		}
	}
	return "git"
}

// batchSSH is the ssh command unless the user has another one. It never prompts.
const batchSSH = "ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=15 -oServerAliveCountMax=4"

// maxSSHOutput is how much git and ssh may print about their configuration, in bytes.
const maxSSHOutput = 1 << 20

// sshSettings are the ssh command with which git connects to a server, and the URL.
type sshSettings struct {
	command string
	env     []string
	url     *url.URL
}

// sshSettings returns the same ssh command that git runs elsewhere: that of GIT_SSH_COMMAND, of core.sshCommand in the
// configuration of the user or the system, or of GIT_SSH. No repository's configuration is read.
func (p *remote) sshSettings(ctx context.Context) *sshSettings {
	if p.ssh != nil {
		return p.ssh
	}
	s := &sshSettings{command: p.sshCommand(ctx)}
	for _, name := range []string{
		"GIT_SSH_VARIANT", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "DISPLAY", "WAYLAND_DISPLAY",
	} {
		if v := p.client.options.Getenv(name); v != "" {
			s.env = append(s.env, name+"="+v)
		}
	}
	if program := p.client.options.Getenv("GIT_SSH"); s.command == batchSSH && program != "" {
		s.env, s.url = append(s.env, "GIT_SSH="+program), p.url
	} else {
		s.env, s.url = append(s.env, "GIT_SSH_COMMAND="+s.command), p.sshURL(ctx, s.command)
	}
	p.ssh = s
	return s
}

// sshCommand returns the user's ssh command, or batchSSH.
func (p *remote) sshCommand(ctx context.Context) string {
	if command := p.client.options.Getenv("GIT_SSH_COMMAND"); command != "" {
		return command
	}
	git, err := exec.LookPath(p.program())
	if err != nil {
		return batchSSH
	}
	config := gitcmd.Program{
		Path: git, Dir: filepath.VolumeName(git) + string(filepath.Separator),
		Env: append(p.userEnvironment(), "GIT_DIR="+os.DevNull), MaxOutput: maxSSHOutput,
	}
	out, err := config.Run(ctx, "", "config", "--get", "core.sshCommand")
	if command := strings.TrimRight(string(out), "\r\n"); err == nil && command != "" {
		return command
	}
	return batchSSH
}

// userEnvironment returns the variables that lead to the user's files.
func (p *remote) userEnvironment() []string {
	env := []string{"HOME=" + p.client.options.Home}
	for _, name := range []string{
		"PATH", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "USER", "LOGNAME",
		"SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
	} {
		if v := p.client.options.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// impliedUser is the user name of sources and lockfiles that contain none.
const impliedUser = "git"

// sshURL returns the URL for git. It leaves out the user name git if the user's ssh configuration has another one for
// this host, as for servers where each developer has an account: lockfiles contain no user names.
func (p *remote) sshURL(ctx context.Context, command string) *url.URL {
	if p.url.Scheme != "ssh" || p.url.User.Username() != impliedUser {
		return p.url
	}
	const anyHost = "skillpm.invalid" // has what the configuration sets for all hosts
	user := p.sshConfigUser(ctx, command, p.url.Hostname())
	if user == "" || user == p.sshConfigUser(ctx, command, anyHost) {
		return p.url
	}
	u := *p.url
	u.User = nil
	return &u
}

// sshConfigUser returns the user name for a host, as ssh -G prints it, or "" for another ssh program. The host comes
// from a URL that [isRemoteURL] accepted, and the shell does not interpret it.
func (p *remote) sshConfigUser(ctx context.Context, command, host string) string {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return ""
	}
	run := gitcmd.Program{Path: shell, Env: p.userEnvironment(), MaxOutput: maxSSHOutput} // as git runs it
	out, err := run.Run(ctx, "", "-c", command+` -G -- "$1"`, "ssh", host)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(out) {
		if key, value, _ := strings.Cut(strings.TrimSpace(string(line)), " "); key == "user" {
			return value
		}
	}
	return ""
}
