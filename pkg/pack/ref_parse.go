package pack

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxRef is the greatest length of a reference in bytes.
const maxRef = 4096

// schemes maps each prefix to its parser. Prefixes that no source may have are here too, so that their errors give a
// reason.
var schemes = []struct {
	prefix string
	parse  func(rest string) (Ref, error)
}{
	{"oci://", parseOCI},
	{"oci-layout:", parseLayout},
	{"git+https://", func(rest string) (Ref, error) { return parseGit("https", rest) }},
	{"git+ssh://", func(rest string) (Ref, error) { return parseGit("ssh", rest) }},
	{"git+http://", func(rest string) (Ref, error) { return parseGit("http", rest) }},
	{"git+file://", parseGitFile},
	{"ssh://", func(rest string) (Ref, error) { return parseGit("ssh", rest) }},
	{"https://", func(rest string) (Ref, error) { return parseWebURL("https", rest) }},
	{"http://", func(rest string) (Ref, error) { return parseWebURL("http", rest) }},
	{websitePrefix + "https://", func(rest string) (Ref, error) { return parseWebsite("https", rest) }},
	{websitePrefix + "http://", func(rest string) (Ref, error) { return parseWebsite("http", rest) }},
	{"clawhub+https://", hubScheme(KindClawHub, "https")},
	{"clawhub+http://", hubScheme(KindClawHub, "http")},
	{"apm+https://", hubScheme(KindAPM, "https")},
	{"apm+http://", hubScheme(KindAPM, "http")},
	{"local:", func(rest string) (Ref, error) { return parseInLayout(KindLocal, rest) }},
	{"embedded:", func(rest string) (Ref, error) { return parseInLayout(KindEmbedded, rest) }},
	{"path:", parsePathScheme},
	{"file://", rejectScheme("file:// is not a source of packs",
		"use the path of the directory, or git+file:// and the path of a repository")},
	{"file:", parsePathScheme},
	{"git://", rejectScheme("the git protocol is not encrypted", "use git+https:// or git+ssh://")},
	{"ext::", rejectScheme("ext:: runs commands and is not a source of packs", "use git+https:// or git+ssh://")},
	{"fd::", rejectScheme("fd:: is not a source of packs", "use git+https:// or git+ssh://")},
}

// rejectScheme returns a parser that fails with a reason.
func rejectScheme(reason, hint string) func(string) (Ref, error) {
	return func(string) (Ref, error) { return Ref{}, diag.Errorf(diag.Usage, "%s", reason).WithHint("%s", hint) }
}

// Parse parses a reference as a user writes it:
//
//	owner/name[@constraint]
//	oci://host/repository[:tag][@sha256:…]
//	oci-layout:DIR[//owner/name[:tag][@sha256:…]]
//	git+https://host/path[//subdir][#rev]     git+ssh:// and, for repositories on this machine, git+file:// alike
//	https://host/path.git[//subdir][#rev]
//	git@host:path[//subdir][#rev]
//	github.com/owner/name[//subdir][#rev]     and the other hosts in [Forges]
//	https://host[/path]                       a website that publishes skills under /.well-known/
//	well-known+https://host[/path]            the same, as lockfiles have it
//	./dir  ../dir  /dir  C:\dir  path:dir
//
// Plain http is only accepted for loopback hosts (http://localhost:8080/r.git). Credentials in a URL, control
// characters, hosts and revisions that look like options, and subdirectories that lead outside are errors of code
// [diag.Usage]. No error repeats a credential.
func Parse(s string) (Ref, error) {
	s = strings.TrimSpace(s)
	if err := checkText(s); err != nil {
		return Ref{}, err
	}
	for _, scheme := range schemes {
		if len(s) >= len(scheme.prefix) && strings.EqualFold(s[:len(scheme.prefix)], scheme.prefix) {
			return scheme.parse(s[len(scheme.prefix):])
		}
	}
	switch {
	case isPath(s):
		return Ref{Kind: KindPath, URL: s}, nil
	case strings.HasPrefix(s, "~"):
		return Ref{}, diag.Errorf(diag.Usage, "cannot expand the home directory in %q", s).
			WithHint("use an absolute path, or a relative path that starts with ./")
	case strings.Contains(s, "://") || strings.Contains(s, "::"):
		return Ref{}, diag.Errorf(diag.Usage, "the source has an unknown scheme").
			WithHint("use owner/name, oci://, oci-layout:, https://, git+https://, git+ssh://, or ./directory")
	case userPassword().MatchString(s):
		return Ref{}, credentialError()
	case scpForm().MatchString(s):
		return parseSCP(s)
	case forgeOf(s) != "":
		return parseGit("https", s)
	}
	return parseName(s)
}

