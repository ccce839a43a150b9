package memo

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestGetShares checks that callers of one key share a fetch, and that other keys do not wait for it.
func TestGetShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Map[string, int]
		fetches := 0
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				got, err := m.Get(t.Context(), "slow", func(context.Context) (int, error) {
					fetches++
					time.Sleep(time.Hour)
					return 1, nil
				})
				if got != 1 || err != nil {
					t.Errorf("slow is %d, %v; want 1", got, err)
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		got, err := m.Get(t.Context(), "fast", func(context.Context) (int, error) { return 2, nil })
		if got != 2 || err != nil || time.Since(start) != 0 {
			t.Errorf("fast is %d, %v after %v; want 2 at once", got, err, time.Since(start))
		}
		wg.Wait()
		if fetches != 1 {
			t.Errorf("slow was fetched %d times; want once", fetches)
		}
	})
}

// TestGetErrors checks that an error is not cached, and that a caller that gives up does not make the others fail.
func TestGetErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Map[string, int]
		broken := errors.New("broken")
		_, err := m.Get(t.Context(), "a", func(context.Context) (int, error) { return 0, broken })
		if !errors.Is(err, broken) {
			t.Errorf("the error is %v; want that of the fetch", err)
		}
		wait := func(ctx context.Context) (int, error) {
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(time.Hour):
				return 1, nil
			}
		}
		hasty, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := m.Get(hasty, "a", wait); !errors.Is(err, context.Canceled) {
				t.Errorf("the error of the canceled caller is %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if got, err := m.Get(t.Context(), "a", wait); got != 1 || err != nil {
				t.Errorf("a is %d, %v; want 1", got, err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
	})
}

// TestGetExpires checks that a value is fetched again after it expires.
func TestGetExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := Map[string, int]{Now: time.Now, Keep: time.Minute}
		fetches := 0
		for _, want := range []int{1, 1, 2} {
			got, err := m.Get(t.Context(), "a", func(context.Context) (int, error) {
				fetches++
				return fetches, nil
			})
			if got != want || err != nil {
				t.Errorf("a is %d, %v; want %d", got, err, want)
			}
			time.Sleep(40 * time.Second)
		}
	})
}
