package admission

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// demand requires that some of the wanted signers signed a pack.
type demand struct {
	signers  trust.Requirement
	pack     pack.ID
	version  string
	rule     *policy.Rule     // of the policy that demands it; nil for the others
	before   *pack.LockedPack // of the previous lock, whose signer must sign what replaces it; nil for the others
	flag     string           // of the command line that demands it, "" for --require-signature
	by       string           // the publisher that settings demand, with their file, "" for the others
	optional bool             // who signed is only recorded
}

// observed reports whether a refusal is only noted.
func (d demand) observed() bool { return d.rule != nil && d.rule.Policy.Mode == policy.Observe }

// refused returns the error for signatures that don't meet the demand.
func (d demand) refused(err error) error {
	switch {
	case diag.CodeOf(err) == diag.Interrupted:
		return err
	case d.rule != nil:
		return fmt.Errorf("%s: %w", d.rule, err)
	case d.by != "":
		return fmt.Errorf("%s: %w", d.by, err)
	case d.before != nil:
		was := d.before
		return &signerChangedError{Pack: d.pack, Was: was.Version, Version: d.version, Signer: was.Signer, Err: err}
	}
	return fmt.Errorf("%s: %w", cmp.Or(d.flag, "--require-signature"), err)
}

// demands returns the signatures that a pack needs: those of the policies and of the call, and that of the signer of
// what is locked.
func (a *Admission) demands(id pack.ID, c Candidates) (list []demand, err error) {
	locked, linked := c.Packs[id], c.Linked(id)
	accepted := slices.Contains(a.Signing.Accept, id)
	add := func(d demand) {
		d.pack, d.version = id, locked.Version
		list = append(list, d)
	}
	var trusted trust.Requirement
	for _, r := range a.policies.Signatures(c.source(id)) {
		d := demand{rule: &r}
		if d.signers, err = a.signersOf(r); err != nil && d.observed() {
			a.Fetcher.Gate.NoteError(err)
			continue
		} else if err != nil {
			return nil, err
		}
		trusted = trusted.Or(d.signers)
		add(d)
	}
	published, err := a.publishers(id, c)
	if err != nil {
		return nil, err
	}
	for _, d := range published {
		trusted = trusted.Or(d.signers)
		add(d)
	}
	if was := a.Previous.Packs[id]; was != nil && was.Signer != "" && !accepted && !linked {
		w, err := trust.LockedSigner(was.Signer)
		if err != nil {
			return nil, err
		}
		trusted = trusted.Or(w)
		// a store and a clone have trees of others, so this is checked wherever they are placed or unknown
		if !a.unchanged(id, locked) || c.Placed[id] || !a.Evaluator.Verified(locked.Claim(id)) {
			add(demand{signers: w, before: was})
		}
	}
	if accepted && !a.Signing.Require && !linked && !fetch.IsDirectory(locked.Source) {
		if w := trusted.Or(a.trusted); !w.Empty() { // the new signer is recorded if it is known
			add(demand{signers: w, optional: true})
		}
		if len(a.Signing.Keys) > 0 {
			add(demand{signers: a.trusted, flag: "--accept-signer with --key"})
		}
	}
	if a.Signing.Require {
		w := a.trusted // naming keys means these, whatever a project's lock or policy says
		if w.Empty() {
			w = trusted
		}
		w.Threshold = 1
		add(demand{signers: w})
	}
	return list, nil
}

// publishers returns the demands of the settings that bind the owner of a pack to a publisher. Directories and the packs
// that the user published on this machine do not have a publisher.
func (a *Admission) publishers(id pack.ID, c Candidates) (list []demand, err error) {
	kind, _, _ := strings.Cut(c.source(id), ":")
	if kind == string(pack.KindPath) || kind == string(pack.KindLocal) {
		return nil, nil
	}
	for _, config := range a.Settings {
		text := config.Publishers[id.Owner]
		if text == "" {
			continue
		}
		p, err := pack.ParsePublisher(text)
		if err != nil {
			return nil, err
		}
		var want trust.Identity
		want.Issuer, want.Subject, want.Repository = p.Certificate()
		list = append(list, demand{
			signers: trust.Requirement{Identities: []trust.Identity{want}, Threshold: 1},
			by:      fmt.Sprintf("%s requires that %s published the packs of %s", config.Path, p, id.Owner),
		})
	}
	return list, nil
}

// ruleKey is a requirement of a policy.
type ruleKey struct {
	policy *policy.Policy
	index  int
}

// signersOf returns the signers that a rule requires. A key file that is missing, or not the one that the policy names
// by its digest, is an error.
func (a *Admission) signersOf(r policy.Rule) (trust.Requirement, error) {
	key := ruleKey{r.Policy, r.Index}
	if known, ok := a.rules[key]; ok {
		return known, nil
	}
	w, err := readSigners(r)
	if err == nil {
		a.rules[key] = w
	}
	return w, err
}

// CheckSigners returns what is wrong with the key files of a rule, nil if they are those that it names.
func CheckSigners(r policy.Rule) error {
	_, err := readSigners(r)
	return err
}

func readSigners(r policy.Rule) (w trust.Requirement, err error) {
	w.Threshold = r.Signatures.Threshold
	path := func(name string) string {
		if name = filepath.FromSlash(name); filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(filepath.Dir(r.Policy.Path), name)
	}
	for _, s := range r.Signatures.AnyOf {
		switch {
		case s.Key != nil:
			err = w.AddPinned(path(s.Key.File), s.Key.SHA256)
		case s.SSH != nil:
			err = w.AddPinned(path(s.SSH.AllowedSigners), s.SSH.SHA256)
		case s.Identity != nil:
			w.Identities = append(w.Identities, trust.Identity(*s.Identity))
		}
		if err != nil {
			return w, diag.Errorf(diag.Denied, "%s: %w", r, err).
				WithHint("fix the policy %s, or ask its owner", r.Policy.Path)
		}
	}
	return w, nil
}

// signerChangedError reports that a pack is not signed by the signer of what it replaces.
type signerChangedError struct {
	Pack         pack.ID
	Was, Version string // the versions
	Signer       string // as the lock has it
	Err          error  // what is wrong with the signatures there are now
}

// Error names both signers, as far as the new one is known.
func (e *signerChangedError) Error() string {
	by := trust.Fingerprint(e.Signer)
	if e.Was == e.Version {
		return fmt.Sprintf("%s %s is not signed by the signer in skillpm.lock, %s: %v", e.Pack, e.Version, by, e.Err)
	}
	return fmt.Sprintf("%s signed %s %s, but did not sign version %s: %v", by, e.Pack, e.Was, e.Version, e.Err)
}

// Unwrap returns what is wrong with the signatures there are now.
func (e *signerChangedError) Unwrap() error { return e.Err }

// Code is that of the signatures: denied, unless nobody could be asked for them.
func (e *signerChangedError) Code() diag.Code { return diag.CodeOf(e.Err) }

// Hint describes how to accept another signer.
func (e *signerChangedError) Hint() string {
	if diag.CodeOf(e.Err) == diag.Remote {
		return diag.HintOf(e.Err)
	}
	return fmt.Sprintf("ask the publisher about the change, then accept it with: "+
		"--accept-signer %s (add --key FILE to record the new signer)", e.Pack)
}
