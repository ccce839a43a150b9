// Package report writes audit logs as a web page, as CSV for spreadsheets, and as OpenTelemetry traces. Start reading
// at [NewExport] and [NewSummary].
//
// A record's text is never interpreted: a page has no script and loads nothing, and a table cell is never a formula.
// The same records give the same output. Memory use does not depend on the size of the log.
package report
