package pack

import "context"

// Meter is told how far one transfer is: the bytes that have come so far, and how many there will be, 0 where nobody
// said. It is called from the goroutine that reads.
type Meter func(done, total int64)

type meterKey struct{}

// WithMeter returns a context in which transfers tell the meter how far they are.
func WithMeter(ctx context.Context, m Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns the meter of a context. It is never nil.
func MeterOf(ctx context.Context) Meter {
	if m, ok := ctx.Value(meterKey{}).(Meter); ok && m != nil {
		return m
	}
	return func(int64, int64) {}
}
