package trust

import (
	"maps"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// record states that this machine fetched a pinned source and received these trees.
type record struct {
	Source string            `json:"place"`
	Trees  map[string]string `json:"trees"`
}

// sourceKey identifies a pinned source.
func sourceKey(p *pack.Pack) string { return p.Ref.Source() + " " + p.Ref.URL + "@" + p.Ref.Digest }

func (k *Verifier) recordFile(p *pack.Pack) (string, error) {
	return entryFile(k.options.State, textx.SHA256(sourceKey(p)))
}

// Record records which trees this machine received when it fetched a pinned pack. Only packs whose manifest does not
// sign the trees need it: git, and artifacts of other tools.
func (k *Verifier) Record(p *pack.Pack, trees map[string]string) error {
	file, err := k.recordFile(p)
	if err != nil || len(trees) == 0 {
		return nil // without a state directory the pack is fetched again
	}
	r := record{Source: sourceKey(p), Trees: map[string]string{}}
	var before record
	if readJSON(file, &before) == nil && before.Source == r.Source {
		maps.Copy(r.Trees, before.Trees)
	}
	for name, tree := range trees {
		if was, ok := r.Trees[name]; ok && was != tree {
			return diag.Errorf(diag.Integrity,
				"the digest of skill %s of %s is %s, but was %s when skillpm first fetched the skill", name, nameOf(p), tree, was).
				WithHint("ask the publisher why the content differs")
		}
		r.Trees[name] = tree
	}
	if maps.Equal(r.Trees, before.Trees) {
		return nil
	}
	if err := writeJSON(file, r); err != nil {
		return diag.Errorf(diag.Internal, "cannot record the fetched skills: %w", err)
	}
	return nil
}

// checkRecordedTrees checks that trees are the ones received from a pinned source.
func (k *Verifier) checkRecordedTrees(p *pack.Pack, trees map[string]string) error {
	file, err := k.recordFile(p)
	if err != nil {
		return &UnknownTreesError{Pack: nameOf(p)}
	}
	var r record
	if readJSON(file, &r) != nil || r.Source != sourceKey(p) {
		return &UnknownTreesError{Pack: nameOf(p)}
	}
	for name := range trees {
		if _, ok := r.Trees[name]; !ok {
			return &UnknownTreesError{Pack: nameOf(p)}
		}
	}
	return sameTrees(p, trees, r.Trees, "fetched")
}
