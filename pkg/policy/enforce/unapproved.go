package enforce

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/capability"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/policy"
)

// RequiresApprovals reports whether an enforced policy has capabilities that need an approval.
func (g *Evaluator) RequiresApprovals() bool {
	return slices.ContainsFunc(g.Policies(), requiresApprovals)
}

func requiresApprovals(p *policy.Policy) bool { return p.Mode != policy.Observe && len(p.Approve) > 0 }

// CheckApproved returns why a skill on disk still needs an approval, nil if it does not. It is for listings: it reads
// the skill's files again only if their sizes or times changed, and [Evaluator.Evaluate] decides about the files that
// are used.
func (g *Evaluator) CheckApproved(ctx context.Context, s Skill) error {
	st := g.current()
	if s.Machine || s.Dir == "" || !slices.ContainsFunc(st.set, requiresApprovals) {
		return nil
	}
	j := &evaluation{ctx: ctx, st: st, skill: s, files: safefile.Dir(s.Dir)}
	stamp := stampTree(s.Dir)
	if facts, ok := g.facts.find(g.o.factsFile(), s, stamp); ok {
		j.loaded, j.inspected, j.digests, j.capabilities = true, true, facts.Digests, facts.Capabilities
	} else if j.inspect() == nil && stamp != "" {
		g.facts.add(g.o.factsFile(), s, skillFacts{stamp, j.digests, j.capabilities})
	}
	for _, p := range st.set {
		if !requiresApprovals(p) {
			continue
		}
		if err := j.checkApproval(p); err != nil {
			return err
		}
	}
	return nil
}

// skillFacts are what decides whether a skill needs an approval, apart from the policies and approvals.
type skillFacts struct {
	Stamp        string         `json:"stamp"`
	Digests      []string       `json:"digests"`
	Capabilities capability.Set `json:"capabilities"`
}

// factsCache has the facts of skills by their directory and name, and a copy of them on disk.
type factsCache struct {
	mu      sync.Mutex
	known   map[string]skillFacts
	changed bool // known has facts that the file does not have
}

// factsFile returns the path of the cache, "" for none.
func (o Options) factsFile() string {
	if o.Paths.Cache == "" {
		return ""
	}
	return filepath.Join(o.Paths.Cache, "capabilities.json")
}

const maxFactsFile = 64 << 20

// read reads the file once. A file that cannot be read is an empty cache.
func (c *factsCache) read(file string) {
	if c.known != nil {
		return
	}
	c.known = map[string]skillFacts{}
	if file == "" {
		return
	}
	if data, err := safefile.ReadFile(file, maxFactsFile); err == nil && json.Unmarshal(data, &c.known) != nil {
		c.known = map[string]skillFacts{}
	}
}

func factsKey(s Skill) string { return s.Dir + "\x00" + s.Name }

func (c *factsCache) find(file string, s Skill, stamp string) (skillFacts, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read(file)
	facts, ok := c.known[factsKey(s)]
	return facts, ok && stamp != "" && facts.Stamp == stamp
}

// add adds facts, and [factsCache.flush] writes them.
func (c *factsCache) add(file string, s Skill, facts skillFacts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read(file)
	c.known[factsKey(s)], c.changed = facts, true
}

// flush writes new facts, without those of skills that do not exist any more.
func (c *factsCache) flush(file string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed || file == "" {
		return
	}
	c.changed = false
	maps.DeleteFunc(c.known, func(key string, _ skillFacts) bool {
		dir, _, _ := strings.Cut(key, "\x00")
		_, err := os.Lstat(dir)
		return err != nil
	})
	if data, err := json.Marshal(c.known); err == nil {
		// Without the file, the next process reads the skills again.
		_ = atomicfile.Write(file, data, atomicfile.Options{Mode: 0o600, MkdirMode: 0o700})
	}
}

// SaveFacts keeps what [Evaluator.CheckApproved] found out about skills for later processes.
func (g *Evaluator) SaveFacts() { g.facts.flush(g.o.factsFile()) }

// factsVersion changes when capabilities are found differently, so that the cache does not have those of an older
// version.
const factsVersion = 3

// stampTree returns a digest of the names, sizes, modes, and times of all files below a directory; "" if it cannot be
// read.
func stampTree(dir string) string {
	h := sha256.New()
	fmt.Fprintln(h, factsVersion)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintf(h, "%q %v %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
