package httpx_test

import (
	"context"
	"errors"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

func TestPreferContext(t *testing.T) {
	damage := errors.New("size does not match")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		err  error
		want error
	}{
		{"no error", t.Context(), nil, nil},
		{"an error", t.Context(), damage, damage},
		{"no error after the end", ended, nil, nil},
		{"an error after the end", ended, damage, context.Canceled},
	} {
		if got := httpx.PreferContext(tt.ctx, tt.err); !errors.Is(got, tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
