package provider

import (
	"errors"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/vendored"
	"github.com/skillpm/skillpm/pkg/store"
)

// putVendored takes the skills of a pack from the project's own copy, and reports whether it could. A copy that is not
// what the lock says is noted.
func putVendored(kept *vendored.Copy, s *store.Store, id pack.ID, digests map[string]string, damage **vendored.DamagedError) (bool, error) {
	if !kept.Has(id) {
		return false, nil
	}
	err := kept.Put(s, id, digests)
	if errors.As(err, damage) {
		return false, nil
	}
	return err == nil, err
}

// instead is the error of a fetch that was needed because the project's copy is damaged, if it is: then that is what
// has to be mended.
func instead(damage *vendored.DamagedError, err error) error {
	if damage == nil || err == nil || diag.CodeOf(err) == diag.Interrupted {
		return err
	}
	return diag.Errorf(diag.Integrity, "%w; and it could not be fetched instead: %w", damage, err).
		WithHint("git checkout -- %s brings back what was committed, if that was right", damage.Path)
}
