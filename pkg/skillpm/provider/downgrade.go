package provider

import (
	"cmp"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// admitVersion refuses a version that is older than the one that is locked, or than the one that this machine has
// installed here: a lock that somebody turned back is a downgrade, too.
func (pr *Provider) admitVersion(id pack.ID, s Standing) error {
	if len(pr.policies) == 0 || s.Linked(id) || s.Machine {
		return nil
	}
	now := s.Packs[id].Version
	for _, was := range pr.before(id) {
		if older(now, was.Version) {
			return pr.downgrade(id.String() + " " + now + " in place of " + was.Version)
		}
	}
	return nil
}

// admitSigner refuses what is not signed by who signed what it replaces, unless a policy itself asks for whoever signed
// it: then that is how a policy takes another signer.
func (pr *Provider) admitSigner(id pack.ID, entry *pack.LockedPack, signer string, vouched bool) error {
	if len(pr.policies) == 0 || vouched {
		return nil
	}
	for _, was := range pr.before(id) {
		if was.Signer == "" || was.Signer == signer || was.Resolved == entry.Resolved && was.Version == entry.Version {
			continue
		}
		by := cmp.Or(Fingerprint(signer), "nobody who is known")
		return pr.downgrade(id.String() + " " + entry.Version + ", signed by " + by + ", in place of " + was.Version + ", signed by " + Fingerprint(was.Signer) + ",")
	}
	return nil
}

func (pr *Provider) downgrade(what string) error {
	notes, err := pr.guard.CheckDowngrade(what)
	pr.note(notes...)
	return err
}

// before returns what the lock has of a pack, and what this machine has installed of it.
func (pr *Provider) before(id pack.ID) (list []workspace.InstalledPack) {
	if was := pr.lock.Packs[id]; was != nil {
		list = append(list, workspace.InstalledPack{Version: was.Version, Signer: was.Signer, Resolved: was.Resolved})
	}
	if was, ok := pr.installed(id); ok {
		list = append(list, was)
	}
	return list
}

// older reports whether a version is a lower release than another. Between commits there is no order.
func older(version, than string) bool {
	if commit(version) || commit(than) {
		return false
	}
	a, errA := semver.StrictNewVersion(version)
	b, errB := semver.StrictNewVersion(than)
	return errA == nil && errB == nil && a.LessThan(b)
}

// commit reports whether a version stands for a commit or a digest.
func commit(version string) bool { return strings.HasPrefix(version, "0.0.0-") }

// KeepsVersions reports whether a policy that is enforced lets nothing be replaced by an older version.
func (pr *Provider) KeepsVersions() bool {
	_, err := pr.guard.CheckDowngrade("")
	return len(pr.policies) > 0 && err != nil
}
