package task

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
)

// State is the state of a task.
type State string

// The states of a task.
const (
	Queued    State = "queued"    // its runner has not started
	Running   State = "running"   // its command runs
	Succeeded State = "succeeded" // its command exited with 0
	Failed    State = "failed"    // its command failed or could not be started
	TimedOut  State = "timed-out" // its command exceeded its time limit
	Cancelled State = "cancelled" // it was cancelled
	Lost      State = "lost"      // its runner ended without a result
)

// States returns all states in the order of a task's life.
func States() []State { return []State{Queued, Running, Succeeded, Failed, TimedOut, Cancelled, Lost} }

// Ended reports whether the state is final.
func (s State) Ended() bool { return s != Queued && s != Running }

// Request describes a task to submit.
type Request struct {
	Skill   string // name of the skill, "" for none
	Pack    string // pack of the skill, "" for none
	Dir     string // directory of the skill, "" for none
	Agent   string // kind of runner; "" is the default one
	Model   string // model that the skill names, "" for the runner's own
	Project string // directory of the project, for runners that work there
	Body    string // complete input of the task
	Session string // id of the session that restricts the task's tools, "" for none
}

// Task is a task with its state. Users, programs, and notifications see this form.
type Task struct {
	ID       string     `json:"id"`
	State    State      `json:"state"`
	Skill    string     `json:"skill,omitempty"`
	Pack     string     `json:"pack,omitempty"`
	Agent    string     `json:"agent"`
	Model    string     `json:"model,omitempty"`
	Project  string     `json:"project,omitempty"`
	Created  time.Time  `json:"created"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	ExitCode *int       `json:"exitCode,omitempty"`
	Signal   string     `json:"signal,omitempty"`
	Reason   string     `json:"reason,omitempty"` // why it did not succeed

	OutputBytes int64 `json:"outputBytes"`         // bytes that its command printed
	Truncated   bool  `json:"truncated,omitempty"` // the stored output is incomplete
}

// state is the file state.json.
type state struct {
	Version int `json:"version"`
	Task
}

// request is the file request.json, which never changes. Its environment may contain secrets, so it is not shown.
type request struct {
	Version int         `json:"version"`
	Dir     string      `json:"dir,omitempty"` // directory of the skill
	Session string      `json:"session,omitempty"`
	Runner  pack.Runner `json:"runner"`
}

// The files of a task.
const (
	stateFile    = "state.json"
	requestFile  = "request.json"
	inputFile    = "input"
	outputFile   = "output"
	errorsFile   = "errors"
	lockFile     = "lock"
	resolveFile  = "settle"   // lock for marking a task as lost
	pidFile      = "pid"      // process id of the runner; only valid while it holds the lock
	cancelFile   = "cancel"   // exists if the task is to be cancelled
	notifiedFile = "notified" // exists if its end was reported or is being reported
	workDir      = "work"
)

// The limits of a task.
const (
	DefaultLimit = 10 * time.Minute // run time if the runner has no limit

	MaxBody   = 4 << 20   // bytes of its input
	MaxOutput = 4 << 20   // bytes of stored output
	maxErrors = 256 << 10 // bytes of stored standard error
	maxFile   = 1 << 20   // bytes of state.json and request.json
)

const version = 1

// Dir returns the directory of a task.
func (s *Store) Dir(id string) string { return filepath.Join(s.dir, id) }

func (s *Store) file(id, name string) string { return filepath.Join(s.dir, id, name) }

// read returns the stored state of a task.
func (s *Store) read(id string) (*Task, error) {
	var st state
	if err := readJSON(s.file(id, stateFile), &st); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, s.unknown(id)
		}
		return nil, err
	}
	switch {
	case st.Version > version:
		return nil, newer(s.file(id, stateFile), st.Version)
	case st.Version != version:
		return nil, damaged(s.file(id, stateFile), "has the unsupported format %d", st.Version)
	case st.ID != id:
		return nil, damaged(s.file(id, stateFile), "belongs to another task, %q", st.ID)
	case !slices.Contains(States(), st.State):
		return nil, damaged(s.file(id, stateFile), "has the unknown state %q", st.State)
	case st.State.Ended() && st.Ended == nil, st.Created.IsZero():
		return nil, damaged(s.file(id, stateFile), "does not contain a timestamp")
	}
	return &st.Task, nil
}

func (s *Store) request(id string) (*request, error) {
	var r request
	if err := readJSON(s.file(id, requestFile), &r); err != nil {
		return nil, err
	}
	if r.Version > version {
		return nil, newer(s.file(id, requestFile), r.Version)
	}
	if r.Version != version || len(r.Runner.Command) == 0 {
		return nil, damaged(s.file(id, requestFile), "does not contain a command")
	}
	return &r, nil
}

func (s *Store) write(t *Task) error {
	return writeJSON(s.file(t.ID, stateFile), state{Version: version, Task: *t}, t.State.Ended())
}

func writeJSON(path string, v any, sync bool) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'), atomicfile.Options{Mode: 0o600, Sync: sync})
}

// readJSON decodes one value strictly.
func readJSON(path string, into any) error {
	data, err := safefile.ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	switch err := jsonx.Decode(data, into, jsonx.Options{KnownFields: true}); {
	case jsonx.KindOf(err) == jsonx.TrailingData:
		return damaged(path, "contains more than one value")
	case err != nil:
		return damaged(path, "is not valid: %v", err)
	}
	return nil
}

func damaged(path, format string, args ...any) error {
	return diag.Errorf(diag.Invalid, "%s "+format, append([]any{path}, args...)...).
		WithHint("the task is damaged; remove the directory %s", filepath.Dir(path))
}

func newer(path string, format int) error {
	return diag.Errorf(diag.Invalid, "a newer version of skillpm wrote %s in format %d", path, format).
		WithHint("use a newer skillpm")
}

// Output returns the stored standard output of an ended task.
func (s *Store) Output(id string) ([]byte, error) { return s.text(id, outputFile, MaxOutput) }

// Errors returns the stored standard error of an ended task.
func (s *Store) Errors(id string) ([]byte, error) { return s.text(id, errorsFile, maxErrors) }

// Input returns the input of a task.
func (s *Store) Input(id string) ([]byte, error) { return s.text(id, inputFile, MaxBody) }

// text reads a file of a task; a missing file is empty. The line about omitted output may exceed the limit.
func (s *Store) text(id, name string, limit int64) ([]byte, error) {
	if !IsID(id) {
		return nil, s.unknown(id)
	}
	data, err := safefile.ReadFile(s.file(id, name), limit+100)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
