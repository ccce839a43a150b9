package pack

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// The longest parts of an [ID], in bytes.
const (
	MaxOwner = 39
	MaxName  = 64
)

var namePart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`) })

// windowsDevices are names that no directory can have on Windows.
var windowsDevices = []string{
	"con", "prn", "aux", "nul",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}

// ID identifies a pack, as owner/name.
type ID struct {
	Owner string
	Name  string
}

// String returns owner/name.
func (id ID) String() string { return id.Owner + "/" + id.Name }

// IsZero reports whether the id is empty.
func (id ID) IsZero() bool { return id == ID{} }

// Compare orders ids by their text.
func (id ID) Compare(other ID) int { return strings.Compare(id.String(), other.String()) }

// ParseID parses owner/name. Both parts are words of lowercase letters and digits joined by single hyphens, at most
// [MaxOwner] and [MaxName] bytes long, and not the names of Windows devices.
func ParseID(s string) (ID, error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok {
		return ID{}, diag.Errorf(diag.Usage, "invalid pack name %q", s).WithHint("use owner/name, such as acme/deploy")
	}
	if err := checkPart("owner", owner, MaxOwner); err != nil {
		if name, npm := strings.CutPrefix(s, "@"); npm && isID(name) {
			return ID{}, diag.Errorf(diag.Usage, "invalid pack name %q", s).WithHint("use %s, without the @", name)
		}
		return ID{}, err
	}
	if err := checkPart("name", name, MaxName); err != nil {
		return ID{}, err
	}
	return ID{Owner: owner, Name: name}, nil
}

// isID reports whether s has the form owner/name.
func isID(s string) bool {
	_, err := ParseID(s)
	return err == nil
}

func checkPart(part, s string, limit int) error {
	switch {
	case !namePart().MatchString(s):
		return diag.Errorf(diag.Usage, "pack %s %q may contain only lowercase letters, digits, and single hyphens",
			part, s)
	case len(s) > limit:
		return diag.Errorf(diag.Usage, "pack %s %q has %d characters; the limit is %d", part, s, len(s), limit)
	case slices.Contains(windowsDevices, s):
		return diag.Errorf(diag.Usage, "pack %s %q is a reserved name on Windows", part, s)
	}
	return nil
}

// DefaultID returns the id of a pack whose source has no skillpm.yaml: the last two segments of a repository's path, or
// local/<directory> for a directory. The name of a subdirectory replaces the second segment, and the host is the owner
// if the path has one segment. A website has its host and the last segment of its path, or "skills". A source that
// names a pack has that id. Illegal characters become hyphens.
func (r Ref) DefaultID() (ID, error) {
	switch r.Kind {
	case KindOCI, KindGit:
		owner, name := lastTwo(r.URL)
		if r.Subdir != "" {
			name = path.Base(r.Subdir)
		}
		if name == "" {
			break
		}
		return ID{Owner: slug(owner, MaxOwner), Name: slug(name, MaxName)}, nil
	case KindWebsite:
		host, name := hostAndLast(r.URL)
		return ID{Owner: slug(host, MaxOwner), Name: slug(name, MaxName)}, nil
	case KindPath:
		base := path.Base(path.Clean(strings.ReplaceAll(r.URL, `\`, "/")))
		if r.Subdir != "" {
			base = path.Base(r.Subdir)
		}
		if base == "." || base == ".." || base == "/" {
			break
		}
		return ID{Owner: "local", Name: slug(base, MaxName)}, nil
	default:
		if !r.ID.IsZero() {
			return r.ID, nil
		}
	}
	return ID{}, diag.Errorf(diag.Invalid, "cannot derive a pack name from %s", r).
		WithHint("add a skillpm.yaml with a name, such as name: acme/deploy")
}

// lastTwo returns the last two parts of a URL's host and path, without .git.
func lastTwo(s string) (owner, name string) {
	u, err := url.Parse(s)
	if err != nil {
		return "", ""
	}
	parts := strings.Split(strings.Trim(strings.TrimSuffix(u.Path, ".git"), "/"), "/")
	parts = append([]string{u.Hostname()}, parts...)
	return parts[len(parts)-2], parts[len(parts)-1]
}

// hostAndLast returns a URL's host, and the last part of its path, "skills" without one.
func hostAndLast(s string) (host, last string) {
	u, err := url.Parse(s)
	if err != nil {
		return "", ""
	}
	if last = path.Base(u.Path); last == "." || last == "/" {
		last = "skills"
	}
	return u.Hostname(), last
}

// slug makes s a legal part of an [ID].
func slug(s string, limit int) string {
	parts := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	text := strings.Join(parts, "-")
	if len(text) > limit {
		text = strings.TrimRight(text[:limit], "-")
	}
	switch {
	case text == "":
		return "p" + textx.SHA256(s)[:8]
	case slices.Contains(windowsDevices, text):
		return text + "-pack"
	}
	return text
}

// VersionFromTag returns the version in a git tag: a strict semantic version, possibly after v, or after name@ or
// name/v in a repository of several packs. Moving tags (1, 1.4, latest) and versions with build metadata don't count.
func VersionFromTag(tag, name string) (string, bool) {
	if name != "" {
		if v, ok := TaggedVersion(tag, name); ok {
			return v, true
		}
	}
	return strictVersion(strings.TrimPrefix(tag, "v"))
}

// TaggedVersion is [VersionFromTag] for tags with the name of the pack only: name@1.2.0 and name/v1.2.0.
func TaggedVersion(tag, name string) (string, bool) {
	rest, ok := strings.CutPrefix(tag, name)
	if !ok || name == "" {
		return "", false
	}
	for _, prefix := range []string{"@", "/v"} {
		if v, ok := strings.CutPrefix(rest, prefix); ok {
			return strictVersion(v)
		}
	}
	return "", false
}

func strictVersion(s string) (string, bool) {
	v, err := semver.StrictNewVersion(s)
	if err != nil || v.Metadata() != "" || len(s) > 128 {
		return "", false
	}
	return s, true
}

// DefaultVersion returns the version of a pack that declares none: the one in the tag, which may have the name of any
// pack; otherwise 0.0.0-g and the first twelve hexadecimal digits of the commit or digest, or 0.0.0 without these.
func DefaultVersion(tag, resolved string) string {
	tag = strings.TrimPrefix(tag, "refs/tags/")
	if i := strings.LastIndexByte(tag, '@'); i > 0 {
		tag = tag[i+1:]
	} else if i := strings.LastIndex(tag, "/v"); i > 0 {
		tag = tag[i+2:]
	} else {
		tag = strings.TrimPrefix(tag, "v")
	}
	if v, ok := strictVersion(tag); ok {
		return v
	}
	digits := strings.TrimPrefix(resolved, "sha256:")
	if len(digits) < 12 {
		return "0.0.0"
	}
	return "0.0.0-g" + digits[:12]
}
