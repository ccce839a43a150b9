package txn

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/fault"
)

// explain gives errors of the machine a hint, and the root where they name a path relative to it.
func explain(root string, err error) error {
	if _, _, ok := fault.Of(err); ok && diag.HintOf(err) == "" && !strings.Contains(err.Error(), root) {
		err = fmt.Errorf("in %s: %w", root, err)
	}
	return fault.Explain(err)
}
