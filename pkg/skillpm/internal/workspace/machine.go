package workspace

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/store"
)

// Options configure a [Machine].
type Options struct {
	environ.Environment

	// PolicyDir is a directory with a policy that replaces the machine's policy, "" for the one in effect.
	PolicyDir string
}

// Machine is what the workspaces of one user share: directories, the store, and a secret key.
type Machine struct {
	Options
	storeMu sync.Mutex
	store   *store.Store
	keyOnce sync.Once
	secret  []byte
}

// NewMachine returns a machine. It touches nothing.
func NewMachine(o Options) *Machine { return &Machine{Options: o} }

// Store returns the content-addressed store, opened once.
func (m *Machine) Store() (*store.Store, error) {
	m.storeMu.Lock()
	defer m.storeMu.Unlock()
	if m.store != nil {
		return m.store, nil
	}
	s, err := store.Open(m.Paths.Store())
	if err != nil {
		return nil, err
	}
	s.Track(m.Now)
	m.store = s
	return s, nil
}

// AdminConfig returns the settings of the machine's administrator, empty if there are none.
func (m *Machine) AdminConfig() (*pack.Config, error) {
	file := filepath.Join(m.Paths.Enterprise, pack.ConfigName)
	data, err := safefile.ReadOptional(file)
	if err != nil {
		return nil, err
	}
	return pack.ParseMachineConfig(file, data)
}

// lock takes the lock of a scope.
func (m *Machine) lock(ctx context.Context, path string) (unlock func() error, err error) {
	return txn.Lock(ctx, path)
}

// Relocate returns agents with the directories that environment variables move.
func (m *Machine) Relocate(agents []agent.Agent) []agent.Agent {
	return agent.Relocate(agents, m.Paths.Home, m.Getenv)
}

// FindScope returns the scope that [Machine.Open] reads, without reading it. Without create, it is a not-found error if
// there is no project.
func (m *Machine) FindScope(kind string, create bool) (scope.Scope, error) {
	return m.findScope(kind, create)
}
