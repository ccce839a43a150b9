package scan

import (
	"bytes"
	"encoding/base64"
	"math/bits"
	"strings"
)

// A secretForm is how a provider writes its secrets.
type secretForm struct {
	name       string // for messages
	prefix     string
	class      class  // of the characters after the prefix
	extra      string // other characters that it may have
	minLength  int    // characters after the prefix
	maxLength  int
	minEntropy int  // in hundredths of a bit per character
	mixed      bool // it has letters and digits
}

// Alphabets, and the least entropy of a secret in them.
const (
	alnum    = isLetter | isDigit
	anyText  = 330
	hexText  = 290
	fewChars = 270
)

var secretForms = [...]secretForm{
	{"an AWS access key", "AKIA", isUpper | isDigit, "", 16, 16, fewChars, false},
	{"an AWS access key", "ASIA", isUpper | isDigit, "", 16, 16, fewChars, false},
	{"a GitHub token", "ghp_", alnum, "", 36, 80, anyText, true},
	{"a GitHub token", "gho_", alnum, "", 36, 80, anyText, true},
	{"a GitHub token", "ghu_", alnum, "", 36, 80, anyText, true},
	{"a GitHub token", "ghs_", alnum, "", 36, 80, anyText, true},
	{"a GitHub token", "ghr_", alnum, "", 36, 80, anyText, true},
	{"a GitHub token", "github_pat_", isWordy, "", 60, 100, anyText, true},
	{"a GitLab token", "glpat-", isWordy, "-.", 20, 80, anyText, true},
	{"a GitLab token", "gldt-", isWordy, "-", 20, 64, anyText, true},
	{"a GitLab token", "glptt-", isHex, "", 40, 40, hexText, false},
	{"a GitLab token", "glrt-", isWordy, "-.", 20, 64, anyText, true},
	{"a Slack token", "xoxb-", alnum, "-", 30, 120, anyText, true},
	{"a Slack token", "xoxa-", alnum, "-", 30, 120, anyText, true},
	{"a Slack token", "xoxp-", alnum, "-", 30, 120, anyText, true},
	{"a Slack token", "xoxr-", alnum, "-", 30, 120, anyText, true},
	{"a Slack token", "xoxs-", alnum, "-", 30, 120, anyText, true},
	{"a Slack token", "xoxe-", alnum, "-.", 30, 300, anyText, true},
	{"a Slack token", "xapp-", alnum, "-", 40, 140, anyText, true},
	{"a Slack webhook", "hooks.slack.com/services/T", alnum, "/", 36, 60, anyText, true},
	{"a Discord webhook", "discord.com/api/webhooks/", isWordy, "-/", 70, 110, anyText, true},
	{"a Discord webhook", "discordapp.com/api/webhooks/", isWordy, "-/", 70, 110, anyText, true},
	{"a Stripe key", "sk_live_", alnum, "", 24, 120, anyText, true},
	{"a Stripe key", "rk_live_", alnum, "", 24, 120, anyText, true},
	{"an OpenAI key", "sk-proj-", isWordy, "-", 40, 200, anyText, true},
	{"an OpenAI key", "sk-svcacct-", isWordy, "-", 40, 200, anyText, true},
	{"an OpenAI key", "sk-admin-", isWordy, "-", 40, 200, anyText, true},
	{"an Anthropic key", "sk-ant-", isWordy, "-", 40, 200, anyText, true},
	{"an OpenRouter key", "sk-or-v1-", isHex, "", 64, 64, hexText, false},
	{"an OpenAI key", "sk-", alnum, "", 32, 64, anyText, true},
	{"a Google key", "AIza", isWordy, "-", 35, 35, anyText, true},
	{"a Google client secret", "GOCSPX-", isWordy, "-", 28, 28, anyText, true},
	{"an npm token", "npm_", alnum, "", 36, 36, anyText, true},
	{"a PyPI token", "pypi-AgE", isWordy, "-", 50, 300, anyText, true},
	{"a SendGrid key", "SG.", isWordy, "-.", 66, 66, anyText, true},
	{"a Hugging Face token", "hf_", alnum, "", 34, 40, anyText, true},
	{"a DigitalOcean token", "dop_v1_", isHex, "", 64, 64, hexText, false},
	{"a DigitalOcean token", "doo_v1_", isHex, "", 64, 64, hexText, false},
	{"a DigitalOcean token", "dor_v1_", isHex, "", 64, 64, hexText, false},
	{"a Shopify token", "shpat_", isHex, "", 32, 32, hexText, false},
	{"a Shopify secret", "shpss_", isHex, "", 32, 32, hexText, false},
	{"a Linear key", "lin_api_", alnum, "", 40, 40, anyText, true},
	{"a Notion token", "ntn_", alnum, "", 43, 50, anyText, true},
	{"a Notion token", "secret_", alnum, "", 43, 43, anyText, true},
	{"a Sentry token", "sntrys_", isWordy, "+/=-", 60, 400, anyText, true},
	{"a Sentry token", "sntryu_", isHex, "", 64, 64, hexText, false},
	{"a Figma token", "figd_", isWordy, "-", 40, 60, anyText, true},
	{"a webhook secret", "whsec_", alnum, "+/=", 32, 80, anyText, true},
	{"a key of a wallet", "xprv", alnum, "", 107, 107, anyText, true},
	{"a Supabase token", "sbp_", isHex, "", 40, 40, hexText, false},
	{"a Supabase key", "sb_secret_", isWordy, "-", 28, 40, anyText, true},
	{"a Databricks token", "dapi", isHex, "", 32, 32, hexText, false},
	{"a Postman key", "PMAK-", isHex, "-", 59, 59, hexText, false},
	{"a Grafana token", "glsa_", isWordy, "", 41, 41, anyText, true},
	{"a Groq key", "gsk_", alnum, "", 52, 52, anyText, true},
	{"an xAI key", "xai-", alnum, "", 80, 80, anyText, true},
	{"a Perplexity key", "pplx-", alnum, "", 48, 56, anyText, true},
	{"a Replicate token", "r8_", alnum, "", 37, 37, anyText, true},
	{"a Vault token", "hvs.", isWordy, "-", 24, 120, anyText, true},
	{"a Docker token", "dckr_pat_", isWordy, "-", 27, 40, anyText, true},
	{"a RubyGems key", "rubygems_", isHex, "", 48, 48, hexText, false},
	{"an age key", "AGE-SECRET-KEY-1", isUpper | isDigit, "", 58, 58, anyText, false},
	{"an Atlassian token", "ATATT3", isWordy, "-=", 100, 240, anyText, true},
	{"a Pinecone key", "pcsk_", isWordy, "", 60, 90, anyText, true},
	{"a LangSmith key", "lsv2_pt_", isHex, "_", 43, 43, hexText, false},
	{"a LangSmith key", "lsv2_sk_", isHex, "_", 43, 43, hexText, false},
	{"a Tavily key", "tvly-", alnum, "-", 32, 60, anyText, true},
	{"a Twilio key", "SK", isHex, "", 32, 32, hexText, false},
}

