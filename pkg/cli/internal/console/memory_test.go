package console

import "testing"

// TestLimitFor checks that a process may use several times its live memory while that is little, and half as much again
// if it is much.
func TestLimitFor(t *testing.T) {
	for _, tt := range []struct{ live, want int64 }{
		{0, 56}, {10, 56}, {20, 60}, {30, 90}, {40, 112}, {70, 112}, {80, 120}, {1000, 1500},
	} {
		if got := limitFor(tt.live<<20) >> 20; got != tt.want {
			t.Errorf("%d MiB live: limit of %d MiB, not %d", tt.live, got, tt.want)
		}
	}
}
