package catalog_test

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

func ExampleFinder_Find() {
	skills := []catalog.Candidate{
		{Name: "deploy", Description: "Rolls a service out to Kubernetes.", WhenToUse: "Use when asked to ship.", Tags: []string{"operations"}},
		{Name: "changelog", Description: "Keeps the notes of a project."},
	}
	finder, err := catalog.NewFinder(skills)
	if err != nil {
		panic(err)
	}
	found, err := finder.Find("ship the billing service to the k8s cluster")
	if err != nil {
		panic(err)
	}
	for _, m := range found.Matches {
		if err := found.Explain(&m); err != nil {
			panic(err)
		}
		fmt.Printf("%s %.2f %s\n", m.Name, m.Score, strings.Join(m.Why, "; "))
	}
	// Output:
	// deploy 0.42 description: service, kubernetes (k8s); when to use: ship
}
