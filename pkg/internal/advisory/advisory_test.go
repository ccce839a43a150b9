package advisory_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/advisory"
)

const (
	tree  = "t1:sha256:1111111111111111111111111111111111111111111111111111111111111111"
	other = "t1:sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

// record returns an advisory about a pack, with further fields.
func record(t *testing.T, id, affected, more string) *advisory.Advisory {
	t.Helper()
	a, err := advisory.Parse([]byte(fmt.Sprintf(
		`{"schema_version":"1.7.0","id":%q,"modified":"2026-11-01T00:00:00Z","summary":"sends keys","affected":[%s]%s}`,
		id, affected, more)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func versions(events string) string {
	return `{"package":{"ecosystem":"AgentSkills","name":"acme/deploy"},"ranges":[{"type":"SEMVER","events":[` + events + `]}]}`
}

func content(trees string) string {
	return `{"package":{"ecosystem":"AgentSkills","name":"*"},"database_specific":{"trees":["` + trees + `"]}}`
}

// TestAffects checks ranges, listed versions, trees, withdrawal, and other ecosystems.
func TestAffects(t *testing.T) {
	at := func(version string) advisory.Subject { return advisory.Subject{Pack: "acme/deploy", Version: version} }
	tests := []struct {
		name, affected, more string
		subject              advisory.Subject
		want                 bool
	}{
		{"before the fix", versions(`{"introduced":"0"},{"fixed":"1.2.0"}`), "", at("1.1.9"), true},
		{"the first pre-release", versions(`{"introduced":"0"},{"fixed":"1.2.0"}`), "", at("0.0.0-0"), true},
		{"a pre-release of the fix", versions(`{"introduced":"0"},{"fixed":"1.2.0"}`), "", at("1.2.0-rc.1"), true},
		{"the fix", versions(`{"introduced":"0"},{"fixed":"1.2.0"}`), "", at("1.2.0"), false},
		{"before it was introduced", versions(`{"introduced":"1.1.0"}`), "", at("1.0.0"), false},
		{"introduced again", versions(`{"introduced":"0"},{"fixed":"1.0.0"},{"introduced":"2.0.0"}`), "", at("2.1.0"), true},
		{"between", versions(`{"introduced":"2.0.0"},{"introduced":"0"},{"fixed":"1.0.0"}`), "", at("1.5.0"), false},
		{"the last affected", versions(`{"introduced":"1.0.0"},{"last_affected":"1.3.0"}`), "", at("1.3.0"), true},
		{"after the last affected", versions(`{"introduced":"1.0.0"},{"last_affected":"1.3.0"}`), "", at("1.3.1"), false},
		{"another pack", versions(`{"introduced":"0"}`), "", advisory.Subject{Pack: "acme/deplo", Version: "1.0.0"}, false},
		{"no version", versions(`{"introduced":"0"}`), "", at(""), false},
		{"withdrawn", versions(`{"introduced":"0"}`), `,"withdrawn":"2026-11-02T00:00:00Z"`, at("1.0.0"), false},
		{"a listed version", `{"package":{"ecosystem":"AgentSkills","name":"acme/deploy"},"versions":["1.4.0"]}`, "", at("1.4.0"), true},
		{"a tree in another pack", content(tree), "", advisory.Subject{Pack: "evil/copy", Trees: []string{other, tree}}, true},
		{"another tree", content(tree), "", advisory.Subject{Trees: []string{other}}, false},
		{"another ecosystem", `{"package":{"ecosystem":"npm","name":"acme/deploy"},"versions":["1.4.0"]}`, "", at("1.4.0"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := record(t, "SKILL-2026-0001", tt.affected, tt.more).Affects(tt.subject); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestCheck checks that wrong records are refused with the field that is wrong.
func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                               "is not an OSV record",
		`{"id":"x y"}`:                     `the advisory id "x y" is not`,
		`{"id":"SKILL-1","affected":[{}]}`: "modified is missing",
		`{"id":"SKILL-1","modified":"2026-11-01T00:00:00Z","affected":[]}`:                                                                             "affected is empty",
		`{"id":"SKILL-1","modified":"2026-11-01T00:00:00Z","affected":[{"package":{"ecosystem":"AgentSkills","name":"deploy"},"versions":["1.0.0"]}]}`: `affected[0]: the package name "deploy"`,
		`{"id":"SKILL-1","modified":"2026-11-01T00:00:00Z","affected":[{"package":{"ecosystem":"AgentSkills","name":"a/b"},"versions":["1.0"]}]}`:      `the version "1.0"`,
		`{"id":"SKILL-1","modified":"2026-11-01T00:00:00Z","affected":[{"package":{"ecosystem":"AgentSkills","name":"*"},"versions":["1.0.0"]}]}`:      "cannot have versions",
		`{"id":"SKILL-1","modified":"2026-11-01T00:00:00Z","affected":[{"package":{"ecosystem":"AgentSkills","name":"a/b"}}]}`:                         "are missing",
		`{"id":"SKILL-1","modified":"2026-11-01T00:00:00Z","affected":[` + content("t1:sha256:12") + `]}`:                                              "the tree digest",
		`{"id":"SKILL-1","modified":"2026-11-01T00:00:00Z","affected":[` + versions(`{"fixed":"1.0.0"}`) + `]}`:                                        "needs an introduced version",
		`{"id":"SKILL-1","modified":"2026-11-01T00:00:00Z","affected":[` + versions(`{"introduced":"0","fixed":"1.0.0"}`) + `]}`:                       "must have one of",
	} {
		if _, err := advisory.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// TestMatching checks the order, and that aliases count once.
func TestMatching(t *testing.T) {
	all := []*advisory.Advisory{
		record(t, "SKILL-2026-0002", versions(`{"introduced":"0"},{"fixed":"3.0.0"}`), ""),
		record(t, "SKILL-2026-0001", versions(`{"introduced":"0"},{"fixed":"2.0.0"}`), `,"aliases":["MAL-2026-7"]`),
		record(t, "MAL-2026-7", versions(`{"introduced":"0"}`), ""),
	}
	var got []string
	for _, a := range advisory.Matching(all, advisory.Subject{Pack: "acme/deploy", Version: "1.0.0"}) {
		got = append(got, fmt.Sprint(a.ID, " ", a.Malicious()))
	}
	if want := "MAL-2026-7 true, SKILL-2026-0002 false"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// Feeds may give one id to different advisories, and copy advisories.
	all = append(all, record(t, "SKILL-2026-0002", versions(`{"introduced":"0"},{"fixed":"4.0.0"}`), ""), all[0])
	if got := advisory.Matching(all, advisory.Subject{Pack: "acme/deploy", Version: "1.0.0"}); len(got) != 3 {
		t.Errorf("got %v", got)
	}
	backported := record(t, "SKILL-3", versions(`{"introduced":"0"},{"fixed":"1.2.0"}`)+","+versions(`{"introduced":"0"},{"fixed":"1.1.5"},{"introduced":"1.2.0"},{"fixed":"1.3.0"}`), "")
	if got := backported.FixedIn(advisory.Subject{Pack: "acme/deploy", Version: "1.0.0"}); got != "1.3.0" {
		t.Errorf("fixed in %q", got)
	}
	if got := all[1].FixedIn(advisory.Subject{Pack: "acme/deploy", Version: "1.0.0"}); got != "2.0.0" {
		t.Errorf("fixed in %q", got)
	}
}

// TestFeed checks that a feed has the same bytes in any order, and survives reading.
func TestFeed(t *testing.T) {
	a, b := record(t, "SKILL-2", content(tree), ""), record(t, "SKILL-1", versions(`{"introduced":"0"}`), "")
	one, err := advisory.EncodeFeed([]*advisory.Advisory{a, b})
	if err != nil {
		t.Fatal(err)
	}
	two, err := advisory.EncodeFeed([]*advisory.Advisory{b, a})
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("got %v\n%s\n%s", err, one, two)
	}
	all, err := advisory.DecodeFeed(one)
	if err != nil || len(all) != 2 || all[0].ID != "SKILL-1" {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := advisory.EncodeFeed([]*advisory.Advisory{a, a}); err == nil {
		t.Error("an id twice is accepted")
	}
	if _, err := advisory.DecodeFeed(append(bytes.Clone(one), one...)); err == nil || !strings.Contains(err.Error(), "line 3 of the feed: the id SKILL-1 is duplicated") {
		t.Errorf("an id twice: %v", err)
	}
	if _, err := advisory.DecodeFeed(append(one, "{}\n"...)); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("got %v", err)
	}
}

// TestBlocked checks that each malicious version and tree is found in a list of many, and nothing else.
func TestBlocked(t *testing.T) {
	var all []*advisory.Advisory
	digest := func(i int) string { return fmt.Sprintf("t1:sha256:%064x", i*i) }
	for i := range 400 {
		one := strings.ReplaceAll(versions(`{"introduced":"1.0.0"},{"fixed":"1.5.0"}`), "acme/deploy", fmt.Sprintf("acme/deploy-%d", i))
		all = append(all,
			record(t, fmt.Sprintf("MAL-2026-%d", i), one+","+content(digest(i)), ""),
			record(t, fmt.Sprintf("SKILL-2026-%d", i), strings.ReplaceAll(one, "acme", "harmless"), ""))
	}
	all = append(all, record(t, "MAL-2026-1000", content(tree), `,"withdrawn":"2026-11-02T00:00:00Z"`))
	data, err := advisory.EncodeBlocked(all)
	if err != nil {
		t.Fatal(err)
	}
	find := func(pack, version string, trees ...string) string {
		t.Helper()
		list := advisory.Blocked{File: bytes.NewReader(data), Size: int64(len(data))}
		a, err := list.Find(pack, version, func() ([]string, error) { return trees, nil })
		if err != nil {
			t.Fatal(err)
		}
		if a == nil {
			return ""
		}
		return a.ID
	}
	for i := range 400 {
		id, name := fmt.Sprintf("MAL-2026-%d", i), fmt.Sprintf("deploy-%d", i)
		if got := find("acme/"+name, "1.4.9"); got != id {
			t.Errorf("%s: found %q", name, got)
		}
		if got := find("", "", other, digest(i)); got != id {
			t.Errorf("tree %d: found %q", i, got)
		}
		if got := find("acme/"+name, "1.5.0", other) + find("harmless/"+name, "1.4.9", tree); got != "" {
			t.Errorf("%s: found %q", name, got)
		}
	}
	half, err := advisory.EncodeBlocked(all[:400])
	if err != nil {
		t.Fatal(err)
	}
	rest, err := advisory.EncodeBlocked(all[400:])
	if err != nil || !bytes.Equal(advisory.MergeBlocked(rest, half, rest), data) {
		t.Errorf("joined lists differ: %v", err)
	}
	if _, err := (advisory.Blocked{File: strings.NewReader("acme/deploy"), Size: 11}).Find("acme/deploy", "1.0.0", nil); err == nil {
		t.Error("a damaged list is accepted")
	}
	if a, err := (advisory.Blocked{File: strings.NewReader(""), Size: 0}).Find("acme/deploy", "1.0.0", nil); a != nil || err != nil {
		t.Errorf("an empty list: %v, %v", a, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"id":"SKILL-1","modified":"2026-11-01T00:00:00Z","affected":[` + versions(`{"introduced":"0"}`) + `]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := advisory.Parse(data)
		if err != nil {
			return
		}
		feed, err := advisory.EncodeFeed([]*advisory.Advisory{a})
		if err != nil {
			t.Fatal(err)
		}
		if back, err := advisory.DecodeFeed(feed); err != nil || len(back) != 1 {
			t.Fatalf("%v: %s", err, feed)
		}
		if _, err := advisory.EncodeBlocked([]*advisory.Advisory{a}); err != nil {
			t.Fatal(err)
		}
	})
}
