package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the severity of a finding.
type Severity int

// The severities, worst first.
const (
	SeverityError   Severity = iota // an agent rejects it, or it breaks
	SeverityWarning                 // it works today, but is likely to break, or does not work everywhere
	SeverityNote                    // a recommendation
)

var severityNames = [...]string{"error", "warning", "note"}

// String returns "error", "warning" or "note".
func (s Severity) String() string { return severityNames[s] }

// MarshalText encodes the severity as its name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText decodes a severity's name.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severityNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown severity %q: use %s", text, strings.Join(severityNames[:], ", "))
	}
	*s = Severity(i)
	return nil
}

// Finding is one result of a check at one position of a file. Lines and columns count from 1, columns in characters
// (Unicode code points); 0 means that the finding is about the file as a whole.
type Finding struct {
	Rule      string   `json:"rule"`              // stable id, as FM001
	Severity  Severity `json:"severity"`          // how much it matters
	Path      string   `json:"path"`              // slash-separated, relative to the target of the check
	Line      int      `json:"line,omitempty"`    // first line
	Column    int      `json:"column,omitempty"`  // first column
	EndLine   int      `json:"endLine,omitempty"` // last line, 0 when it is Line
	EndColumn int      `json:"endColumn,omitempty"`
	Message   string   `json:"message"`           // what is wrong, one sentence without a full stop
	Fix       string   `json:"fix,omitempty"`     // how to fix it
	Profile   string   `json:"profile,omitempty"` // the profiles that it applies to, separated by commas; "" for all

	Related []string `json:"related,omitempty"` // other files that it is about, as Path

	// Edits fix it, if they were requested and are known. Fixable means that they are safe to apply without review;
	// others are suggestions.
	Edits   []Edit `json:"edits,omitempty"`
	Fixable bool   `json:"fixable,omitempty"`
}

// Edit is a change to one file: the bytes from Start to End, as the file was when it was checked, become Text.
type Edit struct {
	Path  string `json:"path"` // as a finding's
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`

	Executable bool `json:"executable,omitempty"` // give the file its executable bits, and change no byte
}

// CompareFindings orders findings by path, line, column, severity, rule and message.
func CompareFindings(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Message, b.Message),
	)
}
