package skillpm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// TestUpdatesOfLayers checks a graph of new packs with more paths than can be visited. What a first installation requires
// is no part of an update, also if an updated pack requires the first one.
func TestUpdatesOfLayers(t *testing.T) {
	const layers = 100
	after := &pack.Lock{Packs: map[pack.ID]*pack.LockedPack{}}
	add := func(name string, requires map[string]string) pack.ID {
		id := pack.ID{Owner: "acme", Name: name}
		after.Packs[id] = &pack.LockedPack{Version: "1.0.0", Dependencies: requires}
		return id
	}
	requires := map[string]string{}
	for n := range layers {
		left, right := add(fmt.Sprint("left", n), requires), add(fmt.Sprint("right", n), requires)
		requires = map[string]string{left.String(): "^1", right.String(): "^1"}
	}
	first := add("first", requires)
	top := add("top", map[string]string{first.String(): "^1"})
	m := &pack.Manifest{Dependencies: []pack.Dependency{{ID: first}, {ID: top}}}
	before := &pack.Lock{Packs: map[pack.ID]*pack.LockedPack{top: after.Packs[top]}}
	in := &installer{Workspace: &workspace.Workspace{Lock: before}}
	res := &resolution{manifest: m, Solution: &solve.Solution{Lock: after}}
	if found := in.updates(res); len(found) > 0 {
		t.Errorf("a first installation: %v", found)
	}
	m.Dependencies = m.Dependencies[1:]
	if found := in.updates(res); len(found) != 2*layers+1 || !slices.Contains(found, first) || slices.Contains(found, top) {
		t.Errorf("an update: %v", found)
	}
}
