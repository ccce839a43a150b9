package httpx

import (
	"context"
	"net/url"
)

type redirectKey struct{}

// WithRedirectCheck returns a context in which redirects are followed only if check allows them.
func WithRedirectCheck(ctx context.Context, check func(target *url.URL) error) context.Context {
	return context.WithValue(ctx, redirectKey{}, check)
}

// RedirectAllowed returns the error of the context's redirect check, or nil.
func RedirectAllowed(ctx context.Context, target *url.URL) error {
	if check, ok := ctx.Value(redirectKey{}).(func(*url.URL) error); ok && check != nil {
		return check(target)
	}
	return nil
}
