package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// The limits of scripts: how many run in parallel, and how long a result is kept.
const (
	maxJobs      = 64
	jobRetention = 10 * time.Minute
)

// job is a script that is running, or whose result was not fetched yet.
type job struct {
	handle, session string
	began           time.Time
	ended           time.Time // set before done is closed
	out             *lastLine
	cancel          context.CancelFunc
	done            chan struct{} // closed when result and err are set
	result          *session.RunResult
	err             error
	warnings        []string // likewise
	beats           int
}

// jobs are the jobs of a server.
type jobs struct {
	life context.Context
	now  func() time.Time

	mu      sync.Mutex
	all     map[string]*job
	running bug.WaitGroup
}

func newJobs(life context.Context, now func() time.Time) *jobs {
	return &jobs{life: life, now: now, all: map[string]*job{}}
}

// start starts a script.
func (js *jobs) start(session string, f func(context.Context, *job) (*session.RunResult, error)) (*job, error) {
	var b [12]byte
	_, _ = rand.Read(b[:]) // rand.Read never fails
	j := &job{
		handle: "run-" + hex.EncodeToString(b[:]), session: session, began: js.now(), out: new(lastLine),
		done: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(js.life)
	j.cancel = cancel
	js.mu.Lock()
	defer js.mu.Unlock()
	for handle, old := range js.all { // results that nobody fetched
		if old.over() && js.now().Sub(old.ended) > jobRetention {
			delete(js.all, handle)
		}
	}
	if len(js.all) >= maxJobs {
		cancel()
		return nil, diag.Errorf(diag.Conflict, "too many scripts: %d are running or have unread results",
			maxJobs).
			WithHint("first get the result of a script by its handle")
	}
	js.all[j.handle] = j
	js.running.Go(func() {
		defer cancel()
		defer close(j.done)
		defer func() {
			j.ended = js.now()
			if r := recover(); r != nil { // a panic must not end other jobs
				j.result, j.err = nil, diag.Errorf(diag.Internal, "internal error in skillpm: %v", r)
			}
		}()
		j.result, j.err = f(ctx, j)
	})
	return j, nil
}

// over reports whether a script has ended.
func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// find returns a session's job by its handle, nil if there is none.
func (js *jobs) find(session, handle string) *job {
	js.mu.Lock()
	defer js.mu.Unlock()
	if j := js.all[handle]; j != nil && j.session == session {
		return j
	}
	return nil
}

// drop forgets a job whose result was fetched.
func (js *jobs) drop(j *job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	delete(js.all, j.handle)
}

// stop ends all jobs of a session.
func (js *jobs) stop(session string) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		if j.session == session {
			j.cancel()
		}
	}
}

// stopAll ends all jobs.
func (js *jobs) stopAll() {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		j.cancel()
	}
}

// lastLine is a writer that keeps the last complete line.
type lastLine struct {
	mu  sync.Mutex
	end []byte // of the written bytes
}

// maxLine is the maximum number of bytes that are kept of a line.
const maxLine = 200

func (l *lastLine) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = append(l.end, data[max(0, len(data)-8*maxLine):]...)
	l.end = bytes.Clone(l.end[max(0, len(l.end)-8*maxLine):])
	return len(data), nil
}

// String returns the line without terminal control characters.
func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := bytes.Split(l.end, []byte("\n"))
	for _, line := range slices.Backward(lines[:len(lines)-1]) {
		if len(bytes.TrimSpace(line)) > 0 {
			return strings.Map(func(r rune) rune {
				if !unicode.IsPrint(r) {
					return -1
				}
				return r
			}, strings.ToValidUTF8(string(line[:min(len(line), maxLine)]), ""))
		}
	}
	return ""
}
