package pack

import (
	"bytes"
)

// The markers that git writes around a conflict. "|||||||" and what follows it exist only in the styles diff3 and
// zdiff3.
const (
	markOurs   = "<<<<<<<"
	markBase   = "|||||||"
	markTheirs = "======="
	markEnd    = ">>>>>>>"
)

// HasConflict reports whether a file has the conflict markers that git writes.
func HasConflict(data []byte) bool {
	for line := range bytes.Lines(data) {
		if isMarker(line, markOurs) {
			return true
		}
	}
	return false
}

// SplitConflict returns the texts of both sides of a file with git's conflict markers, and of their common ancestor if
// the markers include it. Outside of the conflicts, all three have the text of the file. It is false for a file without
// markers, or with markers in another order.
//
// The sides are not the files of the two branches: outside of the conflicts, git has merged them already. So one entry
// of a lockfile may be of both branches. Use the versions in git's index if there are any.
func SplitConflict(data []byte) (base, ours, theirs []byte, ok bool) {
	const (
		common = iota
		inOurs
		inBase
		inTheirs
	)
	state := common
	for line := range bytes.Lines(data) {
		switch {
		case state == common && isMarker(line, markOurs):
			state, ok = inOurs, true
		case state == inOurs && isMarker(line, markBase):
			state = inBase
		case (state == inOurs || state == inBase) && isMarker(line, markTheirs):
			state = inTheirs
		case state == inTheirs && isMarker(line, markEnd):
			state = common
		case isMarker(line, markOurs), isMarker(line, markBase), isMarker(line, markEnd):
			return nil, nil, nil, false
		default:
			if state == common || state == inBase {
				base = append(base, line...)
			}
			if state == common || state == inOurs {
				ours = append(ours, line...)
			}
			if state == common || state == inTheirs {
				theirs = append(theirs, line...)
			}
		}
	}
	return base, ours, theirs, ok && state == common
}

// isMarker reports whether a line is a marker: seven characters, and then a name or nothing. The markers of a conflict
// within the common ancestor are longer.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(bytes.TrimRight(rest, "\r\n")) == 0 || rest[0] == ' ')
}
