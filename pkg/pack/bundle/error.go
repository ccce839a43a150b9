package bundle

import (
	"fmt"
	"strconv"

	"github.com/skillpm/skillpm/pkg/diag"
)

// EntryError says which rule a file or directory violates. Its code is Invalid.
type EntryError struct {
	Entry string // the name, which is not safe for a terminal
	Rule  string // what is wrong, as the end of a sentence
}

// Error returns the entry, escaped and shortened, and the rule.
func (e *EntryError) Error() string { return fmt.Sprintf("entry %s %s", quoteName(e.Entry), e.Rule) }

// Code returns diag.Invalid.
func (e *EntryError) Code() diag.Code { return diag.Invalid }

// MismatchError reports that content does not match its digest. Its code is Integrity.
type MismatchError struct {
	What string // what was compared, as in "skill deploy"
	Want string // the expected digest or size
	Got  string // the actual digest or size
}

// Error returns what differs, with both values.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s does not match: expected %s, got %s", e.What, e.Want, e.Got)
}

// Code returns diag.Integrity.
func (e *MismatchError) Code() diag.Code { return diag.Integrity }

func entryErrorf(entry, format string, args ...any) error {
	return &EntryError{Entry: entry, Rule: fmt.Sprintf(format, args...)}
}

// quoteName makes a hostile name safe for a message: one line, ASCII only, of limited length.
func quoteName(s string) string {
	const limit = 120
	if len(s) <= limit {
		return strconv.QuoteToASCII(s)
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.QuoteToASCII(s[:limit]), len(s))
}
