package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Retries is how often a failed request for a short document is repeated.
const Retries = 3

// Get requests a document and reads it to its end or to limit+1 bytes, whatever the status. [RequestError] converts its
// errors, and [StatusError] the statuses that a caller does not expect.
func Get(ctx context.Context, client *http.Client, at *url.URL, header http.Header, limit int64) (
	resp *http.Response, data []byte, err error,
) {
	data, err = ReadWhole(ctx, at.Host, Retries, limit, func() (io.ReadCloser, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return nil, diag.Errorf(diag.Usage, "%s: %w", at.Host, err)
		}
		req.Header = header.Clone()
		if resp, err = client.Do(req); err != nil {
			return nil, err
		}
		return resp.Body, nil
	})
	return resp, data, PreferContext(ctx, err)
}

// RequestError gives the error of a request that did not get a response a code and a hint. The result does not have the
// URL.
func RequestError(host string, err error) error {
	if ended := EndOfContext(err); ended != nil {
		return ended
	}
	type codedError interface {
		error
		Code() diag.Code
	}
	if coded, ok := errors.AsType[codedError](err); ok {
		return coded
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if what, hint, ok := CertificateProblem(host, err); ok {
		return diag.Errorf(diag.Remote, "%s", what).WithHint("%s", hint)
	}
	return diag.Errorf(diag.Remote, "%s: %w", host, err).
		WithHint("check the address and the network, then try again")
}

// StatusError returns the error for a response from the address at that does not contain the document. Reason is what
// the server states in the body, or "". Login is how to log in, or "" for servers without logins.
func StatusError(at *url.URL, resp *http.Response, reason, login string) error {
	text := fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	if reason != "" {
		text += ": " + reason
	}
	code, hint := diag.Remote, ""
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		code = diag.NotFound
	case http.StatusUnauthorized:
		code, hint = diag.Denied, login
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		if code = diag.Denied; reason == "" { // a stated reason may be another one
			hint = login
		}
	case http.StatusBadRequest:
		if at.Scheme == "http" { // as servers that use TLS respond
			hint = "if the server uses TLS, use https:// in the address"
		}
	default:
		command := ""
		if login != "" {
			command = "skillpm login " + at.Host
		}
		hint = BusyHint(resp.StatusCode, at.Host, command)
	}
	err := diag.Errorf(code, "%s responded with %s", at.Redacted(), text)
	if hint == "" {
		return err
	}
	return err.WithHint("%s", hint)
}
