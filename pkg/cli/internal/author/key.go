package author

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/sign"
)

func newKey(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Manage signing keys",
		Long:  "Generates keys for signing packs.",
		Example: `  skillpm key generate --output acme
  skillpm key generate --output ci --no-password
  skillpm publish --sign --signing-key acme.key`,
		RunE: console.UnknownCommand,
		Args: cobra.ArbitraryArgs,
	}
	generate := newKeyGenerate(a)
	generate.Args = console.UsageArgs(generate.Args)
	cmd.AddCommand(generate)
	return cmd
}

func newKeyGenerate(a *app) *cobra.Command {
	var out string
	var open bool
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Generate a signing key pair",
		Long: `Generates a key for signing packs (ECDSA P-256): keep NAME.key secret, and give NAME.pub
to those who install your packs. Existing files are never replaced.

The private key is encrypted with a password, which is read from the terminal or from
SKILLPM_SIGNING_PASSWORD. It has the format of cosign's keys, so cosign can use it, too.
With --no-password it is not encrypted (PKCS #8), for CI systems that keep secrets.`,
		Example: `  skillpm key generate --output acme
  skillpm key generate --output ci --no-password
  skillpm publish --sign --signing-key acme.key`,
		Args: console.Need(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return a.generateKey(out, open) },
	}
	cmd.Flags().StringVarP(&out, "output", "o", "skillpm", "write `NAME`.key and NAME.pub")
	cmd.Flags().BoolVar(&open, "no-password", false, "do not encrypt the private key")
	return cmd
}

// generateKey writes a key pair.
func (a *app) generateKey(out string, open bool) error {
	dir, err := a.WorkDir()
	if err != nil {
		return err
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(dir, out)
	}
	private, public := out+".key", out+".pub"
	for _, file := range []string{private, public} {
		if _, err := os.Lstat(file); err == nil {
			return diag.Errorf(diag.Conflict, "%s already exists", file).
				WithHint("choose another name with --output NAME")
		}
	}
	var password []byte
	if !open {
		if password, err = a.newPassword(); err != nil {
			return err
		}
	}
	key, err := sign.Generate(rand.Reader)
	if err != nil {
		return err
	}
	text, err := key.Encode(password)
	if err != nil {
		return err
	}
	if err := writeNew(private, text, 0o600); err != nil {
		return err
	}
	if err := writeNew(public, key.Public().Encode(), 0o644); err != nil {
		_ = os.Remove(private) // half of a key pair is useless
		return err
	}
	if a.JSON {
		return a.PrintJSON(keyDocument{private, public, key.Public().Fingerprint(), key.Public().ID(), !open})
	}
	a.Note("Wrote the private key %s and the public key %s. Keep the private key secret.", private, public)
	return console.Table(a.Stdout, [][]string{{key.Public().Fingerprint()}})
}

// newPassword returns a password for a new key: from the environment, or typed twice.
func (a *app) newPassword() ([]byte, error) {
	if p := a.Getenv(console.PasswordVariable); p != "" {
		return []byte(p), nil
	}
	first, err := a.AskSecret("Password for the new key: ")
	if err == nil && len(first) == 0 {
		err = diag.Errorf(diag.Usage, "a password is needed to encrypt the private key").
			WithHint("set %s, or use --no-password to leave the key unencrypted", console.PasswordVariable)
	}
	if err != nil {
		return nil, err
	}
	second, err := a.AskSecret("Repeat the password: ")
	if err == nil && !bytes.Equal(first, second) {
		err = diag.Errorf(diag.Usage, "the passwords differ; no key was generated")
	}
	return first, err
}

// writeNew creates a file and fails if it exists.
func writeNew(file string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return diag.Errorf(diag.Conflict, "%s already exists", file).
			WithHint("choose another name with --output NAME")
	case errors.Is(err, fs.ErrNotExist):
		return diag.Errorf(diag.NotFound, "the directory of %s does not exist", file)
	case err != nil:
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(file) // the first error matters
	}
	return err
}
