//go:build !unix

package catalog_test

import "time"

// processorTime is not available on this system.
func processorTime() time.Duration { return 0 }
