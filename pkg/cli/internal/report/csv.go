package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// columns are those of a table, in their order, named as the fields of records are.
var columns = []struct {
	name string
	text func(*audit.Record) string // as others wrote it
}{
	{"seq", nil},
	{"ts", func(r *audit.Record) string { return r.Time }},
	{"machine", func(r *audit.Record) string { return r.Machine }},
	{"user", func(r *audit.Record) string { return r.User }},
	{"action", func(r *audit.Record) string { return r.Action }},
	{"result", func(r *audit.Record) string { return r.Result }},
	{"phase", func(r *audit.Record) string { return r.Phase }},
	{"id", func(r *audit.Record) string { return r.ID }},
	{"skill", func(r *audit.Record) string { return r.Skill }},
	{"pack", func(r *audit.Record) string { return r.Pack }},
	{"version", func(r *audit.Record) string { return r.Version }},
	{"layer", func(r *audit.Record) string { return r.Layer }},
	{"digest", func(r *audit.Record) string { return r.Digest }},
	{"source", func(r *audit.Record) string { return r.Source }},
	{"tree", func(r *audit.Record) string { return r.Tree }},
	{"signer", func(r *audit.Record) string { return r.Signer }},
	{"policy", func(r *audit.Record) string { return r.Policy }},
	{"lock", func(r *audit.Record) string { return r.Lock }},
	{"session", func(r *audit.Record) string { return r.Session }},
	{"project", func(r *audit.Record) string { return r.Project }},
	{"profile", func(r *audit.Record) string { return r.Profile }},
	{"host", func(r *audit.Record) string { return r.Host }},
	{"event", func(r *audit.Record) string { return r.Event }},
	{"trigger", func(r *audit.Record) string { return r.Trigger }},
	{"trace", func(r *audit.Record) string { return r.Trace }},
	{"span", func(r *audit.Record) string { return r.Span }},
	{"hook", func(r *audit.Record) string { return r.Hook }},
	{"script", func(r *audit.Record) string { return r.Script }},
	{"file", func(r *audit.Record) string { return r.File }},
	{"command", func(r *audit.Record) string { return strings.Join(r.Command, " ") }},
	{"exit_code", nil},
	{"duration_ms", nil},
	{"output", func(r *audit.Record) string { return r.Output }},
	{"output_bytes", nil},
	{"tool", func(r *audit.Record) string { return r.Tool }},
	{"agent", func(r *audit.Record) string { return r.Agent }},
	{"task", func(r *audit.Record) string { return r.Task }},
	{"sandbox", func(r *audit.Record) string { return r.Sandbox }},
	{"verdict", func(r *audit.Record) string { return r.Verdict }},
	{"reason", func(r *audit.Record) string { return r.Reason }},
	{"gap", nil},
	{"prev", func(r *audit.Record) string { return r.Prev }},
}

// CSV writes records as a table with a line of names, as RFC 4180 has it.
type CSV struct {
	w     *csv.Writer
	begun bool
}

// NewCSV returns a table that is written to w.
func NewCSV(w io.Writer) *CSV { return &CSV{w: csv.NewWriter(w)} }

// Add writes a record.
func (c *CSV) Add(r audit.Record) error {
	if err := c.names(); err != nil {
		return err
	}
	row := make([]string, 0, len(columns))
	for _, column := range columns {
		if column.text != nil {
			row = append(row, cell(column.text(&r)))
			continue
		}
		row = append(row, number(column.name, &r))
	}
	return c.w.Write(row)
}

// Close writes what is left.
func (c *CSV) Close() error {
	if err := c.names(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

// names writes the first line, once.
func (c *CSV) names() error {
	if c.begun {
		return nil
	}
	c.begun = true
	row := make([]string, 0, len(columns))
	for _, column := range columns {
		row = append(row, column.name)
	}
	return c.w.Write(row)
}

// number returns what is a number, or yes, in a record; "" where it does not apply.
func number(name string, r *audit.Record) string {
	n := int64(0)
	switch name {
	case "seq":
		n = r.Seq
	case "duration_ms":
		n = r.DurationMS
	case "output_bytes":
		n = r.OutputBytes
	case "exit_code":
		if r.ExitCode != nil {
			return strconv.Itoa(*r.ExitCode)
		}
	case "gap":
		if r.Gap {
			return "true"
		}
	}
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// cell returns a text that no spreadsheet takes for a formula: an apostrophe goes before what begins as one does.
func cell(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == 0 {
			return -1
		}
		return r
	}, s)
	first := strings.TrimLeft(s, " \u00a0\u3000\ufeff")
	if first != "" && strings.ContainsRune("=+-@\t\r\n|%＝＋－＠", []rune(first)[0]) {
		return "'" + s
	}
	return s
}
