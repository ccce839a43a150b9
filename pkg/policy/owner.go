package policy

import (
	"io/fs"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Stat is what the system says of a file or directory, as far as a policy is concerned.
type Stat struct {
	Path  string
	Mode  fs.FileMode
	Owner int // user id
}

// CheckOwner returns why a policy that is enforced for everybody on a machine can't be trusted: the file, or a
// directory that it is in, belongs to somebody else than owner, or others may write it.
func CheckOwner(owner int, stats ...Stat) error {
	for _, s := range stats {
		switch {
		case s.Mode&fs.ModeSymlink != 0:
			return diag.Errorf(diag.Denied, "%s is a link, which no policy of the machine may be", s.Path).
				WithHint("put the file itself there")
		case s.Owner != owner:
			return diag.Errorf(diag.Denied,
				"%s belongs to user %d and not to user %d, so that its policy can't be trusted", s.Path,
				s.Owner, owner).
				WithHint("chown %d %s", owner, s.Path)
		case s.Mode.Perm()&0o022 != 0:
			return diag.Errorf(diag.Denied,
				"%s can be written by others than its owner, so that its policy can't be trusted", s.Path).
				WithHint("chmod go-w %s", s.Path)
		}
	}
	return nil
}
