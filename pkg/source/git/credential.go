package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// secret is a user name and password for one host, and the name of their source.
type secret struct {
	user, pass string
	source     string
}

// tokenUser is the user name for a token without one. Forges ignore it or require this one.
const tokenUser = "x-access-token"

// secret returns the credentials for a repository's host, or a zero secret if there are none.
func (c *Client) secret(ctx context.Context, u *url.URL) (s secret, err error) {
	defer func() { c.options.Secrets.LearnPassword(s.user, s.pass) }()
	if c.options.Credentials != nil {
		user, pass, err := c.options.Credentials(ctx, u.String())
		return secret{user, pass, "the caller"}, err
	}
	if s := c.environmentSecret(u); s.pass != "" {
		return s, nil
	}
	if s, err := c.netrcSecret(u); err != nil || s.pass != "" {
		return s, err
	}
	return c.helperSecret(ctx, u)
}

// TokenVariables returns the environment variables for a host's token, the most specific first. The name has _ for a
// dot, __ for a hyphen, and the suffix _PORT, which is optional for the scheme's default port. No two servers share a
// variable: a host whose labels are not letters, digits, and inner hyphens has none.
func TokenVariables(u *url.URL) []string {
	host := strings.ToUpper(u.Hostname())
	labels := strings.Split(host, ".")
	for _, label := range labels {
		other := strings.Trim(label, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
		if label == "" || other != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return nil
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" && net.ParseIP(host) == nil {
		return nil // a last label of digits would look like a port
	}
	name := "SKILLPM_TOKEN_" + strings.NewReplacer(".", "_", "-", "__").Replace(host)
	port, defaultPort := u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme]
	switch port {
	case "":
		return []string{name + "_" + defaultPort, name}
	case defaultPort:
		return []string{name + "_" + port, name}
	}
	return []string{name + "_" + port}
}

// environmentSecret reads the host's token variables, and GITHUB_TOKEN for github.com.
func (c *Client) environmentSecret(u *url.URL) secret {
	names := TokenVariables(u)
	if u.Scheme == "https" && u.Host == "github.com" {
		names = append(names, "GITHUB_TOKEN")
	}
	for _, name := range names {
		value := strings.TrimSpace(c.options.Getenv(name))
		if value == "" {
			continue
		}
		if user, pass, ok := strings.Cut(value, ":"); ok {
			return secret{user, pass, name}
		}
		return secret{tokenUser, value, name}
	}
	return secret{}
}

// netrcSecret reads the file that NETRC names, or .netrc (on Windows also _netrc) in the home directory.
func (c *Client) netrcSecret(u *url.URL) (secret, error) {
	files := []string{c.options.Getenv("NETRC")}
	if files[0] == "" && c.options.Home != "" {
		files = []string{filepath.Join(c.options.Home, ".netrc")}
		if runtime.GOOS == "windows" {
			files = append(files, filepath.Join(c.options.Home, "_netrc"))
		}
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		data, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return secret{}, diag.Errorf(diag.Internal, "credentials: %w", err)
		}
		if user, pass, ok := parseNetrc(string(data), u.Hostname()); ok {
			return secret{user, pass, file}, nil
		}
	}
	return secret{}, nil
}

// parseNetrc returns the login of a host in the text of a .netrc file. It ignores the default entry, which would send a
// password to any host.
func parseNetrc(text, host string) (user, pass string, found bool) {
	words := netrcWords(text)
	matches := false
	for len(words) > 0 {
		key := words[0]
		words = words[1:]
		if key == "default" {
			matches = false
			continue
		}
		if len(words) == 0 {
			break
		}
		value := words[0]
		words = words[1:]
		switch {
		case key == "machine" && found:
			return user, pass, true
		case key == "machine":
			matches = strings.EqualFold(value, host)
		case key == "login" && matches:
			user = value
		case key == "password" && matches:
			pass, found = value, true
		}
	}
	return user, pass, found
}

// netrcWords splits the text of a .netrc file into words, without comments and macro definitions. A word may be in
// double quotes, with backslash escapes.
func netrcWords(text string) []string {
	var words []string
	inMacro := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if inMacro {
			inMacro = line != ""
			continue
		}
		for line != "" && line[0] != '#' {
			var word string
			word, line = netrcWord(line)
			if word == "macdef" {
				inMacro = true
				break
			}
			words = append(words, word)
		}
	}
	return words
}

func netrcWord(line string) (word, rest string) {
	if line[0] != '"' {
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			return line, ""
		}
		return line[:end], strings.TrimLeft(line[end:], " \t")
	}
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '"':
			return b.String(), strings.TrimLeft(line[i+1:], " \t")
		case line[i] == '\\' && i+1 < len(line):
			i++
		}
		b.WriteByte(line[i])
	}
	return b.String(), ""
}

// helperSecret runs `git credential fill`, which calls the credential helpers that the user has configured. It runs
// outside any repository, whose configuration could name other helpers, and never prompts. Without git or an answer,
// there are no credentials.
func (c *Client) helperSecret(ctx context.Context, u *url.URL) (secret, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return secret{}, nil //nolint:nilerr // git is optional here
	}
	cmd := exec.CommandContext(ctx, git, "credential", "fill")
	cmd.Dir = filepath.VolumeName(git) + string(filepath.Separator)
	cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_DIR="+os.DevNull)
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"} {
		if value := c.options.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Stdin = strings.NewReader(fmt.Sprintf("protocol=%s\nhost=%s\npath=%s\n\n", u.Scheme, u.Host,
		strings.TrimPrefix(u.Path, "/")))
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return secret{}, context.Cause(ctx)
	}
	if err != nil {
		return secret{}, nil //nolint:nilerr // no helper knows the host
	}
	return parseHelperOutput(out, u), nil
}

// parseHelperOutput parses the output of git credential. It returns a zero secret if the output is for another host.
func parseHelperOutput(out []byte, u *url.URL) secret {
	s := secret{source: "the git credential helper"}
	for line := range bytes.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), "=")
		switch {
		case key == "host" && value != u.Host, key == "protocol" && value != u.Scheme:
			return secret{}
		case key == "username":
			s.user = value
		case key == "password":
			s.pass = value
		}
	}
	return s
}
