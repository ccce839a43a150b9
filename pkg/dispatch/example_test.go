package dispatch_test

import (
	"fmt"
	"time"

	"github.com/skillpm/skillpm/pkg/dispatch"
)

func ExampleParse() {
	r, err := dispatch.Parse(`Task("skills", "resize one photo", "执行 @image-resizer 'my photo.jpg' --width 800", {model: "sonnet"})`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %q %s\n", r.Skill, r.Args, r.Model)
	// Output:
	// image-resizer ["my photo.jpg" "--width" "800"] sonnet
}

func ExampleReply_Text() {
	r := dispatch.Reply{
		State: dispatch.Pending, Summary: "waiting for parameters: input_file needed",
		Data: dispatch.Data{{Key: "required", Value: []string{"input_file"}}, {Key: "optional", Value: []string{"format", "quality"}}},
		Meta: dispatch.Meta{Agent: dispatch.Agent, Time: 100 * time.Millisecond, TS: time.Date(2026, 1, 29, 10, 30, 0, 0, time.UTC)},
	}
	fmt.Print(r.Text())
	// Output:
	// ⏸️ skills waiting for parameters: input_file needed
	//   state: pending
	//   data: {required: ["input_file"], optional: ["format", "quality"]}
	//   meta: {agent: skills, time: 0.1, ts: "2026-01-29T10:30:00Z"}
}
