package match_test

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime/match"
)

func ExampleFind() {
	skills := []match.Doc{
		{Name: "deploy", Description: "Rolls a service out to Kubernetes.", WhenToUse: "Use when asked to ship.", Tags: []string{"operations"}},
		{Name: "changelog", Description: "Keeps the notes of a project."},
	}
	for _, h := range match.Find("ship the billing service to the k8s cluster", skills, match.Options{Threshold: match.DefaultThreshold}) {
		fmt.Printf("%s %.2f %s\n", h.Name, h.Score, strings.Join(h.Why, "; "))
	}
	// Output:
	// deploy 0.46 description: service, kubernetes (k8s); when to use: ship
}
