package provider

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// Verdicts are the packs whose files were admitted on one basis, beside what else this machine knows: projects can't
// write there. To lose them costs time, and nothing else. The user can write there, and so can what runs as the user:
// they count against the policies of users and projects, and where the machine's policy looks at files, there are none.
type Verdicts struct {
	file  string // "" where nothing can be kept
	text  string
	known map[string]bool
}

// The limits of what is kept: of packs on one basis, and of bases.
const (
	mostVerdicts = 10_000
	mostBases    = 32
)

// ReadVerdicts reads what was admitted by the policies and approvals in force.
func ReadVerdicts(m *workspace.Machine, g *enforce.Evaluator) *Verdicts {
	basis := g.CacheKey(m.Version)
	if basis == "" || m.Paths.State == "" || slices.ContainsFunc(g.Policies(), ofMachine) {
		return &Verdicts{}
	}
	v := &Verdicts{file: filepath.Join(m.Paths.State, "admitted", strings.TrimPrefix(basis, "sha256:")), known: map[string]bool{}}
	data, err := os.ReadFile(v.file)
	if err != nil {
		return v
	}
	v.text = string(data)
	for line := range strings.Lines(v.text) {
		v.known[strings.TrimSuffix(line, "\n")] = true
	}
	return v
}

// ofMachine reports whether a policy is the machine's, and looks at files.
func ofMachine(p *policy.Policy) bool { return p.Level == policy.MachineLevel && p.NeedsFiles() }

// Has reports whether the files of a pack were admitted, with these trees under these names.
func (v *Verdicts) Has(id pack.ID, p *pack.LockedPack, names map[NameOf]string) bool {
	return v.has(verdictOf(id, p.Source, p.Skills, names))
}

func (v *Verdicts) has(key string) bool { return key != "" && v.known[key] }

// add keeps further packs.
func (v *Verdicts) add(keys []string) {
	if v.file == "" || len(keys) == 0 {
		return
	}
	text := v.text
	if len(v.known) > mostVerdicts {
		text = ""
	}
	text += strings.Join(keys, "\n") + "\n"
	if atomicfile.Write(v.file, []byte(text), atomicfile.Options{Mode: 0o600, MkdirMode: 0o700}) == nil {
		v.prune()
	}
}

// prune removes what was decided on bases that nobody decides on any more: policies and approvals change.
func (v *Verdicts) prune() {
	dir := filepath.Dir(v.file)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= mostBases {
		return
	}
	age := func(e os.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return int(min(1, max(-1, age(a)-age(b)))) })
	for _, e := range entries[:len(entries)-mostBases] {
		_ = os.Remove(filepath.Join(dir, e.Name())) // it only takes space
	}
}
