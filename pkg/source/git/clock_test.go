package git

import (
	"context"
	"time"
)

// testTime is what the clocks of tests say.
func testTime() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

// testClock returns a clock on which waiting takes no time. What was waited for is appended to waits, unless that is
// nil.
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

// NoWaiting gives a client a clock on which waiting takes no time.
func NoWaiting(c *Client) { c.clock = testClock(nil) }

// hasty is a timer that fires as soon as it is set.
type hasty func()

func (f hasty) Reset(time.Duration) bool { f(); return true }
func (hasty) Stop() bool                 { return true }

// NoPatience gives a client a clock on which silence has lasted too long at once.
func NoPatience(c *Client) {
	c.clock = testClock(nil)
	c.clock.after = func(_ time.Duration, f func()) timer { return hasty(f) }
}
