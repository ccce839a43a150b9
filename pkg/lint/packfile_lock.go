package lint

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/pack"
)

// lockCheck compares a lock with the manifest beside it, as `install --frozen` does: what is found makes that fail.
// What can be known only by asking somebody is left out.
type lockCheck struct {
	*packDoc          // collects the findings
	m, k     *packDoc // of the manifest and of the lock
	differs  bool     // a directory is not as it is locked
}

// compare reports where a lock and a manifest disagree.
func (d *packDoc) compare(m, k *packDoc) {
	c := &lockCheck{packDoc: d, m: m, k: k}
	found := pack.Comparison{
		Manifest: m.manifest, Lock: k.lock, PartialManifest: !m.sound, PartialLock: !k.sound, Directory: c.directory,
	}.Differences()
	agree := m.sound && k.sound && !c.differs
	for _, one := range found {
		c.report(one)
		agree = agree && (one.Kind == pack.DiffAlias || one.Kind == pack.DiffInvalid)
	}
	if !agree {
		return
	}
	if one, ok := pack.CompareText(k.lock, k.src.data); ok {
		c.report(one)
	}
}

// report makes a finding of a difference. Rules have hints of their own; aliases have better ones.
func (c *lockCheck) report(one pack.Difference) {
	f := finding{rule: rule.LockDiffers, line: one.Line, column: one.Column, message: one.Message}
	switch one.Kind {
	case pack.DiffInvalid:
		f.rule = rule.Lock
	case pack.DiffAlias:
		f.rule, f.fix = rule.Alias, one.Hint
	case pack.DiffAliases:
		f.rule, f.fix, f.severity = rule.Alias, one.Hint, new(diag.SeverityError)
	}
	if one.File == pack.ManifestName {
		c.put(c.m.src, f)
	} else {
		c.put(c.k.src, f)
	}
}

// differ reports that a directory is not as it is locked, at a key of the pack's entry in the lock.
func (c *lockCheck) differ(id pack.ID, keys []string, message string) {
	c.differs = true
	keys = append([]string{"packs", id.String()}, keys...)
	f := finding{rule: rule.LockDiffers, message: message}
	for ; f.line == 0 && len(keys) > 0; keys = keys[:len(keys)-1] { // or what it would be in
		f.line, f.column = c.k.lock.Position(keys...)
	}
	c.put(c.k.src, f)
}
