//go:build linux && !amd64

package sandbox

// oldCalls are those of argumentFilters that only the oldest architectures have.
func oldCalls() []argumentFilter { return nil }
