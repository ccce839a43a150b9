package enterprise

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// list is the desired content of a layer.
type list struct {
	manifest *pack.Manifest
	lock     *pack.Lock

	policy *policy.Policy    // nil for none
	files  map[string][]byte // the policy and its keys, by name
}

// readList reads a list strictly: if any part of it is invalid, it is an error.
func readList(read func(string) ([]byte, error)) (*list, error) {
	l := &list{files: map[string][]byte{}}
	manifest, err := readRequired(read, scope.ManifestName)
	if err != nil {
		return nil, err
	}
	if l.manifest, err = pack.ParseManifest(scope.ManifestName, manifest); err != nil {
		return nil, fmt.Errorf("the fleet list's %w", err)
	}
	lock, err := readRequired(read, scope.LockName)
	if err != nil {
		return nil, err
	}
	if l.lock, err = pack.ParseLock(scope.LockName, lock); err != nil {
		return nil, fmt.Errorf("the fleet list's %w", err)
	}
	if err := checkPortable(l.lock); err != nil {
		return nil, err
	}
	text, err := read(enforce.PolicyName)
	if err != nil || text == nil {
		return l, err
	}
	if l.policy, err = policy.Parse(enforce.PolicyName, text); err != nil {
		return nil, fmt.Errorf("the fleet list's %w", err)
	}
	l.files[enforce.PolicyName] = text
	return l, l.readKeys(read)
}

// readRequired reads a file that every list must have.
func readRequired(read func(string) ([]byte, error), name string) ([]byte, error) {
	data, err := read(name)
	if data == nil && err == nil {
		err = diag.Errorf(diag.Invalid, "the fleet list does not contain %s", name).
			WithHint("create %s and %s in the directory of the list with: skillpm install",
				scope.ManifestName, scope.LockName)
	}
	return data, err
}

// checkPortable refuses packs from directories, which only the machine has where the list was made.
func checkPortable(l *pack.Lock) error {
	for _, id := range l.IDs() {
		ref, err := l.Packs[id].Ref(id)
		if err != nil {
			return err
		}
		if ref.Kind == pack.KindPath || ref.Kind == pack.KindLocal {
			return diag.Errorf(diag.Invalid,
				"the fleet list requires %s from %s, which does not exist on other machines", id, l.Packs[id].Source).
				WithHint("publish the pack and require the published version")
		}
	}
	return nil
}
