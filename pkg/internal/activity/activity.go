// Package activity reports what long work waits for: servers, other processes, and work on many items.
//
// The observer is in the context, so that code that waits needs no option for it and the command line shows every wait
// in the same way. Without an observer, nothing is reported. All functions may be called by several goroutines.
package activity

import (
	"context"
	"sync/atomic"
	"time"
)

// Kind is the kind of an event.
type Kind int

// The kinds of events.
const (
	Began    Kind = iota // a wait began
	Answered             // the server answered a request; Text is its status
	Ended                // a wait ended
	Retrying             // an operation failed and is repeated after Delay; Text is the reason
)

// Event is a change of what is waited for.
type Event struct {
	Kind  Kind
	Wait  *Wait         // nil for Retrying
	Text  string        // see Kind
	Delay time.Duration // of Retrying
}

// Wait is one thing that is waited for. Its counts grow until it ends.
type Wait struct {
	Source  string        // what is waited for, such as "ghcr.io" or "another skillpm process (pid 12)"; "" for items
	Request string        // the HTTP request without credentials and query, such as "GET https://ghcr.io/v2/"
	Items   string        // the work on items, such as "validating skills"
	Detail  func() string // what follows the number of finished items, such as "2 failed"; may be nil

	// Received and Sent are bytes, or Received are finished items. Size is how many there will be, or 0 if unknown.
	Received, Sent, Size atomic.Int64

	observe func(Event)
	ended   atomic.Bool
}

type observerKey struct{}

// With returns a context whose events go to observe.
func With(ctx context.Context, observe func(Event)) context.Context {
	return context.WithValue(ctx, observerKey{}, observe)
}

// Begin reports that a wait begins. It returns the wait, which may be nil; End ends it.
func Begin(ctx context.Context, w *Wait) *Wait {
	observe, _ := ctx.Value(observerKey{}).(func(Event))
	if observe == nil {
		return nil
	}
	w.observe = observe
	observe(Event{Kind: Began, Wait: w})
	return w
}

// Answer reports the status of a response.
func (w *Wait) Answer(status string) {
	if w != nil {
		w.observe(Event{Kind: Answered, Wait: w, Text: status})
	}
}

// Receive adds received bytes or finished items.
func (w *Wait) Receive(n int) {
	if w != nil {
		w.Received.Add(int64(n))
	}
}

// Send adds sent bytes.
func (w *Wait) Send(n int) {
	if w != nil {
		w.Sent.Add(int64(n))
	}
}

// Expect sets how many bytes or items there will be.
func (w *Wait) Expect(n int64) {
	if w != nil {
		w.Size.Store(n)
	}
}

// End reports that the wait is over. Further calls do nothing.
func (w *Wait) End() {
	if w != nil && w.ended.CompareAndSwap(false, true) {
		w.observe(Event{Kind: Ended, Wait: w})
	}
}

// Retry reports that an operation failed and is repeated after a delay.
func Retry(ctx context.Context, reason string, delay time.Duration) {
	if observe, _ := ctx.Value(observerKey{}).(func(Event)); observe != nil {
		observe(Event{Kind: Retrying, Text: reason, Delay: delay})
	}
}
