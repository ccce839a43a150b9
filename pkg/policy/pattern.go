package policy

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
)

var (
	skillPattern = lazily(`^(` + barePart + `|(` + skillPart + `@)?` + skillPart + `/` + skillPart + `)$`)
	host         = lazily(`^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	port         = lazily(`^[1-9][0-9]{0,4}$`)
	ociPart      = lazily(`^[a-z0-9*][a-z0-9._*-]*$`)
	gitPart      = lazily(`^[A-Za-z0-9._~%+@*-]+$`)
)

const (
	skillPart = `[a-z0-9*]+(-[a-z0-9*]+)*`
	// A local skill may have any name that every system supports.
	barePart = `[^@/\\?"<>|\x00-\x20\x7f]([^@/\\?"<>|\x00-\x1f\x7f]*[^@/\\?"<>|\x00-\x20\x7f])?`
)

func isSkillPattern(s string) bool {
	return skillPattern().MatchString(s) && !strings.Contains(s, "**")
}

// skillHint suggests a pattern of skills for an invalid one.
func skillHint(s string) string {
	if skill, pack, ok := strings.Cut(s, "@"); ok && isSkillPattern(skill) && !strings.Contains(pack, "/") {
		return "add the owner of the pack, or write " + skill + "@*/" + pack + " for the packs of all owners"
	}
	return "use deploy, deploy@acme/tools, deploy@acme/*, acme/tools, or acme/*"
}

// checkSource returns what is wrong with a pattern of sources, and how to fix it. A pattern that lockfiles would spell
// differently would never match.
func checkSource(s string) (message, hint string) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return checkWord(s)
	}
	if remote, found := splitUser(rest); found {
		return "has a user name, which a source must not have", "write " + scheme + "://" + remote
	}
	if message, hint = checkScheme(scheme, rest); message != "" {
		return message, hint
	}
	authority, path, ok := strings.Cut(rest, "/")
	if message, hint = checkHost(scheme, authority, path); message != "" {
		return message, hint
	}
	if !ok || path == "" {
		return "does not have a path after the host",
			"write " + scheme + "://" + authority + "/** for every source on this host"
	}
	if message, hint = checkPath(scheme, path); message != "" {
		return message, hint
	}
	return checkForge(scheme, authority, path)
}

// withoutUser removes the user and password from a pattern for a message.
func withoutUser(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "", s
	} else {
		scheme += "://"
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		return scheme + "…" + rest[i:]
	}
	return s
}

// splitUser splits off a user name and a password, which may contain a slash.
func splitUser(rest string) (host string, found bool) {
	authority, _, _ := strings.Cut(rest, "/")
	_, digits, ported := strings.Cut(authority, ":")
	i := strings.LastIndexByte(rest, '@')
	if i < 0 || i > len(authority) && (!ported || port().MatchString(digits)) {
		return rest, false
	}
	return rest[i+1:], true
}

func checkWord(s string) (message, hint string) {
	words := []string{"local", "embedded", "path", "oci-layout", "git+file"}
	if slices.Contains(words, s) {
		return "", ""
	}
	hint = "use scheme://host/path, such as oci://registry.example/acme/**, or one of " + strings.Join(words, ", ")
	switch i, colon := strings.LastIndexByte(s, '@'), strings.LastIndexByte(s, ':'); {
	case i > 0 && colon > i:
		hint = "write git+ssh://" + s[i+1:colon] + "/" + strings.TrimPrefix(s[colon+1:], "/")
	case slices.Contains(pack.Forges(), strings.SplitN(s, "/", 2)[0]):
		hint = "write git+https://" + s
	}
	return "is not a source", hint
}

func checkScheme(scheme, rest string) (message, hint string) {
	switch scheme {
	case "oci", "git+https", "git+ssh", "well-known+https", "clawhub+https", "apm+https":
		return "", ""
	case "https", "ssh":
		return "has the unsupported scheme " + scheme,
			"write git+" + scheme + "://" + rest + ", or oci:// for a registry"
	}
	if lower := strings.ToLower(scheme); lower != scheme {
		return "has a scheme in upper case", "write " + lower + "://" + rest
	}
	return "has an unknown scheme", "use oci, git+https, git+ssh, well-known+https, clawhub+https, or apm+https"
}

