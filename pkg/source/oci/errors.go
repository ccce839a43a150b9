package oci

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// ConflictError reports that a version is already published with other content.
type ConflictError struct {
	Pack       pack.ID
	Version    string
	Repository string // without tag and digest
	Digest     string // of the published content
}

// Error names the version, the repository, and the published digest.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s@%s is already published at %s with different content (%s)", e.Pack, e.Version, e.Repository,
		e.Digest)
}

// Code returns [diag.Conflict].
func (e *ConflictError) Code() diag.Code { return diag.Conflict }

// Hint suggests a new version.
func (e *ConflictError) Hint() string {
	return "increase version in skillpm.yaml and publish again; published versions never change"
}

// codedError is an error that already has a code.
type codedError interface {
	error
	Code() diag.Code
}

// remoteError adds a code and a hint to a registry's error. It removes possible secrets: URLs, because they may be
// signed, and most of the error body, which it shortens and escapes.
func (c *Client) remoteError(host string, err error) error {
	if err == nil {
		return nil
	}
	if ended := httpx.EndOfContext(err); ended != nil {
		return ended
	}
	if coded, ok := errors.AsType[codedError](err); ok {
		return coded // without the URL that net/http prepends
	}
	if resp, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		return c.responseError(host, host, resp)
	}
	if errors.Is(err, errdef.ErrNotFound) {
		return diag.Errorf(diag.NotFound, "%s does not have the pack or version", host)
	}
	if errors.Is(err, errNoLogin) {
		return diag.Errorf(diag.Denied, "%s requires credentials", host).
			WithHint("log in with: skillpm login %s", host)
	}
	if what, hint, ok := httpx.CertificateProblem(host, err); ok {
		return unreachableError{diag.Errorf(diag.Remote, "%s", what).WithHint("%s", hint)}
	}
	if httpx.IsPlainHTTP(err) {
		return diag.Errorf(diag.Remote, "%s does not support TLS", host).
			WithHint("if this is a registry of your own network, "+
				"allow connections without encryption with: skillpm config set plain-http %s", c.plainHTTPWith(host))
	}
	failed := diag.Errorf(diag.Remote, "%s: %s", host,
		httpx.Cause(err)).WithHint("check the address and the network, then try again")
	if httpx.IsTLS(err) {
		failed = failed.WithHint("%s", c.usesTLSHint(host))
	}
	var broken *net.OpError
	var slow net.Error
	if errors.As(err, &broken) && broken.Op == "dial" || errors.As(err, &slow) && slow.Timeout() {
		return unreachableError{failed}
	}
	return failed
}

// plainHTTPWith returns the setting plain-http with one more host.
func (c *Client) plainHTTPWith(host string) string {
	return strings.Join(append(slices.Clone(c.opts.PlainHTTP), host), ",")
}

// usesTLSHint returns the hint for a server that may use TLS although plain-http contains it.
func (c *Client) usesTLSHint(host string) string {
	others := slices.DeleteFunc(slices.Clone(c.opts.PlainHTTP), func(other string) bool {
		return strings.EqualFold(other, host)
	})
	command := "plain-http --undo"
	if len(others) > 0 {
		command = "plain-http " + strings.Join(others, ",")
	}
	return "if the registry uses TLS, remove it from plain-http with: skillpm config set " + command
}

// unreachableError reports that a host does not respond.
type unreachableError struct{ error }

func (e unreachableError) Unwrap() error { return e.error }

// Code returns [diag.Remote].
func (e unreachableError) Code() diag.Code { return diag.Remote }

// noTag returns the error for a missing tag, with a hint that lists the tags that exist.
func noTag(where, tag string, tags []string) error {
	const most = 10
	err := diag.Errorf(diag.NotFound, "%s does not have the tag %s", where, httpx.Clean(tag))
	if len(tags) == 0 {
		return err
	}
	tags = slices.DeleteFunc(slices.Clone(tags), isReservedTag)
	names := make([]string, 0, most)
	for _, t := range tags[:min(most, len(tags))] {
		names = append(names, httpx.Clean(t))
	}
	if len(tags) > most {
		names = append(names, "…")
	}
	return err.WithHint("available tags: %s", strings.Join(names, ", "))
}

// refuser returns the name of the server that refused a request, and a hint.
func (c *Client) refuser(host, answered string) (who, hint string) {
	registryHost := registry.Reference{Registry: host}.Host()
	realm, known := c.realm(registryHost)
	who, hint = host, "check your access rights, or log in with: skillpm login "+host
	if known && answered == realm.host && answered != registryHost {
		who = fmt.Sprintf("%s (the token server of %s)", answered, host)
	}
	switch {
	case known && !realm.trusted && (answered == registryHost || answered == realm.host):
		return who, c.withheldHint(host, realm)
	case answered == registryHost || known && answered == realm.host:
		return who, hint
	}
	return fmt.Sprintf("%s (to which %s redirects)", answered, host),
		fmt.Sprintf("ask the operator of %s about %s: skillpm does not send the credentials to that server",
			host, answered)
}

// withheldHint returns the hint for a registry whose token server does not receive its credentials.
func (c *Client) withheldHint(host string, r realm) string {
	server := httpx.Clean(r.host)
	if server == "" || !r.private {
		return "ask the operator of " + host + " about its token server: skillpm does not send the credentials to it"
	}
	return authHostHint(host, server)
}

// authHostHint returns the hint for a registry whose token server has another owner or is on another network.
func authHostHint(host, server string) string {
	return fmt.Sprintf("skillpm does not send the credentials to the token server %s: if the operator of %s confirms "+
		"that it belongs to the registry, run: skillpm config set auth-hosts.%[2]s %[1]s", server, host)
}

// responseError maps the status of a registry's response to an error.
func (c *Client) responseError(what, host string, resp *errcode.ErrorResponse) error {
	words := []string{strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode)}
	for _, e := range resp.Errors[:min(3, len(resp.Errors))] {
		words = append(words, httpx.Clean(e.Code+": "+e.Message))
	}
	text := strings.Join(words, ", ")
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		who, hint := c.refuser(host, resp.URL.Host)
		return diag.Errorf(diag.Denied, "%s denied access: %s", who, text).WithHint("%s", hint)
	case http.StatusNotFound:
		return diag.Errorf(diag.NotFound, "%s does not have the pack or version: %s", what, text)
	}
	err := diag.Errorf(diag.Remote, "%s responded with %s", what, text)
	// servers that use TLS answer requests without it like this
	if resp.StatusCode == http.StatusBadRequest && len(resp.Errors) == 0 && resp.URL.Scheme == "http" {
		return err.WithHint("%s", c.usesTLSHint(host))
	}
	if hint := httpx.BusyHint(resp.StatusCode, host, "skillpm login "+host); hint != "" {
		return err.WithHint("%s", hint)
	}
	return err
}
