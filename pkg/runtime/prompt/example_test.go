package prompt_test

import (
	"fmt"
	"log"

	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Example prints the system prompt for two skills, and the result of loading one.
func Example() {
	p, err := profile.Lookup("pegasus")
	if err != nil {
		log.Fatal(err)
	}
	listing, err := prompt.List(p, []prompt.Entry{
		{Name: "review", Description: "Reviews a change."},
		{Name: "deploy", Description: "Deploys a service."},
	}, prompt.Options{ContextWindow: 200_000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listing.Text)

	result := prompt.Result{Kind: prompt.Activated, Name: "deploy", Body: "Deploy web."}
	data, err := prompt.JSON(p, result)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("\n%s\n", data)
	// Output:
	// Available skills:
	// - deploy: Deploys a service.
	// - review: Reviews a change.
	//
	// Use the use_skill tool to invoke a skill when relevant.
	//
	// {"success":true,"result":"Deploy web."}
}
