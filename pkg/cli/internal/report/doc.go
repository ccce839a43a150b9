// Package report shows audit logs: as a page, as a table for spreadsheets, and as traces for those who collect these.
//
// Whatever is in a record is only text: a page has no script and asks nobody, and a cell of a table is no formula. What
// is written is the same for the same records. Of a log of any size only sums are in memory.
package report
