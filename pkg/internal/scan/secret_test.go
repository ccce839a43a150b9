package scan

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"
)

// random returns n random-looking characters of an alphabet, the same every time.
func random(alphabet string, n int, seed uint64) string {
	var b strings.Builder
	for x := seed*2862933555777941757 + 3037000493; b.Len() < n; x = x*6364136223846793005 + 1442695040888963407 {
		b.WriteByte(alphabet[(x>>33)%uint64(len(alphabet))])
	}
	return b.String()
}

const (
	hexDigits = "0123456789abcdef"
	base62    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	upper36   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

func TestSecretForms(t *testing.T) {
	s := New()
	for i, f := range secretForms {
		alphabet := base62
		switch {
		case f.class == isHex:
			alphabet = hexDigits
		case f.class&isLower == 0 && f.class&isUpper != 0:
			alphabet = upper36
		}
		found := 0
		const tries = 20
		for seed := range tries {
			token := f.prefix + random(alphabet, f.minLength, uint64(i*tries+seed))
			data := "key: \"" + token + "\"\n"
			for _, h := range s.Text([]byte(data), Options{}) {
				if h.Kind == Secret && data[h.Start:h.End] == token && h.Detail == f.name {
					found++
				}
				if strings.Contains(h.Detail, token[len(f.prefix):]) {
					t.Errorf("%s: the detail says the secret", f.name)
				}
			}
		}
		if found < tries*9/10 {
			t.Errorf("%s (%s): %d of %d found", f.name, f.prefix, found, tries)
		}
	}
}

func TestSecret(t *testing.T) {
	gh, aws, openai := "gh"+"p_", "AK"+"IA", "sk"+"-proj-"
	token := random(base62, 36, 7)
	key := random(upper36, 16, 3)
	for _, c := range []textCase{
		{text: "«" + gh + token + "»", detail: "a GitHub token"},
		{text: "https://x:«" + gh + token + "»@github.com/a/b"},
		{text: "aws_access_key_id = «" + aws + key + "»"},
		{text: "OPENAI_API_KEY=«" + openai + random(base62, 48, 4) + "»"},
		{text: "sk: «" + "s" + "k-" + random(base62, 20, 5) + "T3Blbk" + "FJ" + random(base62, 20, 6) + "»"},

		{text: aws + "IOSFODNN7" + "EXAMPLE"},
		{text: aws + "IOSFODNN7" + "EXAMPLG"},
		{text: aws + "2J4K7LMNPQ6" + "RSTUV"},
		{text: aws + strings.Repeat("X", 16)},
		{text: aws + "1234567890ABCDEF"},
		{text: aws + key + "EXTRA"},
		{text: aws + "[0-9A-Z]{16}"},
		{text: gh + strings.Repeat("x", 36)},
		{text: gh + "abcdefghijklmnopqrstuvwxyz0123456789"},
		{text: gh + "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8"},
		{text: gh + "YourTokenGoesHere" + token[:19]},
		{text: gh + token[:20] + "..."},
		{text: gh + token[:20]},
		{text: "x" + gh + token},
		{text: gh + token + " # fake"},
		{text: gh + "${GITHUB_TOKEN}"},
		{text: openai + strings.Repeat("ab", 30)},
		{text: openai + "this-is-only-the-name-of-a-key-and-no-key-at-all"},
		{text: "task-based-work-that-goes-on-for-more-than-forty-letters"},
		{text: "sk" + "-" + strings.Repeat("0", 40)},
		{text: "sk" + "_test_" + random(base62, 24, 8)},
	} {
		c.check(t, Secret, Options{})
	}
}

func TestKeyBlock(t *testing.T) {
	begin, end := "-----BEGIN "+"RSA PRIVATE"+" KEY-----", "-----END "+"RSA PRIVATE"+" KEY-----"
	body := base64.StdEncoding.EncodeToString([]byte(random(base62+"!$%&/()=?+*#-_.:,;<>|", 300, 9)))
	openSSH := "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\nQyNTUxOQAAACD" + random(base62+"+/", 59, 11) +
		"\n" + random(base62+"+/", 70, 12) + "\n" + random(base62+"+/", 70, 13) + "\n"
	lines := body[:64] + "\n" + body[64:128] + "\n" + body[128:192] + "\n" + body[192:]
	for _, c := range []textCase{
		{text: "«" + begin + "»\n" + lines + "\n" + end, detail: "a private key"},
		{text: "    «" + begin + "»\n    " + strings.ReplaceAll(lines, "\n", "\n    ") + "\n    " + end},
		{text: "{\"private_key\": \"«" + begin + "»\\n" + strings.ReplaceAll(lines, "\n", "\\n") + "\\n" + end + "\"}"},
		{text: "«" + strings.ReplaceAll(begin, "RSA", "OPENSSH") + "»\n" + openSSH + strings.ReplaceAll(end, "RSA", "OPENSSH")},
		{text: "«" + strings.ReplaceAll(begin, "RSA ", "") + "»\nMC4CAQAwBQYDK2VwBCIEI" + random(base62+"+/", 43, 14) + "\n" + strings.ReplaceAll(end, "RSA ", "")},

		{text: begin + "\n...\n" + end},
		{text: begin + "\nMIIEpAIBAAKCAQEA" + random(base62, 48, 15) + "\n" + end},
		{text: begin + "\n<your key>\n" + end},
		{text: begin + "\nMIIEpAIBAAKCAQEA...\n" + end},
		{text: "grep -r '" + begin + "' ."},
		{text: begin + "\n" + strings.Repeat("A", 64) + "\n" + strings.Repeat("A", 64) + "\n" + end},
		{text: begin + "\nthe text of a page that comes after the header of a key but is none at all, as one can see\n"},
	} {
		c.check(t, Secret, Options{})
	}
}

func TestLog2(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 10, 36, 100, 1000, 1 << 20} {
		want := int(100 * math.Log2(float64(n)))
		if got := log2Hundredths(n); got < want-3 || got > want+1 {
			t.Errorf("log2(%d) = %d, want %d", n, got, want)
		}
	}
}
