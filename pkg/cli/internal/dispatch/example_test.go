package dispatch_test

import (
	"fmt"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/dispatch"
)

func ExampleParse() {
	r, err := dispatch.Parse(`Task("skills", "shrink one cover", "执行 @thumbnail 'my cover.png' --height 96", {model: "sonnet"})`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %q %s\n", r.Skill, r.Args, r.Model)
	// Output:
	// thumbnail ["my cover.png" "--height" "96"] sonnet
}

func ExampleReply_Text() {
	r := dispatch.Reply{
		State: dispatch.Pending, Summary: "waiting for parameters: source_page needed",
		Data: dispatch.Data{{Key: "required", Value: []string{"source_page"}}, {Key: "optional", Value: []string{"theme", "language"}}},
		Meta: dispatch.Meta{Agent: dispatch.Agent, Time: 100 * time.Millisecond, TS: time.Date(2026, 11, 22, 8, 15, 0, 0, time.UTC)},
	}
	fmt.Print(r.Text())
	// Output:
	// ⏸️ skills waiting for parameters: source_page needed
	//   state: pending
	//   data: {required: ["source_page"], optional: ["theme", "language"]}
	//   meta: {agent: skills, time: 0.1, ts: "2026-11-22T08:15:00Z"}
}
