package oci

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxConnections is how many connections to one host there are at once.
const maxConnections = 12

// NewTransport returns a transport for registries: it reads in large pieces, keeps connections, never asks for
// compression on top of compressed layers, keeps to a few connections a host however many packs are fetched at once, and
// gives up on a server that does not begin to answer.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          32,
		MaxIdleConnsPerHost:   maxConnections,
		MaxConnsPerHost:       maxConnections,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: slowTime,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
		ReadBufferSize:        256 << 10,
		WriteBufferSize:       256 << 10,
	}
}

// retries returns how often something is tried again.
func (o Options) retries() int {
	if o.Retries == 0 {
		return 3
	}
	return max(o.Retries, 0)
}

func (c *Client) newHTTPClient() *http.Client {
	transport := c.opts.Transport
	if transport == nil {
		transport = NewTransport()
	}
	return &http.Client{Transport: Patient(&guard{transport, c}, c.opts.retries()), CheckRedirect: CheckRedirect}
}

const maxRedirects = 10

// CheckRedirect is a redirect policy for [net/http.Client]: it keeps redirects on HTTPS and out of this machine. That
// credentials do not follow to another host is the work of the client that adds them.
func CheckRedirect(req *http.Request, via []*http.Request) error {
	from := via[0].URL
	switch {
	case len(via) >= maxRedirects:
		return diag.Errorf(diag.Remote, "%s redirects more than %d times", from.Host, maxRedirects)
	case from.Scheme == "https" && req.URL.Scheme != "https":
		return diag.Errorf(diag.Denied, "%s redirects from https to %s", from.Host, req.URL.Scheme)
	case req.URL.Scheme != "https" && req.URL.Scheme != "http":
		return diag.Errorf(diag.Denied, "%s redirects to %s", from.Host, req.URL.Scheme)
	case isInternal(req.URL.Hostname()) && !isInternal(from.Hostname()):
		return diag.Errorf(diag.Denied, "%s redirects to %s, which is this machine or its link-local network", from.Host, req.URL.Host)
	}
	return nil
}

// isInternal reports whether host is written as an address that only this machine or its link reaches.
func isInternal(host string) bool {
	if isLoopback(host) {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.Unmap().IsLinkLocalUnicast() || addr.Unmap().IsUnspecified() || addr.IsMulticast())
}

func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// plainHTTP reports whether a host is spoken to without TLS: only a loopback address whose server does not speak it.
func (c *Client) plainHTTP(ctx context.Context, host string) (bool, error) {
	if !isLoopback((&url.URL{Host: host}).Hostname()) {
		return false, nil
	}
	end, err := c.turns.take(ctx, "probe "+host)
	if err != nil {
		return false, err
	}
	defer end()
	c.mu.Lock()
	plain, known := c.plain[host]
	c.mu.Unlock()
	if known {
		return plain, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/v2/", nil)
	if err != nil {
		return false, diag.Errorf(diag.Usage, "%q is not a host", host)
	}
	resp, err := c.auth.Client.Do(req)
	switch {
	case err == nil:
		resp.Body.Close()
	case errors.Is(err, http.ErrSchemeMismatch) || notTLS(err):
		plain = true
	default:
		return false, c.remoteError(host, err)
	}
	c.mu.Lock()
	c.plain[host] = plain
	c.mu.Unlock()
	return plain, nil
}

// notTLS reports whether a server answered something that no TLS server does. Only what looks like HTTP is
// [http.ErrSchemeMismatch]; some servers answer a greeting that they do not understand with a bare page.
func notTLS(err error) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok
}
