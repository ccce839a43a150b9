package resolve

import (
	"fmt"
	"testing"

	"github.com/Masterminds/semver/v3"
	"pgregory.net/rapid"
)

// TestSpans says which ranges are read without the library, and what they are.
func TestSpans(t *testing.T) {
	const none = ""
	for _, tt := range []struct{ text, want string }{
		{"*", "0.0.0–∞"},
		{"1.2.3", "1.2.3–1.2.4"},
		{"=1.2", "1.2.0–1.3.0"},
		{"^1.2.3", "1.2.3–2.0.0"},
		{"^0.2.3", "0.2.3–0.3.0"},
		{"^0.0.3", "0.0.3–0.0.4"},
		{"~1.2", "1.2.0–1.3.0"},
		{">=1.2.0 <2", "1.2.0–2.0.0"},
		{">=1.2.0, <2", "1.2.0–2.0.0"},
		{"^1 || ^3", "1.0.0–2.0.0 3.0.0–4.0.0"},
		{">2 <1", "3.0.0–1.0.0"},
		{"", none},
		{"latest", none},
		{"!=1.0.0", none},
		{">=1.0.0-0", none},
		{"1.x", none},
		{"1.0 - 2.0", none},
		{"> 1", none},
		{"01.2.3", none},
		{"1.2.3.4", none},
		{"1.", none},
		{"^", none},
		{"^1,", none},
		{"^1,,^2", none},
		{"||", none},
		{"<=1048574.4194303.4194303", "0.0.0–1048575.0.0"},
		{"^1048574", "1048574.0.0–1048575.0.0"},
		{"1048575.0.0", none},
		{"1.0.4194304", none},
	} {
		got := ""
		for i, s := range parseSpans(tt.text) {
			if i > 0 {
				got += " "
			}
			got += showRelease(s.low) + "–" + showRelease(s.high)
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

func showRelease(r release) string {
	if r == forever {
		return "∞"
	}
	return fmt.Sprintf("%d.%d.%d", r/oneMajor, r%oneMajor/oneMinor, r%oneMinor)
}

// checkRange fails if a range or a version that is read without the library is none for the library, or means something
// else.
func checkRange(t interface{ Fatalf(string, ...any) }, text string, versions ...string) {
	r, err := parseRange(text)
	library, libErr := semver.NewConstraint(text)
	if (err == nil) != (libErr == nil) {
		t.Fatalf("%q: %v, and the library says %v", text, err, libErr)
	}
	for _, version := range versions {
		c, ok := newCandidate(&Version{Version: version})
		parsed, parseErr := semver.StrictNewVersion(version)
		switch {
		case ok != (parseErr == nil):
			t.Fatalf("version %q: %t, and the library says %v", version, ok, parseErr)
		case ok && err == nil && r.fits(&c) != library.Check(parsed):
			t.Fatalf("%s in %q: %t, and the library says otherwise", version, text, r.fits(&c))
		}
	}
}

// Ranges mean what the library says, however they are written.
func TestRangesAreTheLibrarys(t *testing.T) {
	number := rapid.SampledFrom([]string{"0", "1", "2", "9", "10", "007", "4194303", "4194304", "1048574", "1048575", "999999999", "18446744073709551615"})
	version := rapid.Custom(func(t *rapid.T) string {
		s := number.Draw(t, "major")
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			s += "." + number.Draw(t, "part")
		}
		return s + rapid.SampledFrom([]string{"", "", "", "-0", "-rc.1", "+b"}).Draw(t, "rest")
	})
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for i := range rapid.IntRange(1, 4).Draw(t, "comparators") {
			if i > 0 {
				text += rapid.SampledFrom([]string{" ", ", ", ",", " || ", "||", "  ", " , ", " - "}).Draw(t, "between")
			}
			text += rapid.SampledFrom([]string{"", "=", "^", "~", ">=", "<=", ">", "<", "!=", "=>", "~>", "> ", "v"}).Draw(t, "operator")
			text += version.Draw(t, "version")
		}
		versions := rapid.SliceOfN(version, 20, 20).Draw(t, "versions")
		versions = append(versions, "0.0.0", "0.0.1", "0.1.0", "1.0.0", "1.1.0", "1.0.1", "2.0.0", "9.10.1", "10.0.0")
		checkRange(t, text, versions...)
	})
}

func FuzzRange(f *testing.F) {
	f.Add("^1.2 || >=2, <3", "1.2.3")
	f.Add(">1 <=2.1", "2.1.9")
	f.Add("~0.0", "0.0.7-rc.1")
	f.Add("*", "1.0.0+b")
	f.Fuzz(func(t *testing.T, text, version string) {
		checkRange(t, text, version, "0.0.0", "0.0.1", "0.1.0", "1.0.0", "1.2.3", "2.0.0", "3.1.4")
	})
}
