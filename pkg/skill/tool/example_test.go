package tool_test

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// ExampleSet_Allow shows two nested skills: both must allow a call.
func ExampleSet_Allow() {
	outer, _ := tool.ParseList([]string{"Read, Bash(git:*)"})
	inner, _ := tool.ParseList([]string{"Bash(git log:*)"})
	set := tool.Of(outer).And("changelog", inner)
	for _, line := range []string{"git log -5", "git push", "git log; rm -rf build"} {
		v := set.Allow(tool.Call{Tool: "run_shell_command", Input: map[string]any{"command": line}})
		fmt.Println(v.Allowed, "for", line)
		if !v.Allowed {
			fmt.Println("  because", v.Reason)
		}
	}
	// Output:
	// true for git log -5
	// false for git push
	//   because skill changelog allows Bash(git log:*), but not "git push"
	// false for git log; rm -rf build
	//   because the tool list allows Bash(git:*), but not "rm -rf build"
}

func ExampleCanonical() {
	fmt.Println(tool.Canonical("run_shell_command"), tool.Canonical("file_read"), tool.Canonical("our_tool"))
	// Output: Bash Read our_tool
}
