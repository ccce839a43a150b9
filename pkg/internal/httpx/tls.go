package httpx

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// CertificateProblem describes why the TLS certificate of a host was rejected, and what to do about it. ok is false for
// other errors. The hint never suggests to skip the verification.
func CertificateProblem(host string, err error) (what, hint string, ok bool) {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(err, &name):
		names := certificateNames(name.Certificate)
		return fmt.Sprintf("the TLS certificate of %s is for another host: %s", host, names),
			"use a name of the certificate, or ask the operator of " + host + " for one with this name", true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the TLS certificate of " + host + " is not valid at this time: " + Cause(err),
			"check this machine's clock; if it is right, ask the operator of " + host + " to renew it", true
	case errors.As(err, &unknown), errors.As(err, &verify):
		return "cannot verify the TLS certificate of " + host + ": " + Cause(err),
			"if the certificate is from your organization's own authority, " +
				"trust the authority's file (PEM) with: skillpm config set ca-file FILE", true
	}
	return "", "", false
}

// certificateNames lists the names that a certificate is for.
func certificateNames(c *x509.Certificate) string {
	const most = 5
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	switch {
	case len(names) == 0:
		return "it does not contain a name"
	case len(names) > most:
		names = append(names[:most], "…")
	}
	return Clean(strings.Join(names, ", "))
}

// IsPlainHTTP reports whether a request over TLS failed because the server does not use TLS.
// [http.ErrSchemeMismatch] covers only answers that look like HTTP/1; some servers answer an unknown greeting with a
// bare page.
func IsPlainHTTP(err error) bool {
	if refused, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return refused.Conn != nil // the first record is not TLS
	}
	return errors.Is(err, http.ErrSchemeMismatch)
}

// IsTLS reports whether a request without TLS failed because the server answered with a TLS alert. Other servers that
// use TLS answer with status 400.
func IsTLS(err error) bool {
	return err != nil && strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`)
}
