package pack

import (
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Forges returns the hosts whose repositories need no scheme and no .git in a reference. Their canonical URLs have
// both.
func Forges() []string { return []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"} }

var (
	scpForm      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^@/:\s]+@[^@/:\s]+:[^:]`) })
	userPassword = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^@/:]*:[^@]*@`) })
	sshUser      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`) })
	hostName     = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	})
	commit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}$`) })
)

// forgeOf returns the forge that s starts with, or "".
func forgeOf(s string) string {
	host, _, ok := strings.Cut(s, "/")
	if host = strings.ToLower(host); ok && slices.Contains(Forges(), host) {
		return host
	}
	return ""
}

// parseWebURL parses what follows a bare https:// or http://, which is a repository if it ends in .git or is on a
// forge, and otherwise a website that publishes skills.
func parseWebURL(scheme, rest string) (Ref, error) {
	repository, _, _ := strings.Cut(rest, "#")
	repository, _, _ = strings.Cut(repository, "//")
	if _, _, hasUser := cutUser(rest); !hasUser && forgeOf(rest) == "" &&
		!strings.HasSuffix(strings.TrimSuffix(repository, "/"), ".git") {
		return parseWebsite(scheme, rest)
	}
	return parseGit(scheme, rest)
}

// parseSCP parses user@host:path.
func parseSCP(s string) (Ref, error) {
	host, rest, _ := strings.Cut(s, ":")
	return parseGit("ssh", host+"/"+strings.TrimPrefix(rest, "/"))
}

// parseGitFile parses what follows git+file://, which is an absolute path.
func parseGitFile(rest string) (Ref, error) {
	if !strings.HasPrefix(rest, "/") {
		return Ref{}, diag.Errorf(diag.Usage, "git+file:// requires an absolute path").
			WithHint("write git+file:///path/of/repository")
	}
	return parseRepository("file:///", rest[1:])
}

// parseGit parses what follows the scheme of a repository on a host.
func parseGit(scheme, rest string) (Ref, error) {
	authority, rest, _ := strings.Cut(rest, "/")
	user, host, hasUser := cutUser(authority)
	switch {
	case scheme == "ssh" && !hasUser:
		user = "git"
	case scheme == "ssh" && !sshUser().MatchString(user), scheme != "ssh" && hasUser:
		return Ref{}, credentialError()
	}
	host, err := canonicalHost(host, map[string]string{"https": "443", "http": "80", "ssh": "22"}[scheme])
	if err != nil {
		return Ref{}, err
	}
	if scheme == "http" && !isLoopback(host) {
		return Ref{}, diag.Errorf(diag.Usage, "plain HTTP is not allowed for packs").
			WithHint("write git+https://%s/…", host)
	}
	if user != "" {
		user += "@"
	}
	ref, err := parseRepository(scheme+"://"+user+host+"/", rest)
	if err != nil || forgeOf(host+"/") == "" {
		return ref, err
	}
	return forgeRepository(ref, host)
}

// cutUser splits user@ from an authority.
func cutUser(s string) (user, host string, ok bool) {
	authority, _, _ := strings.Cut(s, "/")
	i := strings.LastIndexByte(authority, '@')
	if i < 0 {
		return "", authority, false
	}
	return authority[:i], authority[i+1:], true
}

// credentialError is the error for a URL with a credential, which it does not repeat.
func credentialError() error {
	return diag.Errorf(diag.Usage, "a source must not contain a user name or password").
		WithHint("remove the credentials from the URL, and use a git credential helper, .netrc, or \"skillpm login\"")
}

// canonicalHost lowercases a host, checks it, and drops the scheme's default port.
func canonicalHost(s, defaultPort string) (string, error) {
	host, port := cutPort(strings.ToLower(s))
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(host, "]") {
			return "", hostError(s)
		}
		host = "[" + addr.String() + "]"
	} else if len(host) > 253 || !hostName().MatchString(host) {
		return "", hostError(s)
	}
	if port == "" {
		return host, nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", diag.Errorf(diag.Usage, "the port of host %q is not a number from 1 to 65535", host)
	}
	if port = strconv.FormatUint(n, 10); port == defaultPort {
		return host, nil
	}
	return host + ":" + port, nil
}

// cutPort splits host:port. The host may be an IPv6 address in brackets, which stay.
func cutPort(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i < strings.LastIndexByte(s, ']') || strings.Contains(s[:i], ":") && !strings.HasPrefix(s, "[") {
		return s, ""
	}
	return s[:i], s[i+1:]
}

// hostError is the error for an invalid host. It leaves out what follows a colon, which may be a password with a slash.
func hostError(s string) error {
	s, _, _ = strings.Cut(s, ":")
	if s == "" {
		return diag.Errorf(diag.Usage, "the source does not contain a host").
			WithHint("write the host after the scheme, such as git+https://git.example/acme/tools")
	}
	return diag.Errorf(diag.Usage, "invalid host %q", s).
		WithHint("use a name such as git.example, or an IPv6 address in brackets")
}

