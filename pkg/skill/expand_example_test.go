package skill_test

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/skill"
)

func ExampleExpandBody() {
	rules := skill.ExpandRules{Indexed: true, Append: "line"}
	in := skill.ExpandInput{Arguments: `web "two regions"`}
	fmt.Println(skill.ExpandBody("Roll $0 out to $1, it costs $5.00.", rules, in))
	fmt.Println(skill.ExpandBody("Roll it out.", rules, in))
	// Output:
	// Roll web out to two regions, it costs $5.00.
	// Roll it out.
	// ARGUMENTS: web "two regions"
}
