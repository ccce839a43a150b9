package console

import (
	"math"
	"os"
	"runtime/debug"
)

// Most processes live for milliseconds and use a few megabytes, so the garbage collector does not run below this size,
// unless the environment configures it. An installation without changes takes a tenth less time, and large ones use as
// much memory as before.
const (
	idlePercent = 400
	softLimit   = 56 << 20 // bytes
)

// TuneMemory disables frequent garbage collection for a short process.
func TuneMemory() {
	if os.Getenv("GOGC") == "" { //nolint:forbidigo // the Go runtime reads it
		debug.SetGCPercent(idlePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" && debug.SetMemoryLimit(-1) == math.MaxInt64 { //nolint:forbidigo // Go reads it
		debug.SetMemoryLimit(softLimit)
	}
}

// UntuneMemory is for commands with much live memory: above the limit, the collector would run constantly.
func UntuneMemory() {
	if os.Getenv("GOGC") == "" { //nolint:forbidigo // the Go runtime reads it
		debug.SetGCPercent(100) // the default
	}
	if os.Getenv("GOMEMLIMIT") == "" { //nolint:forbidigo // the Go runtime reads it
		debug.SetMemoryLimit(math.MaxInt64)
	}
}
