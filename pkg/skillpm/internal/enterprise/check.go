package enterprise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Status is the state of the enterprise layer, as far as this machine knows.
type Status struct {
	Source   string     `json:"source"` // as it is configured, "" for none
	Version  string     `json:"version,omitempty"`
	Resolved string     `json:"resolved,omitempty"`
	Signers  []string   `json:"signers,omitempty"`
	Changed  *time.Time `json:"changed,omitempty"` // when this list was applied
	Checked  *time.Time `json:"checked,omitempty"` // when the source was last reached
	Age      int64      `json:"age,omitempty"`     // seconds since then
	InStep   bool       `json:"inStep"`
	Problems []string   `json:"problems"`
}

// Check compares the layer with the list that was verified last. It needs no privileges and no network, and changes
// nothing.
func (c *Client) Check(ctx context.Context) (*Status, error) {
	config, err := c.settings()
	if err != nil {
		return nil, err
	}
	s := &Status{Source: sourceText(config.Sync.Source), Problems: []string{}}
	last, err := c.readRecord()
	if err != nil {
		return nil, err
	}
	if last == nil {
		s.problem("this machine never synced the enterprise layer")
		return s, nil
	}
	s.add(last, c.Now())
	if last.Source != s.Source {
		s.problem("the current fleet list is from %s, but the configured source is %s", last.Source, s.Source)
	}
	if err := c.checkOwners(config); err != nil {
		s.problem("%s", err)
	}
	for _, name := range slices.Sorted(maps.Keys(last.Files)) {
		file := filepath.Join(c.Paths.Enterprise, filepath.FromSlash(name))
		switch data, err := safefile.ReadOptional(file); {
		case err != nil:
			return nil, err
		case data == nil:
			s.problem("%s is missing", file)
		case "sha256:"+textx.SHA256(data) != last.Files[name]:
			s.problem("%s has local changes", file)
		}
	}
	if len(s.Problems) == 0 { // otherwise there is nothing to compare with
		err = c.verify(ctx, s)
	}
	s.InStep = len(s.Problems) == 0
	return s, err
}

// add adds what the record of the last sync says.
func (s *Status) add(last *record, now time.Time) {
	s.Version, s.Resolved, s.Signers = last.Release, last.Resolved, last.Signers
	s.Changed, s.Checked, s.Age = &last.Changed, &last.Checked, int64(age(now, last.Checked)/time.Second)
}

func (s *Status) problem(format string, args ...any) {
	s.Problems = append(s.Problems, fmt.Sprintf(format, args...))
}

// verify hashes the packs of the layer.
func (c *Client) verify(ctx context.Context, s *Status) error {
	w, err := c.Machine.OpenMachine()
	if err != nil {
		return err
	}
	r, err := w.Verify(ctx)
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		s.problem("%s: %s", w.Scope.Abs(p.Path), p.Message)
	}
	return nil
}

// LastSync returns the state of the layer without hashing it, nil if no source is configured.
func (c *Client) LastSync() (*Status, error) {
	config, err := c.Machine.AdminConfig()
	if err != nil {
		return nil, err
	}
	if config.Sync.Source.Kind == "" {
		return nil, nil
	}
	s := &Status{Source: sourceText(config.Sync.Source), Problems: []string{}}
	if _, err := os.Lstat(filepath.Join(c.Paths.Enterprise, RecordName)); errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	last, err := c.readRecord()
	if err != nil || last == nil {
		return s, err
	}
	s.add(last, c.Now())
	return s, nil
}

// OutOfStepError reports that the layer differs from its list.
type OutOfStepError struct{ Problems []string }

// Error counts the differences.
func (e *OutOfStepError) Error() string {
	if len(e.Problems) == 1 {
		return "the enterprise layer is out of date: " + e.Problems[0]
	}
	return fmt.Sprintf("the enterprise layer has %d problems", len(e.Problems))
}

// Code is Conflict.
func (e *OutOfStepError) Code() diag.Code { return diag.Invalid }

// Hint names the command that restores the layer.
func (e *OutOfStepError) Hint() string { return "run \"sudo skillpm enterprise sync\"" }
