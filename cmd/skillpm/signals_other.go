//go:build !unix

package main

// quietSignals does nothing: there is no such signal here.
func quietSignals() {}
