package source

import (
	"context"
	"net/url"
)

type redirectKey struct{}

// WithRedirects returns a context in which what a server sends on to is asked for only if check allows it.
func WithRedirects(ctx context.Context, check func(to *url.URL) error) context.Context {
	return context.WithValue(ctx, redirectKey{}, check)
}

// CheckRedirect returns why a context does not allow what a server sends on to, nil if it does.
func CheckRedirect(ctx context.Context, to *url.URL) error {
	if check, ok := ctx.Value(redirectKey{}).(func(*url.URL) error); ok && check != nil {
		return check(to)
	}
	return nil
}
