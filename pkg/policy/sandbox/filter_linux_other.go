//go:build linux && !amd64

package sandbox

// oldCalls are those of boundedCalls that only the oldest architectures have.
func oldCalls() []bounded { return nil }
