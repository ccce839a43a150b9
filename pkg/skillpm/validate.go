package skillpm

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/profile"
)

// ValidateOptions says what is checked.
type ValidateOptions struct {
	Paths    []string // files and directories, relative ones to the client's directory; empty means that directory
	Profiles []string // ids of the hosts that the skills are for; empty means the default one, "all" every one
	Parallel int      // how many skills are checked at once; 0 means one a processor
}

// Validate checks every skill at and below the paths. What is wrong with them is in the report, with paths as the user
// would write them; the error is that a path does not exist or has no skill, or that a profile is unknown.
func (c *Client) Validate(ctx context.Context, o ValidateOptions) (lint.Report, error) {
	profiles, err := profiles(o.Profiles)
	if err != nil {
		return lint.Report{}, err
	}
	paths := o.Paths
	if len(paths) == 0 {
		paths = []string{c.Dir}
	}
	var report lint.Report
	for _, v := range c.volumes(paths) {
		options := lint.Options{Profiles: profiles, Parallel: o.Parallel, NoModes: c.OS == "windows", Show: v.show}
		one, err := lint.Run(ctx, v.fsys, v.targets, options)
		if err != nil {
			return lint.Report{}, err
		}
		report.Merge(one)
	}
	return report, nil
}

func profiles(ids []string) ([]*profile.Profile, error) {
	if slices.Contains(ids, "all") {
		return profile.All()
	}
	if len(ids) == 0 {
		ids = []string{profile.Default}
	}
	var out []*profile.Profile
	for _, id := range slices.Compact(slices.Clone(ids)) {
		p, err := profile.Lookup(id)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// volume is the targets on one volume (there is only one outside of Windows). Its file system starts at the volume's
// root, because links may lead out of what was asked for.
type volume struct {
	root    string // as "/" or `C:\`
	dir     string // the user's directory
	fsys    fs.FS
	targets []string
	typed   []string // targets that were written as absolute paths
}

func (c *Client) volumes(paths []string) []*volume {
	var all []*volume
	for _, p := range paths {
		abs := c.abs(p)
		root := filepath.VolumeName(abs) + string(filepath.Separator)
		i := slices.IndexFunc(all, func(v *volume) bool { return v.root == root })
		if i < 0 {
			i = len(all)
			all = append(all, &volume{root: root, dir: c.Dir, fsys: os.DirFS(root)})
		}
		all[i].targets = append(all[i].targets, inVolume(root, abs))
		if filepath.IsAbs(p) {
			all[i].typed = append(all[i].typed, filepath.Clean(p))
		}
	}
	return all
}

// inVolume writes an absolute path as package fs does.
func inVolume(root, abs string) string {
	rel := filepath.ToSlash(strings.TrimPrefix(abs, root))
	if rel == "" {
		return "."
	}
	return rel
}

// show writes a path of the volume as the user would: absolute below a target that was written so and lies elsewhere,
// else relative to the user's directory.
func (v *volume) show(name string) string {
	abs := filepath.Join(v.root, filepath.FromSlash(name))
	rel, err := filepath.Rel(v.dir, abs)
	outside := err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))
	if outside {
		for _, t := range v.typed {
			if err != nil || abs == t || strings.HasPrefix(abs, strings.TrimSuffix(t, string(filepath.Separator))+string(filepath.Separator)) {
				return filepath.ToSlash(abs)
			}
		}
		if err != nil {
			return filepath.ToSlash(abs)
		}
	}
	return filepath.ToSlash(rel)
}
