package policy

import (
	"io/fs"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Stat has the attributes of a file or directory that [CheckOwner] needs.
type Stat struct {
	Path  string
	Mode  fs.FileMode
	Owner int // user id
}

// CheckOwner returns why a policy for all users of a machine cannot be trusted: the file or one of its directories has
// another owner, or others may write to it.
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