// secretLiterals are the prefixes of the forms. A prefix of at most three characters is combined with the characters
// that may follow.
func secretLiterals() []literal {
	const letters, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	table := []literal{{text: "PRIVATE KEY-----", exact: true, check: checkKeyBlock}}
	for i, f := range secretForms {
		l := literal{text: f.prefix, exact: true, check: checkSecret, arg: i}
		switch len(f.prefix) {
		case 2:
			for _, c := range []byte(digits + "abcdef") {
				l.text, l.next = f.prefix+string(c), digits+"abcdef"
				table = append(table, l)
			}
			continue
		case 3:
			l.next = digits + letters + upper + "-_"
		}
		table = append(table, l)
	}
	return table
}

// providerSecret finds a secret of a form whose prefix is at start, if it is long and random enough and is not a
// placeholder.
func (t *text) providerSecret(f *secretForm, start int) {
	if c := t.before(start); is(c, isWordy) || c == '-' || c == '.' && f.prefix[0] != 'd' {
		return
	}
	end := start + len(f.prefix)
	to := end
	for to < len(t.data) && to-end <= f.maxLength && (is(t.data[to], f.class) ||
		bytes.IndexByte([]byte(f.extra), t.data[to]) >= 0) {
		to++
	}
	t.scanned += to - start
	if to-end > f.maxLength {
		return
	}
	body := bytes.TrimRight(t.data[end:to], "-._/")
	to = end + len(body)
	next := t.after(to)
	if len(body) < f.minLength || is(next, isWordy) || bytes.IndexByte([]byte("<{$*["), next) >= 0 || t.isElided(to) {
		return
	}
	if f.mixed && !isMixed(body) || entropy(body) < f.minEntropy || isPlaceholder(body) || t.markedAsFake(start) {
		return
	}
	t.hit(Secret, start, to, f.name)
}

// isElided reports whether an ellipsis follows at i: the secret is not complete.
func (t *text) isElided(i int) bool {
	rest := t.data[i:min(len(t.data), i+3)]
	return bytes.HasPrefix(rest, []byte("..")) || bytes.HasPrefix(rest, []byte("…"))
}

// isMixed reports whether b has digits and letters. A text without digits is made of words.
func isMixed(b []byte) bool {
	var seen class
	for _, c := range b {
		seen |= classes[c]
	}
	return seen&isDigit != 0 && seen&isLetter != 0
}

// entropy returns the entropy of the distribution of bytes in b, in hundredths of a bit a byte. It counts in integers,
// so that it is the same on every machine.
func entropy(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	var count [256]int
	for _, c := range b {
		count[c]++
	}
	sum := 0
	for _, n := range count {
		sum += n * log2Hundredths(n)
	}
	return log2Hundredths(len(b)) - sum/len(b)
}

// log2Hundredths returns the logarithm to base 2 in hundredths.
func log2Hundredths(n int) int {
	if n <= 1 {
		return 0
	}
	integer := bits.Len(uint(n)) - 1
	result := integer * 100
	// Squaring the rest gives a binary digit of the fraction each time.
	x := uint64(n) << 31 >> integer
	for step := 50; step > 0; step /= 2 {
		x = x * x >> 31
		if x >= 1<<32 {
			x >>= 1
			result += step
		}
	}
	return result
}

