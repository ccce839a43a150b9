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
// A run over thousands of skills has more live memory. Its limit rises with the live heap, so that the collector does
// not run constantly. Above wideLimit, it rises more slowly to bound the memory.
const (
	idlePercent = 400
	softLimit   = 56 << 20  // bytes
	wideLimit   = 112 << 20 // bytes
)

// TuneMemory disables frequent garbage collection for a short process.
func TuneMemory() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" || //nolint:forbidigo // the Go runtime reads them
		debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	debug.SetGCPercent(idlePercent)
	debug.SetMemoryLimit(softLimit)
	watchCollections(new(sentinel), softLimit)
}

// sentinel is garbage from the start, so that its finalizer runs after each collection. It has a field because the
// runtime may combine objects without one.
type sentinel struct{ _ *int }

// watchCollections sets the limit after each garbage collection.
func watchCollections(s *sentinel, limit int64) {
	runtime.SetFinalizer(s, func(s *sentinel) {
		next := limitFor(liveMemory())
		if next != limit { // setting it stops the process for a moment
			debug.SetMemoryLimit(next)
		}
		watchCollections(s, next)
	})
}

// liveMemory returns the bytes of the live heap and of all stacks, which are large while deeply nested text is parsed.
func liveMemory() int64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(live)
	return int64(live[0].Value.Uint64() + live[1].Value.Uint64())
}

// limitFor returns the memory limit of a process with this many live bytes.
func limitFor(live int64) int64 {
	return max(softLimit, min(3*live, wideLimit), live+live/2)
}
