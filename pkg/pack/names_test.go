package pack_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// parseClaims reads packs with their skills; a leading ~ marks a transitive one.
func parseClaims(t testing.TB, text string) (list []pack.Claim) {
	t.Helper()
	for item := range strings.SplitSeq(text, ";") {
		f := strings.Fields(item)
		if len(f) == 0 {
			continue
		}
		name, transitive := strings.CutPrefix(f[0], "~")
		list = append(list, pack.Claim{Pack: mustID(t, name), Skills: f[1:], Direct: !transitive})
	}
	return list
}

func mustID(t testing.TB, s string) pack.ID {
	t.Helper()
	id, err := pack.ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func parseAliases(t testing.TB, text string) (list []pack.Alias) {
	t.Helper()
	m, err := pack.ParseManifest("m", []byte("aliases: {"+text+"}"))
	if err != nil {
		t.Fatal(err)
	}
	return m.Aliases
}

func showNamed(list []pack.NamedSkill) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = n.Link
		if n.Alias {
			parts[i] += "=" + n.Skill
		}
		parts[i] += "@" + n.Pack.String()
	}
	return strings.Join(parts, " ")
}

// TestNames checks M4, O18: order resolves name conflicts, all other skills have an alias, and no skill is lost.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name, claims, aliases, previous, reserved string
		want, names                               string
	}{
		{
			name: "no conflict", claims: "acme/a x y; globex/b z",
			want: "x@acme/a y@acme/a z@globex/b", names: "map[]",
		},
		{
			name: "the last installed wins", claims: "acme/a deploy; globex/b deploy",
			want:  "acme-deploy=deploy@acme/a deploy@globex/b",
			names: "map[deploy:{globex/b map[acme/a:acme-deploy]}]",
		},
		{
			name: "direct beats transitive", claims: "acme/a deploy; ~globex/b deploy",
			want:  "deploy@acme/a globex-deploy=deploy@globex/b",
			names: "map[deploy:{acme/a map[globex/b:globex-deploy]}]",
		},
		{
			name: "transitive by name", claims: "~globex/b x; ~acme/a x",
			want:  "globex-x=x@globex/b x@acme/a",
			names: "map[x:{acme/a map[globex/b:globex-x]}]",
		},
		{
			name: "one owner's packs", claims: "acme/a x; acme/b x; acme/c x",
			want:  "acme-b-x=x@acme/b acme-x=x@acme/a x@acme/c",
			names: "map[x:{acme/c map[acme/a:acme-x acme/b:acme-b-x]}]",
		},
		{
			name: "the alias is somebody's name", claims: "acme/a x; globex/b x; globex/c acme-x",
			want:  "acme-a-x=x@acme/a acme-x@globex/c x@globex/b",
			names: "map[x:{globex/b map[acme/a:acme-a-x]}]",
		},
		{
			name: "the alias is hand-written", claims: "acme/a x; globex/b x", reserved: "acme-x",
			want:  "acme-a-x=x@acme/a x@globex/b",
			names: "map[x:{globex/b map[acme/a:acme-a-x]}]",
		},
		{
			name: "both are", claims: "acme/a x; globex/b x", reserved: "acme-x acme-a-x",
			want:  "acme-a-x-ae157b66=x@acme/a x@globex/b",
			names: "map[x:{globex/b map[acme/a:acme-a-x-ae157b66]}]",
		},
		{
			name: "locked aliases stay", claims: "acme/a x; globex/b x", previous: "x acme/a acme-a-x", reserved: "acme-a-x",
			want:  "acme-a-x=x@acme/a x@globex/b",
			names: "map[x:{globex/b map[acme/a:acme-a-x]}]",
		},
		{
			name: "unless they are taken now", claims: "acme/a x; globex/b x old", previous: "x acme/a old",
			want:  "acme-x=x@acme/a old@globex/b x@globex/b",
			names: "map[x:{globex/b map[acme/a:acme-x]}]",
		},
		{
			name: "chosen alias", claims: "acme/a deploy; globex/b deploy", aliases: "k8s: deploy@globex/b",
			want:  "deploy@acme/a k8s=deploy@globex/b",
			names: "map[deploy:{acme/a map[globex/b:k8s]}]",
		},
		{
			name: "nobody has the bare name", claims: "acme/a deploy", aliases: "k8s: deploy@acme/a",
			want:  "k8s=deploy@acme/a",
			names: "map[deploy:{/ map[acme/a:k8s]}]",
		},
		{
			name: "an alias may be a name that nobody keeps", claims: "acme/a deploy; globex/b ship",
			aliases: "deploy: ship@globex/b, old: deploy@acme/a",
			want:    "deploy=ship@globex/b old=deploy@acme/a",
			names:   "map[deploy:{/ map[acme/a:old]} ship:{/ map[globex/b:deploy]}]",
		},
		{
			name: "long names are cut", claims: "acme/" + strings.Repeat("p", 64) + " " + strings.Repeat("s", 60) + "; globex/b " + strings.Repeat("s", 60),
			want: "acme-" + strings.Repeat("p", 50) + "-00b07523=" + strings.Repeat("s", 60) + "@acme/" + strings.Repeat("p", 64) +
				" " + strings.Repeat("s", 60) + "@globex/b",
			names: "map[" + strings.Repeat("s", 60) + ":{globex/b map[acme/" + strings.Repeat("p", 64) + ":acme-" + strings.Repeat("p", 50) + "-00b07523]}]",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			previous := make(map[string]pack.LockedName)
			if f := strings.Fields(tt.previous); len(f) == 3 {
				previous[f[0]] = pack.LockedName{Shadowed: map[pack.ID]string{mustID(t, f[1]): f[2]}}
			}
			reserved := func(s string) bool { return slices.Contains(strings.Fields(tt.reserved), s) }
			claims := parseClaims(t, tt.claims)
			named, names, conflicts, err := pack.ResolveNames(claims, parseAliases(t, tt.aliases), previous, reserved)
			if err != nil {
				t.Fatal(err)
			}
			if got := showNamed(named); got != tt.want {
				t.Errorf("names\n%s, want\n%s", got, tt.want)
			}
			if got := fmt.Sprint(names); got != tt.names {
				t.Errorf("lock\n%s, want\n%s", got, tt.names)
			}
			for _, c := range conflicts {
				if c.Winner.IsZero() || len(c.Losers) == 0 || !maps.Equal(c.Losers, names[c.Name].Shadowed) && tt.aliases == "" {
					t.Errorf("conflict %+v does not agree with the lock", c)
				}
			}
			again, names2, _, err := pack.ResolveNames(claims, parseAliases(t, tt.aliases), names, nil)
			if err != nil || showNamed(again) != showNamed(named) || fmt.Sprint(names2) != fmt.Sprint(names) {
				t.Errorf("from its own lock: %s, %v, %v", showNamed(again), names2, err)
			}
		})
	}
}

func TestNamesRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, claims, aliases string
		code                  diag.Code
		want, hint            string
	}{
		{
			"no such pack", "acme/a x", "k: x@acme/b", diag.NotFound,
			"alias k refers to x@acme/b, but pack acme/b is not installed",
			"add the pack to dependencies, or remove the alias",
		},
		{
			"a pack does not contain the skill", "acme/a deploy", "k: deplyo@acme/a", diag.NotFound,
			"alias k refers to deplyo@acme/a, but acme/a does not contain a skill deplyo", "did you mean deploy@acme/a?",
		},
		{
			"an alias that is a name", "acme/a deploy; globex/b ship", "deploy: ship@globex/b", diag.Conflict,
			"the alias deploy of ship@globex/b is already the name of a skill in acme/a",
			"choose another alias, or add an alias for deploy@acme/a",
		},
	} {
		_, _, _, err := pack.ResolveNames(parseClaims(t, tt.claims), parseAliases(t, tt.aliases), nil, nil)
		if err == nil || err.Error() != tt.want || diag.CodeOf(err) != tt.code || diag.HintOf(err) != tt.hint {
			t.Errorf("%s: %v (%s), hint %q", tt.name, err, diag.CodeOf(err), diag.HintOf(err))
		}
	}
}

// TestNamesAreUnique checks for any installation that every skill has one valid name, no two have the same, and a
// second run changes nothing.
func TestNamesAreUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "a-b", "a-a", "b-a-b", strings.Repeat("x", 39)})
		var claims []pack.Claim
		for range rapid.IntRange(1, 6).Draw(t, "packs") {
			pk := pack.ID{Owner: word.Draw(t, "owner"), Name: word.Draw(t, "name")}
			if slices.ContainsFunc(claims, func(c pack.Claim) bool { return c.Pack == pk }) {
				continue
			}
			claims = append(claims, pack.Claim{
				Pack: pk, Direct: rapid.Bool().Draw(t, "direct"),
				Skills: rapid.SliceOfNDistinct(word, 1, 4, rapid.ID[string]).Draw(t, "skills"),
			})
		}
		named, names, _, err := pack.ResolveNames(claims, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for _, n := range named {
			if seen[n.Link] || !skill.LegalName(n.Link) || n.Bare == n.Alias || n.Bare != (n.Link == n.Skill) {
				t.Fatalf("%+v in %s", n, showNamed(named))
			}
			seen[n.Link] = true
		}
		again, names2, _, err := pack.ResolveNames(claims, nil, names, nil)
		if err != nil || showNamed(again) != showNamed(named) || fmt.Sprint(names2) != fmt.Sprint(names) {
			t.Fatalf("%s\nand then\n%s", showNamed(named), showNamed(again))
		}
	})
}

// TestClaims checks that claims follow the order of the manifest's dependencies, then the names of the other packs.
func TestClaims(t *testing.T) {
	m, err := pack.ParseManifest("skillpm.yaml", []byte("dependencies: {globex/ops: '*', acme/gone: '*'}\ndev-dependencies: {acme/deploy: '*'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range pack.Claims(m, sampleLock(t)) {
		got = append(got, fmt.Sprintf("%s %v %t", c.Pack, c.Skills, c.Direct))
	}
	want := []string{
		"globex/ops [deploy true] true", "acme/deploy [deploy rollback] true",
		"acme/kubectl-basics [kubectl-basics] false", "local/near [x-1] false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
