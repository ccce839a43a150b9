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
			return diag.Errorf(diag.Denied, "%s is a link, but a machine policy must be a regular file", s.Path).
				WithHint("replace the link with the file itself")
		case s.Owner != owner:
			return diag.Errorf(diag.Denied,
				"%s belongs to user %d instead of user %d, so skillpm does not trust the policy", s.Path,
				s.Owner, owner).
				WithHint("change the owner with: chown %d %s", owner, s.Path)
		case s.Mode.Perm()&0o022 != 0:
			return diag.Errorf(diag.Denied,
				"other users can write %s, so skillpm does not trust the policy", s.Path).
				WithHint("remove the permission with: chmod go-w %s", s.Path)
		}
	}
	return nil
}
