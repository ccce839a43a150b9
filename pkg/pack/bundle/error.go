package bundle

import (
	"fmt"
	"strconv"

	"github.com/skillpm/skillpm/pkg/diag"
)

// EntryError says which rule a file or directory breaks. Its code is Invalid.
type EntryError struct {
	Entry string // the name as it was found, not yet fit for a terminal
	Rule  string // what is wrong with it, as the end of a sentence
}

// Error names the entry, escaped and shortened, and the rule.
func (e *EntryError) Error() string { return fmt.Sprintf("entry %s %s", quoteName(e.Entry), e.Rule) }

// Code returns diag.Invalid.
func (e *EntryError) Code() diag.Code { return diag.Invalid }

// MismatchError says that bytes are not those that a digest promised. Its code is Integrity.
type MismatchError struct {
	What string // what was compared, as in "skill deploy"
	Want string // the digest or size that was promised
	Got  string // the digest or size that was found
}

// Error names what differs, the promise and the finding.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s does not match: want %s, got %s", e.What, e.Want, e.Got)
}

// Code returns diag.Integrity.
func (e *MismatchError) Code() diag.Code { return diag.Integrity }

func entryErrorf(entry, format string, args ...any) error {
	return &EntryError{Entry: entry, Rule: fmt.Sprintf(format, args...)}
}

// quoteName makes a hostile name fit for a message: one line, ASCII only, of bounded length.
func quoteName(s string) string {
	const most = 120
	if len(s) <= most {
		return strconv.QuoteToASCII(s)
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.QuoteToASCII(s[:most]), len(s))
}
