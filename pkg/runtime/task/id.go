package task

import (
	"crypto/rand"
	"strings"
	"time"
)

// The form of an id: the time of day that it was made at in UTC, so that ids sort by age, and 65 bits that nobody
// guesses.
const (
	idTime   = "20060102-150405.000"
	idRandom = 13
	idSize   = len("20060102-150405-000-") + idRandom
)

func newID(now time.Time) string {
	stamp := strings.Replace(now.UTC().Format(idTime), ".", "-", 1)
	return stamp + "-" + strings.ToLower(rand.Text()[:idRandom])
}

// IsID reports whether s has the form of a task's id, so that it is safe as the name of a directory.
func IsID(s string) bool {
	if len(s) != idSize {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case i == 8, i == 15, i == 19:
			if c != '-' {
				return false
			}
		case i < 19:
			if c < '0' || c > '9' {
				return false
			}
		case (c < 'a' || c > 'z') && (c < '2' || c > '7'):
			return false
		}
	}
	return true
}
