package resolve_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

// A registry is written as lines of text. A word like a stands for the pack t/a, a@x for the pack from the source x:
//
//	root: a ^1, b           what the root requires
//	prefer: a 1.0.0         what the lock has
//	a 1.0.0: b ^2, c@x      a version and what it requires
//	b 2.0.0 yanked
//	b 3.0.0 withheld is younger than a day
type registry struct {
	root     []resolve.Requirement
	prefer   map[pack.ID]string
	versions map[packSource][]resolve.Version
	requires map[string][]resolve.Requirement
	calls    map[string]int
}

type packSource struct {
	pack pack.ID
	src  string
}

func id(name string) pack.ID { return pack.ID{Owner: "t", Name: name} }

func newRegistry() *registry {
	return &registry{
		prefer: make(map[pack.ID]string), versions: make(map[packSource][]resolve.Version),
		requires: make(map[string][]resolve.Requirement), calls: make(map[string]int),
	}
}

func parseRegistry(t testing.TB, text string) *registry {
	t.Helper()
	w := newRegistry()
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		head, tail, _ := strings.Cut(line, ":")
		fields := strings.Fields(head)
		switch {
		case len(fields) == 0:
		case fields[0] == "root":
			w.root = parseRequirements(t, tail)
		case fields[0] == "prefer":
			for item := range strings.SplitSeq(tail, ",") {
				f := strings.Fields(item)
				w.prefer[id(f[0])] = f[1]
			}
		default:
			name, src, _ := strings.Cut(fields[0], "@")
			v := resolve.Version{Version: fields[1], Yanked: len(fields) == 3}
			if _, why, ok := strings.Cut(head, " withheld "); ok {
				v.Unavailable = why
			}
			w.add(packSource{id(name), src}, v, parseRequirements(t, tail))
		}
	}
	return w
}

func parseRequirements(t testing.TB, text string) (list []resolve.Requirement) {
	t.Helper()
	for item := range strings.SplitSeq(text, ",") {
		word, constraint, _ := strings.Cut(strings.TrimSpace(item), " ")
		if word == "" {
			continue
		}
		name, src, _ := strings.Cut(word, "@")
		list = append(list, resolve.Requirement{Pack: id(name), Source: src, Constraint: constraint})
	}
	return list
}

func (w *registry) add(p packSource, v resolve.Version, requires []resolve.Requirement) {
	w.versions[p] = append(w.versions[p], v)
	w.requires[fmt.Sprint(p, v.Version)] = requires
}

func (w *registry) Versions(ctx context.Context, pk pack.ID, src string) ([]resolve.Version, error) {
	w.calls["versions "+fmt.Sprint(pk, src)]++
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	versions, ok := w.versions[packSource{pk, src}]
	if !ok {
		return nil, diag.Errorf(diag.NotFound, "no registry has %s", pk).WithHint("check the name")
	}
	return versions, nil
}

func (w *registry) Requirements(_ context.Context, pk pack.ID, src, version string) ([]resolve.Requirement, error) {
	key := fmt.Sprint(packSource{pk, src}, version)
	w.calls["requirements "+key]++
	requires, ok := w.requires[key]
	if !ok {
		return nil, diag.Errorf(diag.Internal, "asked for %s, which does not exist", key)
	}
	return requires, nil
}

func (w *registry) resolve(ctx context.Context) (map[pack.ID]resolve.Selection, error) {
	return resolve.Resolve(ctx, w.root, w, resolve.Options{Prefer: w.prefer})
}
