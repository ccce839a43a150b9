package pkg_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestArchitectureDocument proves that docs/architecture.md has every package on the floor that it is on.
func TestArchitectureDocument(t *testing.T) {
	data, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| ([0-9, ]+) \| ([^|]*) \|`)
	drawn := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(data), -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[2], -1) {
			drawn[name[1]] = strings.Split(m[1], ", ")
		}
	}
	for name, floor := range floors {
		if !slices.Contains(drawn[name], strconv.Itoa(floor)) {
			t.Errorf("%s is on floor %d, and drawn on %v", name, floor, drawn[name])
		}
		delete(drawn, name)
	}
	for name := range drawn {
		t.Errorf("%s is drawn, and is no package", name)
	}
}
