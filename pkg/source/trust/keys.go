package trust

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/sign"
)

// maxKeyFile is the maximum size of a key file, in bytes.
const maxKeyFile = 1 << 20

// ReadKeys reads key files: PEM public keys, allowed signers of git tags, or one SSH key.
func ReadKeys(files []string) (w Requirement, err error) {
	for _, file := range files {
		data, err := safefile.ReadFile(file, maxKeyFile)
		if err != nil {
			return w, diag.Errorf(diag.NotFound, "cannot read a key file: %w", err)
		}
		if err := w.addKeys(file, data); err != nil {
			return w, err
		}
	}
	return w, nil
}

// AddPinned adds the keys of a file whose SHA-256 a policy pins.
func (w *Requirement) AddPinned(file, digest string) error {
	data, err := safefile.ReadFile(file, maxKeyFile)
	if err != nil {
		return err
	}
	if sum := textx.SHA256(data); sum != digest {
		return diag.Errorf(diag.Denied, "%s has the SHA-256 digest %s, which differs from the digest in the policy",
			file, sum)
	}
	return w.addKeys(file, data)
}

func (w *Requirement) addKeys(file string, data []byte) error {
	if strings.Contains(string(data), "-----BEGIN") {
		key, err := sign.ParsePublic(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		w.Keys = append(w.Keys, key)
		return nil
	}
	if kind, _, _ := strings.Cut(strings.TrimSpace(string(data)), " "); sign.IsSSHKeyType(kind) {
		data = append([]byte("* "), data...)
	}
	allowed, err := sign.ParseAllowedSigners(file, data)
	if err != nil {
		return err
	}
	w.AllowedSigners = append(w.AllowedSigners, allowed)
	return nil
}

// exactSigner returns a requirement that accepts only the signer with an ID, and identities only with this subject.
func exactSigner(id string) (Requirement, error) {
	if identity, ok := strings.CutPrefix(id, "identity:"); ok {
		return Requirement{Identities: []Identity{parseIdentity(identity)}}, nil
	}
	key, err := sign.ParseID(id)
	return Requirement{Keys: []*sign.PublicKey{key}}, err
}

// LockedSigner returns a requirement that accepts only the signer in a lockfile, as [SameSigner] compares signers.
func LockedSigner(id string) (Requirement, error) {
	w := Requirement{Threshold: 1}
	kind, rest, _ := strings.Cut(id, ":")
	switch {
	case kind == "identity":
		w.Identities = []Identity{parseIdentity(rest).anyRelease()}
	case sign.IsSSHKeyType(kind):
		allowed, err := sign.ParseAllowedSigners("skillpm.lock", []byte("* "+kind+" "+rest+"\n"))
		if err != nil {
			return w, err
		}
		w.AllowedSigners = []*sign.AllowedSigners{allowed}
	default:
		key, err := sign.ParseID(id)
		if err != nil {
			return w, diag.Errorf(diag.Denied, "invalid signer in skillpm.lock: %w", err).
				WithHint("use a newer skillpm, or restore skillpm.lock from version control")
		}
		w.Keys = []*sign.PublicKey{key}
	}
	return w, nil
}

// Fingerprint converts a lockfile's signer to the form that users compare: the fingerprint of a key, or the full
// identity.
func Fingerprint(signer string) string {
	kind, rest, _ := strings.Cut(signer, ":")
	if kind == "identity" || signer == "" {
		return rest
	}
	if key, err := sign.ParseID(signer); err == nil {
		return key.Fingerprint()
	}
	blob, err := base64.StdEncoding.DecodeString(rest)
	if err != nil {
		return rest
	}
	sum := sha256.Sum256(blob)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]) // the format of ssh-keygen -l
}
