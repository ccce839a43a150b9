package policy

import (
	"time"
)

// Approval is somebody's word that a skill may have capabilities: a tree of files and no other, and the capabilities that
// are named and no more.
type Approval struct {
	Skill        string // name@owner/name, or a name for a skill that was written by hand
	Digest       string // of the tree that was looked at, "t1:sha256:…"
	Capabilities []Capability
	By           string    // who approved it
	At           time.Time // when, in UTC
	Reason       string
	Expires      time.Time // zero for never
	Line         int       // in the file
}

// Expired reports whether an approval has ended.
func (a Approval) Expired(now time.Time) bool { return !a.Expires.IsZero() && !now.Before(a.Expires) }
