package provider

import (
	"net/http"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// carrier returns what carries HTTP requests, nil for what each fetcher has without settings. Where the certificates
// that are to be trusted can't be read, it carries none.
func (s *Sources) carrier() http.RoundTripper {
	if s.options.CAFile == "" {
		return nil
	}
	t := httpx.NewTransport()
	if err := httpx.TrustFile(t, s.options.CAFile); err != nil {
		return stopped{err}
	}
	return t
}

// client returns what asks HTTPS indexes, nil for what the registries have without settings.
func (s *Sources) client() *http.Client {
	if carrier := s.carrier(); carrier != nil {
		return &http.Client{Transport: carrier}
	}
	return nil
}

// stopped carries nothing.
type stopped struct{ err error }

// RoundTrip returns why.
func (s stopped) RoundTrip(*http.Request) (*http.Response, error) { return nil, s.err }
