package scan

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// The forms of secrets that more than a prefix tells: the argument of checkValue.
const (
	valueJWT        = iota // a signed token
	valueURL               // an address with a password
	valueAzure             // a key of Azure storage or of its message queues
	valueTelegram          // a bot's token: its number before the colon
	valueAssignment        // a name such as API_KEY, and a value
	valuePhrase            // the words that restore a wallet
)

// addressSchemes are the schemes of addresses that often have a password, and what the password is for.
var addressSchemes = [...]struct{ scheme, about string }{
	{"postgres://", "a password for PostgreSQL"},
	{"postgresql://", "a password for PostgreSQL"},
	{"mysql://", "a password for MySQL"},
	{"mariadb://", "a password for MariaDB"},
	{"mongodb://", "a password for MongoDB"},
	{"mongodb+srv://", "a password for MongoDB"},
	{"redis://", "a password for Redis"},
	{"rediss://", "a password for Redis"},
	{"amqp://", "a password for a message queue"},
	{"amqps://", "a password for a message queue"},
	{"sqlserver://", "a password for SQL Server"},
	{"clickhouse://", "a password for ClickHouse"},
	{"ftp://", "a password in an address"},
	{"http://", "a password in an address"},
	{"https://", "a password in an address"},
}

// secretNames are parts of names whose value is a secret.
var secretNames = [...]string{
	"password", "passwd", "secret", "token", "api_key", "apikey", "api-key", "app_key", "private_key", "privatekey",
	"private-key", "access_key", "accesskey", "account_key", "wallet_key",
}

var phraseNames = [...]string{
	"mnemonic", "seed phrase", "seed_phrase", "seedphrase", "recovery phrase",
	"secret phrase",
}

// valueLiterals are the texts at which checkValue looks.
func valueLiterals() []literal {
	table := []literal{{
		text: ":AA", exact: true, check: checkValue, arg: valueTelegram,
		next: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
	}}
	// {"alg": {"typ": {"kid": as the start of a token's header
	for _, s := range []string{"eyJhbGci", "eyJ0eXAi", "eyJraWQi"} {
		table = append(table, literal{text: s, exact: true, check: checkValue, arg: valueJWT})
	}
	for _, s := range []string{"AccountKey=", "SharedAccessKey="} {
		table = append(table, literal{text: s, exact: true, check: checkValue, arg: valueAzure})
	}
	for _, s := range addressSchemes {
		table = append(table, literal{text: s.scheme, check: checkValue, arg: valueURL, name: s.about})
	}
	for _, s := range secretNames {
		table = append(table, literal{text: s, check: checkValue, arg: valueAssignment})
	}
	for _, s := range phraseNames {
		table = append(table, literal{text: s, check: checkValue, arg: valuePhrase})
	}
	return table
}

func (t *text) secretValue(l *literal, start, end int) {
	switch l.arg {
	case valueJWT:
		t.webToken(start)
	case valueURL:
		t.addressHost(end)
		t.addressPassword(l, start, end)
	case valueAzure:
		t.azureKey(end)
	case valueTelegram:
		t.telegramToken(start)
	case valueAssignment:
		t.assignedSecret(start, end)
	case valuePhrase:
		t.walletPhrase(end)
	}
}

// take returns the bytes from i on that are of a class or among others, at most n, and counts them.
func (t *text) take(i, n int, set class, others string) []byte {
	to := i
	for to < len(t.data) && to-i < n && (is(t.data[to], set) || strings.IndexByte(others, t.data[to]) >= 0) {
		to++
	}
	t.scanned += to - i
	return t.data[i:to]
}

// webToken finds a signed JSON Web Token (RFC 7519): three parts in base64url, of which the second is an object of
// claims. Tokens of documentation, and public keys of Supabase, which their users publish, do not count.
func (t *text) webToken(start int) {
	if start < t.checkedTo[checkValue] || is(t.before(start), isWordy) {
		return
	}
	const most = 4096
	token := t.take(start, most, isWordy, "-.")
	t.checkedTo[checkValue] = start + len(token)
	token = bytes.TrimRight(token, ".")
	parts := bytes.Split(token, []byte("."))
	if len(parts) != 3 || len(token) >= most-1 || len(parts[2]) < 32 || !isMixed(parts[2]) || entropy(parts[2]) < 400 ||
		isSequence(toLowerASCII(parts[2])) || t.isElided(start+len(token)) {
		return
	}
	text, err := base64.RawURLEncoding.DecodeString(string(parts[1]))
	var claims map[string]any
	if err != nil || json.Unmarshal(text, &claims) != nil || len(claims) == 0 || claims["role"] == "anon" {
		return
	}
	if containsAny(toLowerASCII(text), "1234567890", "john doe", "jane doe", "example", "supabase-demo", "test", "demo",
		"user123", "fake", "foo", "alice", "bob", "joe") || t.markedAsFake(start) {
		return
	}
	t.hit(Secret, start, start+len(token), "a JSON Web Token")
}

