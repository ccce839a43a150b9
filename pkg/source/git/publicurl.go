package git

import (
	"net/url"
	"slices"
	"strings"
)

// forges are hosts that serve a repository at the same path over HTTPS as over SSH.
var forges = [...]string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com"}

// publicURL returns a repository's URL in a form that is safe to publish: without user, query, and fragment, and over
// HTTPS for known forges. It keeps the user git, which all SSH users share. It returns "" for directories and for text
// that it cannot parse, because a password may be anywhere in it.
func publicURL(remote string) string {
	remote = strings.TrimSpace(remote)
	u, err := url.Parse(scpURL(remote))
	if err != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsAny(remote, "\\") ||
		strings.ContainsAny(u.Path, "@:\\") {
		return ""
	}
	u.Scheme = strings.TrimPrefix(u.Scheme, "git+")
	public := &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: strings.TrimRight(u.Path, "/")}
	switch u.Scheme {
	case "ssh":
		if u.User.Username() == sshUser {
			public.User = url.User(sshUser)
		}
	case "https", "http", "git":
	default:
		return ""
	}
	if host := strings.ToLower(u.Hostname()); slices.Contains(forges[:], host) {
		return "https://" + host + (&url.URL{Path: strings.TrimSuffix(public.Path, ".git")}).EscapedPath()
	}
	return public.String()
}

// sshUser is the user name that forges expect for all SSH connections.
const sshUser = "git"

// schemes are names before a colon that are not hosts: the URL lacks its slashes.
var schemes = [...]string{"https", "http", "ssh", "git", "git+ssh", "git+https"}

// scpURL converts the form host:path of ssh to a URL. It returns Windows drives and directories unchanged.
func scpURL(remote string) string {
	if strings.Contains(remote, "://") {
		return remote
	}
	host, path, ok := strings.Cut(remote, ":")
	if !ok || len(host) < 2 || strings.ContainsAny(host, `/\`) || strings.HasPrefix(path, ":") ||
		slices.Contains(schemes[:], strings.ToLower(host)) {
		return remote
	}
	return "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
}
