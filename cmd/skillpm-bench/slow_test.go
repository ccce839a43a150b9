//go:build slow

package main

import "testing"

// TestAllRowsBuilt is TestAllRows with the skillpm that the benchmark builds.
func TestAllRowsBuilt(t *testing.T) { runAllRows(t) }
