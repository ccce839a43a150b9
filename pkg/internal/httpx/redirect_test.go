package httpx_test

import (
	"net/http"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

func TestRedirects(t *testing.T) {
	request := func(url string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, tt := range []struct {
		from, to string
		ok       bool
	}{
		{"https://registry.example/v2/", "https://cdn.example/blob", true},
		{"https://registry.example/v2/", "http://registry.example/v2/", false},
		{"https://registry.example/v2/", "https://169.254.169.254/latest", false},
		{"https://registry.example/v2/", "https://[fe80::1]/", false},
		{"https://registry.example/v2/", "https://127.0.0.1/", false},
		{"https://registry.example/v2/", "https://[::ffff:127.0.0.1]/", false},
		{"https://registry.example/v2/", "https://localhost:5000/", false},
		{"https://registry.example/v2/", "https://0.0.0.0/", false},
		{"http://127.0.0.1:5000/v2/", "http://127.0.0.1:9000/blob", true},
	} {
		err := httpx.CheckRedirect(request(tt.to), []*http.Request{request(tt.from)})
		if (err == nil) != tt.ok {
			t.Errorf("%s to %s: %v", tt.from, tt.to, err)
		}
	}
}