func checkHost(scheme, authority, path string) (message, hint string) {
	name, digits := cutPort(authority)
	hasPort := len(name) < len(authority)
	defaultPort := map[string]string{"git+ssh": "22"}[scheme]
	if defaultPort == "" {
		defaultPort = "443"
	}
	if strings.HasPrefix(name, "[") {
		if message, hint = checkAddress(scheme, name, strings.TrimPrefix(authority, name), path); message != "" {
			return message, hint
		}
		name = "address.example"
	}
	switch n, err := strconv.ParseUint(digits, 10, 16); {
	case host().MatchString(strings.ToLower(name)) && strings.ToLower(name) != name:
		return "has a host in upper case", "write " + scheme + "://" + strings.ToLower(authority) + "/" + path
	case !host().MatchString(name) || len(name) > 253:
		return "has a missing or invalid host",
			"use a name such as registry.example, or *.registry.example for all its subdomains"
	case hasPort && (err != nil || !port().MatchString(digits)):
		return "has an invalid port", "write a port number from 1 to 65535 after the colon"
	case hasPort && strconv.FormatUint(n, 10) == defaultPort:
		return "has the default port, but sources do not contain the default port",
			"write " + scheme + "://" + name + "/" + path
	}
	return "", ""
}

// checkAddress checks an IPv6 address in brackets, which must be spelled as in sources.
func checkAddress(scheme, name, port, path string) (message, hint string) {
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	switch ip := unmapAddress(addr); {
	case err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(name, "]"):
		return "has a missing or invalid host", "use brackets only for IPv6 addresses, such as [2001:db8::1]"
	case ip.Is4():
		return "has an IPv4 address within an IPv6 address", "write " + scheme + "://" + ip.String() + port + "/" + path
	case "["+addr.String()+"]" != name:
		return "has an address that is not in canonical form",
			"write " + scheme + "://[" + addr.String() + "]" + port + "/" + path
	}
	return "", ""
}

// checkPath checks the components of a path. A repository's path may continue with a directory after two slashes.
func checkPath(scheme, path string) (message, hint string) {
	part := ociPart
	if scheme != "oci" {
		part = gitPart
		if repository, dir, ok := strings.Cut(path, "//"); ok {
			if repository == "" || dir == "" {
				return "has an empty part in its path", "remove the extra slash"
			}
			path = repository + "/" + dir
		}
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch {
		case segment == "":
			return "has an empty part in its path", "remove the extra slash"
		case segment == "." || segment == "..":
			return "has . or .. in its path", "use a path without . and .."
		case strings.Contains(segment, "**") && segment != "**":
			return "has ** next to other characters", "write ** alone between slashes, or * within a part"
		case scheme == "oci" && strings.ToLower(segment) != segment:
			return "has uppercase letters in its path, which OCI repositories do not allow",
				"write the path in lower case"
		case !part().MatchString(segment):
			return "has invalid characters in its path: " + strconv.Quote(segment),
				"use the path from the lockfile, with * and ** as wildcards"
		}
	}
	return "", ""
}

// checkForge checks that repositories on forges end with .git, as their sources do.
func checkForge(scheme, authority, path string) (message, hint string) {
	if scheme == "oci" || !slices.Contains(pack.Forges(), authority) {
		return "", ""
	}
	repository, _, _ := strings.Cut(path, "//")
	last := repository[strings.LastIndexByte(repository, '/')+1:]
	if strings.Contains(last, "*") || strings.HasSuffix(last, ".git") {
		return "", ""
	}
	reference := scheme + "://" + authority + "/" + repository
	return "does not end with .git, but repositories on " + authority + " do",
		"write " + reference + ".git, or " + reference + "/** for everything below this path"
}