// checkText rejects what no reference may contain, whatever its kind.
func checkText(s string) error {
	switch {
	case s == "":
		return diag.Errorf(diag.Usage, "the source is empty").WithHint("use owner/name, such as acme/deploy")
	case len(s) > maxRef:
		return diag.Errorf(diag.Usage, "the source has %d bytes; the limit is %d", len(s), maxRef)
	case !utf8.ValidString(s):
		return diag.Errorf(diag.Usage, "the source is not valid UTF-8")
	case strings.HasPrefix(s, "-"):
		return diag.Errorf(diag.Usage, "%q is neither a pack nor a known flag", s)
	}
	for _, r := range s {
		if isInvisible(r) {
			return diag.Errorf(diag.Usage, "the source contains the invisible character %U", r)
		}
	}
	return nil
}

// isInvisible reports whether a character can control a terminal, or make a text look like another one.
func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == '\ufeff' ||
		r == '\u200b'
}

// parseName parses owner/name[@constraint].
func parseName(s string) (Ref, error) {
	if name, ok := strings.CutPrefix(s, "@"); ok { // as npm writes names
		if ref, err := parseName(name); err == nil {
			return Ref{}, diag.Errorf(diag.Usage, "invalid pack name %q", s).WithHint("use %s, without the @", ref)
		}
	}
	text, constraint, versioned := strings.Cut(s, "@")
	if versioned && !strings.Contains(text, "/") && strings.Contains(constraint, "/") {
		return Ref{}, diag.Errorf(diag.Usage, "%q is a skill, not a pack", s).
			WithHint("use the pack name and --skill: %s --skill %s", constraint, text)
	}
	id, err := ParseID(text)
	if err != nil {
		return Ref{}, suggestForm(text, err)
	}
	constraint = strings.TrimSpace(constraint)
	switch {
	case !versioned, constraint == "latest":
		return Ref{Kind: KindName, ID: id, Constraint: constraint}, nil
	case constraint == "":
		return Ref{}, diag.Errorf(diag.Usage, "%q does not have a version after the @", s).
			WithHint("use %s, or a version such as %s@^1.2", id, id)
	}
	if _, err := semver.NewConstraint(constraint); err != nil {
		return Ref{}, diag.Errorf(diag.Usage, "invalid version or version range %q", constraint).
			WithHint("use %s@1.2.3, %s@^1.2, or %s@'>=1.2 <2'", id, id, id)
	}
	return Ref{Kind: KindName, ID: id, Constraint: constraint}, nil
}

// suggestForm returns the error for a text that is not a name, with a hint if it is nearly another form: with the
// version of an artifact, with a host, in capitals, or a directory.
func suggestForm(text string, err error) error {
	name, version, tagged := strings.Cut(text, ":")
	id, nameErr := ParseID(strings.ToLower(name))
	switch host, path, _ := strings.Cut(text, "/"); {
	case tagged && nameErr == nil && strings.HasPrefix(name, "localhost/"),
		strings.ContainsAny(host, ".:") && strings.Contains(path, "/"):
		if ref, err := parseOCI(text); err == nil {
			return diag.Errorf(diag.Usage, "%q does not have a scheme", text).WithHint("use %s for an OCI repository", ref)
		}
	case tagged && nameErr == nil && version != "":
		return diag.Errorf(diag.Usage, "%q does not have the form owner/name[@version]", text).
			WithHint("use %s@%s", id, version)
	case nameErr == nil && name == text:
		return diag.Errorf(diag.Usage, "%w", err).WithHint("use the lowercase name %s", id)
	case !strings.Contains(text, "/"):
		return diag.Errorf(diag.Usage, "%w", err).
			WithHint("use owner/name, such as acme/deploy, or ./%s for a directory", text)
	}
	return err
}

