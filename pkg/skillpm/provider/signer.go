package provider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// maxKeyFile is the size in bytes over which no file of keys is read.
const maxKeyFile = 1 << 20

// ruleKey is which requirement of which policy a rule is.
type ruleKey struct {
	policy *policy.Policy
	index  int
}

// wanted returns whose signatures a rule asks for. A key file that is not there, or not the one that the policy names
// by its digest, is an error.
func (pr *Provider) wanted(r policy.Rule) (trust.Wanted, error) {
	key := ruleKey{r.Policy, r.Index}
	if known, ok := pr.rules[key]; ok {
		return known, nil
	}
	w, err := readSigners(r)
	if err == nil {
		pr.rules[key] = w
	}
	return w, err
}

// CheckSigners returns what is wrong with the files of keys that a rule names, nil if they are those that it means.
func CheckSigners(r policy.Rule) error {
	_, err := readSigners(r)
	return err
}

// CheckKeys returns what is wrong with a file of keys, nil if it is one.
func CheckKeys(file string) error {
	return keyFile(file, &trust.Wanted{})
}

func readSigners(r policy.Rule) (w trust.Wanted, err error) {
	w.Threshold = r.Signatures.Threshold
	for _, s := range r.Signatures.AnyOf {
		switch {
		case s.Key != nil:
			err = pinnedKey(r.Policy.Path, s.Key.File, s.Key.SHA256, &w)
		case s.SSH != nil:
			err = pinnedKey(r.Policy.Path, s.SSH.AllowedSigners, s.SSH.SHA256, &w)
		case s.Identity != nil:
			w.Identities = append(w.Identities, trust.Identity(*s.Identity))
		}
		if err != nil {
			return w, diag.Errorf(diag.Denied, "%s: %w", r, err).WithHint("mend %s, or ask whoever keeps it", r.Policy.Path)
		}
	}
	return w, nil
}

// pinnedKey adds the keys of a file that a policy names.
func pinnedKey(policyFile, file, digest string, w *trust.Wanted) error {
	if !filepath.IsAbs(filepath.FromSlash(file)) {
		file = filepath.Join(filepath.Dir(policyFile), filepath.FromSlash(file))
	}
	data, err := safefile.ReadFile(file, maxKeyFile)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return diag.Errorf(diag.Denied, "%s has the SHA-256 %x, and not the one that the policy names", file, sum)
	}
	return addKeys(file, data, w)
}

// keyFile adds the keys of a file that the user names.
func keyFile(file string, w *trust.Wanted) error {
	data, err := safefile.ReadFile(file, maxKeyFile)
	if err != nil {
		return diag.Errorf(diag.NotFound, "the file of keys: %w", err)
	}
	return addKeys(file, data, w)
}

// addKeys reads a public key in PEM, a file of allowed signers, or an SSH key as it is in a file of its own.
func addKeys(file string, data []byte, w *trust.Wanted) error {
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

// lockedSigner returns the wish for the signer that a lock records.
func lockedSigner(id string) (w trust.Wanted, err error) {
	w.Threshold = 1
	kind, rest, _ := strings.Cut(id, ":")
	switch {
	case kind == "identity":
		issuer, subject, _ := strings.Cut(rest, " ")
		w.Identities = []trust.Identity{{Issuer: issuer, Subject: subject}}
	case sign.IsSSHKeyType(kind):
		allowed, err := sign.ParseAllowedSigners("skillpm.lock", []byte("* "+kind+" "+rest+"\n"))
		if err != nil {
			return w, err
		}
		w.AllowedSigners = []*sign.AllowedSigners{allowed}
	default:
		key, err := sign.ParseID(id)
		if err != nil {
			return w, diag.Errorf(diag.Denied, "the signer that skillpm.lock records: %w", err).WithHint("use a newer skillpm, or restore skillpm.lock from version control")
		}
		w.Keys = []*sign.PublicKey{key}
	}
	return w, nil
}

// Fingerprint returns a signer of a lock as people compare it: the fingerprint of a key, and an identity in full.
func Fingerprint(signer string) string {
	kind, rest, _ := strings.Cut(signer, ":")
	if kind == "identity" || signer == "" {
		return rest
	}
	if key, err := sign.ParseID(signer); err == nil {
		return key.Fingerprint()
	}
	return sshFingerprint(rest)
}

// sshFingerprint returns the fingerprint of an SSH key as ssh-keygen -l shows it.
func sshFingerprint(key string) string {
	blob, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return key
	}
	sum := sha256.Sum256(blob)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}
