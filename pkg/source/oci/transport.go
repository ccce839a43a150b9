package oci

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// retries returns how often to retry.
func (o Options) retries() int {
	if o.Retries == 0 {
		return 3
	}
	return max(o.Retries, 0)
}

func (c *Client) newHTTPClient() *http.Client {
	transport := c.opts.Transport
	if transport == nil {
		transport = httpx.NewTransport()
	}
	return &http.Client{
		Transport:     httpx.Patient(&credentialFilter{httpx.Confine(transport, nil), c}, c.opts.retries()),
		CheckRedirect: httpx.CheckRedirect,
	}
}

// plainHTTP reports whether a host is contacted without TLS: a configured one, or a loopback address whose server does
// not support TLS.
func (c *Client) plainHTTP(ctx context.Context, host string) (bool, error) {
	if slices.ContainsFunc(c.opts.PlainHTTP, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true, nil
	}
	if !httpx.IsLoopback((&url.URL{Host: host}).Hostname()) {
		return false, nil
	}
	end, err := c.turns.Take(ctx, "probe "+host)
	if err != nil {
		return false, err
	}
	defer end()
	c.mu.Lock()
	useHTTP, known := c.plainHosts[host]
	c.mu.Unlock()
	if known {
		return useHTTP, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/v2/", nil)
	if err != nil {
		return false, diag.Errorf(diag.Usage, "invalid host %q", host)
	}
	resp, err := c.http.Do(req)
	switch {
	case err == nil:
		resp.Body.Close()
	case httpx.IsPlainHTTP(err):
		useHTTP = true
	default:
		return false, c.remoteError(host, err)
	}
	c.mu.Lock()
	c.plainHosts[host] = useHTTP
	c.mu.Unlock()
	return useHTTP, nil
}
