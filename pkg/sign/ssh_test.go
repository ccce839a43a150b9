package sign_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"testing"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/sign"
)

// sshSigner returns a new key and its line.
func sshSigner(t *testing.T) (ssh.Signer, string) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return s, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}

func TestAllowedSigners(t *testing.T) {
	_, public := sshSigner(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	weakKey, err := ssh.NewPublicKey(&weak.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	good := []string{
		"a@example.com " + public,
		"a@example.com " + public + " a comment\n# more\n\n",
		"*@example.com,b \t" + public,
		`"a@example.com" namespaces="git" ` + public,
		`a@example.com namespaces="git,file",valid-after="20240101Z",valid-before="20250101120000Z" ` + public,
		"a@example.com " + public + "\r\nb@example.com " + public + "\r\n",
	}
	for _, text := range good {
		if _, err := sign.ParseAllowedSigners("signers", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	bad := map[string]string{
		"":                             "does not contain keys",
		"# nobody\n":                   "does not contain keys",
		"a@example.com":                "does not contain a key",
		public:                         "line 1",
		"a@example.com ssh-ed25519":    "does not contain a key",
		"a@example.com ssh-ed25519 !!": "the key is not valid base64",
		"a@example.com ssh-rsa " + strings.Fields(public)[1]:          "the type of the key is",
		"a@example.com ssh-ed25519 " + strings.Fields(public)[1][:40]: "damaged",
		"a@example.com cert-authority " + public:                      "certificate authorities are not supported",
		`a@example.com namespaces="git",cert-authority ` + public:     "certificate authorities are not supported",
		"a@example.com namespaces=git " + public:                      "must be in quotes",
		`a@example.com namespaces="git",namespaces="x" ` + public:     "is duplicated",
		`a@example.com namespaces="" ` + public:                       "the option namespaces requires a value",
		`a@example.com no-touch-required ` + public:                   "is neither a key type nor a known option",
		`a@example.com valid-after="20240101" ` + public:              "does not have a time zone",
		`a@example.com valid-after="2024" ` + public:                  "invalid time",
		"a@example.com,, " + public:                                   "contains an empty name",
		"a@example.com " + public + "\nb@example.com what is this\n":  "line 2",
		"a@example.com \x1b[31m" + public:                             "control characters",
		"a@example.com " + string(ssh.MarshalAuthorizedKey(weakKey)):  "at least 2048 bits",
		strings.Repeat("a@example.com "+public+"\n", 10_001):          "more than 10000 keys",
		strings.Repeat("#", 1<<20+1):                                  "larger than 1048576 bytes",
	}
	for text, want := range bad {
		_, err := sign.ParseAllowedSigners("signers", []byte(text))
		if diag.CodeOf(err) != diag.Invalid || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
	a, err := sign.ParseAllowedSigners("signers", []byte(good[0]))
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Revoke("revoked", []byte("SSHKRL\n\x00"))
	checkCode(t, err, diag.Invalid, "binary revocation list")
	_, err = a.Revoke("revoked", []byte("what"))
	checkCode(t, err, diag.Invalid, "revoked line 1")
}

func TestHostileSSHSignatures(t *testing.T) {
	signer, public := sshSigner(t)
	a, err := sign.ParseAllowedSigners("signers", []byte("a@example.com,b@example.com "+public))
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte("object …\n")
	make := func(namespace string, h sshsig.HashAlgorithm) []byte {
		s, err := sshsig.Sign(strings.NewReader(string(payload)), signer, h, namespace)
		if err != nil {
			t.Fatal(err)
		}
		return sshsig.Armor(s)
	}
	good := make("git", sshsig.HashSHA512)
	for _, sig := range [][]byte{good, make("git", sshsig.HashSHA256), append([]byte(nil), string(good)+"\n\n"...)} {
		if who, err := a.Verify(payload, sig, sign.NamespaceGit, time.Time{}); err != nil || len(who.Principals) != 2 {
			t.Errorf("%+v, %v", who, err)
		}
	}
	limited, err := sign.ParseAllowedSigners("signers", []byte(`a@example.com valid-after="20240101Z" `+public))
	if err != nil {
		t.Fatal(err)
	}
	_, err = limited.Verify(payload, good, sign.NamespaceGit, time.Time{})
	checkCode(t, err, diag.Denied, "is from a key with a validity")
	for name, tt := range map[string]struct {
		sig  string
		want string
	}{
		"other namespace":                         {string(make("file", sshsig.HashSHA512)), `has the namespace "file" instead of "git"`},
		"unexpected data after the JSON document": {string(good) + "x", "it has unexpected data at its end"},
		"two":     {string(good) + string(good), "it has unexpected data at its end"},
		"before":  {"x\n" + string(good), "does not start with"},
		"cut off": {string(good[:len(good)/2]), "does not start with"},
		"nothing": {"", "does not start with"},
		"damaged": {strings.Replace(string(good), "U1NIU0lH", "U1NIU0lI", 1), "is unreadable"},
		"large":   {string(good) + strings.Repeat("\n", 1<<16), "larger than"},
	} {
		_, err := a.Verify(payload, []byte(tt.sig), sign.NamespaceGit, time.Time{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	_, err = a.Verify([]byte("another"), good, sign.NamespaceGit, time.Time{})
	checkCode(t, err, diag.Denied, "does not match the content")
}
