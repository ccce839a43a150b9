package tool

import (
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// maxAddress is the maximum length of an address that is matched, in bytes.
const maxAddress = 8 << 10

// addresses parses the URLs in texts. It returns false if one is ambiguous.
func addresses(texts []string) (out []string, ok bool) {
	for _, text := range texts {
		for f := range strings.FieldsSeq(text) {
			switch strings.Count(f, "://") {
			case 0:
			case 1:
				out = append(out, strings.Trim(f, `"'<>()[],.;`))
			default:
				return nil, false
			}
		}
	}
	return out, true
}

// readAddress parses a web URL, or returns why it cannot be matched.
func readAddress(text string) (u *url.URL, refused string) {
	if len(text) > maxAddress {
		return nil, "is too long"
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == '\\' || c >= utf8.RuneSelf || c == 0x7f {
			return nil, "contains characters that are not allowed in a URL"
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, "is not a URL"
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, "is not an http or https URL"
	case u.User != nil:
		return nil, "contains a user name"
	case u.Hostname() == "":
		return nil, "does not contain a host name"
	}
	return u, ""
}

// allowsAddress reports whether a pattern allows a URL: domain:example.com is that host, domain:*.example.com its
// subdomains, and https://example.com/docs/* a prefix.
func allowsAddress(pattern, text string) bool {
	u, refused := readAddress(text)
	if refused != "" {
		return false
	}
	if strings.Contains(pattern, "://") {
		return allowsPrefix(pattern, u)
	}
	pattern = strings.ToLower(strings.TrimPrefix(pattern, "domain:"))
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if port := u.Port(); port != "" && !(u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80") {
		host += ":" + port
	}
	if below, ok := strings.CutPrefix(pattern, "*."); ok {
		return strings.HasSuffix(host, "."+below) && !strings.Contains(below, "*")
	}
	return pattern == "*" || pattern == host
}

// allowsPrefix matches a URL against a pattern that is a URL and may end in *.
func allowsPrefix(pattern string, u *url.URL) bool {
	text, prefix := strings.CutSuffix(pattern, "*")
	p, refused := readAddress(text)
	if refused != "" || strings.Contains(text, "*") || p.Scheme != u.Scheme || !strings.EqualFold(p.Host, u.Host) {
		return false
	}
	urlPath := u.Path
	if cleaned := path.Clean("/" + urlPath); cleaned != urlPath && cleaned+"/" != urlPath && urlPath != "" {
		return false
	}
	if strings.Contains(strings.ToLower(u.EscapedPath()), "%2e") ||
		strings.Contains(strings.ToLower(u.EscapedPath()), "%2f") {
		return false
	}
	if prefix {
		return p.Path != "" && strings.HasPrefix(urlPath, p.Path)
	}
	return p.RequestURI() == u.RequestURI()
}
