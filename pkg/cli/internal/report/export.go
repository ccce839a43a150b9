package report

import (
	"encoding/csv"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// Export receives records and writes them in a format.
type Export interface {
	Add(r audit.Record) error
	Close() error // writes the rest; it does not close the writer
}

// Formats returns the names of the formats that [NewExport] writes.
func Formats() []string { return []string{"json", "ndjson", "csv", "otlp"} }

// NewExport returns an [Export] to w, or nil for an unknown format. version is skillpm's version.
func NewExport(format string, w io.Writer, version string) Export {
	switch format {
	case "json":
		return &jsonExport{w: w}
	case "ndjson":
		return lineExport{w}
	case "csv":
		return &csvExport{w: csv.NewWriter(w)}
	case "otlp":
		return &otlpExport{w: w, version: version, batch: map[string][]span{}, active: map[[3]string]string{}}
	}
	return nil
}

// lineExport writes each record as one line.
type lineExport struct{ w io.Writer }

func (l lineExport) Add(r audit.Record) error { return console.WriteLine(l.w, r) }
func (l lineExport) Close() error             { return nil }

// jsonExport writes one document with all records, a record a line: the document of "log --json".
type jsonExport struct {
	w     io.Writer
	begun bool
}

// head begins the document.
const head = `{"schemaVersion": 1, "records": [`

func (j *jsonExport) Add(r audit.Record) error {
	before := ",\n"
	if !j.begun {
		before, j.begun = head+"\n", true
	}
	if _, err := io.WriteString(j.w, before); err != nil {
		return err
	}
	return console.WriteJSONText(j.w, r)
}

func (j *jsonExport) Close() error {
	end := "\n]}\n"
	if !j.begun {
		end = head + "]}\n"
	}
	_, err := io.WriteString(j.w, end)
	return err
}

// columns are the columns of a table, in order, with the names of the record's fields.
const columns = "seq ts machine user team action result phase id skill pack version layer digest tokens found source tree signer " +
	"policy lock session project profile host event trigger trace span hook script file command " +
	"exit_code duration_ms output output_bytes stdout stderr tool agent task sandbox verdict reason gap prev"

// fieldIndexes are the indexes of the record's fields, by their JSON names.
var fieldIndexes = sync.OnceValue(func() map[string]int {
	indexes, record := map[string]int{}, reflect.TypeFor[audit.Record]()
	for i := range record.NumField() {
		name, _, _ := strings.Cut(record.Field(i).Tag.Get("json"), ",")
		indexes[name] = i
	}
	return indexes
})

// field returns a field of a record by its JSON name.
func field(r *audit.Record, name string) reflect.Value {
	return reflect.ValueOf(r).Elem().Field(fieldIndexes()[name])
}

// csvExport writes records as CSV with a header line (RFC 4180).
type csvExport struct {
	w     *csv.Writer
	begun bool
}

func (c *csvExport) Add(r audit.Record) error {
	if err := c.begin(); err != nil {
		return err
	}
	var row []string
	for name := range strings.FieldsSeq(columns) {
		text := ""
		switch v := field(&r, name); {
		case v.IsZero():
		case v.Kind() == reflect.String:
			text = cell(v.String())
		case v.Kind() == reflect.Slice:
			text = cell(strings.Join(v.Interface().([]string), " "))
		case v.Kind() == reflect.Pointer:
			text = strconv.FormatInt(v.Elem().Int(), 10)
		case v.Kind() == reflect.Bool:
			text = "true"
		default:
			text = strconv.FormatInt(v.Int(), 10)
		}
		row = append(row, text)
	}
	return c.w.Write(row)
}

func (c *csvExport) Close() error {
	if err := c.begin(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

// begin writes the header line once.
func (c *csvExport) begin() error {
	if c.begun {
		return nil
	}
	c.begun = true
	return c.w.Write(strings.Fields(columns))
}

// cell returns a text without control characters that spreadsheets do not read as a formula: it prepends an apostrophe
// if necessary.
func cell(s string) string {
	s = console.PrintableText(strings.ReplaceAll(s, "\x00", ""))
	first := strings.TrimLeft(s, " \u00a0\u3000\ufeff")
	if first != "" && strings.ContainsRune("=+-@\t\r\n|%＝＋－＠", []rune(first)[0]) {
		return "'" + s
	}
	return s
}
