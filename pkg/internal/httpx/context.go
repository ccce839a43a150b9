package httpx

import (
	"context"
	"errors"
)

// PreferContext returns the error of ctx if it has ended, otherwise err; nil stays nil. An interrupted transfer looks
// like damage (a wrong size, a wrong digest, a truncated archive), but the interruption is the cause.
func PreferContext(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// EndOfContext returns the context error in an error's chain, or nil. It distinguishes the end of a context from a
// timeout of the transport, which net/http reports in the same way.
func EndOfContext(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if err == context.DeadlineExceeded { //nolint:errorlint // its Is is what has to be got around
			return context.DeadlineExceeded
		}
	}
	return nil
}