// addressPassword finds a password in an address, unless it is an obvious one, or for a machine that others cannot
// reach.
func (t *text) addressPassword(l *literal, start, end int) {
	if is(t.before(start), isWordy) {
		return
	}
	user := t.take(end, 64, isWordy, "-.+%~")
	at := end + len(user)
	if t.after(at) != ':' {
		return
	}
	password := t.take(at+1, 128, isWordy, "-.+%~!$&*=,;^")
	from, to := at+1, at+1+len(password)
	if t.after(to) != '@' {
		return
	}
	host := t.take(to+1, 128, alnum, "-.")
	if isLocalHost(host) || bytes.Equal(user, password) || !isStrong(password, 8, 2) || isSecretWord(password) ||
		t.markedAsFake(start) {
		return
	}
	t.hit(Secret, from, to, l.name)
}

// isLocalHost reports whether a host is a placeholder, a reserved name (RFC 2606, RFC 6761), or on a local network.
func isLocalHost(host []byte) bool {
	h := strings.ToLower(strings.Trim(string(host), "."))
	if !strings.Contains(h, ".") {
		return true // localhost, and names of containers
	}
	for _, end := range []string{
		".example", ".test", ".invalid", ".localhost", ".local", ".internal", ".lan", "example.com", "example.net",
		"example.org",
	} {
		if strings.HasSuffix(h, end) {
			return true
		}
	}
	for _, start := range []string{"127.", "10.", "192.168.", "172.", "0.0.0.0", "your", "my-", "host.", "hostname."} {
		if strings.HasPrefix(h, start) {
			return true
		}
	}
	return false
}

// isStrong reports whether a value looks random: it is long, and has characters of several classes. Lowercase and
// uppercase letters, digits, and others are such classes.
func isStrong(b []byte, length, kinds int) bool {
	var seen class
	other := 0
	for _, c := range b {
		if !is(c, alnum) {
			other = 1
		}
		seen |= classes[c]
	}
	for _, k := range []class{isLower, isUpper, isDigit} {
		if seen&k != 0 {
			other++
		}
	}
	return len(b) >= length && seen&isLetter != 0 && seen&isDigit != 0 && other >= kinds && entropy(b) >= fewChars
}

// weakValues are parts of values in examples, besides those of isPlaceholder.
var weakValues = [...]string{
	"pass", "pwd", "p@ss", "hunter2", "admin", "letmein", "welcome", "correct", "user", "guest", "root", "local", "dev",
	"docker", "postgres", "mysql", "mongo", "redis", "rabbit", "strong", "secure", "random", "value", "here", "123",
	"key", "abc", "aaaa", "jbswy3dpehpk3pxp", "gezdgnbvgy3tqojq", "0xcontract", "0000", "env", "username", "hash", "process", "config",
}

// isSecretWord reports whether a value is a placeholder, or the sort of password that examples have.
func isSecretWord(b []byte) bool {
	small := toLowerASCII(b)
	for _, s := range weakValues {
		if bytes.Contains(small, []byte(s)) {
			return true
		}
	}
	return isPlaceholder(b)
}

// azureKey finds a key of 64 or 32 bytes in base64. The key of Azure's emulator is public.
func (t *text) azureKey(end int) {
	const emulator = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq"
	key := t.take(end, 90, isBase64, "=")
	if len(key) != 88 && len(key) != 44 || key[len(key)-1] != '=' || bytes.HasPrefix(key, []byte(emulator)) ||
		!isMixed(key) || entropy(key) < 400 || isPlaceholder(key[:40]) || t.markedAsFake(end) {
		return
	}
	t.hit(Secret, end, end+len(key), "a key of Azure")
}

// telegramToken finds a bot's token: a number of eight to ten digits, a colon, and 35 characters that start with AA.
func (t *text) telegramToken(colon int) {
	from := colon
	for from > 0 && colon-from < 11 && is(t.data[from-1], isDigit) {
		from--
	}
	tail := t.take(colon+1, 36, isWordy, "-")
	t.scanned += colon - from
	if n := colon - from; n < 8 || n > 10 || len(tail) != 35 || is(t.before(from), isWordy) &&
		!bytes.HasSuffix(t.data[:from], []byte("/bot")) || !isMixed(tail) || entropy(tail) < 350 ||
		isPlaceholder(t.data[from:colon+36]) || t.markedAsFake(from) {
		return
	}
	t.hit(Secret, from, colon+36, "a Telegram token")
}

