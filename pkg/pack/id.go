package pack

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
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

// ID is a pack's identity, written owner/name.
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

// ParseID reads owner/name. Both parts are words of lower-case letters and digits joined by single hyphens, at most
// [MaxOwner] and [MaxName] bytes long, and not the names of Windows devices.
func ParseID(s string) (ID, error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok {
		return ID{}, diag.Errorf(diag.Usage, "%q is not a pack: a pack is written owner/name", s).
			WithHint("write owner/name, as in acme/deploy; a directory is written ./%s", s)
	}
	if err := checkPart("owner", owner, MaxOwner); err != nil {
		return ID{}, err
	}
	if err := checkPart("name", name, MaxName); err != nil {
		return ID{}, err
	}
	return ID{Owner: owner, Name: name}, nil
}

func checkPart(what, s string, limit int) error {
	switch {
	case !namePart().MatchString(s):
		return diag.Errorf(diag.Usage, "pack %s %q is not lower-case letters, digits and single hyphens", what, s)
	case len(s) > limit:
		return diag.Errorf(diag.Usage, "pack %s %q is longer than %d characters", what, s, limit)
	case slices.Contains(windowsDevices, s):
		return diag.Errorf(diag.Usage, "pack %s %q is the name of a Windows device", what, s)
	}
	return nil
}
