package catalog

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
)

// TestFindOverlaps checks that skills with nearly the same description overlap, whatever their instructions have in
// common, and that the pair is found once.
func TestFindOverlaps(t *testing.T) {
	body := "Read the file, convert it, and write the result."
	skills := []Candidate{
		{Name: "pdf-to-markdown", Description: "Converts PDF documents into Markdown so that an agent can search them.", Body: body},
		{Name: "changelog", Description: "Writes release notes from the commits of a branch.", Body: body},
		{Name: "word-to-markdown", Description: "Converts Word documents into Markdown so that an agent can search them.", Body: body},
		{Name: "documents", Description: "Documents.", Body: body},
		{Name: "rollout", Description: "Deploy.", WhenToUse: "Use it to roll the billing service out to the Kubernetes cluster."},
		{Name: "ship-it", Description: "Deploy.", WhenToUse: "Use it to roll the billing service out to a Kubernetes cluster."},
		{Name: "empty"},
		{Name: "the", Description: "The."},
	}
	all, err := FindOverlaps(t.Context(), skills)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range all {
		if o.Score < overlapThreshold || o.Score > 1 {
			t.Errorf("score %v", o.Score)
		}
		got = append(got, fmt.Sprintf("%s %s", skills[o.First].Name, skills[o.Second].Name))
	}
	if want := []string{"rollout ship-it", "pdf-to-markdown word-to-markdown"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if all, err := FindOverlaps(t.Context(), nil); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FindOverlaps(ctx, skills); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
