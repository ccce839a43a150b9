package httpx

import (
	"context"
	"errors"
)

// PreferContext returns the error of ctx if it has ended, else err; nil stays nil. What an interruption cuts off looks
// like damage (a size that differs, a digest, the end of an archive), and the interruption is the cause.
func PreferContext(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// EndOfContext returns the error of a context that an error is about, or nil. It tells the end of a context from a
// timeout of the transport, which net/http makes look like the same.
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
