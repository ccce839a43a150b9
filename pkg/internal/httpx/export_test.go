package httpx

import (
	"net/http"
	"time"
)

// RetryAfter is retryAfter for a busy server's answer.
func RetryAfter(header http.Header) time.Duration {
	return retryAfter(&http.Response{StatusCode: http.StatusTooManyRequests, Header: header})
}

// LongestRetryAfter is the maximum that RetryAfter returns for a number.
const LongestRetryAfter = 1_000_000_000 * time.Second
