package policy

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// sourceLocation is a parsed source in normal form, so that different spellings of one source compare equal: hosts are
// lowercase and without the default port, paths are decoded, and there are no users, revisions, and digests.
type sourceLocation struct {
	text   string // as the lockfile writes it, for messages
	scheme string // oci, git+https, git+ssh, git+http, or a word for sources on this machine
	host   string // "" for sources on this machine
	port   string // "" for the default
	path   []string
	dir    []string // directory in a repository
}

// localSchemes returns the schemes of sources on this machine.
func localSchemes() []string { return []string{"local", "embedded", "path", "oci-layout", "git+file"} }

// parseSource parses a source in the spelling of users, lockfiles, or manifests. Revisions are dropped.
func parseSource(text string) (sourceLocation, error) {
	text = strings.TrimSpace(text)
	if word := localScheme(text); word != "" {
		return sourceLocation{text: word, scheme: word}, nil
	}
	ref, err := pack.Parse(text)
	if err != nil {
		return sourceLocation{}, err
	}
	if word := localScheme(ref.Source()); word != "" {
		return sourceLocation{text: word, scheme: word}, nil
	}
	return parseCanonical(ref.Source())
}

// localScheme returns the scheme of a source on this machine, "" for other sources.
func localScheme(text string) string {
	word, _, _ := strings.Cut(text, ":")
	word, _, _ = strings.Cut(word, "//")
	if slices.Contains(localSchemes(), word) {
		return word
	}
	return ""
}

// parseCanonical parses the output of [pack.Ref.Source].
func parseCanonical(text string) (sourceLocation, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return sourceLocation{}, diag.Errorf(diag.Usage, "%q is not the source of a pack", text)
	}
	p := sourceLocation{text: text, scheme: scheme}
	authority, rest, _ := strings.Cut(rest, "/")
	p.host, p.port = cutPort(authority)
	if p.port == defaultPort(scheme) {
		p.port = ""
	}
	path, dir, _ := strings.Cut(rest, "//")
	var err error
	if p.path, err = decodePath(path); err != nil {
		return sourceLocation{}, err
	}
	if dir != "" { // directories are not percent-encoded
		p.dir = strings.Split(dir, "/")
	}
	return p, nil
}

// decodePath splits a path and removes percent-encoding.
func decodePath(path string) ([]string, error) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		decoded, err := url.PathUnescape(part)
		if err != nil {
			return nil, diag.Errorf(diag.Usage, "%q is not the path of a repository", path)
		}
		parts[i] = decoded
	}
	return parts, nil
}

// cutPort splits host:port. The host may be an IPv6 address in brackets.
func cutPort(authority string) (host, port string) {
	i := strings.LastIndexByte(authority, ':')
	if i < 0 || i < strings.LastIndexByte(authority, ']') {
		return authority, ""
	}
	return authority[:i], authority[i+1:]
}

func defaultPort(scheme string) string {
	switch {
	case scheme == "git+ssh":
		return "22"
	case strings.HasSuffix(scheme, "+http"):
		return "80"
	}
	return "443"
}

// canonicalHost returns one name for hosts that have several names or spellings.
func canonicalHost(host string) string {
	host = strings.TrimSuffix(host, ".")
	if addr, ok := address(host); ok {
		return addr.String()
	}
	switch host {
	case "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com":
		return "docker.io"
	case "www.github.com", "ssh.github.com":
		return "github.com"
	case "www.gitlab.com", "altssh.gitlab.com":
		return "gitlab.com"
	case "www.bitbucket.org", "altssh.bitbucket.org":
		return "bitbucket.org"
	case "www.codeberg.org":
		return "codeberg.org"
	}
	return host
}

// address parses a host that is an IP address in any spelling. IPv4 addresses inside IPv6 ones, and the shortened and
// octal or hexadecimal forms that C libraries accept, become plain IPv4 addresses.
func address(host string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); err == nil {
		return unmapAddress(addr), true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32) // base 0 accepts more forms than C does
		more := strings.Contains(part, "_") || len(part) > 1 && strings.ContainsAny(part[1:2], "bBoO")
		last := i == len(parts)-1
		switch limit := uint64(1) << (8 * (5 - len(parts))); {
		case err != nil || more, last && n >= limit, !last && n > 255:
			return netip.Addr{}, false
		case last:
			sum = sum*limit + n
		default:
			sum = sum<<8 | n
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// unmapAddress returns the IPv4 address inside an IPv6 one, including the NAT64 prefix, else the address itself.
func unmapAddress(addr netip.Addr) netip.Addr {
	addr = addr.WithZone("").Unmap()
	if nat64 := netip.MustParsePrefix("64:ff9b::/96"); nat64.Contains(addr) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}
