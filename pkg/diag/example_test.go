package diag_test

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
)

// ExampleErrorf shows that errors have a code for programs and a hint for users.
func ExampleErrorf() {
	err := diag.Errorf(diag.NotFound, "the pack acme/deploy does not exist").WithHint("check its name")
	wrapped := fmt.Errorf("install: %w", err)
	fmt.Println(wrapped)
	fmt.Println(diag.CodeOf(wrapped) == diag.NotFound)
	fmt.Println(diag.HintOf(wrapped))
	// Output:
	// install: the pack acme/deploy does not exist
	// true
	// check its name
}
