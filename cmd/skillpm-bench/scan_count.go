package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/fstest"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
)

// sample is a labeled skill.
type sample struct {
	id        string // in its set
	malicious bool
	types     []string          // of attack, as the set names them
	files     map[string][]byte // by slash-separated paths in the skill's directory
}

// proportion counts skills with an error.
type proportion struct {
	Skills int     `json:"skills"`
	Found  int     `json:"found"`
	Share  float64 `json:"share"`
	Low    float64 `json:"low"` // of the Wilson interval of 95%
	High   float64 `json:"high"`
}

func (p *proportion) add(found bool) {
	p.Skills++
	if found {
		p.Found++
	}
	p.Share = float64(p.Found) / float64(p.Skills)
	p.Low, p.High = wilson(p.Found, p.Skills)
}

// wilson returns the Wilson score interval of 95% for a share of n.
func wilson(found, n int) (low, high float64) {
	const z = 1.959964
	size, share := float64(n), float64(found)/float64(n)
	middle := share + z*z/(2*size)
	spread := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	scale := 1 + z*z/size
	return max(0, (middle-spread)/scale), min(1, (middle+spread)/scale)
}

// setCount is what the scanner finds in a set.
type setCount struct {
	Set       string                 `json:"set"`
	Malicious proportion             `json:"malicious"`
	Benign    proportion             `json:"benign"`
	Types     map[string]*proportion `json:"types,omitempty"` // of malicious skills, by type of attack
	Identical int                    `json:"identical"`       // skills that are left out, because they occur twice
	Unread    int                    `json:"unread"`          // labeled skills without files or without a SKILL.md
	Missed    []string               `json:"missed"`          // malicious skills without an error
	Flagged   map[string][]string    `json:"flagged"`         // benign skills with errors, and the rules
	Rules     map[string]int         `json:"rules"`           // malicious skills with an error, by rule
}

// scanSet scans the skills of a set.
func scanSet(ctx context.Context, c collection, read setReader) (setCount, error) {
	count := setCount{
		Types: map[string]*proportion{}, Missed: []string{}, Flagged: map[string][]string{}, Rules: map[string]int{},
	}
	linter, err := lint.New(lint.Options{NoModes: true, Parallel: 1})
	if err != nil {
		return count, err
	}
	seen := map[string]bool{}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	unread, err := read(ctx, c, func(s sample) {
		digest := s.digest()
		if seen[digest] {
			count.Identical++
			return
		}
		seen[digest] = true
		g.Go(func() error {
			rules, err := s.errors(ctx, linter)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case diag.CodeOf(err) == diag.NotFound:
				count.Unread++ // it does not have a SKILL.md
			case err != nil:
				return fmt.Errorf("%s: %w", s.id, err)
			default:
				count.add(s, rules)
			}
			return nil
		})
	})
	if waitErr := g.Wait(); waitErr != nil {
		return count, waitErr
	}
	slices.Sort(count.Missed)
	count.Unread += unread
	return count, err
}

func (c *setCount) add(s sample, rules []string) {
	found := len(rules) > 0
	if !s.malicious {
		c.Benign.add(found)
		if found {
			c.Flagged[s.id] = rules
		}
		return
	}
	c.Malicious.add(found)
	for _, t := range s.types {
		if c.Types[t] == nil {
			c.Types[t] = &proportion{}
		}
		c.Types[t].add(found)
	}
	for _, r := range rules {
		c.Rules[r]++
	}
	if !found {
		c.Missed = append(c.Missed, s.id)
	}
}

// digest is the same for skills of a label that have the same files.
func (s sample) digest() string {
	h := sha256.New()
	fmt.Fprintln(h, s.malicious)
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		fmt.Fprintf(h, "%q %d\n", name, len(s.files[name]))
		h.Write(s.files[name])
	}
	return string(h.Sum(nil))
}

// errors returns the security rules with an error about a skill. What the skill's author suppresses counts, too.
func (s sample) errors(ctx context.Context, linter *lint.Linter) ([]string, error) {
	dir := path.Base(s.id)
	fsys := fstest.MapFS{}
	for name, data := range s.files {
		fsys[path.Join(dir, name)] = &fstest.MapFile{Data: data, Mode: 0o644}
	}
	report, err := linter.Run(ctx, fsys, []string{dir})
	if err != nil {
		return nil, err
	}
	findings := report.Findings
	for _, f := range report.Suppressed {
		findings = append(findings, f.Finding)
	}
	var rules []string
	for _, f := range findings {
		if f.Severity == diag.SeverityError && strings.HasPrefix(f.Rule, "SEC") && !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	slices.Sort(rules)
	return rules, nil
}
