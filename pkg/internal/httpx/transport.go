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

// maxConnections is the maximum number of concurrent connections to one host.
const maxConnections = 12

// NewTransport returns a transport for registries and indexes. It uses large buffers, reuses connections, does not
// request compression (layers are compressed already), limits the connections to a host however many packs are fetched
// at once, and fails if a server does not begin to respond.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialChecked(dialer),
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

// TrustFile makes a transport trust the certificates in a PEM file, in addition to the system's (and those in
// SSL_CERT_FILE, if Go supports it on this system).
func TrustFile(t *http.Transport, file string) error {
	pem, err := os.ReadFile(file)
	if err != nil {
		// A missing file must not look like a document that the server does not have.
		return diag.Errorf(diag.Invalid, "cannot read the certificates: %v", err).
			WithHint("set ca-file in config.yaml to a PEM file with certificates")
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return diag.Errorf(diag.Invalid, "%s does not contain a PEM certificate", file).
			WithHint("use a file that contains the line -----BEGIN CERTIFICATE-----")
	}
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	t.TLSClientConfig.RootCAs = roots
	return nil
}
