// Package bug turns panics into errors, so that a bug of skillpm ends a command with one line and a report.
//
// A panic ends a process only if no function of its goroutine recovers. So goroutines that do work are started by a
// [Group], which returns the panic as an error where the work is awaited. Others are started by [Go] or a [WaitGroup],
// whose panics end the process: see [OnPanic].
package bug

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Panic is the error for a panic.
type Panic struct {
	value string
	stack []byte
}

// New returns the error for a recovered value. It must be called by the deferred function that recovered.
func New(value any) *Panic { return &Panic{fmt.Sprint(value), debug.Stack()} }

// Error returns the value of the panic in one line.
func (p *Panic) Error() string {
	return "skillpm has a bug: " + strings.Join(strings.Fields(p.value), " ")
}

// Code returns [diag.Internal].
func (p *Panic) Code() diag.Code { return diag.Internal }

// Write writes a report to a new file in the directory for temporary files and returns its path. The report has the
// stack, but no arguments, variables, or files. Redact removes secrets from the text.
func (p *Panic) Write(version string, redact func(string) string) (path string, err error) {
	f, err := os.CreateTemp("", "skillpm-bug-*.txt")
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "skillpm %s, %s, %s/%s\n\n%s\n\n%s", version, runtime.Version(), runtime.GOOS,
		runtime.GOARCH, redact(p.value), redact(string(p.stack)))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), err
}

// Catch calls f and returns its panic as an error.
func Catch(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = New(p)
		}
	}()
	return f()
}

// end ends the process. It belongs to the process, as the goroutines of all its packages do.
var end atomic.Pointer[func(*Panic)]

// OnPanic sets what happens after a panic of a goroutine whose error nobody receives; f ends the process. Without it,
// the process ends as usual for Go: with all stacks and exit code 2.
func OnPanic(f func(*Panic)) { end.Store(&f) }

// fatal ends the process if the function that deferred it panics.
func fatal() {
	f := end.Load()
	if f == nil {
		return
	}
	if p := recover(); p != nil {
		(*f)(New(p))
	}
}

// Go calls f in a new goroutine.
func Go(f func()) {
	go func() {
		defer fatal()
		f()
	}()
}

// WaitGroup is a [sync.WaitGroup] whose functions may panic: see [OnPanic]. The zero value is ready to use.
type WaitGroup struct{ sync.WaitGroup }

// Go is the method of [sync.WaitGroup].
func (g *WaitGroup) Go(f func()) {
	g.WaitGroup.Go(func() {
		defer fatal()
		f()
	})
}

// Group is an [errgroup.Group] whose functions may panic: the panic is the error of Wait. The zero value is ready to
// use.
type Group struct {
	zero errgroup.Group
	own  *errgroup.Group // of WithContext
}

// WithContext is [errgroup.WithContext] for a [Group].
func WithContext(ctx context.Context) (*Group, context.Context) {
	own, ctx := errgroup.WithContext(ctx)
	return &Group{own: own}, ctx
}

func (g *Group) group() *errgroup.Group {
	if g.own != nil {
		return g.own
	}
	return &g.zero
}

// Go calls f in a new goroutine.
func (g *Group) Go(f func() error) { g.group().Go(func() error { return Catch(f) }) }

// SetLimit is the method of [errgroup.Group].
func (g *Group) SetLimit(n int) { g.group().SetLimit(n) }

// Wait is the method of [errgroup.Group].
func (g *Group) Wait() error { return g.group().Wait() }
