package registry

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// apmManifest is the file in which a package of apm lists its dependencies (github.com/microsoft/apm,
// docs/src/content/docs/guides/registries.md).
const apmManifest = "apm.yml"

// maxAPMManifest is the greatest size of such a file in bytes.
const maxAPMManifest = 1 << 20

// apmDependencies reads what a package of apm requires from its registry, by name and a range of versions. The others
// are those that apm takes from elsewhere, such as a git repository, which a published pack may not require here.
func apmDependencies(archive fs.FS) (deps []pack.Dependency, others []string) {
	data, err := safefile.ReadIn(archive, apmManifest, maxAPMManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []string{apmManifest}
	}
	r := yamlx.Read(apmManifest, data, yamlx.Format{Name: apmManifest, Aliases: true})
	root, ok := r.Root()
	if !ok {
		return nil, []string{apmManifest}
	}
	list := root.Get("dependencies", "apm")
	if !list.IsList() {
		return nil, nil
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
	return deps, others
}

// apmDependency reads one dependency. It is false if the registry that the package usually takes dependencies from does
// not offer it.
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