var windowsDrive = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:[\\/]`) })

// isPath reports whether s starts like a directory: with ./, ../, a slash, a backslash or a drive.
func isPath(s string) bool {
	if s == "." || s == ".." || windowsDrive().MatchString(s) {
		return true
	}
	for _, prefix := range []string{"./", "../", `.\`, `..\`, "/", `\`} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// isAbs reports whether a directory is absolute on some operating system.
func isAbs(dir string) bool {
	return strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, `\`) || windowsDrive().MatchString(dir)
}

// parsePathScheme parses the directory after path: or file:.
func parsePathScheme(dir string) (Ref, error) {
	if dir == "" {
		return Ref{}, diag.Errorf(diag.Usage, "path: requires a directory").WithHint("use path:DIR or ./DIR")
	}
	if !isPath(dir) {
		dir = "./" + dir
	}
	return Ref{Kind: KindPath, URL: dir}, nil
}

// The grammar of the OCI distribution specification 1.1: repository names, tags, and the one digest algorithm in use.
var (
	ociRepository = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	})
	ociTag = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	})
	ociDigest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })
)

// cutVersion splits text[:tag][@digest].
func cutVersion(s string) (text, tag, digest string, err error) {
	text, digest, pinned := strings.Cut(s, "@")
	if pinned && !IsDigest(digest) {
		return "", "", "", diag.Errorf(diag.Usage, "invalid digest %q in %s", digest, s).
			WithHint("use a tag such as :1.2.0, or @sha256: and 64 hexadecimal digits; " +
				"for a version range, install the pack by name: OWNER/NAME@RANGE")
	}
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, '/') {
		text, tag = text[:i], text[i+1:]
		if !ociTag().MatchString(tag) {
			return "", "", "", diag.Errorf(diag.Usage, "invalid tag %q", tag).
				WithHint("use at most 128 letters, digits, dots, hyphens, and underscores")
		}
	}
	return text, tag, digest, nil
}

// parseOCI parses what follows oci://.
func parseOCI(rest string) (Ref, error) {
	host, path, ok := strings.Cut(rest, "/")
	if strings.Contains(host, "@") {
		return Ref{}, credentialError()
	}
	if !ok || path == "" {
		return Ref{}, diag.Errorf(diag.Usage, "oci:// requires a registry and a repository").
			WithHint("use oci://REGISTRY/REPOSITORY")
	}
	host, err := canonicalHost(host, "443")
	if err != nil {
		return Ref{}, err
	}
	if strings.ContainsAny(path, "?#") {
		return Ref{}, diag.Errorf(diag.Usage, "an OCI source must not contain a query or fragment").
			WithHint("use :TAG or @sha256:… for the version")
	}
	repository, tag, digest, err := cutVersion(path)
	if err != nil {
		return Ref{}, err
	}
	if !ociRepository().MatchString(repository) {
		return Ref{}, diag.Errorf(diag.Usage, "invalid OCI repository %q", repository).
			WithHint("use lowercase letters and digits, separated by ., _, -, or /")
	}
	return Ref{Kind: KindOCI, URL: "oci://" + host + "/" + repository, Rev: tag, Digest: digest}, nil
}

// parseLayout parses what follows oci-layout:. Without a pack it is the whole layout.
func parseLayout(rest string) (Ref, error) {
	dir, pack := rest, ""
	if i := strings.LastIndex(rest, "//"); i >= 0 {
		dir, pack = rest[:i], rest[i+2:]
	}
	if dir == "" || strings.Contains(dir, "//") {
		return Ref{}, diag.Errorf(diag.Usage, "the source does not contain exactly one directory after oci-layout:").
			WithHint("write oci-layout:DIR//owner/name")
	}
	if len(dir) > 1 {
		dir = strings.TrimSuffix(dir, "/")
	}
	if pack == "" {
		return Ref{Kind: KindLayout, URL: dir}, nil
	}
	ref, err := parseInLayout(KindLayout, pack)
	ref.URL = dir
	return ref, err
}

// parseInLayout parses owner/name[:tag][@digest], a pack in a layout.
func parseInLayout(kind Kind, s string) (Ref, error) {
	text, tag, digest, err := cutVersion(s)
	if err != nil {
		return Ref{}, err
	}
	id, err := ParseID(text)
	if err != nil {
		return Ref{}, err
	}
	return Ref{Kind: kind, ID: id, Rev: tag, Digest: digest}, nil
}
