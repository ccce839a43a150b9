package drift

import (
	"bytes"

	"github.com/skillpm/skillpm/pkg/pack"
)

// Written compares the text of a lock with how skillpm writes it, for a lock that says what it should. It returns the
// first line that differs, and false for a text that is as it should be.
func Written(l *pack.Lock, text []byte) (Difference, bool) {
	d := Difference{Kind: Text, File: pack.LockName, Line: 1, Column: 1, Hint: hintInstall}
	want := l.Encode()
	switch {
	case bytes.Equal(want, text):
		return Difference{}, false
	case bytes.Equal(want, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))):
		d.Message = "the lines end with CRLF, and skillpm writes LF"
		return d, true
	}
	for wanted := range bytes.Lines(want) {
		is, rest, _ := bytes.Cut(text, []byte("\n"))
		if string(is)+"\n" != string(wanted) {
			break
		}
		d.Line, text = d.Line+1, rest
	}
	d.Message = "the lock is not written as skillpm writes it, from this line on"
	return d, true
}
