package gateway

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestHeadersOfOneHost checks that the headers of a server are sent only to its host and scheme, whoever requests
// another address.
func TestHeadersOfOneHost(t *testing.T) {
	var got string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }))
	defer srv.Close()
	there, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ of, want string }{
		{srv.URL, "Bearer mine"}, {"https://" + there.Host, ""}, {"http://127.0.0.1:1", ""}, {"http://localhost:" + there.Port(), ""},
	} {
		at, err := url.Parse(test.of)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := (&headers{base: http.DefaultTransport, endpoint: at, values: map[string]string{"Authorization": "Bearer mine"}}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if got != test.want {
			t.Errorf("the headers of %s are %q at %s, want %q", test.of, got, srv.URL, test.want)
		}
	}
}
