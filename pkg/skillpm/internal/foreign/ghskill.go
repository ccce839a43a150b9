package foreign

import (
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Provenance is what "gh skill install" wrote into the metadata of a SKILL.md: the repository, the revision, and the
// directory that a copy of a skill comes from. It proves nothing: anyone can write it.
type Provenance struct {
	Ref  pack.Ref // the repository at the revision
	Path string   // the directory of the skill in it
}

// SkillProvenance reads the provenance of a skill. It is false if there is none, or none that [pack.Parse] accepts.
func SkillProvenance(d *skill.Document) (Provenance, bool) {
	metadata := map[string]string{}
	if _, node := d.Lookup("metadata"); node != nil {
		for i := 0; i+1 < len(node.Content); i += 2 {
			metadata[node.Content[i].Value] = node.Content[i+1].Value
		}
	}
	if metadata["github-repo"] == "" {
		return Provenance{}, false
	}
	rev := firstOf(metadata["github-pinned"], metadata["github-ref"])
	reference, err := gitReference(metadata["github-repo"], "", rev)
	if err != nil {
		return Provenance{}, false
	}
	ref, err := pack.Parse(reference)
	if err != nil || ref.Kind != pack.KindGit {
		return Provenance{}, false
	}
	return Provenance{Ref: ref, Path: printable(metadata["github-path"])}, true
}
