package console

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Most processes live for milliseconds and use a few megabytes, so the garbage collector does not run below softLimit,
// unless the environment configures it. An installation without changes takes a tenth less time.
//
// Above the limit the collector would run constantly, so a process with more live memory than half of it gets the
// collector's usual settings, with a lower percentage: it keeps the memory of large runs in bounds.
const (
	idlePercent = 400
	busyPercent = 40
	softLimit   = 56 << 20 // bytes
)

// TuneMemory disables frequent garbage collection for a short process.
func TuneMemory() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" || //nolint:forbidigo // the Go runtime reads them
		debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	debug.SetGCPercent(idlePercent)
	debug.SetMemoryLimit(softLimit)
	watchCollections(new(sentinel))
}

// sentinel is garbage from the start, so that its finalizer runs after each collection. It has a field because the
// runtime may combine objects without one.
type sentinel struct{ _ *int }

// watchCollections looks at the live memory after each garbage collection until there is much.
func watchCollections(s *sentinel) {
	runtime.SetFinalizer(s, func(s *sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Uint64() < softLimit/2 {
			watchCollections(s)
			return
		}
		debug.SetGCPercent(busyPercent)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}
