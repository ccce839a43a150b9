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

// TestLiveMemory checks that stacks count as live: otherwise the collector would scan a deep one all the time.
func TestLiveMemory(t *testing.T) {
	const size = 16 << 20
	var deep func(n int) int64
	deep = func(n int) int64 {
		var frame [1 << 10]byte
		if frame[n%len(frame)] = 1; n == 0 {
			return liveMemory()
		}
		return deep(n-1) + int64(frame[(n+1)%len(frame)])
	}
	if got := deep(size >> 10); got < size {
		t.Errorf("%d bytes live, with a stack of %d", got, size)
	}
}
