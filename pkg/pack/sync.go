package pack

import (
	"path/filepath"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"
)

// SyncSettings say what the enterprise layer of a machine is kept in step with. They count in the administrator's
// configuration only.
type SyncSettings struct {
	Source    Ref      // a git repository or an OCI repository; its kind is "" where nothing is configured
	Name      ID       // of a git repository's list, as its skillpm.yaml says it; see [SyncSettings.ListName]
	Version   string   // the range of versions, "" for any release
	Keys      []string // files of public keys, or of allowed signers of git tags; see [Config.File]
	Threshold int      // how many of them must have signed, at least 1
}

var syncKeys = []string{"source", "name", "version", "keys", "threshold"}

// sync reads where the enterprise layer comes from.
func (r reader) sync(v *yaml.Node) (s SyncSettings, err error) {
	s.Threshold = 1
	if v.Kind != yaml.MappingNode {
		return s, r.errorf(v, "sync must be a mapping").
			WithHint("write sync: {source: \"git+https://git.example/acme/fleet.git\", keys: [keys/acme.signers]}")
	}
	err = r.fields(v, "sync", syncKeys, func(k, v *yaml.Node) (err error) {
		switch k.Value {
		case "source":
			s.Source, err = r.syncSource(v)
		case "name":
			var text string
			if text, err = r.text(v, "name"); err == nil {
				if s.Name, err = ParseID(text); err != nil {
					err = r.errorf(v, "name: %v", err)
				}
			}
		case "version":
			if s.Version, err = r.text(v, "version"); err == nil {
				if _, bad := semver.NewConstraint(s.Version); bad != nil {
					err = r.errorf(v, "version %q is no range of versions", s.Version).WithHint("write one as ^1, ~2.3 or 1.4.0")
				}
			}
		case "keys":
			s.Keys, err = r.texts(v, "keys", nil)
		case "threshold":
			if bad := v.Decode(&s.Threshold); bad != nil || s.Threshold < 1 || s.Threshold > maxThreshold {
				err = r.errorf(v, "threshold must be a number from 1 to %d", maxThreshold)
			}
		}
		return err
	})
	if err == nil && s.Source.Kind == "" {
		err = r.errorf(v, "sync has no source").WithHint("write source: \"git+https://git.example/acme/fleet.git\" or \"oci://registry.example/acme/fleet\"")
	}
	if err == nil && !s.Name.IsZero() && s.Source.Kind != KindGit {
		err = r.errorf(v, "name counts for git only: a list in a registry has the name of its repository")
	}
	return s, err
}

// ListName returns what the list must call itself, so that nothing else that the same people sign passes for it: as
// configured, or the last two parts of the source.
func (s SyncSettings) ListName() (ID, error) {
	switch {
	case !s.Name.IsZero():
		return s.Name, nil
	case s.Source.Kind == KindLayout && !s.Source.ID.IsZero():
		return s.Source.ID, nil
	}
	return s.Source.DefaultID()
}

// maxThreshold is the most signatures that can be asked for.
const maxThreshold = 16

// syncSource reads a place whose releases are signed: no revision, as the newest release is what is wanted.
func (r reader) syncSource(v *yaml.Node) (Ref, error) {
	text, err := r.text(v, "source")
	if err != nil {
		return Ref{}, err
	}
	ref, err := Parse(text)
	if err != nil {
		return ref, r.errorf(v, "source: %v", err)
	}
	switch {
	case ref.Kind != KindGit && ref.Kind != KindOCI && ref.Kind != KindLayout:
		return ref, r.errorf(v, "source %q is no place of signed releases", text).WithHint("write git+https://…, or oci://…")
	case ref.Kind == KindLayout && !filepath.IsAbs(filepath.FromSlash(ref.URL)):
		return ref, r.errorf(v, "source %q is a relative directory", text).WithHint("write the whole path")
	case ref.Rev != "" || ref.Digest != "":
		return ref, r.errorf(v, "source %q names one release", text).WithHint("leave the revision out, and give a range as version")
	}
	return ref, nil
}
