package scan

import (
	"bytes"
	"math/bits"
	"strings"
)

// A form is how a provider writes its secrets.
type form struct {
	name   string // what it is, for a message
	prefix string
	class  class  // of the characters after the prefix
	extra  string // other characters that it may hold
	least  int    // characters after the prefix
	most   int
	random int // least entropy, in hundredths of a bit a character
	mixed  bool
}

// Alphabets and how random a secret in them is at least.
const (
	alnum    = isLetter | isDigit
	anyText  = 330
	hexText  = 290
	fewChars = 270
)

var secretForms = [...]form{
	{name: "an AWS access key", prefix: "AKIA", class: isUpper | isDigit, least: 16, most: 16, random: fewChars},
	{name: "an AWS access key", prefix: "ASIA", class: isUpper | isDigit, least: 16, most: 16, random: fewChars},
	{name: "a GitHub token", prefix: "ghp_", class: alnum, least: 36, most: 80, random: anyText, mixed: true},
	{name: "a GitHub token", prefix: "gho_", class: alnum, least: 36, most: 80, random: anyText, mixed: true},
	{name: "a GitHub token", prefix: "ghu_", class: alnum, least: 36, most: 80, random: anyText, mixed: true},
	{name: "a GitHub token", prefix: "ghs_", class: alnum, least: 36, most: 80, random: anyText, mixed: true},
	{name: "a GitHub token", prefix: "ghr_", class: alnum, least: 36, most: 80, random: anyText, mixed: true},
	{name: "a GitHub token", prefix: "github_pat_", class: isWordy, least: 60, most: 100, random: anyText, mixed: true},
	{
		name: "a GitLab token", prefix: "glpat-", class: isWordy, extra: "-.", least: 20, most: 80, random: anyText,
		mixed: true,
	},
	{
		name: "a GitLab token", prefix: "gldt-", class: isWordy, extra: "-", least: 20, most: 64, random: anyText,
		mixed: true,
	},
	{name: "a GitLab token", prefix: "glptt-", class: isHex, least: 40, most: 40, random: hexText},
	{
		name: "a GitLab token", prefix: "glrt-", class: isWordy, extra: "-.", least: 20, most: 64, random: anyText,
		mixed: true,
	},
	{
		name: "a Slack token", prefix: "xoxb-", class: alnum, extra: "-", least: 30, most: 120, random: anyText,
		mixed: true,
	},
	{
		name: "a Slack token", prefix: "xoxa-", class: alnum, extra: "-", least: 30, most: 120, random: anyText,
		mixed: true,
	},
	{
		name: "a Slack token", prefix: "xoxp-", class: alnum, extra: "-", least: 30, most: 120, random: anyText,
		mixed: true,
	},
	{
		name: "a Slack token", prefix: "xoxr-", class: alnum, extra: "-", least: 30, most: 120, random: anyText,
		mixed: true,
	},
	{
		name: "a Slack token", prefix: "xoxs-", class: alnum, extra: "-", least: 30, most: 120, random: anyText,
		mixed: true,
	},
	{
		name: "a Slack token", prefix: "xoxe-", class: alnum, extra: "-.", least: 30, most: 300, random: anyText,
		mixed: true,
	},
	{
		name: "a Slack token", prefix: "xapp-", class: alnum, extra: "-", least: 40, most: 140, random: anyText,
		mixed: true,
	},
	{
		name: "a Slack webhook", prefix: "hooks.slack.com/services/T", class: alnum, extra: "/", least: 36, most: 60,
		random: anyText, mixed: true,
	},
	{
		name: "a Discord webhook", prefix: "discord.com/api/webhooks/", class: isWordy,
		extra: "-/", least: 70, most: 110,
		random: anyText, mixed: true,
	},
	{
		name: "a Discord webhook", prefix: "discordapp.com/api/webhooks/", class: isWordy, extra: "-/", least: 70,
		most: 110, random: anyText, mixed: true,
	},
	{name: "a Stripe key", prefix: "sk_live_", class: alnum, least: 24, most: 120, random: anyText, mixed: true},
	{name: "a Stripe key", prefix: "rk_live_", class: alnum, least: 24, most: 120, random: anyText, mixed: true},
	{
		name: "an OpenAI key", prefix: "sk-proj-", class: isWordy, extra: "-", least: 40, most: 200, random: anyText,
		mixed: true,
	},
	{
		name: "an OpenAI key", prefix: "sk-svcacct-", class: isWordy, extra: "-", least: 40, most: 200, random: anyText,
		mixed: true,
	},
	{
		name: "an OpenAI key", prefix: "sk-admin-", class: isWordy, extra: "-", least: 40, most: 200, random: anyText,
		mixed: true,
	},
	{
		name: "an Anthropic key", prefix: "sk-ant-", class: isWordy, extra: "-", least: 40, most: 200, random: anyText,
		mixed: true,
	},
	{name: "an OpenRouter key", prefix: "sk-or-v1-", class: isHex, least: 64, most: 64, random: hexText},
	{name: "an OpenAI key", prefix: "sk-", class: alnum, least: 32, most: 64, random: anyText, mixed: true},
	{
		name: "a Google key", prefix: "AIza", class: isWordy, extra: "-", least: 35, most: 35, random: anyText,
		mixed: true,
	},
	{
		name: "a Google client secret", prefix: "GOCSPX-", class: isWordy, extra: "-", least: 28, most: 28,
		random: anyText, mixed: true,
	},
	{name: "an npm token", prefix: "npm_", class: alnum, least: 36, most: 36, random: anyText, mixed: true},
	{
		name: "a PyPI token", prefix: "pypi-AgE", class: isWordy, extra: "-", least: 50, most: 300, random: anyText,
		mixed: true,
	},
	{
		name: "a SendGrid key", prefix: "SG.", class: isWordy, extra: "-.", least: 66, most: 66, random: anyText,
		mixed: true,
	},
	{name: "a Hugging Face token", prefix: "hf_", class: alnum, least: 34, most: 40, random: anyText, mixed: true},
	{name: "a DigitalOcean token", prefix: "dop_v1_", class: isHex, least: 64, most: 64, random: hexText},
	{name: "a DigitalOcean token", prefix: "doo_v1_", class: isHex, least: 64, most: 64, random: hexText},
	{name: "a DigitalOcean token", prefix: "dor_v1_", class: isHex, least: 64, most: 64, random: hexText},
	{name: "a Shopify token", prefix: "shpat_", class: isHex, least: 32, most: 32, random: hexText},
	{name: "a Shopify secret", prefix: "shpss_", class: isHex, least: 32, most: 32, random: hexText},
	{name: "a Linear key", prefix: "lin_api_", class: alnum, least: 40, most: 40, random: anyText, mixed: true},
	{name: "a Notion token", prefix: "ntn_", class: alnum, least: 43, most: 50, random: anyText, mixed: true},
	{name: "a Supabase token", prefix: "sbp_", class: isHex, least: 40, most: 40, random: hexText},
	{
		name: "a Supabase key", prefix: "sb_secret_", class: isWordy, extra: "-", least: 28, most: 40, random: anyText,
		mixed: true,
	},
	{name: "a Databricks token", prefix: "dapi", class: isHex, least: 32, most: 32, random: hexText},
	{name: "a Postman key", prefix: "PMAK-", class: isHex, extra: "-", least: 59, most: 59, random: hexText},
	{name: "a Grafana token", prefix: "glsa_", class: isWordy, least: 41, most: 41, random: anyText, mixed: true},
	{name: "a Groq key", prefix: "gsk_", class: alnum, least: 52, most: 52, random: anyText, mixed: true},
	{name: "an xAI key", prefix: "xai-", class: alnum, least: 80, most: 80, random: anyText, mixed: true},
	{name: "a Perplexity key", prefix: "pplx-", class: alnum, least: 48, most: 56, random: anyText, mixed: true},
	{name: "a Replicate token", prefix: "r8_", class: alnum, least: 37, most: 37, random: anyText, mixed: true},
	{
		name: "a Vault token", prefix: "hvs.", class: isWordy, extra: "-", least: 24, most: 120, random: anyText,
		mixed: true,
	},
	{
		name: "a Docker token", prefix: "dckr_pat_", class: isWordy, extra: "-", least: 27, most: 40, random: anyText,
		mixed: true,
	},
	{name: "a RubyGems key", prefix: "rubygems_", class: isHex, least: 48, most: 48, random: hexText},
	{name: "an age key", prefix: "AGE-SECRET-KEY-1", class: isUpper | isDigit, least: 58, most: 58, random: anyText},
	{
		name: "an Atlassian token", prefix: "ATATT3", class: isWordy,
		extra: "-=", least: 100, most: 240, random: anyText,
		mixed: true,
	},
	{name: "a Pinecone key", prefix: "pcsk_", class: isWordy, least: 60, most: 90, random: anyText, mixed: true},
	{name: "a LangSmith key", prefix: "lsv2_pt_", class: isHex, extra: "_", least: 43, most: 43, random: hexText},
	{name: "a LangSmith key", prefix: "lsv2_sk_", class: isHex, extra: "_", least: 43, most: 43, random: hexText},
	{
		name: "a Tavily key", prefix: "tvly-", class: alnum, extra: "-", least: 32, most: 60, random: anyText,
		mixed: true,
	},
	{name: "a Twilio key", prefix: "SK", class: isHex, least: 32, most: 32, random: hexText},
}

