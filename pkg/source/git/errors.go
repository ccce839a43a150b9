package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// explain converts an error of a connection or transfer into one that names the server and the reason.
func (p *remote) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	url := p.url.Redacted()
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", url, context.Cause(ctx))
	}
	type coded interface {
		error
		Code() diag.Code
	}
	// The wrapping error may contain a redirect URL with secrets, so only the inner one is reported.
	if err, ok := errors.AsType[coded](err); ok {
		return fmt.Errorf("%s: %w", url, err)
	}
	var unexpected *packp.ErrUnexpectedData
	switch err = unwrapGit(err); {
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return diag.Errorf(diag.NotFound, "%w", emptyError(url))
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return p.notFound(url)
	case wantsCredentials(err):
		return p.denied(url)
	case p.url.Scheme == "ssh" && isKeyError(err):
		return fmt.Errorf("%s: %w", url, p.explainKeyError(err))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return diag.Errorf(diag.Remote, "%s: the server closed the connection unexpectedly", url)
	case errors.As(err, &unexpected), errors.Is(err, packp.ErrEmptyInput), errors.Is(err, pktline.ErrInvalidPktLen):
		return diag.Errorf(diag.Remote, "%s: the response is not from a git server", url)
	}
	if what, hint, ok := httpx.CertificateProblem(p.url.Host, err); ok {
		return diag.Errorf(diag.Remote, "%s: %s", url, what).WithHint("%s", hint)
	}
	failed := diag.Errorf(diag.Remote, "%s: %s", url, p.sanitize(cause(err)))
	if hint := p.hint(err); hint != "" {
		return failed.WithHint("%s", hint)
	}
	return failed
}

// emptyError reports that the repository at a URL does not have a commit.
type emptyError string

func (e emptyError) Error() string { return "the repository " + string(e) + " is empty" }

// hint returns what the user can do about an error of a server, or "".
func (p *remote) hint(err error) string {
	if httpx.IsPlainHTTP(err) {
		return "the server does not support TLS, which git sources require: " +
			"ask its operator for an address with TLS, or use SSH"
	}
	status, ok := errors.AsType[*githttp.Err](err)
	switch {
	case !ok:
		return ""
	case status.StatusCode() == http.StatusTooManyRequests:
		return "wait and try again; for a higher limit, " + p.loginHint()
	case status.StatusCode() == http.StatusBadRequest && p.url.Scheme == "http": // as TLS servers respond
		return "if the server uses TLS, use git+https:// in the source"
	}
	return httpx.BusyHint(status.StatusCode(), p.url.Host, "")
}

// unwrapGit removes go-git's wrappers that have no Unwrap method.
func unwrapGit(err error) error {
	for {
		switch e := err.(type) { //nolint:errorlint // these are the types that errors.As cannot look into
		case *plumbing.UnexpectedError:
			err = e.Err
		case *plumbing.PermanentError:
			err = e.Err
		default:
			return err
		}
	}
}

// cause returns the reason of an error without the URL.
func cause(err error) string {
	if status, ok := errors.AsType[*githttp.Err](err); ok {
		return fmt.Sprintf("the server responded with %d %s", status.StatusCode(), http.StatusText(status.StatusCode()))
	}
	if requested, ok := errors.AsType[*url.Error](err); ok {
		return requested.Err.Error()
	}
	return err.Error()
}

// maxServerText is the most bytes of a server's text that an error repeats.
const maxServerText = 300

// sanitize shortens server text to one printable line and masks the credentials that it may repeat.
func (p *remote) sanitize(s string) string {
	s = p.client.options.Secrets.Redact(s)
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	return textx.Truncate(textx.OneLine(s), maxServerText)
}

func (p *remote) notFound(url string) error {
	e := diag.Errorf(diag.NotFound, "%s: the repository does not exist, or you do not have access", url)
	if p.secret.pass == "" && p.url.Scheme != "ssh" {
		return e.WithHint("check the URL; for a private repository, %s", p.loginHint())
	}
	return e.WithHint("check the URL and that your account has read access")
}

func (p *remote) denied(url string) error {
	if p.secret.pass != "" {
		return diag.Errorf(diag.Denied, "%s rejected the credentials from %s", url, p.secret.source).
			WithHint("check that the credentials are current and that the account has read access")
	}
	return diag.Errorf(diag.Denied, "%s is private or does not exist, and no credentials for %s are configured", url,
		p.url.Host).
		WithHint("%s", p.loginHint())
}

func (p *remote) loginHint() string {
	const ways = "configure a git credential helper or .netrc"
	names := TokenVariables(p.url)
	if len(names) == 0 {
		return ways
	}
	return ways + ", or set the environment variable " + names[len(names)-1]
}

// explainFetch converts an error of a transfer. Errors of local files stay as they are.
func (p *remote) explainFetch(ctx context.Context, ref pack.Ref, err error) error {
	if err != nil && ctx.Err() == nil && isRefusal(err) {
		return noCommit(ref)
	}
	if isLocalFault(err) {
		return err
	}
	return p.explain(ctx, err)
}

// isRefusal reports whether the server does not have an object or does not send it by its id.
func isRefusal(err error) bool {
	return strings.Contains(err.Error(), "not our ref") || strings.Contains(err.Error(), "unadvertised object")
}
