package registry

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// apmManifest is the file in which an apm package lists its dependencies (github.com/microsoft/apm,
// docs/src/content/docs/guides/registries.md).
const apmManifest = "apm.yml"

// maxAPMManifest is the greatest size of such a file in bytes.
const maxAPMManifest = 1 << 20

// apmDependencies returns the dependencies that an apm package takes from its registry by name and version range. The
// others come from elsewhere, such as git repositories; a published pack may not require these.
func apmDependencies(archive fs.FS) (deps []pack.Dependency, others []string, err error) {
	data, err := safefile.ReadIn(archive, apmManifest, maxAPMManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	r := yamlx.Read(apmManifest, data, yamlx.Format{Name: apmManifest, Aliases: true})
	root, ok := r.Root()
	if !ok {
		return nil, nil, diag.Errorf(diag.Invalid, "%s is not valid YAML", apmManifest)
	}
	list := root.Get("dependencies", "apm")
	if !list.IsList() {
		return nil, nil, nil
	}
	usual := scalar(root.Get("registries", "default"))
	for _, item := range list.Node.Content {
		name, d, ok := apmDependency(list.At(item), usual)
		if ok {
			deps = append(deps, d)
		} else {
			others = append(others, textx.Truncate(textx.OneLine(cmp.Or(name, "a dependency")), 100))
		}
	}
	return deps, others, nil
}

// apmDependency reads one dependency. It returns false if the dependency does not come from the package's default
// registry, or does not have a valid name and version range.
func apmDependency(v yamlx.Value, usual string) (name string, d pack.Dependency, ok bool) {
	name = scalar(v)
	id, version, _ := strings.Cut(name, "#")
	ok = usual != ""
	if v.IsMapping() {
		id, version = scalar(v.Get("id")), scalar(v.Get("version"))
		name = cmp.Or(id, scalar(v.Get("git")), scalar(v.Get("path")), scalar(v.Get("name")))
		ok = ok && !v.Get("path").Exists() && cmp.Or(scalar(v.Get("registry")), usual) == usual
	}
	var err, rangeErr error
	d.Constraint = version
	d.ID, err = pack.ParseID(id)
	_, rangeErr = semver.NewConstraint(version)
	return name, d, ok && version != "" && err == nil && rangeErr == nil
}

// scalar returns the text of a value, "" if it is not text.
func scalar(v yamlx.Value) string {
	if !v.IsScalar() {
		return ""
	}
	return v.Node.Value
}
