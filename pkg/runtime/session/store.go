package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The limits of a session's state.
const (
	maxID     = 1024    // bytes of an id
	maxState  = 4 << 20 // bytes of a state file
	maxActive = 64      // active skills, whatever the settings say
)

// KeptFor is how long an unused session is kept.
const KeptFor = 30 * 24 * time.Hour

// sweepEvery is the time between removals of old sessions.
const sweepEvery = 24 * time.Hour

// version is the format of a state file. Other formats are rejected, because restrictions must not be guessed.
const version = 1

// State is the stored state of a session.
type State struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Began   time.Time `json:"began"`
	Active  []Active  `json:"active"` // the stack, in the order of activation
}

// Active is an active skill, with its properties at activation.
type Active struct {
	Name    string `json:"name"`
	Pack    string `json:"pack,omitempty"`
	Version string `json:"version,omitempty"`
	Layer   string `json:"layer,omitempty"`
	Source  string `json:"source,omitempty"`  // source of the pack, "" if its lockfile has none
	Machine bool   `json:"machine,omitempty"` // installed by the machine's administrator
	Dir     string `json:"dir"`               // path in the catalog
	Real    string `json:"real"`              // Dir without links, which identifies the skill
	Digest  string `json:"digest"`
	// Text is the digest of its description and instructions, which identifies a renamed skill.
	Text string `json:"text,omitempty"`

	Arguments string    `json:"arguments,omitempty"`
	Trigger   Trigger   `json:"trigger"`
	At        time.Time `json:"at"`

	Restricts  bool     `json:"restricts"` // whether only the tools in Allowed may be called
	Allowed    []string `json:"allowedTools,omitempty"`
	Disallowed []string `json:"disallowedTools,omitempty"`
	Post       string   `json:"post,omitempty"` // script of the post hook

	Parent string `json:"parent,omitempty"` // Real of the active skill that it is nested in, "" for none

	Call string `json:"call,omitempty"` // the agent's id of the call that activated it, "" if skillpm did
	Turn string `json:"turn,omitempty"` // the agent's id of the prompt that it was activated for
	// Pre is the script of the pre hook that has not run yet, because the user may still refuse the call.
	Pre string `json:"pre,omitempty"`
	// Pending is set until the agent reports the result of the call.
	Pending bool `json:"pending,omitempty"`
	// Failed is why the pre hook failed after the model got the instructions; every tool is denied then.
	Failed string `json:"failed,omitempty"`
	Fork   bool   `json:"fork,omitempty"`  // it runs in a subagent or a task
	Agent  string `json:"agent,omitempty"` // the kind of subagent, "" for the default
	// Inherited skills are active in the parent session, too, and end there.
	Inherited bool `json:"inherited,omitempty"`
}

// Exact returns the name that identifies this skill: name@owner/name if it is in a pack, with the name of its
// directory, because its own may be an alias or have its pack's name.
func (a Active) Exact() string {
	if a.Pack == "" {
		return a.Name
	}
	return filepath.Base(a.Dir) + "@" + a.Pack
}

// Names returns the names of the active skills in the order of activation.
func (s State) Names() []string {
	names := make([]string, len(s.Active))
	for i, a := range s.Active {
		names[i] = a.Name
	}
	return names
}

// Known reports whether the session has state, because a skill was activated in it.
func (s State) Known() bool { return !s.Began.IsZero() }

// folder is a directory of state files.
type folder struct {
	dir string
	now func() time.Time
}

// checkID rejects ids that are too long.
func checkID(id string) error {
	if len(id) > maxID {
		return &LimitError{What: "the session id", Size: int64(len(id)), Limit: maxID, Advice: "use a shorter id, such as a UUID", code: diag.Usage}
	}
	return nil
}

// fileName returns the name of a session's state file: the id if it is a portable file name, or else its digest.
func fileName(id string) string {
	valid := len(id) <= 64 && id != "" && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	}) && id[0] != '-' && !deviceName(id)
	if valid {
		return id + ".json"
	}
	return "_" + textx.SHA256(id) + ".json"
}

// deviceName reports whether Windows reserves a name for a device.
func deviceName(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt"))
}

func (f folder) path(id string) string { return filepath.Join(f.dir, fileName(id)) }

