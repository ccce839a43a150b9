package git

import (
	"net/url"
	"slices"
	"strings"
)

// forges are the hosts whose repositories are read at the same path over HTTPS.
var forges = [...]string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com"}

// publicURL returns the URL of a repository as others may see it: without who asks for it (but for the user git, as
// whom everybody comes by SSH), queries and fragments, and for the known forges over HTTPS. It is "" for what is no
// URL, such as a directory of this machine, and for what is not understood: a password may stand anywhere in it.
func publicURL(remote string) string {
	remote = strings.TrimSpace(remote)
	u, err := url.Parse(scpURL(remote))
	if err != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsAny(remote, "\\") ||
		strings.ContainsAny(u.Path, "@:\\") {
		return ""
	}
	u.Scheme = strings.TrimPrefix(u.Scheme, "git+")
	public := &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: strings.TrimSuffix(u.Path, "/")}
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

// sshUser is whom forges let in by SSH, whoever it is.
const sshUser = "git"

// schemes are no hosts: what stands before the colon of a URL that lacks its slashes.
var schemes = [...]string{"https", "http", "ssh", "git", "git+ssh", "git+https"}

// scpURL writes host:path, as ssh knows it, as a URL. A drive of Windows and a directory are left as they are.
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
