package runtime

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// chosenProfile is a host's profile, and how it was chosen.
type chosenProfile struct {
	*profile.Profile
	named      bool   // an option, the environment, or the project's manifest names it
	recognized string // why it was recognized without being named, "" if it was named or is the default
}

// chooseProfile returns the profile of the options, the environment, the project's manifest, or the settings, in this
// order. Without one, a project of a known system is recognized by its files, unless the default profile finds skills in
// it.
func (o Options) chooseProfile(settings string) (c chosenProfile, err error) {
	user := Profiles(o.Paths)
	standard, err := profile.Lookup(profile.Runtime)
	if err != nil {
		return c, err
	}
	id := cmp.Or(o.Profile, o.Getenv("SKILLPM_PROFILE"))
	m := &pack.Manifest{}
	if id == "" {
		root := catalog.Project(o.Paths, o.Dir, standard)
		if root != "" {
			m = readManifest(root)
		}
		if id = m.Profile; id != "" {
			if _, err := profile.Resolve(id, user); err != nil {
				return c, diag.Errorf(diag.CodeOf(err), "%s: %w", filepath.Join(root, scope.ManifestName), err).
					WithHint("%s", diag.HintOf(err))
			}
		}
	}
	c.named = id != ""
	id = cmp.Or(id, settings)
	if id == "" && m.Name.IsZero() && len(o.Layers) == 0 {
		if id, c.recognized, err = o.recognize(standard); err != nil {
			return c, err
		}
	}
	c.Profile, err = profile.Resolve(cmp.Or(id, profile.Runtime), user)
	return c, err
}

// readManifest returns what can be read of a project's manifest. Commands that change it report its errors.
func readManifest(root string) *pack.Manifest {
	path := filepath.Join(root, scope.ManifestName)
	data, err := safefile.ReadOptional(path)
	if err != nil {
		return &pack.Manifest{}
	}
	if m, _ := pack.CheckManifest(path, data); m != nil {
		return m
	}
	return &pack.Manifest{}
}

// recognize returns the profile of the project's system, "" if it is not recognized.
func (o Options) recognize(standard *profile.Profile) (id, why string, err error) {
	all, err := profile.Agents()
	if err != nil {
		return "", "", err
	}
	for _, p := range all {
		if p.Recognition == nil {
			continue
		}
		root := catalog.Project(o.Paths, o.Dir, p)
		if root == "" {
			continue
		}
		files := safefile.Dir(root)
		if _, err := fs.Stat(files, ".claude-plugin"); err == nil || standard.Finds(files) {
			continue
		}
		found, err := profile.Recognize(files)
		if err != nil {
			return "", "", err
		}
		if found != nil && found.ID == p.ID {
			return p.ID, fmt.Sprintf("%s contains %s skills", root, p.Title), nil
		}
	}
	return "", "", nil
}

// NamesProfile reports whether an option, the environment, or the project's manifest names the profile.
func (h *Host) NamesProfile() bool { return h.named }

// Recognized returns why the profile was chosen although nothing names it, "" if it is named or is the default.
func (h *Host) Recognized() string { return h.recognized }

// OtherProfiles returns the ids of other built-in profiles that find skills in the project if the host's profile finds
// none. A pack's own skills are for every agent, so a project with one has none.
func (h *Host) OtherProfiles() (ids []string) {
	all, err := profile.Agents()
	if err != nil || h.project == "" || !readManifest(h.project).Name.IsZero() {
		return nil
	}
	files := safefile.Dir(h.project)
	if h.profile.Finds(files) {
		return nil
	}
	for _, p := range all {
		if p.Finds(files) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}
