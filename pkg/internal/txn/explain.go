package txn

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
)

// explain adds a hint to errors of the operating system, and the root if they name a path relative to it.
func explain(root string, err error) error {
	if _, _, ok := syserr.Of(err); ok && diag.HintOf(err) == "" && !strings.Contains(err.Error(), root) {
		err = fmt.Errorf("in %s: %w", root, err)
	}
	return syserr.Explain(err)
}