// isLoopback reports whether a host, with or without a port, is a loopback address.
func isLoopback(hostport string) bool {
	host, _ := cutPort(hostport)
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}

// parseRepository parses path[//subdir][#rev], which follows base and its slash.
func parseRepository(base, rest string) (Ref, error) {
	location, rev, hasRev := strings.Cut(rest, "#")
	if strings.Contains(location, "?") {
		return Ref{}, diag.Errorf(diag.Usage, "a repository URL must not contain a query").
			WithHint("use #REVISION for a revision, such as #v1.2.0")
	}
	if err := CheckRev(rev); hasRev && err != nil {
		return Ref{}, err
	}
	repository, subdir, _ := strings.Cut(location, "//")
	subdir, err := cleanSubdir(subdir)
	if err != nil {
		return Ref{}, err
	}
	repository, err = canonicalPath(repository)
	if err != nil {
		return Ref{}, err
	}
	return Ref{Kind: KindGit, URL: base + repository, Subdir: subdir, Rev: rev}, nil
}

// canonicalPath checks the path of a repository and returns its canonical escaped form.
func canonicalPath(s string) (string, error) {
	s = strings.TrimSuffix(s, "/")
	decoded, err := url.PathUnescape(s)
	if err != nil || !utf8.ValidString(decoded) || strings.Contains(strings.ToLower(s), "%2f") {
		return "", diag.Errorf(diag.Usage, "the repository path %q has an invalid percent-encoded character", s)
	}
	for i, part := range strings.Split(decoded, "/") {
		option := strings.HasPrefix(part, "-") && (i == 0 || part != "-")
		if option || part == "" || part == "." || part == ".." || strings.Contains(part, `\`) ||
			strings.TrimSpace(part) != part {
			return "", diag.Errorf(diag.Usage, "invalid repository path %q", s).
				WithHint("use a path such as acme/tools, without .., backslashes, and spaces around names")
		}
	}
	if err := checkText(decoded); err != nil {
		return "", err
	}
	u := url.URL{Path: "/" + decoded}
	return u.EscapedPath()[1:], nil
}

// forgeRepository checks that a path on a forge can be a repository, and adds .git.
func forgeRepository(ref Ref, host string) (Ref, error) {
	base, name, _ := strings.Cut(ref.URL, host+"/")
	parts := strings.Split(name, "/")
	if len(parts) < 2 || parts[len(parts)-1] == "-" {
		return Ref{}, diag.Errorf(diag.Usage, "%s/%s is not a repository", host, name).
			WithHint("write %s/owner/name", host)
	}
	if i := slices.Index(parts, "tree"); i >= 2 && len(parts) > i+1 {
		repository := strings.Join(parts[:i], "/")
		repository = strings.TrimSuffix(repository, "/-")
		return Ref{}, diag.Errorf(diag.Usage, "%s/%s is a page, not a repository", host, name).
			WithHint("write %s/%s//%s#%s", host, repository, strings.Join(parts[i+2:], "/"), parts[i+1])
	}
	if host != "gitlab.com" && len(parts) > 2 {
		return Ref{}, diag.Errorf(diag.Usage, "%s/%s is not a repository", host, name).
			WithHint("use %s/%s/%s//%s for a directory of the repository", host, parts[0], parts[1],
				strings.Join(parts[2:], "/"))
	}
	if !strings.HasSuffix(name, ".git") {
		name += ".git"
	}
	ref.URL = base + host + "/" + name
	return ref, nil
}

// cleanSubdir returns the canonical form of a directory inside a source, "" for the source itself.
func cleanSubdir(s string) (string, error) {
	s = strings.Trim(s, "/")
	if s == "" {
		return "", nil
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == ".." {
			return "", diag.Errorf(diag.Usage, "subdirectory %q is outside the source", s)
		}
		if strings.Contains(part, `\`) || strings.EqualFold(part, ".git") || strings.TrimSpace(part) != part {
			return "", diag.Errorf(diag.Usage, "subdirectory %q contains a backslash, .git, or a space around a name", s)
		}
	}
	if s = path.Clean(s); s == "." {
		return "", nil
	}
	return s, nil
}

// CheckRev checks that rev can name a tag, branch or commit, by the rules of git-check-ref-format(1). It rejects a
// leading hyphen, because a git command would read an option.
func CheckRev(rev string) error {
	bad := rev == "" || len(rev) > 255 || rev == "@" || strings.HasPrefix(rev, "-") || strings.HasSuffix(rev, ".") ||
		strings.ContainsAny(rev, " ~^:?*[\\\x7f") || strings.Contains(rev, "..") || strings.Contains(rev, "@{")
	for part := range strings.SplitSeq(rev, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad || checkText(rev) != nil {
		return diag.Errorf(diag.Usage, "invalid tag, branch, or commit %q", rev).
			WithHint("use a name that git allows, such as v1.2.0 or main")
	}
	return nil
}
