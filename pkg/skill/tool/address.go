package tool

import (
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// maxAddress is how many bytes an address may have that patterns are held against.
const maxAddress = 8 << 10

// addresses returns the addresses in texts, false where something in one could be read as another one, too.
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

// readAddress parses an address of the web, or says why it is none that can be judged.
func readAddress(text string) (u *url.URL, refused string) {
	if len(text) > maxAddress {
		return nil, "is too long"
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == '\\' || c >= utf8.RuneSelf || c == 0x7f {
			return nil, "has characters that an address should not have"
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, "is no address"
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, "is no address of the web"
	case u.User != nil:
		return nil, "has a user before its host"
	case u.Hostname() == "":
		return nil, "has no host"
	}
	return u, ""
}

// allowsAddress reports whether a pattern allows an address: domain:example.com that host, domain:*.example.com those
// below it, https://example.com/docs/* what starts so.
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

// allowsPrefix holds an address against a pattern that is one itself, which may end in *.
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
