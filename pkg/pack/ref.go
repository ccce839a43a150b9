package pack

import (
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Kind is the kind of source that a [Ref] names.
type Kind string

// The kinds of source.
const (
	KindName     Kind = "name"       // owner/name, looked up in a registry
	KindOCI      Kind = "oci"        // a repository of an OCI registry
	KindLayout   Kind = "oci-layout" // an OCI image layout directory
	KindGit      Kind = "git"        // a git repository
	KindPath     Kind = "path"       // a directory
	KindWebsite  Kind = "well-known" // a website that publishes skills under /.well-known/
	KindClawHub  Kind = "clawhub"    // a registry with the API of ClawHub
	KindAPM      Kind = "apm"        // a registry with the API of apm
	KindLocal    Kind = "local"      // the user's own published layout
	KindEmbedded Kind = "embedded"   // the layout inside the binary
)

// Ref names the source of a pack. Refs are comparable.
type Ref struct {
	Kind       Kind
	ID         ID     // name, oci-layout, local, embedded, clawhub, apm: which pack
	Constraint string // name: the semver range after @, or "latest"; "" for any
	// oci: "oci://host/repository"; git: "https://…" or "ssh://…"; oci-layout, path: the directory as written;
	// well-known: "https://host/path", what precedes /.well-known/; clawhub and apm: the base of the API
	URL    string
	Subdir string // a directory inside the source, slash-separated and clean
	Rev    string // git: a tag, branch or commit; oci and oci-layout: a tag; clawhub and apm: a version
	// oci, layouts, and well-known: "sha256:…"; git: the commit in 40 hex digits; "" until the source is pinned
	Digest string
}

// String returns the source as a user writes it, which [Parse] reads. A pinned git source shows the commit only if it
// has no revision.
func (r Ref) String() string {
	switch r.Kind {
	case KindName:
		if r.Constraint == "" {
			return r.ID.String()
		}
		return r.ID.String() + "@" + r.Constraint
	case KindOCI:
		return r.URL + r.version()
	case KindLayout:
		if r.ID.IsZero() {
			return "oci-layout:" + r.URL
		}
		return "oci-layout:" + r.URL + "//" + r.ID.String() + r.version()
	case KindGit:
		s := "git+" + r.URL + r.subdir()
		if rev := r.Rev; rev != "" {
			return s + "#" + rev
		} else if r.Digest != "" {
			return s + "#" + r.Digest
		}
		return s
	case KindWebsite:
		return websitePrefix + r.URL
	case KindClawHub, KindAPM:
		return r.Source() + r.version()
	case KindLocal, KindEmbedded:
		return string(r.Kind) + ":" + r.ID.String() + r.version()
	default:
		return r.URL
	}
}

func (r Ref) version() string {
	var s string
	if r.Rev != "" {
		s = ":" + r.Rev
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

func (r Ref) subdir() string {
	if r.Subdir == "" {
		return ""
	}
	return "//" + r.Subdir
}

// Source returns what a lockfile records of the source: no revision, digest, user name, or path of this machine.
//
//	oci://host/repository    git+https://host/path//subdir    well-known+https://host/path    local    embedded
//	clawhub+https://host/path//owner/name    apm+https://host/path//owner/name
//	path:REL and oci-layout:REL for relative directories, path, oci-layout and git+file for absolute ones
//
// It is "" for a [KindName].
func (r Ref) Source() string {
	switch r.Kind {
	case KindOCI:
		return r.URL
	case KindGit:
		if strings.HasPrefix(r.URL, "file:") || r.URL == "" {
			return "git+file" + r.subdir()
		}
		scheme, rest, _ := strings.Cut(r.URL, "://")
		if user, _, ok := cutUser(rest); ok {
			rest = rest[len(user)+1:]
		}
		return "git+" + scheme + "://" + rest + r.subdir()
	case KindPath, KindLayout:
		if r.URL == "" || isAbs(r.URL) {
			return string(r.Kind)
		}
		return string(r.Kind) + ":" + path.Clean(strings.ReplaceAll(r.URL, `\`, "/"))
	case KindWebsite:
		return websitePrefix + r.URL
	case KindClawHub, KindAPM:
		return string(r.Kind) + "+" + r.URL + "//" + r.ID.String()
	case KindLocal, KindEmbedded:
		return string(r.Kind)
	default:
		return ""
	}
}

// DefaultBranch is the revision of a pack from the default branch of a git repository without releases. Lockfiles
// record it, because the content of a release must not change, but the content of a default branch does.
const DefaultBranch = "HEAD"

// Locked returns what a lockfile records of the source of a version: [Ref.Source], and the revision unless it repeats
// the version. So a branch or a moving tag is part of the lockfile.
func (r Ref) Locked(version string) string {
	s := r.Source()
	if v, ok := VersionFromTag(r.Rev, r.ID.Name); r.Rev == "" || r.Rev == version || ok && v == version {
		return s
	}
	switch r.Kind {
	case KindGit:
		return s + "#" + r.Rev
	case KindOCI:
		return s + ":" + r.Rev
	default:
		return s
	}
}

// defaultBranch returns what a lockfile records of the default branch of a source; "" if it is not in git.
func (r Ref) defaultBranch() string {
	if r.Kind != KindGit {
		return ""
	}
	return r.Source() + "#" + DefaultBranch
}

// IsCommit reports whether a revision is the full ID of a commit.
func IsCommit(rev string) bool { return commit().MatchString(rev) }

// IsDigest reports whether a text is the digest of an artifact: sha256: and 64 hexadecimal digits.
func IsDigest(text string) bool { return ociDigest().MatchString(text) }

// ParseLocked returns the pinned source that a lockfile records for a pack: the inverse of [Ref.Locked], with resolved
// as its digest or commit. The URL of an absolute directory is empty, because only the manifest has it. Errors have
// code [diag.Invalid].
func ParseLocked(source, resolved string, id ID) (Ref, error) {
	address, rev := cutRev(source)
	ref, err := parseSource(address, id)
	if err == nil && rev != "" {
		err = CheckRev(rev)
	}
	if err != nil {
		return Ref{}, diag.Errorf(diag.Invalid, "invalid source %q of %s: %w", source, id, err)
	}
	ref.Rev = rev
	switch {
	case ref.Kind == KindGit && !commit().MatchString(resolved):
		return Ref{}, diag.Errorf(diag.Invalid, "invalid commit %q of %s: use 40 hexadecimal digits", resolved,
			id)
	case ref.Kind == KindPath && resolved != "":
		return Ref{}, diag.Errorf(diag.Invalid,
			"%s must not have the revision %q, because its source is a directory", id, resolved)
	case ref.Kind != KindGit && ref.Kind != KindPath && !IsDigest(resolved):
		return Ref{}, diag.Errorf(diag.Invalid, "invalid digest %q of %s: use sha256: and 64 hexadecimal digits",
			resolved, id)
	}
	ref.Digest = resolved
	return ref, nil
}

// cutRev splits the revision off a locked source.
func cutRev(source string) (address, rev string) {
	switch {
	case strings.HasPrefix(source, "git+"):
		address, rev, _ = strings.Cut(source, "#")
		return address, rev
	case strings.HasPrefix(source, "oci://"):
		if i := strings.LastIndexByte(source, ':'); i > strings.LastIndexByte(source, '/') &&
			strings.Count(source, "/") > 2 {
			return source[:i], source[i+1:]
		}
	}
	return source, ""
}

// parseSource reads the forms that Source writes.
func parseSource(s string, id ID) (Ref, error) {
	kind, rest, split := strings.Cut(s, ":")
	switch {
	case !split && (s == string(KindLocal) || s == string(KindEmbedded)):
		return Ref{Kind: Kind(s), ID: id}, nil
	case !split && s == string(KindPath):
		return Ref{Kind: KindPath}, nil
	case !split && s == string(KindLayout):
		return Ref{Kind: KindLayout, ID: id}, nil
	case s == "git+file" || strings.HasPrefix(s, "git+file//"):
		subdir, err := cleanSubdir(strings.TrimPrefix(s, "git+file"))
		return Ref{Kind: KindGit, Subdir: subdir}, err
	case kind == string(KindPath) || kind == string(KindLayout):
		if rest == "" || isAbs(rest) || checkText(rest) != nil {
			return Ref{}, diag.Errorf(diag.Invalid, "use a relative directory")
		}
		ref, err := parsePathScheme(path.Clean(rest))
		if kind == string(KindLayout) {
			ref.Kind, ref.ID = KindLayout, id
		}
		return ref, err
	}
	ref, err := Parse(s)
	if err != nil {
		return Ref{}, err
	}
	if ref.Source() != s {
		return Ref{}, diag.Errorf(diag.Invalid, "use the canonical form %s", ref.Source())
	}
	return ref, nil
}
