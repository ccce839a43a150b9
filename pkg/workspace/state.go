package workspace

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// state is what this machine knows about what it has installed in a scope: which trees and links are skillpm's own and
// how they looked when they were written. It is never shared; without it everything is found again by hashing.
//
// What it says allows replacing and removing, so it carries a MAC that only this machine can make: a state file that came
// with a repository, or from another place, counts as none.
type state struct {
	Version int                  `json:"version"`
	MAC     string               `json:"mac"`
	Trees   map[string]treeState `json:"trees"` // by path below the scope's root
	Links   map[string]string    `json:"links"` // path below the scope's root -> target
	// Places are the directories that packs were locked from, which a lock never records: pack -> directory.
	Places map[string]string `json:"places,omitempty"`
}

// treeState is an installed directory: the digest of its files, the pristine tree (and alias) that it was made from, and
// a fingerprint of how stat sees its files.
type treeState struct {
	Digest      string `json:"digest"`
	Source      string `json:"source"`
	Fingerprint string `json:"fingerprint"`
}

const stateVersion = 1

func newState() *state {
	return &state{Version: stateVersion, Trees: map[string]treeState{}, Links: map[string]string{}}
}

// readState reads the state file of the scope at root. One that is missing, can't be read or was not written by this
// machine for that root counts as empty: everything in it can be derived.
func readState(path, root string, key []byte) (*state, error) {
	data, err := ReadOptional(path)
	if err != nil {
		return nil, err
	}
	s := newState()
	if json.Unmarshal(data, s) != nil || s.Version != stateVersion || len(key) == 0 {
		return newState(), nil
	}
	if got, err := hex.DecodeString(s.MAC); err != nil || !hmac.Equal(got, s.mac(root, key)) {
		return newState(), nil
	}
	return s, nil
}

// mac returns the authentication code of what the state says of the scope at root.
func (s *state) mac(root string, key []byte) []byte {
	bare := *s
	bare.MAC = ""
	data, _ := json.Marshal(bare) // strings and maps of strings always encode
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "skillpm-state\x00%s\x00%s", root, data)
	return h.Sum(nil)
}

func (s *state) encode(root string, key []byte) []byte {
	s.MAC = hex.EncodeToString(s.mac(root, key))
	data, _ := json.MarshalIndent(s, "", " ") // as above
	return append(data, '\n')
}

// matches reports whether dir is a directory that looks as it did when its state was recorded.
func (t treeState) matches(dir string) bool {
	f := fingerprint(dir)
	return f != "" && f == t.Fingerprint
}

// fingerprint returns a digest over the name, size, mode and modification time of every file below dir, which changes
// whenever an editor or another program touches one. It returns "" if dir is not a directory.
func fingerprint(dir string) string {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return ""
	}
	h := sha256.New()
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s\x00%d %o %d\n", path[len(dir):], info.Size(), info.Mode(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
