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
		Long: `A key pair has a private key, which signs packs, and a public key, which verifies their
signatures.`,
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
		Long: `The keys sign packs with ECDSA P-256. Keep NAME.key secret, and give NAME.pub to the
users of your packs. skillpm never replaces existing files.

A password encrypts the private key. skillpm reads the password from
SKILLPM_SIGNING_PASSWORD or from the terminal. The private key has the format of cosign,
so cosign can use the key, too. For CI systems that store
secrets, --no-password writes an unencrypted private key (PKCS #8).`,
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
			return keyExists(file)
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
		err = diag.Errorf(diag.Usage, "cannot encrypt the private key without a password").
			WithHint("set %s, or use --no-password to leave the key unencrypted", console.PasswordVariable)
	}
	if err != nil {
		return nil, err
	}
	second, err := a.AskSecret("Repeat the password: ")
	if err == nil && !bytes.Equal(first, second) {
		err = diag.Errorf(diag.Usage, "cannot generate a key: the passwords differ").
			WithHint("run the command again, and type the password twice")
	}
	return first, err
}

// keyExists is the error of a file that a key would replace.
func keyExists(file string) error {
	return diag.Errorf(diag.Conflict, "cannot write %s: the file already exists", file).
		WithHint("choose another name with --output NAME")
}

// writeNew creates a file and fails if it exists.
func writeNew(file string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return keyExists(file)
	case errors.Is(err, fs.ErrNotExist):
		return diag.Errorf(diag.NotFound, "cannot write %s: directory %s does not exist", file, filepath.Dir(file)).
			WithHint("create the directory, or choose another name with --output NAME")
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
