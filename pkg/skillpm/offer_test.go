package skillpm_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestOffers checks that the offered packs are those that an installation by name would find.
func TestOffers(t *testing.T) {
	home, dir, src := t.TempDir(), t.TempDir(), t.TempDir()
	writePack(t, src, "initech/tps", "1.0.0", 1)
	if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{}); err != nil {
		t.Fatal(err)
	}
	manifest := "namespaces: {acme: local}\nregistries: [{name: far, url: \"oci://127.0.0.1:1/far\"}]\n"
	if err := os.WriteFile(filepath.Join(dir, "skillpm.yaml"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, dir, home)
	offers, err := c.Offers(t.Context(), skillpm.OfferOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if names := offers.Names(); !slices.Equal(names, []string{"skillpm/authoring"}) {
		t.Errorf("got %q with a configured registry, want only the packs of skillpm", names)
	}
	if !slices.Equal(offers.Unlisted, []string{"far"}) {
		t.Errorf("unlisted: got %q", offers.Unlisted)
	}
	for _, p := range offers.Packs {
		if p.Description == "" || p.Skills == 0 {
			t.Errorf("%s has no description or skills: %+v", p.Name, p)
		}
	}
	offers, err = newClient(t, t.TempDir(), home).Offers(t.Context(), skillpm.OfferOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if names := offers.Names(); !slices.Contains(names, "initech/tps") || !slices.Contains(names, "globex/ops") {
		t.Errorf("got %q without a registry, want the local and the demo packs", names)
	}
	all, err := c.Offers(t.Context(), skillpm.OfferOptions{Registry: "embedded"})
	if err != nil || !slices.Contains(all.Names(), "acme/deploy") || slices.Contains(all.Names(), "initech/tps") {
		t.Errorf("--registry embedded: %+v %v", all, err)
	}
}
