package pack

// Kind says what sort of place a [Ref] names.
type Kind string

// The kinds of place.
const (
	KindName     Kind = "name"       // owner/name, looked up in a registry
	KindOCI      Kind = "oci"        // a repository of an OCI registry
	KindLayout   Kind = "oci-layout" // an OCI image layout directory
	KindGit      Kind = "git"        // a git repository
	KindPath     Kind = "path"       // a directory
	KindLocal    Kind = "local"      // the user's own published layout
	KindEmbedded Kind = "embedded"   // the layout inside the binary
)

// Ref names a place that a pack comes from. Refs are comparable.
type Ref struct {
	Kind       Kind
	ID         ID     // name, oci-layout, local, embedded: which pack
	Constraint string // name: the semver range after @, or "latest"; "" for any
	URL        string // oci: "oci://host/repository"; git: "https://…" or "ssh://…"; oci-layout, path: the directory as written
	Subdir     string // a directory inside the place, slash-separated and clean
	Rev        string // git: a tag, branch or commit; oci and oci-layout: a tag
	Digest     string // oci and layouts: "sha256:…"; git: the commit in 40 hex digits; set once the place is pinned
}
