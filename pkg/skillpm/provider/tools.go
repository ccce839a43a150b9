package provider

import (
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/sign/keyless"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// ToolOptions is what verbs need of the world around them.
type ToolOptions struct {
	environ.Environment

	Around   string       // a project whose policy holds besides that of the project in Dir, "" for none
	Progress func(Event)  // told of long work; may be nil
	Warn     func(string) // told of what was done and could not be recorded; may be nil
	Keyless  keyless.Open // what checks signatures of identities, nil for nothing
}

// Tools is what verbs work with, those of users as those of authors: the user's settings and scopes, and what packs are
// fetched from and pushed to. It is made once for a directory and user.
type Tools struct {
	ToolOptions
	Machine *workspace.Machine
	mu      sync.Mutex
	sources *Sources
}

// NewTools returns tools that have touched neither disk nor network.
func NewTools(o ToolOptions) *Tools {
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return &Tools{ToolOptions: o, Machine: workspace.NewMachine(workspace.Options{
		Environment: o.Environment,
		Waiting:     func() { o.Progress(Event{Text: "waiting for another skillpm, which is changing the same scope"}) },
	})}
}

// Sources returns what packs are fetched from, made when it is first needed with the user's settings.
func (t *Tools) Sources(config *pack.Config) *Sources {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sources == nil {
		t.sources = NewSources(SourceOptions{
			Environment: t.Environment, GitProgram: config.Git, Mirrors: config.Mirrors, PlainHTTP: config.PlainHTTP, CAFile: config.File(config.CAFile),
			Keyless: t.Keyless,
		})
	}
	return t.sources
}

// UserSources is Sources with the settings as they are on disk.
func (t *Tools) UserSources() (*Sources, error) {
	config, err := t.Machine.UserConfig()
	if err != nil {
		return nil, err
	}
	return t.Sources(config), nil
}

// Shown writes an absolute path as the user would: relative, if it is below the directory that the verbs work in.
func (t *Tools) Shown(path string) string {
	if rel, ok := pathx.Rel(t.Dir, path); ok {
		return rel
	}
	return path
}

// Close frees what the tools hold: temporary clones and idle connections.
func (t *Tools) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sources != nil {
		t.sources.Close()
	}
}
