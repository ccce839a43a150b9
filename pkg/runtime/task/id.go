package task

import (
	"crypto/rand"
	"strings"
	"time"
)

// An id is the UTC time of its creation, so that ids sort by age, and 65 random bits.
const (
	idTime   = "20060102-150405.000"
	idRandom = 13
	idSize   = len("20060102-150405-000-") + idRandom
)

// NewID returns the id of a new task.
func NewID(now time.Time) string {
	stamp := strings.Replace(now.UTC().Format(idTime), ".", "-", 1)
	return stamp + "-" + strings.ToLower(rand.Text()[:idRandom])
}

// IsID reports whether s has the form of a task's id and is therefore safe as a directory name.
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
