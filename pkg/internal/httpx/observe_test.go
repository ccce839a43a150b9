package httpx_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// TestObserve checks what the observer sees of a request that a busy server answers late: the server, the status, the
// retry, and the bytes, without the credentials and the query of the URL.
func TestObserve(t *testing.T) {
	answers := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		if answers++; answers == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	var mu sync.Mutex
	var seen []string
	ctx := activity.With(t.Context(), func(e activity.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e.Kind {
		case activity.Began:
			seen = append(seen, "to "+e.Wait.Source+": "+e.Wait.Request)
		case activity.Answered:
			seen = append(seen, e.Text)
		case activity.Retrying:
			seen = append(seen, e.Text)
		case activity.Ended:
			seen = append(seen, fmt.Sprintf("sent %d, received %d", e.Wait.Sent.Load(), e.Wait.Received.Load()))
		}
	})
	url := "http://user:secret@" + host + "/v2/blob?signature=secret"
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader("abc"))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: httpx.Patient(httpx.NewTransport(), 2)}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(resp.Body); err != nil || string(data) != "hello" {
		t.Errorf("the answer is %q, %v", data, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	begun := "to " + host + ": PUT http://" + host + "/v2/blob"
	want := []string{
		begun, "429 Too Many Requests", "sent 3, received 0", "rate-limited by " + host,
		"to " + host + ": ", "sent 0, received 0", // the wait for the end of the delay
		begun, "200 OK", "sent 3, received 5",
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(seen, want) {
		t.Errorf("seen:\n%s\nwant:\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
}
