package website

import (
	"context"
	"net/http"
	"net/url"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// get requests a file of at most limit bytes and returns it with its media type.
func (c *Client) get(ctx context.Context, at *url.URL, limit int64) (data []byte, mediaType string, err error) {
	resp, data, err := httpx.Get(ctx, c.http, at, http.Header{"User-Agent": {c.options.UserAgent}}, limit)
	switch {
	case err != nil:
		return nil, "", httpx.RequestError(at.Host, err)
	case resp.StatusCode != http.StatusOK:
		return nil, "", httpx.StatusError(at, resp, "", "")
	case int64(len(data)) > limit:
		return nil, "", diag.Errorf(diag.Invalid, "%s is larger than %d bytes", at, limit)
	}
	return data, resp.Header.Get("Content-Type"), nil
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