// assignedSecret finds the value of a name that has such a word in it, as in API_KEY="…" and "password": "…".
func (t *text) assignedSecret(start, end int) {
	from, to, ok := t.assignedValue(end)
	if !ok || t.isElided(to) || bytes.HasPrefix(t.data[end:], []byte("_id")) {
		return
	}
	name := start
	for name > 0 && start-name < 40 && (is(t.data[name-1], isWordy) || t.data[name-1] == '-') {
		name--
	}
	t.scanned += start - name
	full, value := toLowerASCII(t.data[name:end]), t.data[from:to]
	kind, about := namedSecret(string(full), value)
	if about == "" || t.markedAsFake(start) {
		return
	}
	t.hit(kind, from, to, about)
}

// dropKnownSecrets removes possible secrets that are found as secrets.
func (t *text) dropKnownSecrets() {
	var known []Hit
	for _, h := range t.hits {
		if h.Kind == Secret {
			known = append(known, h)
		}
	}
	t.hits = slices.DeleteFunc(t.hits, func(h Hit) bool {
		return h.Kind == PossibleSecret && slices.ContainsFunc(known, func(k Hit) bool {
			return h.Start < k.End && k.Start < h.End
		})
	})
}

// assignedValue returns where the value after a name is: after an equals sign or a colon, perhaps in quotes.
func (t *text) assignedValue(end int) (from, to int, ok bool) {
	i := end + len(t.take(end, 24, isWordy, "-"))
	for n := 0; n < 2 && strings.IndexByte("\"'`]*", t.after(i)) >= 0; n++ {
		i++
	}
	i += len(t.take(i, 2, 0, " "))
	switch t.after(i) {
	case '=', ':':
		i++
	default:
		return 0, 0, false
	}
	if c := t.after(i); c == '=' || c == '>' {
		i++
	}
	i += len(t.take(i, 2, 0, " *"))
	quote := t.after(i)
	if quoted := strings.IndexByte("\"'`", quote) >= 0; quoted {
		i++
	} else {
		quote = 0
	}
	value := t.take(i, 130, alnum, "_-+/=.!@#%^&*~?$")
	to = i + len(value)
	if next := t.after(to); quote != 0 && next != quote ||
		!is(next, isBlank) && strings.IndexByte("\"'`,;)}&|", next) < 0 {
		return 0, 0, false
	}
	return i, to, len(value) >= 8 && len(value) < 130 && !bytes.Contains(value, []byte("..")) &&
		!bytes.HasPrefix(value, []byte("eyJ"))
}

// namedSecret returns what the value of a name is. An empty text means that it is not a secret.
func namedSecret(name string, value []byte) (Kind, string) {
	has := func(words ...string) bool { return containsAny([]byte(name), words...) }
	bare := bytes.TrimPrefix(value, []byte("0x"))
	if len(bare) < len(value) && len(bare) != 64 || isPublicToken(name, value) {
		return 0, "" // the address of a contract or an account has 40 digits, and a key 64
	}
	isHexKey := (len(bare) == 64 || len(bare) == 40 || len(bare) == 32) && allOf(bare, isHex) &&
		entropy(bare) >= hexText && !isPlaceholder(bare)
	switch {
	case isHexKey && len(bare) == 64 && has("private", "wallet") && !isTestKey(bare):
		return Secret, "a private key of a wallet"
	case isHexKey && len(bare) != 64 && (has("datadog") || strings.HasPrefix(name, "dd_")):
		return Secret, "a Datadog key"
	case isHexKey && len(bare) == 32 && has("twilio"):
		return Secret, "a Twilio token"
	case isDiscordToken(value):
		return Secret, "a Discord token"
	case isSecretWord(value) || bytes.IndexByte([]byte("$/@.#%&?"), value[0]) >= 0 || isIdentifier(value):
		return 0, ""
	case encodesWeak(value):
		return 0, ""
	case has("passw"):
		if allOf(bytes.TrimRight(value, "0123456789"), isLower) {
			return 0, "" // a word and a number
		}
		if isStrong(value, 8, 2) {
			return PossibleSecret, "the value of a password"
		}
		return 0, ""
	case isHexKey, isStrong(value, 16, 2) && entropy(value) >= anyText:
		return PossibleSecret, "the value of a key or token"
	}
	return 0, ""
}

