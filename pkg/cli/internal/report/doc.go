// Package report writes audit logs as a web page, as CSV for spreadsheets, and as OpenTelemetry traces. Start reading
// at [NewExport] and [NewSummary].
//
// The text of a record is only text: a page has no script and loads nothing, and a cell of a table is never a formula.
// The same records give the same output. Memory holds sums, whatever the size of the log.
package report