// secretPlaceholders are used in place of a secret, or are parts of examples in the providers' documentation.
var secretPlaceholders = [...]string{
	"exampl", "xxxx", "your", "fake", "dummy", "redacted", "sample", "placeholder", "changeme", "change-me",
	"change_me", "replace",
	"insert", "test", "demo", "mock", "todo", "foobar", "deadbeef", "cafebabe", "secret", "token", "apikey", "api-key",
	"api_key",
	"mykey", "invalid", "notreal", "not-real", "not_real", "abcdef", "qwerty", "asdf", "goeshere", "goes-here",
	"goes_here",
	"16c7e42f292c6912e77", "4ec39hqlyjwd", "17653672481-198746", "7mdeng/bpxrficy",
}

// isPlaceholder reports whether a value is a placeholder for a secret: it says so, or it was typed by counting or by
// holding a key.
func isPlaceholder(b []byte) bool {
	if len(b) > 512 {
		b = b[:512]
	}
	small := toLowerASCII(b)
	for _, s := range secretPlaceholders {
		if bytes.Contains(small, []byte(s)) {
			return true
		}
	}
	return isSequence(small)
}

// isSequence reports whether six or more characters in a row, or five letters, count up or down, alone (123456) or with
// others in between (1a2b3c4d5e6f), or five are the same, or two or three repeat over twelve.
func isSequence(b []byte) bool {
	const enough = 6
	var up, down, same, every2, every3, other, letters int
	run := func(n *int, yes bool, enough int) bool {
		if !yes {
			*n = 0
			return false
		}
		*n++
		return *n >= enough
	}
	for i := 1; i < len(b); i++ {
		if run(&up, follows(b[i-1], b[i]), enough-1) || run(&down, follows(b[i], b[i-1]), enough-1) ||
			run(&same, b[i-1] == b[i], 4) || run(&letters, is(b[i-1], isLetter) && b[i-1]+1 == b[i], 4) {
			return true
		}
		if i < 2 {
			continue
		}
		if run(&every2, b[i-2] == b[i], 10) || run(&other, follows(b[i-2], b[i]), enough) {
			return true
		}
		if i >= 3 && run(&every3, b[i-3] == b[i], 9) {
			return true
		}
	}
	return false
}

// follows reports whether b comes after a when counting: 9 is followed by 0.
func follows(a, b byte) bool { return a+1 == b || a == '9' && b == '0' }

// markedAsFake reports whether the line of i says that the secret in it is not real.
func (t *text) markedAsFake(i int) bool {
	line := toLowerASCII(t.data[t.lineStart(i, 120):t.lineEnd(i, 300)])
	return containsAny(line, "fake", "dummy", "placeholder", "not real", "not a real", "redacted")
}

// keyBlock finds a private key in the PEM form: the header, and after it base64 as long as the shortest of keys.
func (t *text) keyBlock(start, end int) {
	if start < t.checkedTo[checkKeyBlock] {
		return
	}
	from := t.lineStart(start, 60)
	k := bytes.LastIndex(t.data[from:start], []byte("-----BEGIN "))
	if k < 0 {
		return
	}
	from += k
	body, stop := t.keyBody(end)
	t.scanned += stop - end
	t.checkedTo[checkKeyBlock] = stop
	if len(body) < minKeyLength || entropy(body) < 400 || isCutKey(body) || t.markedAsFake(from) ||
		containsAny(toLowerASCII(body), "example", "redacted", "placeholder", "yourkey", "privatekey", "dummy",
			"xxxxx") {
		return
	}
	t.hit(Secret, from, end, "a private key")
}

// minKeyLength is slightly less than the length in base64 of the shortest private key.
const minKeyLength = 60

// isCutKey reports whether the whole body of a key is shorter than the length that its DER encoding starts with.
func isCutKey(body []byte) bool {
	if len(body) >= enoughKey {
		return false
	}
	der, err := base64.RawStdEncoding.DecodeString(string(body[:8]))
	return err == nil && der[0] == 0x30 && der[1] == 0x82 && len(body)*3/4 < int(der[2])<<8|int(der[3])
}

// enoughKey is how much of the body of a key is read.
const enoughKey = 240

// keyBody returns the base64 that follows a header at i, without the characters between its lines, and where it ends;
// as much as is needed to recognize a key. Every kind of key starts with fixed bytes, which are not random.
func (t *text) keyBody(i int) (body []byte, end int) {
	const most = 1000
	for end = i; end < len(t.data) && end-i < most && len(body) < enoughKey; end++ {
		switch c := t.data[end]; {
		case c == '\\' && (t.after(end+1) == 'n' || t.after(end+1) == 'r'):
			end++
		case is(c, isBlank), len(body) == 0 && strings.IndexByte("\"'+,=", c) >= 0:
		case is(c, isBase64) && c != '-' && c != '_':
			body = append(body, c)
		default:
			return body, end
		}
	}
	return body, min(end, len(t.data))
}
