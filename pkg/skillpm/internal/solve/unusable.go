package solve

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// notUsable is the beginning of the reasons why tags that do not contain their version are withheld.
const notUsable = "cannot be used: "

// maxUnusable is how many releases of all packs are left out before the solver reports the last one as an error.
const maxUnusable = 50

// leaveOut notes that a release cannot be used, if that is why it could not be opened.
func (b *Backend) leaveOut(key openedKey, err error) {
	if release, ok := errors.AsType[*git.ReleaseError](err); ok {
		b.unusable[key] = release
	}
}

// withoutUnusable calls solve until it needs no release that turns out to be unusable.
func (b *Backend) withoutUnusable(solve func() (map[pack.ID]resolve.Selection, error),
) (map[pack.ID]resolve.Selection, error) {
	for {
		known := len(b.unusable)
		chosen, err := solve()
		if err == nil || len(b.unusable) == known || len(b.unusable) > maxUnusable {
			return chosen, err
		}
	}
}

// withholdUnusable withholds the releases that were left out.
func (b *Backend) withholdUnusable(id pack.ID, src string, versions []resolve.Version) {
	for i, v := range versions {
		if release, ok := b.unusable[openedKey{id, src, v.Version}]; ok {
			versions[i].Unavailable = notUsable + release.Error()
		}
	}
}

// unusableWarnings returns a sentence about each release that was left out.
func (b *Backend) unusableWarnings() []string {
	keys := b.unusableKeys()
	warnings := make([]string, len(keys))
	for i, key := range keys {
		warnings[i] = b.unusable[key].Warning()
	}
	return warnings
}

func (b *Backend) unusableKeys() []openedKey {
	return slices.SortedFunc(maps.Keys(b.unusable), func(x, y openedKey) int {
		return cmp.Or(x.id.Compare(y.id), strings.Compare(x.source, y.source), strings.Compare(x.version, y.version))
	})
}

// explainUnusable returns the error of an unusable release instead of a conflict over it alone.
func (b *Backend) explainUnusable(err error, withheld []resolve.UnavailableVersion) error {
	for _, w := range withheld {
		if !strings.HasPrefix(w.Reason, notUsable) {
			continue
		}
		for _, key := range b.unusableKeys() {
			if key.id == w.Pack && key.version == w.Version {
				return diag.Errorf(diag.Invalid, "%w", err).WithHint("%s", b.unusable[key].Hint())
			}
		}
	}
	return err
}