// isPublicToken reports whether the value of a name such as SPL_TOKEN is public: the base58 address of a token on
// Solana, the base64 address of one on TON, or the id of a public download.
func isPublicToken(name string, value []byte) bool {
	if !strings.HasSuffix(name, "token") && !strings.HasSuffix(name, "mint") && !strings.HasSuffix(name, "tokens") {
		return false
	}
	value, _, _ = bytes.Cut(value, []byte("&"))
	isTON := len(value) == 48 && (bytes.HasPrefix(value, []byte("EQ")) || bytes.HasPrefix(value, []byte("UQ")))
	return isTON || isUUID(value) || (len(value) == 43 || len(value) == 44) && allOf(value, alnum) &&
		!bytes.ContainsAny(value, "0OIl")
}

// encodesWeak reports whether a value is the base64 form of a number or of a weak password.
func encodesWeak(value []byte) bool {
	text, err := base64.StdEncoding.DecodeString(string(value))
	return err == nil && bytes.HasSuffix(value, []byte("=")) && (allOf(text, isDigit) || isSecretWord(text))
}

// isUUID reports whether a text has the form of a UUID, which is an id.
func isUUID(b []byte) bool {
	if len(b) != 36 {
		return false
	}
	for i, c := range b {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !is(c, isHex) {
			return false
		}
	}
	return true
}

func allOf(b []byte, set class) bool {
	for _, c := range b {
		if !is(c, set) {
			return false
		}
	}
	return true
}

// isIdentifier reports whether a value is made of words and numbers, as names of files, models, and versions are.
func isIdentifier(b []byte) bool {
	words := bytes.FieldsFunc(b, func(r rune) bool { return strings.ContainsRune("-_./", r) })
	if len(words) < 3 {
		return false
	}
	for _, w := range words {
		if isMixed(w) && len(w) > 8 {
			return false
		}
	}
	return true
}

// isTestKey reports whether a key is one of the first that development tools for Ethereum derive from their public
// test phrase.
func isTestKey(key []byte) bool {
	return oneOf(key[:16], "ac0974bec39a17e3", "59c6995e998f97a5", "5de4111afa1a4b94", "7c852118294e51e6",
		"47e179ec19748859", "8b3a350cf5c34c91", "92db14e403b83dfe", "4bbbf85ce3377467", "dbda1821b80551c9",
		"2a871d0798f97d79", "4f3edf983ac636a6")
}

// isDiscordToken reports whether a value has the three parts of a bot's token: its number in base64, a time, and a
// signature.
func isDiscordToken(b []byte) bool {
	parts := bytes.Split(b, []byte("."))
	if len(parts) != 3 || len(parts[0]) < 23 || len(parts[0]) > 28 || len(parts[1]) != 6 || len(parts[2]) < 27 ||
		len(parts[2]) > 40 || !isMixed(parts[2]) || isSequence(toLowerASCII(b)) || isPlaceholder(parts[2]) {
		return false
	}
	number, err := base64.RawStdEncoding.DecodeString(string(parts[0]))
	return err == nil && allOf(number, isDigit)
}

// walletPhrase finds the words that restore a wallet (BIP 39): after such a name, 12 to 24 different words of three
// to eight letters.
func (t *text) walletPhrase(end int) {
	if end < t.checkedTo[checkValue] {
		return
	}
	i := end + len(t.take(end, 8, isWordy, "\"'`*)"))
	i += len(t.take(i, 2, 0, " "))
	if c := t.after(i); c != '=' && c != ':' {
		return
	}
	i++
	i += len(t.take(i, 8, isBlank, "\"'`*["))
	phrase := bytes.TrimRight(t.take(i, 250, isLower, " "), " ")
	to := i + len(phrase)
	t.checkedTo[checkValue] = to
	words := bytes.Fields(phrase)
	if n := len(words); n != 12 && n != 15 && n != 18 && n != 21 && n != 24 || is(t.after(to), isWordy) {
		return
	}
	seen := map[string]bool{}
	for _, w := range words {
		if len(w) < 3 || len(w) > 8 || oneOf(w, "the", "and", "your", "with", "for", "not", "are", "from", "has", "its",
			"was", "their", "words") {
			return
		}
		seen[string(w)] = true
	}
	if len(seen) < len(words)-1 || t.markedAsFake(end) {
		return
	}
	t.hit(Secret, i, to, "the words that restore a wallet")
}
