package console

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
)

const (
	keyVariable = "SKILLPM_SIGNING_KEY" // a PEM private key
	// PasswordVariable is the environment variable with the password of a signing key.
	PasswordVariable = "SKILLPM_SIGNING_PASSWORD" //nolint:gosec // name of the variable with the key's password
	maxKeyFile       = 64 << 10
)

// Signer returns the private key of a file or of the environment. If there is none, and the process is a CI job, it
// returns a signer for the identity of the job.
func (a *App) Signer(file string) (sign.Signer, error) {
	if file == "" && a.Getenv(keyVariable) == "" && publish.InCI(a.Getenv) {
		c, err := a.Author()
		if err != nil {
			return nil, err
		}
		return c.IdentitySigner(a.OpenSigner)
	}
	key, err := a.SigningKey(file)
	if err != nil {
		return nil, err
	}
	return key, nil
}

// SignerText returns a signer as a sentence names it: a key by its fingerprint, an identity by its subject and issuer.
func SignerText(signer string) string {
	issuer, subject, ok := strings.Cut(signer, " ")
	if !ok {
		return signer
	}
	return "the identity " + subject + " (issuer " + issuer + ")"
}

// SigningKey returns the private key of a file or, without a file, of the environment.
func (a *App) SigningKey(file string) (*sign.PrivateKey, error) {
	text, name := []byte(a.Getenv(keyVariable)), keyVariable
	if file != "" {
		dir, err := a.WorkDir()
		if err != nil {
			return nil, err
		}
		path := file
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		text, err = safefile.ReadFile(path, maxKeyFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, diag.Errorf(diag.NotFound, "signing key %s does not exist", file).
				WithHint("generate a key with: skillpm key generate --output %s", strings.TrimSuffix(file, ".key"))
		}
		if err != nil {
			return nil, err
		}
		name = file
	}
	if len(text) == 0 {
		return nil, diag.Errorf(diag.Usage, "no signing key specified").
			WithHint("use --signing-key FILE, or set %s to a private key; generate a key with: skillpm key generate",
				keyVariable)
	}
	// the content may be secret, so the error omits it
	if file == "" && !bytes.Contains(text, []byte("-----BEGIN ")) {
		return nil, diag.Errorf(diag.Usage,
			"%s must contain a private key in PEM format, not a file name", keyVariable).
			WithHint("use --signing-key FILE, or set %s to the content of the file", keyVariable)
	}
	key, err := sign.ParsePrivate(text, func() ([]byte, error) { return a.keyPassword(name) })
	if err != nil {
		return nil, fmt.Errorf("cannot use the signing key %s: %w", name, err)
	}
	return key, nil
}

// keyPassword returns the key's password: from the environment, or typed on a terminal.
func (a *App) keyPassword(name string) ([]byte, error) {
	if p := a.Getenv(PasswordVariable); p != "" {
		return []byte(p), nil
	}
	p, err := a.AskSecret("Password for " + name + ": ")
	if err == nil && p == nil {
		err = diag.Errorf(diag.Usage, "a password is required").
			WithHint("set %s to the password of the key", PasswordVariable)
	}
	return p, err
}

// AskSecret reads a secret on a terminal without echo; nil if there is no terminal.
func (a *App) AskSecret(question string) ([]byte, error) {
	in, ok := a.Stdin.(*os.File)
	if !ok || !a.CanAsk() {
		return nil, nil
	}
	fmt.Fprint(a.Stderr, PrintableText(question))
	secret, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(a.Stderr)
	if secret == nil {
		secret = []byte{}
	}
	return secret, err
}

// CanAsk reports whether a user can be prompted on a terminal.
func (a *App) CanAsk() bool {
	return Terminal(a.Stdin) && Terminal(a.Stderr) && a.Getenv("CI") == "" && !a.JSON
}