// secretLiterals are the prefixes of the forms. One of three characters or less is looked for with those that may
// follow.
func secretLiterals() []literal {
	const letters, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	table := []literal{{text: "PRIVATE KEY-----", exact: true, check: checkKeyBlock}}
	for i, f := range secretForms {
		l := literal{text: f.prefix, exact: true, check: checkSecret, arg: i}
		switch len(f.prefix) {
		case 2:
			for _, c := range []byte(digits + "abcdef") {
				l.text, l.then = f.prefix+string(c), digits+"abcdef"
				table = append(table, l)
			}
			continue
		case 3:
			l.then = digits + letters + upper + "-_"
		}
		table = append(table, l)
	}
	return table
}

// secret finds a secret of a form whose prefix is at start: of the right length, random, and no stand-in.
func (t *text) secret(f *form, start int) {
	if c := t.before(start); is(c, isWordy) || c == '-' || c == '.' && f.prefix[0] != 'd' {
		return
	}
	end := start + len(f.prefix)
	to := end
	for to < len(t.data) && to-end <= f.most && (is(t.data[to], f.class) ||
		bytes.IndexByte([]byte(f.extra), t.data[to]) >= 0) {
		to++
	}
	t.work += to - start
	if to-end > f.most {
		return
	}
	body := bytes.TrimRight(t.data[end:to], "-._/")
	to = end + len(body)
	next := t.after(to)
	if len(body) < f.least || is(next, isWordy) || bytes.IndexByte([]byte("<{$*["), next) >= 0 || t.cut(to) {
		return
	}
	if f.mixed && !isMixed(body) || entropy(body) < f.random || isPlaceholder(body) || t.saysFake(start) {
		return
	}
	t.hit(Secret, start, to, f.name)
}

