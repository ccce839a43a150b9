// Package report shows an audit log: as a page, as a table, and as traces.
package report
