package report

import (
	"encoding/json"
	"io"

	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// Export is what records are handed to, one after the other.
type Export interface {
	Add(r audit.Record) error
	Close() error // writes what is left, and does not close what it is written to
}

// JSON writes records as one JSON array.
type JSON struct {
	w     io.Writer
	begun bool
}

// NewJSON returns an array that is written to w.
func NewJSON(w io.Writer) *JSON { return &JSON{w: w} }

// Add writes a record.
func (j *JSON) Add(r audit.Record) error {
	before := ",\n"
	if !j.begun {
		before, j.begun = "[\n", true
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = io.WriteString(j.w, before+string(data))
	return err
}

// Close ends the array.
func (j *JSON) Close() error {
	end := "\n]\n"
	if !j.begun {
		end = "[]\n"
	}
	_, err := io.WriteString(j.w, end)
	return err
}
