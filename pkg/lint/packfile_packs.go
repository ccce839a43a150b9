package lint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/pack"
)

// packs looks at what the files of a run say together. What is missing beside one of them is read for that.
func (l *linter) packs(docs []*packDoc, mentions func(dir string) func(word string) bool) {
	manifests, locks := packsOfRun{}, map[string]*packDoc{}
	for _, d := range docs {
		if d.manifest != nil {
			manifests[path.Dir(d.name)] = d
		} else if d.lock != nil {
			locks[path.Dir(d.name)] = d
		}
	}
	if mentions == nil {
		mentions = func(string) func(string) bool { return nil }
	}
	for _, d := range docs {
		dir := path.Dir(d.name)
		switch {
		case d.lock != nil && manifests[dir] == nil:
			if m := l.beside(packManifest, path.Join(dir, pack.ManifestName)); m != nil && m.manifest != nil {
				d.compare(m, d)
			}
		case d.manifest != nil:
			d.besideLock(locks[dir], mentions(dir))
		}
	}
	l.packCycles(manifests)
}

// besideLock checks a manifest together with the lock beside it.
func (d *packDoc) besideLock(lock *packDoc, says func(word string) bool) {
	collects := lock
	if lock == nil {
		lock, collects = d.l.beside(packLock, path.Join(path.Dir(d.name), pack.LockName)), d
	}
	if lock != nil && lock.lock == nil {
		lock = nil
	}
	if lock != nil {
		collects.compare(d, lock)
	}
	d.declared()
	if says != nil && !d.manifest.Name.IsZero() {
		d.unused(lock, says)
	}
}

// unused reports the dependencies that no skill speaks of, where their skills are known.
func (d *packDoc) unused(lock *packDoc, says func(word string) bool) {
	for _, dep := range d.manifest.Dependencies {
		names := d.skillsOf(dep, lock)
		if len(names) == 0 || says(dep.ID.String()) {
			continue
		}
		for _, a := range d.manifest.Aliases {
			if a.Pack == dep.ID {
				names = append(names, a.Alias)
			}
		}
		if slices.ContainsFunc(names, func(name string) bool { return says(name) || says(name+"@"+dep.ID.String()) }) {
			continue
		}
		d.atKey(rule.UnusedDependency, fmt.Sprintf("no skill of the pack mentions %s or a skill of it", dep.ID), "",
			"dependencies", dep.ID.String())
	}
}

// skillsOf returns the names of the skills that a dependency brings, or nothing where they are not known.
func (d *packDoc) skillsOf(dep pack.Dependency, lock *packDoc) []string {
	if len(dep.Skills) > 0 {
		return slices.Clone(dep.Skills)
	}
	if lock != nil && lock.lock.Packs[dep.ID] != nil {
		return slices.Sorted(maps.Keys(lock.lock.Packs[dep.ID].Skills))
	}
	p := d.packDir(dep)
	if p == nil {
		return nil
	}
	var names []string
	for _, s := range p.content.Skills {
		names = append(names, s.Name)
	}
	return names
}

// packsOfRun are the manifests of a run, by their directories.
type packsOfRun map[string]*packDoc

// packEdge is a dependency of one manifest of the run on another.
type packEdge struct {
	to  *packDoc
	dep pack.ID
}

// packCycles reports the circles in which the packs of a run depend on each other: of those that cannot do without each
// other the shortest circle of the first.
func (l *linter) packCycles(packs packsOfRun) {
	nodes := slices.SortedFunc(maps.Values(packs), func(a, b *packDoc) int { return strings.Compare(a.name, b.name) })
	g := graph[*packDoc, packEdge]{nodes, packEdges(packs), func(e packEdge) *packDoc { return e.to }}
	for _, chain := range g.circles() {
		first := chain[len(chain)-1].to
		names := []string{packName(first)}
		for _, e := range chain {
			names = append(names, packName(e.to))
		}
		first.atKey(rule.PackCycle, "the packs depend on each other in a circle: "+strings.Join(names, " → "), "",
			"dependencies", chain[0].dep.String())
	}
}

// packName returns what a manifest's pack is called, or where it is.
func packName(d *packDoc) string {
	if d.manifest.Name.IsZero() {
		return d.l.show(path.Dir(d.name))
	}
	return d.manifest.Name.String()
}

// packEdges returns the dependencies between the manifests of a run, in the order of the files. A name that two of them
// have means neither.
func packEdges(packs packsOfRun) map[*packDoc][]packEdge {
	named := map[pack.ID]*packDoc{}
	for _, d := range packs {
		if _, twice := named[d.manifest.Name]; twice {
			named[d.manifest.Name] = nil
			continue
		}
		named[d.manifest.Name] = d
	}
	next := map[*packDoc][]packEdge{}
	for _, d := range packs {
		for _, dep := range d.manifest.Dependencies {
			to := named[dep.ID]
			if dep.Ref != nil {
				dir, ok := pathOf(d, dep)
				if to = packs[dir]; !ok {
					to = nil
				}
			}
			if to != nil {
				next[d] = append(next[d], packEdge{to, dep.ID})
			}
		}
	}
	return next
}