// read returns a session's state, an empty one if there is no file. A damaged file is an error: an empty state would
// lift the restrictions of active skills.
func (f folder) read(id string) (State, error) {
	path := f.path(id)
	state, err := readState(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return State{Version: version, ID: id}, nil
	case err != nil:
		return State{}, stateError(id, path, err)
	case state.ID != id:
		return State{}, stateError(id, path, diag.Errorf(diag.Invalid, "it contains the state of session %q", state.ID))
	}
	return state, nil
}

func readState(path string) (State, error) {
	if info, err := os.Lstat(path); err != nil {
		return State{}, err
	} else if !info.Mode().IsRegular() {
		return State{}, diag.Errorf(diag.Invalid, "it is not a regular file")
	}
	data, err := safefile.ReadFile(path, maxState)
	if err != nil {
		return State{}, err
	}
	var s State
	switch err := jsonx.Decode(data, &s, jsonx.Options{KnownFields: true}); {
	case jsonx.KindOf(err) == jsonx.TrailingData:
		return State{}, diag.Errorf(diag.Invalid, "unexpected data after the end of the state")
	case err != nil:
		var v struct {
			Version int `json:"version"`
		}
		if json.Unmarshal(data, &v) == nil && v.Version > version {
			return State{}, diag.Errorf(diag.Invalid, "a newer version of skillpm wrote the file in format %d", v.Version).
				WithHint("use a newer skillpm")
		}
		return State{}, diag.Errorf(diag.Invalid, "%v", err)
	}
	if err := s.check(); err != nil {
		return State{}, err
	}
	if again, err := json.Marshal(s); err != nil || !bytes.Equal(append(again, '\n'), data) {
		return State{}, diag.Errorf(diag.Invalid,
			"another program changed the file") // a key in another letter case
	}
	return s, nil
}

// check rejects states that skillpm does not write.
func (s State) check() error {
	switch {
	case s.Version != version:
		return diag.Errorf(diag.Invalid, "the file has format %d, not %d", s.Version, version)
	case s.Active == nil:
		return diag.Errorf(diag.Invalid, "it does not list the active skills")
	case len(s.Active) > maxActive:
		return diag.Errorf(diag.Invalid, "%d skills are active; the limit is %d", len(s.Active), maxActive)
	}
	for i, a := range s.Active {
		if a.Name == "" || a.Real == "" || a.Digest == "" {
			return diag.Errorf(diag.Invalid,
				"the name, directory, or digest of active skill %d is missing", i+1)
		}
		if len(a.Allowed) > 0 && !a.Restricts {
			return diag.Errorf(diag.Invalid,
				"the tool list of active skill %d does not restrict any tool", i+1)
		}
	}
	return nil
}

// askUser is the hint for a model about a state that only the user may repair.
const askUser = "ask the user to repair the session"

// stateError returns the error for an unreadable state file.
func stateError(id, path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return diag.Errorf(diag.Denied, "cannot read the state of session %q, so skillpm denies all tool calls: %w", id, err).
			WithHint("grant yourself read access to %s", path)
	}
	e := diag.Errorf(diag.Invalid, "cannot read the state of session %q, so skillpm denies all tool calls: %s: %w", id,
		path, err)
	if hint := diag.HintOf(err); hint != "" {
		return e.WithHint("%s, or end the session with: skillpm session end %s", hint, skill.QuoteArgument(id)).
			ForModel(askUser)
	}
	return e.WithHint("if no skill should be active in the session, run: skillpm session end %s",
		skill.QuoteArgument(id)).ForModel(askUser)
}

// write stores a session's state.
func (f folder) write(s State) error {
	if s.Active == nil {
		s.Active = []Active{}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if len(data) >= maxState {
		return diag.Errorf(diag.Invalid,
			"the arguments and tool lists of the active skills are larger than %d bytes", maxState).
			WithHint("put long arguments into a file, and pass its path")
	}
	path := f.path(s.ID)
	if err := atomicfile.Write(path, append(data, '\n'),
		atomicfile.Options{Mode: 0o600, MkdirMode: 0o700}); err != nil {
		return err
	}
	now := f.now()
	return os.Chtimes(path, now, now)
}

// touch marks a session as used, at most once a day.
func (f folder) touch(id string) {
	path, now := f.path(id), f.now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > sweepEvery {
		_ = os.Chtimes(path, now, now) // after a failure the session is only kept for less time
	}
}

// lockLimit is the maximum wait for the lock, whose holders only write a file.
const lockLimit = 30 * time.Second

// lock takes the lock of the state directory.
func (f folder) lock(ctx context.Context) (unlock func() error, err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(f.dir, ".lock")
	waiting, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	unlock, err = txn.Lock(waiting, path)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, diag.Errorf(diag.Internal, "another process has locked the sessions and does not release the lock").
			WithHint("find the process with: fuser %s", path)
	}
	return unlock, err
}

