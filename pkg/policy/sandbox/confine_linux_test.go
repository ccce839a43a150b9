package sandbox

import (
	"errors"
	"testing"

	"github.com/landlock-lsm/go-landlock/landlock"
)

// TestVersions checks which features of each Landlock version are used, and what is refused on old ones: a command is
// never confined less than requested.
func TestVersions(t *testing.T) {
	for _, test := range []struct {
		abi     int
		network string
		want    landlock.Config
	}{
		{3, networkNone, landlock.V3}, {4, networkNone, landlock.V4}, {5, networkProxy, landlock.V5}, {6, networkNone, landlock.V6}, {7, networkProxy, landlock.V7}, {9, networkNone, landlock.V7},
	} {
		got, err := landlockConfig(test.abi, test.network)
		if err != nil || got.String() != test.want.String() {
			t.Errorf("version %d: %v %v, want %v", test.abi, got, err, test.want)
		}
	}
	for _, test := range []struct {
		abi int
		any bool
		ok  bool
	}{{0, false, false}, {1, false, false}, {2, false, false}, {3, false, true}, {5, false, true}, {5, true, false}, {6, true, true}, {12, true, true}} {
		err := (&Rules{Network: Network{Any: test.any}}).check(test.abi)
		missing := new(UnavailableError)
		if (err == nil) != test.ok || err != nil && !errors.As(err, &missing) {
			t.Errorf("version %d, any network %t: %v", test.abi, test.any, err)
		}
	}
}
