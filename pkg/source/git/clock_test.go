package git

import (
	"context"
	"time"
)

// testTime is the time of all clocks in tests.
func testTime() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

// testClock returns a clock that never waits. It appends the requested waits to waits, unless that is nil.
func testClock(waits *[]time.Duration) clock {
	return clock{
		now: testTime,
		sleep: func(ctx context.Context, d time.Duration) error {
			if waits != nil {
				*waits = append(*waits, d)
			}
			return context.Cause(ctx)
		},
		after: func(time.Duration, func()) timer { return noTimer{} },
	}
}

// noTimer never fires.
type noTimer struct{}

func (noTimer) Reset(time.Duration) bool { return true }
func (noTimer) Stop() bool               { return true }

// NoWaiting gives a client a clock that never waits.
func NoWaiting(c *Client) { c.clock = testClock(nil) }

// hasty is a timer that fires when it is set.
type hasty func()

func (f hasty) Reset(time.Duration) bool { f(); return true }
func (hasty) Stop() bool                 { return true }

// InstantTimeout gives a client a clock on which every stall times out at once.
func InstantTimeout(c *Client) {
	c.clock = testClock(nil)
	c.clock.after = func(_ time.Duration, f func()) timer { return hasty(f) }
}
