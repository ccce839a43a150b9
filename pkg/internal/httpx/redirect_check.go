package httpx

import (
	"context"
	"net/url"
)

type redirectKey struct{}

// WithRedirectCheck returns a context in which what a server sends on to is asked for only if check allows it.
func WithRedirectCheck(ctx context.Context, check func(target *url.URL) error) context.Context {
	return context.WithValue(ctx, redirectKey{}, check)
}

// RedirectAllowed returns why a context does not allow what a server sends on to, nil if it does.
func RedirectAllowed(ctx context.Context, target *url.URL) error {
	if check, ok := ctx.Value(redirectKey{}).(func(*url.URL) error); ok && check != nil {
		return check(target)
	}
	return nil
}
