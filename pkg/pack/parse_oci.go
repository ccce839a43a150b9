package pack

import (
	"regexp"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
)

// The grammar of the OCI distribution specification 1.1: repository names, tags, and the one digest algorithm in use.
var (
	ociRepository = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	})
	ociTag    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`) })
	ociDigest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })
)

// cutVersion splits text[:tag][@digest].
func cutVersion(s string) (text, tag, digest string, err error) {
	text, digest, pinned := strings.Cut(s, "@")
	if pinned && !ociDigest().MatchString(digest) {
		return "", "", "", diag.Errorf(diag.Usage, "what follows the @ is not a digest").
			WithHint("write @sha256: and 64 hexadecimal digits, or a tag as in :1.2.0")
	}
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, '/') {
		text, tag = text[:i], text[i+1:]
		if !ociTag().MatchString(tag) {
			return "", "", "", diag.Errorf(diag.Usage, "%q is not a tag of an OCI repository", tag)
		}
	}
	return text, tag, digest, nil
}

// parseOCI reads what follows oci://.
func parseOCI(rest string) (Ref, error) {
	host, path, ok := strings.Cut(rest, "/")
	if strings.Contains(host, "@") {
		return Ref{}, credentialError()
	}
	if !ok || path == "" {
		return Ref{}, diag.Errorf(diag.Usage, "oci:// needs a host and a repository").WithHint("write oci://host/repository")
	}
	host, err := canonicalHost(host, "443")
	if err != nil {
		return Ref{}, err
	}
	if strings.ContainsAny(path, "?#") {
		return Ref{}, diag.Errorf(diag.Usage, "an OCI place has no query and no fragment").WithHint("write the version as :tag or @sha256:…")
	}
	repository, tag, digest, err := cutVersion(path)
	if err != nil {
		return Ref{}, err
	}
	if !ociRepository().MatchString(repository) {
		return Ref{}, diag.Errorf(diag.Usage, "%q is not the name of an OCI repository", repository).
			WithHint("repositories are lower-case letters and digits, separated by . _ - and /")
	}
	return Ref{Kind: KindOCI, URL: "oci://" + host + "/" + repository, Rev: tag, Digest: digest}, nil
}

// parseLayout reads what follows oci-layout:. The pack may be left out, for a layout as a whole.
func parseLayout(rest string) (Ref, error) {
	dir, pack := rest, ""
	if i := strings.LastIndex(rest, "//"); i >= 0 {
		dir, pack = rest[:i], rest[i+2:]
	}
	if dir == "" || strings.Contains(dir, "//") {
		return Ref{}, diag.Errorf(diag.Usage, "oci-layout: needs one directory").WithHint("write oci-layout:DIR//owner/name")
	}
	if len(dir) > 1 {
		dir = strings.TrimSuffix(dir, "/")
	}
	ref := Ref{Kind: KindLayout, URL: dir}
	if pack == "" {
		return ref, nil
	}
	stored, err := parseStored(KindLayout, pack)
	stored.URL = dir
	return stored, err
}

// parseStored reads owner/name[:tag][@digest], a pack in a layout.
func parseStored(kind Kind, s string) (Ref, error) {
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
