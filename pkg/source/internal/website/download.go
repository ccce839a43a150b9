package website

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// retries is how often a failed request is repeated.
const retries = 3

// errMissing reports that a server does not have a file.
var errMissing = errors.New("not found")

// get requests a file of at most limit bytes and returns it with its media type.
func (c *Client) get(ctx context.Context, at *url.URL, limit int64) (data []byte, mediaType string, err error) {
	var resp *http.Response
	data, err = httpx.ReadWhole(ctx, at.Host, retries, limit, func() (io.ReadCloser, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return nil, diag.Errorf(diag.Usage, "%s: %w", at.Host, err)
		}
		req.Header.Set("User-Agent", c.options.UserAgent)
		if resp, err = c.http.Do(req); err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusOK {
			_ = resp.Body.Close() // only the status matters
			return http.NoBody, nil
		}
		return resp.Body, nil
	})
	if err != nil {
		return nil, "", transportError(at, httpx.PreferContext(ctx, err))
	}
	if err := checkStatus(at, resp); err != nil {
		return nil, "", err
	}
	if int64(len(data)) > limit {
		return nil, "", diag.Errorf(diag.Invalid, "%s is larger than %d bytes", at, limit)
	}
	return data, resp.Header.Get("Content-Type"), nil
}

func checkStatus(at *url.URL, resp *http.Response) error {
	status := fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound, http.StatusGone:
		return diag.Errorf(diag.NotFound, "%s: %w", at, errMissing)
	case http.StatusUnauthorized, http.StatusForbidden:
		return diag.Errorf(diag.Denied, "%s responded with %s", at, status)
	default:
		return diag.Errorf(diag.Remote, "%s responded with %s", at, status)
	}
}

// transportError gives an error of a request a code.
func transportError(at *url.URL, err error) error {
	var coded interface{ Code() diag.Code }
	if httpx.EndOfContext(err) != nil || errors.As(err, &coded) {
		return err
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return diag.Errorf(diag.Remote, "%s: %w", at.Host, err).
		WithHint("check the address and the network, then try again")
}

// checkArtifact refuses the URL of an artifact that the website may not name.
func checkArtifact(ctx context.Context, site, at *url.URL) error {
	if at.Scheme == site.Scheme && at.Host == site.Host {
		return nil
	}
	if at.Scheme != "https" && !(at.Scheme == "http" && site.Scheme == "http" && httpx.IsLoopback(at.Hostname())) {
		return diag.Errorf(diag.Denied, "the index of %s names %s, which does not use HTTPS", site.Host, at.Redacted())
	}
	// a redirect to the URL must be allowed, too
	to := &http.Request{URL: at}
	return httpx.CheckRedirect(to.WithContext(ctx), []*http.Request{{URL: site}})
}
