package console

import (
	"math"
	"os"
	"runtime/debug"
)

// The garbage collector runs often in a process that lives for milliseconds and holds a few megabytes. Up to this much
// memory it is let be, unless the environment says how it should be: an install with nothing to do takes a tenth less
// time, and large ones stay as small as they were.
const (
	idlePercent = 400
	softLimit   = 56 << 20 // bytes
)

// TuneMemory lets a short process collect garbage rarely.
func TuneMemory() {
	if os.Getenv("GOGC") == "" { //nolint:forbidigo // the runtime reads it from there, too
		debug.SetGCPercent(idlePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" && debug.SetMemoryLimit(-1) == math.MaxInt64 { //nolint:forbidigo // likewise
		debug.SetMemoryLimit(softLimit)
	}
}

// UntuneMemory is for commands that hold a lot: above the limit the collector would run without pause.
func UntuneMemory() {
	if os.Getenv("GOGC") == "" { //nolint:forbidigo // the runtime reads it from there, too
		debug.SetGCPercent(100) // as it is unless told otherwise
	}
	if os.Getenv("GOMEMLIMIT") == "" { //nolint:forbidigo // likewise
		debug.SetMemoryLimit(math.MaxInt64)
	}
}