// change updates the session's state under the lock. If do fails, nothing is written.
func (s *Session) change(ctx context.Context, do func(*State) error) (err error) {
	unlock, err := s.folder.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	state, err := s.State()
	if err != nil {
		return err
	}
	if err := do(&state); err != nil {
		return err
	}
	if state.Began.IsZero() {
		state.Began = s.env.Now().UTC()
		s.folder.sweep(s.id)
	}
	return s.folder.wrapWriteError(state, s.folder.write(state))
}

// wrapWriteError handles a failed write, for example on a full disk. If no skill is active, it deletes the file
// instead, which means the same; a stale file would keep restrictions.
func (f folder) wrapWriteError(s State, err error) error {
	if err == nil || len(s.Active) > 0 {
		return err
	}
	if removeErr := os.Remove(f.path(s.ID)); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sweep removes unused sessions, at most once a day. It keeps sessions that cannot be read, and restrictive ones that
// began recently or under a wrong clock. The caller holds the lock.
func (f folder) sweep(except string) {
	now := f.now()
	if !sweepDue(f.dir, now) {
		return
	}
	files, _ := f.files()
	for _, file := range files {
		path := filepath.Join(f.dir, file.Name())
		if now.Sub(file.ModTime()) <= KeptFor || file.Name() == fileName(except) {
			continue
		}
		s, err := readState(path)
		if err == nil && (len(s.Active) == 0 || s.Began.Year() >= firstYear && now.Sub(s.Began) > KeptFor) {
			_ = os.Remove(path) // the next sweep tries again
		}
	}
}

// sweepMark is a file whose modification time is that of the directory's last sweep.
const sweepMark = ".swept"

// sweepDue reports whether a directory must be swept now, and if so updates the mark.
func sweepDue(dir string, now time.Time) bool {
	mark := filepath.Join(dir, sweepMark)
	if info, err := os.Lstat(mark); err == nil && now.Sub(info.ModTime()) < sweepEvery {
		return false
	}
	return atomicfile.Write(mark, nil, atomicfile.Options{Mode: 0o600}) == nil && os.Chtimes(mark, now, now) == nil
}

// firstYear is the earliest year that a correct clock shows.
const firstYear = 2026

func (f folder) files() ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	return files, nil
}

// Summary describes a stored session.
type Summary struct {
	ID      string    `json:"id"` // "" if the state cannot be read and the file's name is a digest
	File    string    `json:"file"`
	Began   time.Time `json:"began,omitzero"`
	Used    time.Time `json:"used"`
	Active  []string  `json:"active"`
	Damaged string    `json:"damaged,omitempty"` // why the state cannot be read
}

// List returns the sessions below a state directory, the most recently used first.
func List(dir string) ([]Summary, error) {
	f := folder{dir: Dir(dir)}
	files, err := f.files()
	if err != nil {
		return nil, err
	}
	list := make([]Summary, 0, len(files))
	for _, file := range files {
		path := filepath.Join(f.dir, file.Name())
		sum := Summary{File: path, Used: file.ModTime().UTC(), Active: []string{}}
		s, err := readState(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			sum.Damaged = err.Error()
			if name := strings.TrimSuffix(file.Name(), ".json"); fileName(name) == file.Name() {
				sum.ID = name
			}
		default:
			sum.ID, sum.Began, sum.Active = s.ID, s.Began, s.Names()
		}
		list = append(list, sum)
	}
	slices.SortFunc(list, func(a, b Summary) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.File, b.File)) })
	return list, nil
}

// Dir returns the directory of sessions below a state directory.
func Dir(state string) string { return filepath.Join(state, "sessions") }
