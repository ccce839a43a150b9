package lsp

import (
	"net/url"
	"path"
	"strings"

	"go.lsp.dev/protocol"
)

// Paths in this package are absolute and have slashes on every system: /home/me/x, C:/x, //server/share/x.

// pathOf returns the path of a file URI, "" for other URIs. windows says that paths may start with a drive or a server.
func pathOf(uri protocol.DocumentURI, windows bool) string {
	u, err := url.Parse(string(uri))
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	remote := u.Host != "" && !strings.EqualFold(u.Host, "localhost")
	if !windows {
		if remote || u.Path[0] != '/' {
			return ""
		}
		return path.Clean(u.Path)
	}
	p := path.Clean("/" + strings.ReplaceAll(u.Path, `\`, "/"))
	switch {
	case remote && !strings.ContainsAny(u.Host, `/\:@`):
		return "//" + u.Host + p
	case !remote && hasDrive(p[1:]):
		return cleanDrive(p[1:])
	}
	return ""
}

// slashed returns a path of the system as this package writes paths.
func slashed(p string, windows bool) string {
	if windows {
		if p = strings.ReplaceAll(p, `\`, "/"); hasDrive(p) {
			return cleanDrive(p)
		}
		if strings.HasPrefix(p, "//") {
			return "/" + path.Clean(p[1:])
		}
	}
	return path.Clean(p)
}

func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') && (len(p) == 2 || p[2] == '/')
}

// cleanDrive writes the drive's letter in upper case, since clients differ in it.
func cleanDrive(p string) string {
	return strings.ToUpper(p[:2]) + path.Clean("/"+p[2:])
}

// uriOf returns the file URI of a path.
func uriOf(p string) protocol.DocumentURI {
	u := url.URL{Scheme: "file", Path: p}
	switch {
	case hasDrive(p):
		u.Path = "/" + p
	case strings.HasPrefix(p, "//"):
		u.Host, u.Path, _ = strings.Cut(p[2:], "/")
		u.Path = "/" + u.Path
	}
	return protocol.DocumentURI(u.String())
}

// split takes a path apart: the root of its volume, as / or C:/ or //server/share/, and the rest as package fs writes
// it.
func split(p string) (root, name string) {
	n := 1
	switch {
	case hasDrive(p):
		n = min(3, len(p))
	case strings.HasPrefix(p, "//"):
		n = len(p)
		if parts := strings.SplitN(p[2:], "/", 3); len(parts) == 3 {
			n = len(p) - len(parts[2])
		}
	}
	if name = p[n:]; name == "" {
		name = "."
	}
	return strings.TrimSuffix(p[:n], "/") + "/", name
}

// below returns the path relative to a directory; ok is false when it is not inside of it.
func below(dir, p string) (rel string, ok bool) {
	if p == dir {
		return ".", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// absolute reports whether a path is one as this package writes them.
func absolute(p string) bool { return strings.HasPrefix(p, "/") || hasDrive(p) }