// cut reports whether what ends at i goes on as an ellipsis: the secret is not all there.
func (t *text) cut(i int) bool {
	rest := t.data[i:min(len(t.data), i+3)]
	return bytes.HasPrefix(rest, []byte("..")) || bytes.HasPrefix(rest, []byte("…"))
}

// isMixed reports whether b has digits and letters; one without digits is made of words.
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
		sum += n * log2(n)
	}
	return log2(len(b)) - sum/len(b)
}

// log2 returns the logarithm to base 2 in hundredths.
func log2(n int) int {
	if n <= 1 {
		return 0
	}
	whole := bits.Len(uint(n)) - 1
	result := whole * 100
	// Squaring the rest gives a binary digit of the fraction each time.
	x := uint64(n) << 31 >> whole
	for step := 50; step > 0; step /= 2 {
		x = x * x >> 31
		if x >= 1<<32 {
			x >>= 1
			result += step
		}
	}
	return result
}

// standIns are what people write in place of a secret; and parts of examples in the providers' documentation.
var standIns = [...]string{
	"example", "xxxx", "your", "fake", "dummy", "redacted", "sample", "placeholder", "changeme", "change-me",
	"change_me", "replace",
	"insert", "test", "demo", "mock", "todo", "foobar", "deadbeef", "cafebabe", "secret", "token", "apikey", "api-key",
	"api_key",
	"mykey", "invalid", "notreal", "not-real", "not_real", "abcdef", "qwerty", "asdf", "goeshere", "goes-here",
	"goes_here",
	"16c7e42f292c6912e77", "4ec39hqlyjwd", "17653672481-198746", "7mdeng/bpxrficy",
}

// isPlaceholder reports whether a value only stands for a secret: it says so, or it was typed by counting or by holding
// a key.
func isPlaceholder(b []byte) bool {
	if len(b) > 512 {
		b = b[:512]
	}
	small := toSmall(b)
	for _, s := range standIns {
		if bytes.Contains(small, []byte(s)) {
			return true
		}
	}
	return isSequence(small)
}

// isSequence reports whether six or more characters in a row count up or down, alone (123456) or with others in between
// (1a2b3c4d5e6f), or five are the same, or two or three repeat over twelve.
func isSequence(b []byte) bool {
	const enough = 6
	var up, down, same, every2, every3, other int
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
			run(&same, b[i-1] == b[i], 4) {
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

// saysFake reports whether the line of i says that the secret in it is none.
func (t *text) saysFake(i int) bool {
	line := toSmall(t.data[t.lineStart(i, 120):t.lineEnd(i, 300)])
	return containsAny(line, "fake", "dummy", "placeholder", "not real", "not a real", "redacted")
}

// keyBlock finds a private key in the PEM form: the header, and after it base64 as long as the shortest of keys.
func (t *text) keyBlock(start, end int) {
	if start < t.seen[checkKeyBlock] {
		return
	}
	from := t.lineStart(start, 60)
	k := bytes.LastIndex(t.data[from:start], []byte("-----BEGIN "))
	if k < 0 {
		return
	}
	from += k
	body, stop := t.keyBody(end)
	t.work += stop - end
	t.seen[checkKeyBlock] = stop
	if len(body) < shortestKey || entropy(body) < 400 || t.saysFake(from) ||
		containsAny(toSmall(body), "example", "redacted", "placeholder", "yourkey", "privatekey", "dummy", "xxxxx") {
		return
	}
	t.hit(Secret, from, end, "a private key")
}

// shortestKey is the length in base64 of the shortest private key, and some less.
const shortestKey = 60

// keyBody returns the base64 that follows a header at i, without what stands between its lines, and where it ends; as
// much as is needed to see whether it is a key. Every kind of key starts with fixed bytes, which are not random.
func (t *text) keyBody(i int) (body []byte, end int) {
	const enough, most = 240, 1000
	for end = i; end < len(t.data) && end-i < most && len(body) < enough; end++ {
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
