package expand_test

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/skill/expand"
)

func ExampleBody() {
	rules := expand.Rules{Indexed: true, Append: "line"}
	in := expand.Input{Arguments: `web "two regions"`}
	fmt.Println(expand.Body("Roll $0 out to $1, it costs $5.00.", rules, in))
	fmt.Println(expand.Body("Roll it out.", rules, in))
	// Output:
	// Roll web out to two regions, it costs $5.00.
	// Roll it out.
	// ARGUMENTS: web "two regions"
}
