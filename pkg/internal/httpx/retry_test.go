package httpx_test

import (
	"net/http"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// FuzzRetryAfter checks that no delay that a server requests is negative or unbounded.
func FuzzRetryAfter(f *testing.F) {
	for _, after := range []string{"7", "-7", "99999999999999999999", "Fri, 20 Nov 2026 10:00:20 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "x"} {
		f.Add(after, "Fri, 20 Nov 2026 10:00:00 GMT")
		f.Add(after, "")
	}
	f.Fuzz(func(t *testing.T, after, date string) {
		got := httpx.RetryAfter(http.Header{"Retry-After": {after}, "Date": {date}})
		if _, err := http.ParseTime(after); got < 0 || err != nil && got > httpx.LongestRetryAfter {
			t.Errorf("%q at %q: %s", after, date, got)
		}
	})
}
