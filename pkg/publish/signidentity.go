package publish

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/sign"
)

// The variables with the identity of a CI job. The name of the first is Sigstore's, for GitLab and others; the others
// are those of GitHub Actions.
const (
	tokenVariable        = "SIGSTORE_ID_TOKEN"
	requestURLVariable   = "ACTIONS_ID_TOKEN_REQUEST_URL"
	requestTokenVariable = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"

	audience = "sigstore" // that Fulcio requires in identity tokens
	maxToken = 64 << 10   // bytes
)

// SignerOptions configure a signer without a key.
type SignerOptions struct {
	Token     func(context.Context) (string, error) // returns a valid identity token with the audience sigstore
	Config    []byte                                // a signing_config.json; nil for Sigstore's public instance
	Transport http.RoundTripper                     // for requests with a token; it does not follow redirects
	TLS       *tls.Config                           // for other requests; nil for the default
	// TrustedRoot is a trusted_root.json that each new signature is verified with; nil for none.
	TrustedRoot []byte
	Now         func() time.Time
}

// OpenSigner returns a signer that signs with certificates for the identity in a token. The private key exists only in
// memory, and no error contains the token.
type OpenSigner func(SignerOptions) (sign.Signer, error)

// InCI reports whether the environment is that of a CI job whose system issues identity tokens, whether or not this job
// may request one.
func InCI(getenv func(string) string) bool {
	return getenv(tokenVariable) != "" || getenv("GITHUB_ACTIONS") == "true" || getenv("GITLAB_CI") == "true"
}

// IdentitySigner returns a signer for the identity of the CI job. A job without an identity token is an error with the
// code [diag.Denied]. A nil open means a program that does not sign with identities, which has the code [diag.Usage].
func (c *Client) IdentitySigner(open OpenSigner) (sign.Signer, error) {
	if open == nil {
		return nil, diag.Errorf(diag.Usage,
			"no signing key specified, and this build of skillpm cannot sign with the identity of the CI job").
			WithHint("use skillpm-keyless of the same release (skillpm/skillpm/setup with keyless: true), " +
				"or set SKILLPM_SIGNING_KEY to a private key")
	}
	if err := c.checkIdentity(); err != nil {
		return nil, err
	}
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	config, err := sources.SigningConfig()
	if err != nil {
		return nil, err
	}
	trustedRoot, err := sources.TrustedRoot()
	if err != nil {
		return nil, err
	}
	transport := noRedirects{sources.HTTP().Transport}
	return open(SignerOptions{
		Token:  func(ctx context.Context) (string, error) { return c.identityToken(ctx, transport) },
		Config: config, Transport: transport, TLS: sources.TLS(), TrustedRoot: trustedRoot, Now: c.Now,
	})
}

// checkIdentity returns an error if the job cannot have an identity token.
func (c *Client) checkIdentity() error {
	switch {
	case c.Getenv(tokenVariable) != "":
		return nil
	case c.Getenv("GITHUB_ACTIONS") == "true":
		if c.Getenv(requestURLVariable) == "" || c.Getenv(requestTokenVariable) == "" {
			return diag.Errorf(diag.Denied,
				`cannot sign with the identity of the job: the job does not have the permission "id-token: write"`).
				WithHint("add to the job in the workflow: permissions: {contents: read, id-token: write}; " +
					"jobs for pull requests from forks cannot have the permission")
		}
		return nil
	case c.Getenv("GITLAB_CI") == "true":
		return diag.Errorf(diag.Denied, "cannot sign with the identity of the job: %s is not set", tokenVariable).
			WithHint("add to the job in .gitlab-ci.yml: id_tokens: {%s: {aud: %s}}", tokenVariable, audience)
	}
	return diag.Errorf(diag.Denied, "cannot sign with an identity: this is not a job of GitHub Actions or GitLab CI").
		WithHint("use --signing-key FILE, or set %s to an identity token with the audience %s", tokenVariable, audience)
}

// identityToken returns the identity token of the job.
func (c *Client) identityToken(ctx context.Context, transport http.RoundTripper) (string, error) {
	if token := c.Getenv(tokenVariable); token != "" {
		return token, checkToken(token, c.Now())
	}
	token, err := c.requestToken(ctx, transport)
	if err != nil {
		return "", err
	}
	return token, checkToken(token, c.Now())
}

// requestToken requests an identity token from GitHub Actions.
// https://docs.github.com/actions/reference/security/oidc
func (c *Client) requestToken(ctx context.Context, transport http.RoundTripper) (string, error) {
	at, err := url.Parse(c.Getenv(requestURLVariable))
	if err != nil || at.Host == "" || at.User != nil ||
		at.Scheme != "https" && (at.Scheme != "http" || !httpx.IsLoopback(at.Hostname())) {
		return "", diag.Errorf(diag.Invalid, "%s is not an https address", requestURLVariable)
	}
	query := at.Query()
	query.Set("audience", audience)
	at.RawQuery = query.Encode()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	header := http.Header{"Authorization": {"Bearer " + c.Getenv(requestTokenVariable)}}
	resp, body, err := httpx.Get(ctx, client, at, header, maxToken)
	if err != nil {
		return "", httpx.RequestError(at.Host, err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", diag.Errorf(diag.Denied, "cannot sign with the identity of the job: %s responded with %d %s",
			at.Host, resp.StatusCode, http.StatusText(resp.StatusCode)).
			WithHint("check that the job in the workflow has the permission id-token: write")
	}
	var answer struct {
		Value string `json:"value"`
	}
	if len(body) > maxToken || json.Unmarshal(body, &answer) != nil || answer.Value == "" {
		return "", diag.Errorf(diag.Remote, "%s did not return an identity token", at.Host)
	}
	return answer.Value, nil
}

// checkToken checks the audience and the expiration of an identity token, so that the error is clearer than Fulcio's.
// Only Fulcio verifies the token.
func checkToken(token string, now time.Time) error {
	var claims struct {
		Audience audiences `json:"aud"`
		Expires  float64   `json:"exp"`
	}
	parts := strings.Split(token, ".")
	if len(token) > maxToken || len(parts) != 3 {
		return diag.Errorf(diag.Invalid, "the identity token of the job is not a JSON Web Token")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return diag.Errorf(diag.Invalid, "the identity token of the job is not a JSON Web Token")
	}
	if !slices.Contains(claims.Audience, audience) {
		return diag.Errorf(diag.Denied, "the identity token of the job does not have the audience %s", audience).
			WithHint("in GitLab, add to the job: id_tokens: {%s: {aud: %s}}", tokenVariable, audience)
	}
	if expires := time.Unix(int64(claims.Expires), 0); !now.Before(expires) {
		return diag.Errorf(diag.Denied, "the identity token of the job expired at %s",
			expires.UTC().Format(time.RFC3339)).
			WithHint("run the job again; sign soon after the start of the job")
	}
	return nil
}

// audiences is one audience or a list of them (RFC 7519, section 4.1.3).
type audiences []string

// UnmarshalJSON parses a text or a list.
func (a *audiences) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

// noRedirects makes redirects errors, because a redirected request could bring a token to another host.
type noRedirects struct{ base http.RoundTripper }

// RoundTrip sends a request once.
func (t noRedirects) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(req)
	if err == nil && resp.StatusCode >= 300 && resp.StatusCode < 400 {
		_ = resp.Body.Close()
		return nil, diag.Errorf(diag.Denied, "%s redirects, and skillpm sends identity tokens to no other host",
			req.URL.Host)
	}
	return resp, err
}
