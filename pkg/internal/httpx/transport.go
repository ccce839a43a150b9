package httpx

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxConnections is how many connections to one host there are at once.
const maxConnections = 12

// NewTransport returns a transport for registries and indexes: it reads in large pieces, keeps connections, never asks
// for compression on top of compressed layers, keeps to a few connections a host however many packs are fetched at
// once, and gives up on a server that does not begin to answer.
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

// TrustFile has a transport trust the certificates in a PEM file, besides those that the system trusts (and
// SSL_CERT_FILE names, where Go heeds it).
func TrustFile(t *http.Transport, file string) error {
	pem, err := os.ReadFile(file)
	if err != nil {
		return diag.Errorf(diag.NotFound, "certificates: %w", err).
			WithHint("ca-file in the configuration names a file of certificates in PEM")
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return diag.Errorf(diag.Invalid, "%s has no certificate in PEM", file).
			WithHint("such a file has a line -----BEGIN CERTIFICATE-----")
	}
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	t.TLSClientConfig.RootCAs = roots
	return nil
}
