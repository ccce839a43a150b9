//go:build !unix

package cli

// quietSignals does nothing: there is no such signal here.
func quietSignals() {}
