package scan

import (
	"encoding/base64"
	"strings"
	"testing"
)

// The values are random, and assembled, so that no scanner finds them in this file.

func base64url(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

const (
	url64  = base62 + "-_"
	std64  = base62 + "+/"
	digits = "0123456789"
)

func TestWebToken(t *testing.T) {
	sign := func(header, claims string, n int) string {
		return base64url(header) + "." + base64url(claims) + "." + random(url64, n, 21)
	}
	session := sign(`{"alg":"HS256","typ":"JWT"}`, `{"sub":"9f3c11d2","iat":1712000000}`, 43)
	service := sign(`{"typ":"JWT","alg":"HS512"}`, `{"iss":"supabase","role":"service_role","ref":"qkzbvwxmlt"}`, 86)
	signed := sign(`{"kid":"k8","alg":"RS256"}`, `{"aud":"billing","exp":1899999999}`, 342)
	for _, c := range []textCase{
		{text: "Authorization: Bearer «" + session + "»", detail: "a JSON Web Token"},
		{text: "SUPABASE_KEY=«" + service + "»\n"},
		{text: "const session = '«" + signed + "»';"},

		{text: sign(`{"alg":"HS256","typ":"JWT"}`, `{"sub":"1234567890","name":"John Doe","iat":1516239022}`, 43)},
		{text: sign(`{"alg":"HS256","typ":"JWT"}`, `{"iss":"supabase","role":"anon"}`, 43)},
		{text: sign(`{"alg":"none"}`, `{"sub":"9f3c11d2"}`, 0)},
		{text: session[:60] + "..."},
		{text: session + "..."},
		{text: base64url(`{"alg":"HS256"}`) + ".eyJ4.signature"},
		{text: "fake: " + session},
	} {
		c.check(t, Secret, Options{})
	}
}

func TestAddressPassword(t *testing.T) {
	const host = "@db.prod.acme.io"
	word := "vQ7m" + "X2kTz9wL"
	for _, c := range []textCase{
		{text: "DATABASE_URL=post" + "gres://app:«" + word + "»" + host + ":5432/app", detail: "a password for PostgreSQL"},
		{text: "post" + "gresql://app:«" + word + "!»" + host + "/app?sslmode=require"},
		{text: "url: my" + "sql://root:«" + word + "»@203.0.113.9:3306/shop", detail: "a password for MySQL"},
		{text: "mongo" + "db+srv://svc:«" + word + "»@cluster0.k3xw9.mongodb.net/x", detail: "a password for MongoDB"},
		{text: "mongo" + "db://svc:«" + word + "»@mongo.acme.io:27017"},
		{text: "redis" + "://default:«" + word + "»@cache.acme.io:6380/0", detail: "a password for Redis"},
		{text: "rediss" + "://:«" + word + "»@cache.acme.io:6380/0"},
		{text: "am" + "qps://jobs:«" + word + "»@queue.acme.io/vhost", detail: "a password for a message queue"},
		{text: "git clone https" + "://bot:«" + word + "»@git.acme.io/a/b.git", detail: "a password in an address"},
		{text: "curl http" + "://ops:«" + word + "»@10x.acme.io/metrics"},
		{text: "<ftp" + "://deploy:«" + word + "»@ftp.acme.io/>"},

		{text: "post" + "gres://user:password@db.acme.io/app"},
		{text: "post" + "gres://app:" + word + "@localhost:5432/app"},
		{text: "post" + "gres://app:" + word + "@postgres:5432/app"},
		{text: "post" + "gres://app:" + word + "@db.example.com/app"},
		{text: "post" + "gres://app:${DB_PASSWORD}@db.acme.io/app"},
		{text: "post" + "gres://app:<password>@db.acme.io/app"},
		{text: "redis" + "://default:" + word + "@192.168.1.4:6379"},
		{text: "https" + "://docs.acme.io:8443/path@2"},
		{text: "https" + "://token:x-oauth-basic@github.com/a/b"},
	} {
		c.check(t, Secret, Options{})
	}
}

func TestProviderValues(t *testing.T) {
	azure := random(std64, 86, 31) + "=="
	telegram := "71" + random(digits, 8, 32) + ":A" + "A" + random(url64, 33, 33)
	discord := strings.TrimRight(b64("118"+random(digits, 15, 34)), "=") + ".G" + random(base62, 5, 35) + "." +
		random(url64, 38, 36)
	hex := func(n int, seed uint64) string { return random(hexDigits, n, seed) }
	for _, c := range []textCase{
		{text: "AccountName=acme;Account" + "Key=«" + azure + "»;EndpointSuffix=core.windows.net", detail: "a key of Azure"},
		{text: "conn = \"…;Account" + "Key=«" + azure + "»\""},
		{text: "Endpoint=sb://acme.servicebus.windows.net/;SharedAccess" + "Key=«" + random(std64, 43, 37) + "=»"},

		{text: "BOT=«" + telegram + "»", detail: "a Telegram token"},
		{text: "curl https://api.telegram.org/bot«" + telegram + "»/getMe"},
		{text: "bot = Bot('«" + telegram + "»')"},

		{text: "DISCORD_TOKEN=«" + discord + "»", detail: "a Discord token"},
		{text: "\"token\": \"«" + discord + "»\""},
		{text: "bot_token: '«" + discord + "»'"},

		{text: "DD_API_KEY=«" + hex(32, 41) + "»", detail: "a Datadog key"},
		{text: "DATADOG_APP_KEY: «" + hex(40, 42) + "»"},
		{text: "export DD_APP_KEY=\"«" + hex(40, 43) + "»\""},

		{text: "TWILIO_AUTH_TOKEN=«" + hex(32, 44) + "»", detail: "a Twilio token"},
		{text: "twilio_token: \"«" + hex(32, 45) + "»\""},
		{text: "const twilioAuthToken = '«" + hex(32, 46) + "»';"},

		{text: "PRIVATE_KEY=«0x" + hex(64, 47) + "»", detail: "a private key of a wallet"},
		{text: "\"privateKey\": \"«" + hex(64, 48) + "»\""},
		{text: "wallet_private_key: «" + hex(64, 49) + "»"},

		{text: "Account" + "Key=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="},
		{text: "Account" + "Key=<your account key>"},
		{text: "Account" + "Key=" + azure[:40]},
		{text: "12:30:AA" + random(url64, 33, 33)},
		{text: "71234567890:AA" + strings.Repeat("x", 33)},
		{text: "DD_API_KEY=<your key>"},
		{text: "DD_API_KEY=" + strings.Repeat("0", 32)},
		{text: "commit_token: " + hex(40, 50)},
		{text: "PRIVATE_KEY=0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"},
		{text: "private_key_hash: " + strings.Repeat("ab", 32)},
	} {
		c.check(t, Secret, Options{})
	}
}

func TestWalletPhrase(t *testing.T) {
	const words = "orbit candle museum velvet prison tackle remain border glue sunset crawl dolphin"
	const more = " ladder frown pigeon atom quick hybrid salute kitten ocean ramp tuna wealth"
	for _, c := range []textCase{
		{text: "MNEMONIC=\"«" + words + "»\"", detail: "the words that restore a wallet"},
		{text: "- **Seed phrase**: `«" + words + more + "»`"},
		{text: "recovery phrase:\n    «" + words + "»\n"},
		{text: "const mnemonic = '«" + words + "»';"},

		{text: "mnemonic: \"test test test test test test test test test test test junk\""},
		{text: "seed phrase: never share your words with anyone who asks for them"},
		{text: "mnemonic = \"" + words[:40] + "\""},
		{text: "mnemonic: a short word that is easy to remember for a long command name"},
		{text: "The mnemonic helps: " + words},
	} {
		c.check(t, Secret, Options{})
	}
}

func TestPossibleSecret(t *testing.T) {
	for _, c := range []textCase{
		{text: "pass" + "word = \"«vQ7mX2kTz9wL»\"", detail: "the value of a password"},
		{text: "DB_PASS" + "WORD=«tR4!nq82Lm»\n"},
		{text: "- Pass" + "word: `«Mx93kfuT2»`"},
		{text: "CLIENT_SECRET: '«" + random(base62, 32, 51) + "»'", detail: "the value of a key or token"},
		{text: "\"api_key\": \"«" + random(base62, 24, 52) + "»\""},
		{text: "ACCESS_TOKEN=«" + random(hexDigits, 40, 53) + "»"},

		{text: "password = \"your-password\""},
		{text: "password: changeme123"},
		{text: "PASSWORD=${DB_PASSWORD}"},
		{text: "password = os.environ[\"DB_PASSWORD2\"]"},
		{text: "token = get_token(user1)"},
		{text: "token: \"sk-xxxxxxxxxxxxxxxxxxxxxxxx\""},
		{text: "token_limit: 128000 and secret: none"},
		{text: "model_token: claude-3-5-sonnet-20241022"},
		{text: "secret = /run/secrets/db_password_1"},
		{text: "api_key: op://vault/item/credential1"},
		{text: "api_key=\"EXAMPLE" + random(base62, 24, 54) + "\""},
		{text: "token: " + random(base62, 20, 55) + "..."},
		{text: "password: hunter2hunter2"},
		{text: "password: harbor2024"},
		{text: "pass" + "word: YWRtaW4xMjM0NTY="},
		{text: "\"token\": \"MzUxODM3NTQzMDAwMDA1ODI4MA==\""},
		{text: "SELL_TOKEN=0x" + random(hexDigits, 40, 57)},
		{text: "SPL_TOKEN=\"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v\""},
		{text: "?alt=media&token=43a73901-37a9-4cb9-a25c-fa01cf03baea"},
		{text: "\"private_key_id\": \"" + random(hexDigits, 40, 58) + "\""},
		{text: "totp_secret: JBSWY3DPEHPK3PXP"},
		{text: "tokens: 1024x1024x4096x16384"},
	} {
		c.check(t, PossibleSecret, Options{})
	}
}

// TestOneSecret checks that a secret of a known form is not reported again as the value of a name.
func TestOneSecret(t *testing.T) {
	data := "API_TOKEN=\"gh" + "p_" + random(base62, 36, 7) + "\"\n"
	if hits := New().Text([]byte(data), Options{}); len(hits) != 1 || hits[0].Kind != Secret {
		t.Errorf("%v", hits)
	}
}
